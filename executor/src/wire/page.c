/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - where everything in the run page lies.
 *
 * The layout follows from the plan alone, so the processes of a run agree on it
 * without talking; hr_page_check verifies that they do, and no offset or count is
 * ever read from the page itself.
 */
#include "wire/page.h"

#include <errno.h>
#include <sys/mman.h>

const char *const hr_call_name[] = { "nothing", "open", "start", "process", "stop", "close" };

enum { LINE = HR_PAGE_BLOCK, OWN_PAGE = 4096 };

static uint64_t
room(uint64_t *end, uint64_t n, uint64_t size)
{
	uint64_t at = (*end + LINE - 1) / LINE * LINE;

	*end = at + n * size;
	return at;
}

/* Fills every offset and the size; the words have a page of memory of their own. */
static void
lay_out(struct hr_page *page, const struct hr_plan *p)
{
	const struct hr_graph *g = p->graph;
	uint64_t end = OWN_PAGE;

	page->n_processes = p->n_processes;
	page->n_workers = p->n_workers;
	page->n_nodes = g->n_nodes;
	page->n_edges = g->n_edges;
	page->digest = p->digest;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		page->n_counters += p->bound->node[i].op->counters.count;
	page->off_waiters = room(&end, p->n_workers, HMQ_WAITER_BYTES);
	page->off_workers = room(&end, p->n_workers, sizeof(struct hr_page_worker));
	page->off_nodes = room(&end, g->n_nodes, sizeof(struct hr_page_node));
	page->off_edges = room(&end, g->n_edges, sizeof(struct hr_page_edge));
	page->off_gathers = room(&end, g->n_edges, sizeof(struct hr_page_gather));
	page->off_counters = room(&end, page->n_counters, sizeof(uint64_t));
	page->off_failures =
		room(&end, (uint64_t)p->n_workers + p->n_processes, sizeof(struct hr_page_failure));
	page->off_processes = room(&end, p->n_processes, sizeof(struct hr_page_process));
	page->off_logs = room(&end, p->n_processes, sizeof(struct hr_page_log));
	page->bytes = end;
}

uint64_t
hr_page_bytes(const struct hr_plan *p)
{
	struct hr_page scratch = { 0 };

	lay_out(&scratch, p);
	return scratch.bytes;
}

struct hr_page *
hr_page_view(struct hr_arena *a, void *memory, const struct hr_plan *p)
{
	struct hr_page *page = HR_NEW(a, struct hr_page);
	uint32_t *base = HR_ARRAY(a, p->graph->n_nodes, uint32_t), next = 0;

	lay_out(page, p);
	page->words = memory;
	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		base[i] = next;
		next += p->bound->node[i].op->counters.count;
	}
	page->counter_base = base;
	return page;
}

void
hr_page_format(struct hr_page *page, const struct hr_plan *p)
{
	for (uint32_t i = 0; i < p->n_workers; i++) {
		hr_page_worker(page, i)->in_node = HR_NO_NODE;
		hmq_waiter_init(hr_page_waiter(page, i),
				p->worker[i].watches ? HMQ_WAIT_EVENTFD : HMQ_WAIT_FUTEX);
	}
	page->words->digest = page->digest;
	page->words->bytes = page->bytes;
	page->words->magic = HR_PAGE_MAGIC;
}

int
hr_page_check(const struct hr_page *page, uint64_t bytes)
{
	if (bytes < page->bytes || page->words->magic != HR_PAGE_MAGIC)
		return -EBADMSG;
	if (page->words->bytes != page->bytes || page->words->digest != page->digest)
		return -EBADMSG;
	return 0;
}

int
hr_page_protect(const struct hr_page *page)
{
	return mprotect(page->words, OWN_PAGE, PROT_READ) ? -errno : 0;
}

static void *
at(struct hr_page *page, uint64_t offset, uint64_t index, uint64_t size)
{
	return (char *)page->words + offset + index * size;
}

struct hmq_waiter *
hr_page_waiter(struct hr_page *page, uint32_t worker)
{
	return at(page, page->off_waiters, worker, HMQ_WAITER_BYTES);
}

struct hr_page_worker *
hr_page_worker(struct hr_page *page, uint32_t worker)
{
	return at(page, page->off_workers, worker, sizeof(struct hr_page_worker));
}

struct hr_page_node *
hr_page_node(struct hr_page *page, uint32_t node)
{
	return at(page, page->off_nodes, node, sizeof(struct hr_page_node));
}

struct hr_page_edge *
hr_page_edge(struct hr_page *page, uint32_t edge)
{
	return at(page, page->off_edges, edge, sizeof(struct hr_page_edge));
}

struct hr_page_gather *
hr_page_gather(struct hr_page *page, uint32_t edge)
{
	return at(page, page->off_gathers, edge, sizeof(struct hr_page_gather));
}

uint64_t *
hr_page_counters(struct hr_page *page, uint32_t node)
{
	return at(page, page->off_counters, page->counter_base[node], sizeof(uint64_t));
}

struct hr_page_failure *
hr_page_failure(struct hr_page *page, uint32_t who)
{
	return at(page, page->off_failures, who, sizeof(struct hr_page_failure));
}

struct hr_page_process *
hr_page_process(struct hr_page *page, uint32_t process)
{
	return at(page, page->off_processes, process, sizeof(struct hr_page_process));
}

struct hr_page_log *
hr_page_log(struct hr_page *page, uint32_t process)
{
	return at(page, page->off_logs, process, sizeof(struct hr_page_log));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - where everything in the run page lies.
 *
 * The layout follows from the plan alone, so the processes of a run agree on it
 * without talking; hr_page_check verifies that they do.
 */
#include "wire/page.h"

#include <errno.h>

const char *const hr_call_name[] = { "nothing", "open", "start", "process", "stop", "close" };

enum { LINE = HR_PAGE_BLOCK };

static uint64_t
room(uint64_t *end, uint64_t n, uint64_t size)
{
	uint64_t at = (*end + LINE - 1) / LINE * LINE;

	*end = at + n * size;
	return at;
}

static uint32_t
count_counters(const struct hr_plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		n += p->bound->node[i].op->counters.count;
	return n;
}

/* Fills every offset of `page` (a scratch one will do) and returns the size. */
static uint64_t
lay_out(struct hr_page *page, const struct hr_plan *p)
{
	const struct hr_graph *g = p->graph;
	uint64_t end = sizeof *page;

	page->n_processes = p->n_processes;
	page->n_workers = p->n_workers;
	page->n_nodes = g->n_nodes;
	page->n_edges = g->n_edges;
	page->n_counters = count_counters(p);
	page->digest = p->digest;
	end = (end + HMQ_WAITER_BYTES - 1) / HMQ_WAITER_BYTES * HMQ_WAITER_BYTES;
	page->off_waiters = room(&end, p->n_workers, HMQ_WAITER_BYTES);
	page->off_workers = room(&end, p->n_workers, sizeof(struct hr_page_worker));
	page->off_nodes = room(&end, g->n_nodes, sizeof(struct hr_page_node));
	page->off_edges = room(&end, g->n_edges, sizeof(struct hr_page_edge));
	page->off_gathers = room(&end, g->n_edges, sizeof(struct hr_page_gather));
	page->off_counter_base = room(&end, g->n_nodes, sizeof(uint32_t));
	page->off_counters = room(&end, page->n_counters, sizeof(uint64_t));
	page->off_failures =
		room(&end, (uint64_t)p->n_workers + p->n_processes, sizeof(struct hr_page_failure));
	page->off_processes = room(&end, p->n_processes, sizeof(struct hr_page_process));
	page->off_logs = room(&end, p->n_processes, sizeof(struct hr_page_log));
	page->bytes = end;
	return end;
}

uint64_t
hr_page_bytes(const struct hr_plan *p)
{
	struct hr_page scratch = { 0 };

	return lay_out(&scratch, p);
}

static void *
at(struct hr_page *page, uint64_t offset, uint64_t index, uint64_t size)
{
	return (char *)page + offset + index * size;
}

void
hr_page_format(struct hr_page *page, uint64_t bytes, const struct hr_plan *p)
{
	uint32_t next = 0;

	(void)bytes;
	lay_out(page, p);
	for (uint32_t i = 0; i < p->graph->n_nodes; i++) {
		*(uint32_t *)at(page, page->off_counter_base, i, sizeof(uint32_t)) = next;
		next += p->bound->node[i].op->counters.count;
	}
	for (uint32_t i = 0; i < p->n_workers; i++) {
		hr_page_worker(page, i)->in_node = HR_NO_NODE;
		hmq_waiter_init(hr_page_waiter(page, i),
				p->worker[i].watches ? HMQ_WAIT_EVENTFD : HMQ_WAIT_FUTEX);
	}
	page->magic = HR_PAGE_MAGIC;
}

int
hr_page_check(const struct hr_page *page, uint64_t bytes, const struct hr_plan *p)
{
	struct hr_page want = { 0 };

	if (bytes < lay_out(&want, p) || page->magic != HR_PAGE_MAGIC)
		return -EBADMSG;
	if (page->bytes != want.bytes || page->digest != want.digest)
		return -EBADMSG;
	return 0;
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
	uint32_t base = *(uint32_t *)at(page, page->off_counter_base, node, sizeof(uint32_t));

	/* The base lies in shared memory: a wild value must not lead outside. */
	if (base > page->n_counters)
		base = 0;
	return at(page, page->off_counters, base, sizeof(uint64_t));
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

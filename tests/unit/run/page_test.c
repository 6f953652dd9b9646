/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run page: records do not overlap, two processes with the same plan agree,
 * and a page of another plan is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <errno.h>

#include "run/inst.h"

enum { NODES = 3, EDGES = 2, WORKERS = 2, PROCESSES = 2 };

struct fixture {
	struct hr_graph graph;
	struct hr_bound bound;
	struct hr_plan plan;
	struct hop_op op[NODES];
	struct hr_bound_node node[NODES];
	struct hr_plan_worker worker[WORKERS];
};

static void
make(struct fixture *f)
{
	static const uint32_t counters[NODES] = { 3, 0, 2 };

	memset(f, 0, sizeof *f);
	f->graph.n_nodes = NODES;
	f->graph.n_edges = EDGES;
	for (uint32_t i = 0; i < NODES; i++) {
		f->op[i].counters.count = counters[i];
		f->node[i].op = &f->op[i];
	}
	f->bound.graph = &f->graph;
	f->bound.node = f->node;
	f->plan.graph = &f->graph;
	f->plan.bound = &f->bound;
	f->plan.worker = f->worker;
	f->plan.n_workers = WORKERS;
	f->plan.n_processes = PROCESSES;
	f->plan.digest = 0x1234;
}

struct range {
	uint64_t lo, hi;
};

static struct hr_page *
make_page(struct hr_arena *a, struct fixture *f, uint64_t *bytes)
{
	make(f);
	*bytes = hr_page_bytes(&f->plan);
	return hr_page_view(a, hr_alloc_aligned(a, *bytes, 4096), &f->plan);
}

static void
records_do_not_overlap(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct fixture f;
	struct range r[64];
	uint64_t bytes;
	struct hr_page *page = make_page(a, &f, &bytes);
	size_t n = 0;

	(void)state;
	hr_page_format(page, &f.plan);
#define ADD(p, size)                                                                               \
	do {                                                                                       \
		r[n].lo = (uint64_t)((char *)(p) - (char *)page->words);                           \
		r[n].hi = r[n].lo + (size);                                                        \
		n++;                                                                               \
	} while (0)
	ADD(page->words, 4096u);
	for (uint32_t i = 0; i < WORKERS; i++) {
		ADD(hr_page_waiter(page, i), HMQ_WAITER_BYTES);
		ADD(hr_page_worker(page, i), sizeof(struct hr_page_worker));
	}
	for (uint32_t i = 0; i < NODES; i++) {
		ADD(hr_page_node(page, i), sizeof(struct hr_page_node));
		ADD(hr_page_counters(page, i), f.op[i].counters.count * sizeof(uint64_t));
	}
	for (uint32_t i = 0; i < EDGES; i++) {
		ADD(hr_page_edge(page, i), sizeof(struct hr_page_edge));
		ADD(hr_page_gather(page, i), sizeof(struct hr_page_gather));
	}
	for (uint32_t i = 0; i < WORKERS + PROCESSES; i++)
		ADD(hr_page_failure(page, i), sizeof(struct hr_page_failure));
	for (uint32_t i = 0; i < PROCESSES; i++) {
		ADD(hr_page_process(page, i), sizeof(struct hr_page_process));
		ADD(hr_page_log(page, i), sizeof(struct hr_page_log));
	}
	for (size_t i = 0; i < n; i++) {
		assert_true(r[i].hi <= bytes);
		for (size_t k = 0; k < i; k++)
			assert_true(r[i].hi <= r[k].lo || r[k].hi <= r[i].lo);
	}
	hr_arena_free(a);
}

static void
a_page_of_another_plan_is_refused(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct fixture f;
	uint64_t bytes;
	struct hr_page *page = make_page(a, &f, &bytes), *other;

	(void)state;
	assert_int_equal(hr_page_check(page, bytes), -EBADMSG);
	hr_page_format(page, &f.plan);
	assert_int_equal(hr_page_check(page, bytes), 0);
	assert_int_equal(hr_page_check(page, bytes - 1), -EBADMSG);
	f.plan.digest++;
	other = hr_page_view(a, page->words, &f.plan);
	assert_int_equal(hr_page_check(other, bytes), -EBADMSG);
	hr_arena_free(a);
}

/* A plugin that writes where it must not may hit the page: nobody follows what it left there. */
static void
a_page_full_of_nonsense_leads_nobody_outside(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct fixture f;
	uint64_t bytes;
	struct hr_page *page = make_page(a, &f, &bytes);
	char *lo = (char *)page->words, *hi = lo + bytes;

	(void)state;
	hr_page_format(page, &f.plan);
	memset(lo, 0xa5, bytes);
	for (uint32_t i = 0; i < WORKERS; i++)
		assert_in_range((char *)hr_page_waiter(page, i), lo, hi - 1);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_in_range((char *)hr_page_node(page, i), lo, hi - 1);
		assert_in_range((char *)hr_page_counters(page, i), lo, hi - 1);
	}
	for (uint32_t i = 0; i < PROCESSES; i++)
		assert_in_range((char *)hr_page_log(page, i), lo, hi - 1);
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_do_not_overlap),
		cmocka_unit_test(a_page_of_another_plan_is_refused),
		cmocka_unit_test(a_page_full_of_nonsense_leads_nobody_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

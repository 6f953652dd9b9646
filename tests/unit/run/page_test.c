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

static void
records_do_not_overlap(void **state)
{
	struct fixture f;
	struct hr_page *page;
	struct range r[64];
	uint64_t bytes;
	size_t n = 0;

	(void)state;
	make(&f);
	bytes = hr_page_bytes(&f.plan);
	page = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	assert_non_null(page);
	memset(page, 0, bytes);
	hr_page_format(page, bytes, &f.plan);
#define ADD(p, size)                                                                               \
	do {                                                                                       \
		r[n].lo = (uint64_t)((char *)(p) - (char *)page);                                  \
		r[n].hi = r[n].lo + (size);                                                        \
		n++;                                                                               \
	} while (0)
	ADD(page, sizeof *page);
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
	free(page);
}

static void
a_page_of_another_plan_is_refused(void **state)
{
	struct fixture f;
	struct hr_page *page;
	uint64_t bytes;

	(void)state;
	make(&f);
	bytes = hr_page_bytes(&f.plan);
	page = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	assert_non_null(page);
	memset(page, 0, bytes);
	assert_int_equal(hr_page_check(page, bytes, &f.plan), -EBADMSG);
	hr_page_format(page, bytes, &f.plan);
	assert_int_equal(hr_page_check(page, bytes, &f.plan), 0);
	assert_int_equal(hr_page_check(page, bytes - 1, &f.plan), -EBADMSG);
	f.plan.digest++;
	assert_int_equal(hr_page_check(page, bytes, &f.plan), -EBADMSG);
	free(page);
}

static void
a_wild_counter_base_stays_inside(void **state)
{
	struct fixture f;
	struct hr_page *page;
	uint64_t bytes;
	uint64_t *c;

	(void)state;
	make(&f);
	bytes = hr_page_bytes(&f.plan);
	page = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	assert_non_null(page);
	memset(page, 0, bytes);
	hr_page_format(page, bytes, &f.plan);
	*(uint32_t *)(void *)((char *)page + page->off_counter_base) = 0xffffff;
	c = hr_page_counters(page, 0);
	assert_true((char *)c < (char *)page + bytes);
	free(page);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_do_not_overlap),
		cmocka_unit_test(a_page_of_another_plan_is_refused),
		cmocka_unit_test(a_wild_counter_base_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

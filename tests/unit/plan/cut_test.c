// SPDX-License-Identifier: Apache-2.0
/*
 * cut_test.c - where nodes go that no partition names, and who gets a thread.
 */
#include <string.h>

#include "kit.h"

static void
nodes_of(const struct kit *k, const struct hr_plan *p, uint32_t worker, const char *want)
{
	char text[256] = "";

	for (uint32_t i = 0; i < p->worker[worker].n_nodes; i++) {
		strcat(text, i ? " " : "");
		strcat(text, k->node[p->worker[worker].node[i]].name.text);
	}
	assert_string_equal(text, want);
}

static void
graph_without_partitions_runs_in_main(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 1);
	assert_string_equal(p->worker[0].name, "main");
	assert_int_equal(p->worker[0].cpu, 0);
	assert_int_equal(p->worker[0].wait, HR_WAIT_ADAPTIVE);
	assert_int_equal(p->worker[0].partition, UINT32_MAX);
	assert_int_equal(p->worker[0].process, 0);
	nodes_of(k, p, 0, "src work sink");
	kit_free(k);
}

static void
nodes_are_called_writers_first(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t sink = kit_node(k, "sink", 1, 0, 0);
	uint32_t src = kit_node(k, "src", 0, 1, 8);

	kit_edge(k, src, 0, sink, 0);
	nodes_of(k, kit_want_plan(k), 0, "src sink");
	kit_free(k);
}

static void
unnamed_node_joins_its_first_reader(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_place(k, 0, kit_partition(k, "a", "1"));
	kit_place(k, 2, kit_partition(k, "b", "2"));
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 2);
	nodes_of(k, p, 0, "src");
	nodes_of(k, p, 1, "work sink");
	kit_free(k);
}

static void
unnamed_sink_joins_its_first_writer(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_place(k, 0, kit_partition(k, "a", "1"));
	kit_place(k, 1, kit_partition(k, "b", "2"));
	nodes_of(k, kit_want_plan(k), 1, "work sink");
	kit_free(k);
}

static void
chain_behind_a_named_source_follows_it(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_place(k, 0, kit_partition(k, "a", "1"));
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 1);
	nodes_of(k, p, 0, "src work sink");
	kit_free(k);
}

static void
node_connected_to_nothing_named_gets_main(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	uint32_t lone = kit_node(k, "lone", 0, 0, 0);

	kit_place(k, 0, kit_partition(k, "a", "0"));
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 2);
	assert_string_equal(p->worker[1].name, "main");
	assert_int_equal(p->worker[1].cpu, 1);
	assert_int_equal(p->node[lone].worker, 1);
	kit_free(k);
}

static void
blocking_node_gets_a_sleeping_thread_on_the_same_cpu(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->op[2].flags = HOP_F_BLOCKS;
	for (uint32_t i = 0; i < 3; i++)
		kit_place(k, i, 0);
	kit_partition(k, "a", "1");
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 2);
	assert_string_equal(p->worker[1].name, "a/sink");
	assert_true(p->worker[1].blocks);
	assert_false(p->worker[0].blocks);
	assert_int_equal(p->worker[1].cpu, 1);
	assert_int_equal(p->worker[1].wait, HR_WAIT_SLEEP);
	assert_true(p->worker[0].shares_cpu);
	assert_int_equal(k->diags.n_warnings, 0);
	nodes_of(k, p, 1, "sink");
	kit_free(k);
}

static void
descriptor_op_makes_its_thread_watch(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->op[0].flags = HOP_F_FD;
	kit_place(k, 0, kit_partition(k, "a", "0"));
	kit_place(k, 1, kit_partition(k, "b", "1"));
	struct hr_plan *p = kit_want_plan(k);

	assert_true(p->worker[0].watches);
	assert_false(p->worker[1].watches);
	kit_free(k);
}

static void
processes_list_their_threads(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	uint32_t other = kit_process(k, "other");

	kit_place(k, 0, kit_partition(k, "a", "0"));
	kit_place(k, 1, kit_partition(k, "b", "1"));
	kit_place(k, 2, kit_partition(k, "c", "2"));
	k->partition[0].process = k->partition[2].process = other;
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_processes, 2);
	assert_int_equal(p->process[0].n_workers, 1);
	assert_int_equal(p->process[0].worker[0], 1);
	assert_string_equal(p->process[1].name, "other");
	assert_int_equal(p->process[1].n_workers, 2);
	assert_int_equal(p->process[1].worker[1], 2);
	kit_free(k);
}

static void
partition_without_nodes_is_refused(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_place(k, 0, kit_partition(k, "a", "0"));
	kit_partition(k, "b", "1");
	kit_want_error(k, 266, 301, "partition 'b' has no nodes");
	kit_free(k);
}

static void
loop_of_unnamed_nodes_joins_the_nearest_named_one(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t a = kit_node(k, "a", 1, 1, 8);
	uint32_t b = kit_node(k, "b", 1, 1, 8);
	uint32_t src = kit_node(k, "src", 0, 1, 8);

	/* a leads b leads a; src reads from neither, but feeds a second input of b. */
	k->bnode[b].n_in = 2;
	k->port[b][1].name = "in1";
	k->in[b][1] = (struct hr_port_in){ .port = &k->port[b][1], .need = 1 };
	kit_edge(k, b, 0, a, 0);
	kit_edge(k, a, 0, b, 0);
	kit_edge(k, src, 0, b, 1);
	k->edge[0].initial = 1;
	kit_place(k, src, kit_partition(k, "p", "0"));
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_workers, 1);
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graph_without_partitions_runs_in_main),
		cmocka_unit_test(nodes_are_called_writers_first),
		cmocka_unit_test(unnamed_node_joins_its_first_reader),
		cmocka_unit_test(unnamed_sink_joins_its_first_writer),
		cmocka_unit_test(chain_behind_a_named_source_follows_it),
		cmocka_unit_test(node_connected_to_nothing_named_gets_main),
		cmocka_unit_test(blocking_node_gets_a_sleeping_thread_on_the_same_cpu),
		cmocka_unit_test(descriptor_op_makes_its_thread_watch),
		cmocka_unit_test(processes_list_their_threads),
		cmocka_unit_test(partition_without_nodes_is_refused),
		cmocka_unit_test(loop_of_unnamed_nodes_joins_the_nearest_named_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

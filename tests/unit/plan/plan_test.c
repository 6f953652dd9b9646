// SPDX-License-Identifier: Apache-2.0
/*
 * plan_test.c - the bill, the digest, and that every output holds together.
 */
#include <cjson/cJSON.h>
#include <string.h>

#include "kit.h"

static void
memory_that_is_not_there_is_refused_with_the_arithmetic(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->out[0][0].format.max_bytes = 8 << 20;
	k->out[1][0].format.max_bytes = 1 << 20;
	k->machine.memory_bytes = 8 << 20;
	k->machine.memory_from = "the memory cgroup";
	assert_null(kit_plan(k));
	assert_int_equal(k->diags.n_errors, 1);
	assert_int_equal(k->diags.exit_code, 3);
	const struct hr_diag *d = kit_find(k, 311);

	assert_non_null(d);
	assert_non_null(strstr(d->text, "the channels need 45.0 MiB; 8 MiB are free (the memory "
					"cgroup)"));
	assert_non_null(strstr(d->notes->text, "src.out: 5 slots x 8 MiB = 40.0 MiB"));
	assert_non_null(strstr(d->notes->next->text, "work.out: 5 slots x 1 MiB = 5.0 MiB"));
	kit_free(k);
}

static void
bill_shows_the_three_largest_in_order(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	for (uint32_t i = 0; i < 5; i++) {
		static const uint64_t mib[] = { 2, 5, 1, 4, 3 };

		kit_node(k, hr_printf(k->arena, "n%u", i), 0, 1, mib[i] << 20);
	}
	k->machine.memory_bytes = 1;
	assert_null(kit_plan(k));
	const struct hr_note *n = kit_find(k, 311)->notes;

	assert_non_null(strstr(n->text, "n1.out"));
	assert_non_null(strstr(n->next->text, "n3.out"));
	assert_non_null(strstr(n->next->next->text, "n4.out"));
	assert_null(n->next->next->next);
	kit_free(k);
}

static void
bill_counts_every_channel(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_gather(k, 0, 16);
	struct hr_plan *p = kit_want_plan(k);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n_chans; i++)
		sum += p->chan[i].bytes;
	assert_int_equal(p->memory_bytes, sum);
	k->machine.memory_bytes = sum;
	kit_want_plan(k);
	k->machine.memory_bytes = sum - 1;
	assert_null(kit_plan(k));
	kit_free(k);
}

static void
same_inputs_give_the_same_digest_and_text(void **state)
{
	(void)state;
	struct kit *a = kit_chain(), *b = kit_chain();
	struct hr_plan *p = kit_want_plan(a), *q = kit_want_plan(b);

	assert_int_equal(p->digest, q->digest);
	assert_string_equal(hr_plan_text(a->arena, p), hr_plan_text(b->arena, q));
	assert_string_equal(hr_plan_json(a->arena, p), hr_plan_json(b->arena, q));
	kit_free(a);
	kit_free(b);
}

static void
every_decision_changes_the_digest(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	uint64_t seen[8];
	uint32_t n = 0;

	seen[n++] = kit_want_plan(k)->digest;
	kit_depth(k, 1, 5);
	seen[n++] = kit_want_plan(k)->digest;
	k->edge[1].when_full = HR_FULL_DROP_NEWEST;
	seen[n++] = kit_want_plan(k)->digest;
	k->out[0][0].format.dim[0] = 7;
	seen[n++] = kit_want_plan(k)->digest;
	kit_place(k, 2, kit_partition(k, "a", "1"));
	seen[n++] = kit_want_plan(k)->digest;
	k->partition[0].wait = HR_WAIT_SLEEP;
	seen[n++] = kit_want_plan(k)->digest;
	k->op[1].name = "t/other";
	seen[n++] = kit_want_plan(k)->digest;
	k->partition[0].cpus.text = "2";
	seen[n++] = kit_want_plan(k)->digest;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	kit_free(k);
}

/* Two processes, a gather, a blocking sink, an unread output, a parameter of each type. */
struct params {
	int64_t i, size, time;
	double real, rate;
	const char *text, *path;
	struct hop_reals reals;
	int32_t choice;
	uint8_t flag;
};

static struct kit *
rich(void)
{
	static const char *const choices[] = { "one", "two", NULL };
	static const double reals[] = { 1, 2.5, __builtin_inf() };
	static struct params values = { .i = INT64_C(9007199254740993),
					.size = 4096,
					.time = 1000000,
					.real = 1e3,
					.rate = 2000,
					.text = "a \"b\"",
					.reals = { reals, 3 },
					.choice = 1,
					.flag = 1 };
	static struct hop_param table[] = {
		HOP_PARAM(INT, 0, struct params, i, NULL, NULL, NULL, ""),
		HOP_PARAM(SIZE, 0, struct params, size, NULL, NULL, NULL, ""),
		HOP_PARAM(TIME, 0, struct params, time, NULL, NULL, NULL, ""),
		HOP_PARAM(REAL, 0, struct params, real, NULL, NULL, NULL, ""),
		HOP_PARAM(RATE, 0, struct params, rate, NULL, NULL, NULL, ""),
		HOP_PARAM(TEXT, 0, struct params, text, NULL, NULL, NULL, ""),
		HOP_PARAM(PATH, 0, struct params, path, NULL, NULL, NULL, ""),
		HOP_PARAM(REALS, 0, struct params, reals, NULL, NULL, NULL, ""),
		HOP_PARAM(CHOICE, 0, struct params, choice, NULL, NULL, NULL, ""),
		HOP_PARAM(BOOL, 0, struct params, flag, NULL, NULL, NULL, ""),
	};
	struct kit *k = kit_chain();

	table[8].choices = choices;
	k->op[0].params = (struct hop_params)HOP_TABLE(table);
	k->bnode[0].params = &values;
	k->bnode[1].n_out = 2;
	k->port[1][KIT_PORTS + 1] = (struct hop_port){ .name = "more", .flags = HOP_PORT_MANY };
	k->out[1][1] = (struct hr_port_out){ .port = &k->port[1][KIT_PORTS + 1],
					     .format = { .max_bytes = 64 } };
	kit_gather(k, 0, 16)->timeout_ns = 5000000;
	k->op[2].flags = HOP_F_BLOCKS;
	kit_place(k, 0, kit_partition(k, "front", "0"));
	kit_place(k, 2, kit_partition(k, "back", "1"));
	k->partition[1].process = kit_process(k, "other");
	return k;
}

static void
text_shows_threads_edges_channels_and_the_bill(void **state)
{
	(void)state;
	struct kit *k = rich();
	const char *t = hr_plan_text(k->arena, kit_want_plan(k));
	static const char *const wanted[] = {
		"graph t: 3 nodes, 2 edges, 3 threads\n",
		"machine kit: 4 CPUs, allowed 0-3\n",
		"back/sink",
		"src.out -> work.in",
		"32 pieces, 4 gathered",
		"shared memory; copies: gather at the reader",
		"work.more.0",
		"unread",
		"work.in gathered",
		"work.in: 16 pieces of one frame, 2 open, missing: drop, timeout 5 ms\n",
		"process other: ",
		"freedom from deadlock: proven",
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strstr(t, wanted[i]))
			fail_msg("wanted '%s' in:\n%s", wanted[i], t);
	assert_null(strstr(t, " \n"));
	kit_free(k);
}

static void
json_parses_and_carries_parameters_exactly(void **state)
{
	(void)state;
	struct kit *k = rich();
	const char *text = hr_plan_json(k->arena, kit_want_plan(k));
	cJSON *o = cJSON_Parse(text);

	assert_non_null(o);
	cJSON *params = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(o, "nodes"), 0),
					    "params");
	assert_non_null(strstr(text, "9007199254740993"));
	assert_true(cJSON_GetObjectItem(params, "real")->valuedouble == 1000);
	assert_string_equal(cJSON_GetObjectItem(params, "choice")->valuestring, "two");
	assert_string_equal(cJSON_GetObjectItem(params, "text")->valuestring, "a \"b\"");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(params, "path")));
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(params, "flag")));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(params, "reals")), 3);
	assert_true(cJSON_IsNull(cJSON_GetArrayItem(cJSON_GetObjectItem(params, "reals"), 2)));
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(o, "channels")), 4);
	cJSON_Delete(o);
	kit_free(k);
}

static void
dot_groups_nodes_and_escapes_names(void **state)
{
	(void)state;
	struct kit *k = rich();

	k->node[0].name.text = "s\"c";
	const char *t = hr_plan_dot(k->arena, kit_want_plan(k));

	assert_non_null(strstr(t, "digraph \"t\" {"));
	assert_non_null(strstr(t, "\"s\\\"c\" -> \"work\""));
	assert_non_null(strstr(t, "label=\"process other\""));
	assert_non_null(strstr(t, "label=\"work\\nt/work\""));
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_is_not_there_is_refused_with_the_arithmetic),
		cmocka_unit_test(bill_shows_the_three_largest_in_order),
		cmocka_unit_test(bill_counts_every_channel),
		cmocka_unit_test(same_inputs_give_the_same_digest_and_text),
		cmocka_unit_test(every_decision_changes_the_digest),
		cmocka_unit_test(text_shows_threads_edges_channels_and_the_bill),
		cmocka_unit_test(json_parses_and_carries_parameters_exactly),
		cmocka_unit_test(dot_groups_nodes_and_escapes_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

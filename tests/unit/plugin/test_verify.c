/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each lie a plugin's table can tell is refused with a sentence that names it;
 * growth of structs and strides is not a lie.
 */
#include "support.h"

#include <string.h>

#include "plugin/table.h"

struct lie {
	const char *name;
	const char *says;
	void (*tell)(struct mem_plugin *m);
};

#define LIE(name, says, ...)                                                                       \
	static void name(struct mem_plugin *m)                                                     \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}
#include "lies.h"
#undef LIE

#define LIE(name, says, ...) { #name, says, name },
static const struct lie lies[] = {
#include "lies.h"
};
#undef LIE

static void
every_lie_is_refused_and_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		struct hr_arena *a = hr_arena_new();
		struct mem_plugin m;
		const char *why;

		mem_plugin_init(&m);
		lies[i].tell(&m);
		why = hr_plugin_verify(a, &m.plugin);
		if (!why || !strstr(why, lies[i].says))
			fail_msg("%s: wanted '%s', found '%s'", lies[i].name, lies[i].says,
				 why ? why : "(accepted)");
		hr_arena_free(a);
	}
}

static void
a_correct_table_is_accepted(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct mem_plugin m;

	(void)state;
	mem_plugin_init(&m);
	assert_null(hr_plugin_verify(a, &m.plugin));
	hr_arena_free(a);
}

static void
larger_rows_are_cut_to_what_is_known(void **state)
{
	struct { /* a plugin built with a later header */
		struct hop_port port;
		uint64_t later;
	} rows[2];
	struct hr_arena *a = hr_arena_new();
	const struct hop_plugin *copy;
	struct mem_plugin m;

	(void)state;
	mem_plugin_init(&m);
	for (int i = 0; i < 2; i++) {
		rows[i].port = m.port[i];
		rows[i].later = 0xdeadbeef;
	}
	m.op.ports.at = &rows[0].port;
	m.op.ports.stride = sizeof rows[0];
	assert_null(hr_plugin_verify(a, &m.plugin));
	copy = hr_table_copy(a, &m.plugin);
	assert_int_equal(copy->ops[0]->ports.stride, sizeof(struct hop_port));
	assert_string_equal(copy->ops[0]->ports.at[1].name, "out");
	assert_int_equal(copy->ops[0]->ports.at[1].dir, HOP_OUT);
	hr_arena_free(a);
}

static void
a_larger_op_is_accepted(void **state)
{
	struct {
		struct hop_op op;
		uint64_t later[4];
	} big = { 0 };
	struct hr_arena *a = hr_arena_new();
	struct mem_plugin m;

	(void)state;
	mem_plugin_init(&m);
	big.op = m.op;
	big.op.size = sizeof big;
	m.list[0] = &big.op;
	assert_null(hr_plugin_verify(a, &m.plugin));
	assert_int_equal(hr_table_copy(a, &m.plugin)->ops[0]->size, sizeof(struct hop_op));
	hr_arena_free(a);
}

static void
a_plugin_without_ops_is_accepted(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct mem_plugin m;

	(void)state;
	mem_plugin_init(&m);
	m.plugin.n_ops = 0;
	m.plugin.ops = NULL;
	assert_null(hr_plugin_verify(a, &m.plugin));
	hr_arena_free(a);
}

static void
one_op_for_two_devices_is_accepted(void **state)
{
	struct hr_arena *a = hr_arena_new();
	struct mem_plugin m;
	struct hop_op cuda;

	(void)state;
	mem_plugin_init(&m);
	cuda = m.op;
	cuda.device = HOP_ON_CUDA;
	m.list[1] = &cuda;
	m.plugin.n_ops = 2;
	assert_null(hr_plugin_verify(a, &m.plugin));
	hr_arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_lie_is_refused_and_named),
		cmocka_unit_test(a_correct_table_is_accepted),
		cmocka_unit_test(larger_rows_are_cut_to_what_is_known),
		cmocka_unit_test(a_larger_op_is_accepted),
		cmocka_unit_test(a_plugin_without_ops_is_accepted),
		cmocka_unit_test(one_op_for_two_devices_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

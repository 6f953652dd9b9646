// SPDX-License-Identifier: Apache-2.0
/*
 * pin_test.c - CPUs named, found, shared, refused; scheduling rights.
 */
#include <string.h>

#include "kit.h"

/* src and sink in partitions a and b of their own; work follows sink. */
static struct kit *
two_partitions(const char *a, const char *b)
{
	struct kit *k = kit_chain();

	kit_place(k, 0, kit_partition(k, "a", a));
	kit_place(k, 2, kit_partition(k, "b", b));
	return k;
}

static void
named_cpu_is_used(void **state)
{
	(void)state;
	struct kit *k = two_partitions("3", "rel:1");

	kit_machine(k, 4, 0xc);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->worker[0].cpu, 3);
	assert_int_equal(p->worker[1].cpu, 3);
	kit_free(k);
}

static void
cpu_that_is_not_there_is_refused_with_the_allowed_ones(void **state)
{
	(void)state;
	struct kit *k = two_partitions("99", "1");

	kit_machine(k, 2, 0x3);
	kit_want_error(k, 310, 300, "partition 'a' asks for CPU 99; allowed here: 0-1");
	assert_int_equal(k->diags.first->at.col, 20);
	assert_int_equal(k->diags.exit_code, 3);
	kit_free(k);
}

static void
cpu_that_is_not_allowed_is_refused_and_said_to_exist(void **state)
{
	(void)state;
	struct kit *k = two_partitions("1", "0");

	kit_machine(k, 4, 0xd);
	kit_want_error(k, 310, 300, "partition 'a' asks for CPU 1; allowed here: 0,2-3");
	assert_non_null(k->diags.first->helps);
	assert_non_null(strstr(k->diags.first->helps->text, "CPU 1 exists"));
	kit_free(k);
}

static void
cpu_listed_twice_is_refused(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0,1,1", "2");

	kit_want_error(k, 261, 300, "partition 'a': CPU 1 listed twice");
	assert_int_equal(k->diags.first->at.col, 20);
	assert_int_equal(k->diags.exit_code, 2);
	kit_free(k);
}

static void
partition_of_two_cpus_is_not_in_this_version(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0-1", "2");

	kit_want_error(k, 291, 300,
		       "partition 'a' has 2 CPUs; this version has partitions of one CPU");
	kit_free(k);
}

static void
partitions_without_cpus_get_free_ones_in_turn(void **state)
{
	(void)state;
	struct kit *k = two_partitions(NULL, NULL);
	uint32_t c = kit_partition(k, "c", "0");

	kit_place(k, 1, c);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->worker[0].cpu, 1);
	assert_int_equal(p->worker[1].cpu, 2);
	assert_int_equal(p->worker[2].cpu, 0);
	assert_false(p->worker[0].shares_cpu);
	kit_free(k);
}

static void
want_of_cpus_shares_the_first_with_a_note(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", NULL);

	kit_machine(k, 1, 0x1);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->worker[1].cpu, 0);
	assert_true(p->worker[0].shares_cpu);
	assert_true(p->worker[1].shares_cpu);
	assert_int_equal(k->diags.n_warnings, 0);
	assert_int_equal(p->n_notes, 1);
	assert_string_equal(p->note[0], "CPU 0 is shared by 'a' (1 node, adaptive) and 'b' "
					"(2 nodes, adaptive): no other is free");
	kit_free(k);
}

static void
two_partitions_that_name_one_cpu_give_a_warning(void **state)
{
	(void)state;
	struct kit *k = two_partitions("1", "1");

	k->partition[1].wait = HR_WAIT_SPIN;
	kit_want_plan(k);
	const struct hr_diag *w = kit_find(k, 460);

	assert_non_null(w);
	assert_int_equal(w->severity, HR_WARNING);
	assert_int_equal(w->at.line, 301);
	assert_string_equal(w->text, "CPU 1 is shared by partitions 'a' (1 node, adaptive) and 'b' "
				     "(2 nodes, spin)");
	kit_free(k);
}

static void
long_lists_of_sharers_are_cut(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	for (uint32_t i = 0; i < 12; i++) {
		const char *name = hr_printf(k->arena, "n%u", i);

		kit_place(k, kit_node(k, name, 0, 0, 0), kit_partition(k, name, "0"));
	}
	kit_want_plan(k);
	assert_non_null(strstr(kit_find(k, 460)->text, "'n7' (1 node, adaptive) and 4 more"));
	kit_free(k);
}

static void
exclusive_partition_is_alone_or_refused_naming_both(void **state)
{
	(void)state;
	struct kit *k = two_partitions("1", "1");

	k->partition[1].exclusive = true;
	kit_want_error(k, 264, 301,
		       "partition 'b' wants CPU 1 for itself, but partition 'a' is on it too");
	assert_int_equal(k->diags.first->notes->at.line, 300);
	k->partition[1].cpus.text = "2";
	assert_int_equal(kit_want_plan(k)->worker[1].cpu, 2);
	kit_free(k);
}

static void
exclusive_partition_keeps_defaults_away(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", NULL);

	k->partition[0].exclusive = true;
	kit_machine(k, 2, 0x1);
	kit_want_error(
		k, 264, 301,
		"no CPU is left for partition 'b': the others are exclusive; allowed here: 0");
	kit_machine(k, 2, 0x3);
	assert_int_equal(kit_want_plan(k)->worker[1].cpu, 1);
	kit_free(k);
}

static void
exclusive_partition_without_a_free_cpu_is_refused(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", NULL);

	k->partition[1].exclusive = true;
	kit_machine(k, 1, 0x1);
	kit_want_error(k, 264, 301, "no CPU is left for partition 'b' alone; allowed here: 0");
	kit_free(k);
}

static void
exclusive_partition_chooses_before_others(void **state)
{
	(void)state;
	struct kit *k = two_partitions(NULL, NULL);

	k->partition[1].exclusive = true;
	kit_place(k, 1, kit_partition(k, "c", "1"));
	kit_machine(k, 2, 0x3);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->worker[1].cpu, 0);
	assert_int_equal(p->worker[0].cpu, 1);
	kit_free(k);
}

static void
two_spinners_on_one_cpu_are_refused(void **state)
{
	(void)state;
	struct kit *k = two_partitions("1", "1");

	k->partition[0].wait = k->partition[1].wait = HR_WAIT_SPIN;
	kit_want_error(k, 265, 301, "partitions 'a' and 'b' would both spin on CPU 1");
	assert_int_equal(k->diags.first->at.col, 50);
	assert_string_equal(k->diags.first->helps->text,
			    "give one of them another CPU, or write `wait: adaptive`");
	kit_free(k);
}

static void
spinners_that_share_for_want_of_cpus_are_refused(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", NULL);

	k->partition[0].wait = k->partition[1].wait = HR_WAIT_SPIN;
	kit_machine(k, 1, 0x1);
	kit_want_error(k, 265, 301, "partitions 'a' and 'b' would both spin on CPU 0");
	kit_free(k);
}

static void
priority_above_the_limit_is_refused_with_the_command(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", "1");

	k->partition[0].sched = HR_SCHED_FIFO;
	k->partition[0].priority = 80;
	k->machine.rtprio_max = 0;
	kit_want_error(k, 312, 300,
		       "partition 'a' asks for fifo priority 80; the limit here is 0 "
		       "(RLIMIT_RTPRIO, no CAP_SYS_NICE)");
	assert_int_equal(k->diags.exit_code, 3);
	assert_string_equal(k->diags.first->helps->text,
			    "raise it for this shell: sudo prlimit --rtprio=80 --pid $$");
	k->machine.rtprio_max = 80;
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->worker[0].sched, HR_SCHED_FIFO);
	assert_int_equal(p->worker[0].priority, 80);
	assert_true(p->worker[0].sched_required);
	kit_free(k);
}

static void
priority_that_is_not_required_gives_a_warning(void **state)
{
	(void)state;
	struct kit *k = two_partitions("0", "1");

	k->partition[0].sched = HR_SCHED_RR;
	k->partition[0].priority = 10;
	k->partition[0].sched_required = false;
	k->machine.rtprio_max = 5;
	kit_want_plan(k);
	assert_string_equal(kit_find(k, 461)->text,
			    "partition 'a' will not get rr priority 10; the limit here is 5 "
			    "(RLIMIT_RTPRIO, no CAP_SYS_NICE)");
	kit_free(k);
}

static void
all_errors_of_placement_are_reported_at_once(void **state)
{
	(void)state;
	struct kit *k = two_partitions("99", "x");

	assert_null(kit_plan(k));
	assert_non_null(kit_find(k, 310));
	assert_non_null(kit_find(k, 260));
	assert_int_equal(k->diags.exit_code, 2);
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_cpu_is_used),
		cmocka_unit_test(cpu_that_is_not_there_is_refused_with_the_allowed_ones),
		cmocka_unit_test(cpu_that_is_not_allowed_is_refused_and_said_to_exist),
		cmocka_unit_test(cpu_listed_twice_is_refused),
		cmocka_unit_test(partition_of_two_cpus_is_not_in_this_version),
		cmocka_unit_test(partitions_without_cpus_get_free_ones_in_turn),
		cmocka_unit_test(want_of_cpus_shares_the_first_with_a_note),
		cmocka_unit_test(two_partitions_that_name_one_cpu_give_a_warning),
		cmocka_unit_test(long_lists_of_sharers_are_cut),
		cmocka_unit_test(exclusive_partition_is_alone_or_refused_naming_both),
		cmocka_unit_test(exclusive_partition_keeps_defaults_away),
		cmocka_unit_test(exclusive_partition_without_a_free_cpu_is_refused),
		cmocka_unit_test(exclusive_partition_chooses_before_others),
		cmocka_unit_test(two_spinners_on_one_cpu_are_refused),
		cmocka_unit_test(spinners_that_share_for_want_of_cpus_are_refused),
		cmocka_unit_test(priority_above_the_limit_is_refused_with_the_command),
		cmocka_unit_test(priority_that_is_not_required_gives_a_warning),
		cmocka_unit_test(all_errors_of_placement_are_reported_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

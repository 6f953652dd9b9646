// SPDX-License-Identifier: Apache-2.0
/*
 * size_test.c - depths, windows and slots by the formula, gathers, carriage.
 */
#include <holomq/holomq.h>
#include <string.h>

#include "kit.h"

static void
unset_depth_is_four_or_twice_the_need(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->edge[0].depth, 4);
	assert_int_equal(p->edge[0].want, 1);
	assert_int_equal(p->edge[0].max_in, 4);
	k->in[1][0].need = 5;
	p = kit_want_plan(k);
	assert_int_equal(p->edge[0].depth, 10);
	assert_int_equal(p->edge[0].want, 5);
	k->port[1][0].min_batch = 7;
	p = kit_want_plan(k);
	assert_int_equal(p->edge[0].depth, 14);
	assert_int_equal(p->edge[0].want, 7);
	kit_free(k);
}

static void
window_is_at_most_32_or_what_the_op_says(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_depth(k, 0, 100);
	assert_int_equal(kit_want_plan(k)->edge[0].max_in, 32);
	k->port[1][0].max_batch = 64;
	assert_int_equal(kit_want_plan(k)->edge[0].max_in, 64);
	k->port[1][0].max_batch = 0;
	k->in[1][0].need = 50;
	assert_int_equal(kit_want_plan(k)->edge[0].max_in, 50);
	kit_free(k);
}

static void
depth_below_the_need_is_refused_where_it_stands(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->in[1][0].need = 5;
	kit_depth(k, 0, 4);
	kit_want_error(k, 262, 200, "work.in needs depth >= 5, has 4");
	assert_int_equal(k->diags.first->at.col, 30);
	assert_int_equal(k->diags.exit_code, 2);
	kit_free(k);
}

static void
depth_from_the_defaults_says_where_it_came_from(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->in[1][0].need = 5;
	k->edge[0].depth = 4;
	k->edge[0].depth_at = (struct hr_span){ .file = &k->file, .line = 9, .col = 3, .len = 1 };
	kit_want_error(k, 262, 200,
		       "work.in needs depth >= 5, has 4 (from defaults.channel at 9:3)");
	kit_free(k);
}

static void
max_batch_below_the_need_is_refused(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->in[1][0].need = 5;
	k->port[1][0].max_batch = 3;
	kit_want_error(
		k, 263, 200,
		"work.in needs 5 messages at once, but op t/work takes at most 3 (max_batch)");
	kit_free(k);
}

static void
slots_are_loans_plus_the_deepest_queue(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_depth(k, 0, 100);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->chan[0].max_out, 32);
	assert_int_equal(p->chan[0].slots, 132);
	/* Publishing never waits, so no more is loaned than the queue holds. */
	assert_int_equal(p->chan[1].max_out, 4);
	assert_int_equal(p->chan[1].slots, 8);
	kit_free(k);
}

static void
large_messages_are_loaned_one_at_a_time(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->out[0][0].format.max_bytes = 65536;
	k->out[1][0].format.max_bytes = 65535;
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->chan[0].max_out, 1);
	assert_int_equal(p->chan[0].slots, 5);
	assert_int_equal(p->chan[1].max_out, 4);
	k->port[0][KIT_PORTS].max_batch = 3;
	assert_int_equal(kit_want_plan(k)->chan[0].max_out, 3);
	k->port[0][KIT_PORTS].max_batch = 0;
	k->port[0][KIT_PORTS].min_batch = 2;
	assert_int_equal(kit_want_plan(k)->chan[0].max_out, 2);
	kit_free(k);
}

/* src feeds n sinks. */
static struct kit *
fan_out(uint32_t n)
{
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 1, 64);

	for (uint32_t i = 0; i < n; i++)
		kit_edge(k, src, 0, kit_node(k, hr_printf(k->arena, "s%u", i), 1, 0, 0), 0);
	return k;
}

static void
dropping_readers_add_their_depth_blocking_ones_share(void **state)
{
	(void)state;
	struct kit *k = fan_out(5);

	kit_depth(k, 0, 8);
	kit_depth(k, 1, 3);
	kit_depth(k, 2, 5);
	kit_depth(k, 3, 7);
	kit_depth(k, 4, 20);
	k->edge[2].when_full = k->edge[3].when_full = HR_FULL_DROP_NEWEST;
	k->edge[4].when_full = HR_FULL_FAIL;
	k->in[1][0].keeps = 2;
	k->in[3][0].keeps = 1;
	struct hr_plan *p = kit_want_plan(k);
	const struct hr_plan_chan *c = &p->chan[0];

	assert_int_equal(c->max_out, 3); /* the shallowest blocking queue */
	assert_int_equal(c->newest, 20);
	assert_int_equal(c->dropping, 12);
	assert_int_equal(c->keeps, 3);
	assert_int_equal(c->slots, 38);
	assert_int_equal(c->n_readers, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(c->edge[i], i);
		assert_int_equal(p->edge[i].reader, i);
		assert_int_equal(c->depth[i], p->edge[i].depth);
	}
	kit_free(k);
}

static void
config_says_what_the_plan_says(void **state)
{
	(void)state;
	struct kit *k = fan_out(2);

	kit_depth(k, 1, 9);
	k->edge[1].when_full = HR_FULL_DROP_NEWEST;
	k->port[0][KIT_PORTS].align = 512;
	struct hr_plan *p = kit_want_plan(k);
	struct hmq_reader_config reader[2];
	struct hmq_config cfg;

	hr_plan_chan_config(p, 0, reader, &cfg);
	assert_int_equal(cfg.slots, p->chan[0].slots);
	assert_int_equal(cfg.align, 512);
	assert_int_equal(cfg.payload_bytes, 64);
	assert_int_equal(cfg.n_readers, 2);
	assert_int_equal(cfg.rank, 1);
	assert_int_equal(cfg.dim[0], 64);
	assert_int_equal(reader[0].depth, 4);
	assert_int_equal(reader[0].policy, HMQ_BLOCK);
	assert_int_equal(reader[1].depth, 9);
	assert_int_equal(reader[1].policy, HMQ_DROP_NEWEST);
	assert_int_equal(hmq_chan_bytes(&cfg, NULL), p->chan[0].bytes);
	kit_free(k);
}

static void
readers_alignment_counts(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->port[1][0].align = 256;
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->chan[0].align, 256);
	assert_int_equal(p->chan[1].align, 64);
	kit_free(k);
}

static void
output_without_readers_has_loans_only(void **state)
{
	(void)state;
	struct kit *k = fan_out(0);
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->chan[0].n_readers, 0);
	assert_int_equal(p->chan[0].slots, 32);
	assert_true(p->chan[0].bytes > 0);
	kit_free(k);
}

static void
too_many_readers_are_refused(void **state)
{
	(void)state;
	struct kit *k = fan_out(65);

	kit_want_error(k, 269, 264, "src.out has 65 readers; it can have 64");
	kit_free(k);
}

static void
too_many_slots_are_refused(void **state)
{
	(void)state;
	struct kit *k = fan_out(1);

	kit_depth(k, 0, 1u << 24);
	kit_want_error(k, 269, 100,
		       "the channel of src.out would have 16777248 slots; it can have 16777216");
	kit_free(k);
}

static void
payload_that_no_channel_can_hold_is_refused(void **state)
{
	(void)state;
	struct kit *k = fan_out(1);

	k->out[0][0].format.max_bytes = (uint64_t)1 << 50;
	assert_null(kit_plan(k));
	assert_int_equal(k->diags.n_errors, 1);
	assert_non_null(strstr(kit_find(k, 269)->text, "the channel of src.out cannot be made: "));
	kit_free(k);
}

static void
writer_that_publishes_more_than_a_queue_holds_is_refused(void **state)
{
	(void)state;
	struct kit *k = fan_out(1);

	k->port[0][KIT_PORTS].min_batch = 6;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 6); /* unset: ours to choose */
	kit_depth(k, 0, 5);
	kit_want_error(k, 262, 200, "s0.in needs depth >= 6, has 5: src.out publishes 6 at once");
	k->edge[0].when_full = HR_FULL_DROP_NEWEST;
	kit_want_plan(k);
	kit_free(k);
}

static void
initial_messages_must_fit(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->edge[0].initial = 6;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 6);
	kit_depth(k, 0, 4);
	kit_want_error(k, 262, 200,
		       "work.in needs depth >= 6, has 4: `initial` puts 6 messages there");
	kit_free(k);
}

static void
gather_reads_pieces_and_writes_a_channel_of_its_own(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	struct hr_gather *g = kit_gather(k, 0, 128);

	k->in[1][0].keeps = 1;
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->n_chans, 3);
	assert_int_equal(p->edge[0].depth, 128);
	assert_int_equal(p->edge[0].max_in, 4);
	assert_string_equal(p->edge[0].why, "copies: gather at the reader");
	assert_int_equal(p->chan[0].slots, 32 + 128);
	assert_int_equal(p->chan[0].keeps, 0);
	const struct hr_plan_chan *c = &p->chan[p->edge[0].gather_chan];

	assert_int_equal(c->index, 2);
	assert_int_equal(c->gathers, 0);
	assert_int_equal(c->node, 1);
	assert_int_equal(c->n_readers, 1);
	assert_int_equal(c->depth[0], 4);
	assert_int_equal(c->max_out, 2);
	assert_int_equal(c->slots, 2 + 4 + 1);
	assert_int_equal(c->payload_bytes, 128 * 1024);
	assert_int_equal(c->format.rank, 2);
	assert_false(c->shared);
	assert_int_equal(p->edge[1].gather_chan, UINT32_MAX);
	g->window = 5;
	kit_depth(k, 0, 9); /* of assembled messages */
	p = kit_want_plan(k);
	assert_int_equal(p->edge[0].depth, 128);
	assert_int_equal(p->chan[2].slots, 5 + 9 + 1);
	kit_free(k);
}

static void
gather_never_blocks_on_its_own_channel(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_gather(k, 0, 4);
	k->edge[0].when_full = HR_FULL_DROP_NEWEST;
	struct hr_plan *p = kit_want_plan(k);
	struct hmq_reader_config reader[1];
	struct hmq_config cfg;

	hr_plan_chan_config(p, 0, reader, &cfg);
	assert_int_equal(reader[0].policy, HMQ_DROP_NEWEST);
	hr_plan_chan_config(p, 2, reader, &cfg);
	assert_int_equal(reader[0].policy, HMQ_BLOCK);
	kit_free(k);
}

static void
piece_queue_is_a_frame_but_not_endless(void **state)
{
	(void)state;
	struct kit *k = kit_chain();
	struct hr_gather *g = kit_gather(k, 0, 4);

	assert_int_equal(kit_want_plan(k)->edge[0].depth, 32);
	g->count = 1000;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 1000);
	k->out[0][0].format.max_bytes = 1 << 20;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 16);
	k->out[0][0].format.max_bytes = 64 << 20;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 4);
	k->port[0][KIT_PORTS].min_batch = 7;
	assert_int_equal(kit_want_plan(k)->edge[0].depth, 7);
	kit_free(k);
}

static void
gather_with_gaps_has_room_for_the_bitmap(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	k->out[0][0].format.max_bytes = 3;
	kit_gather(k, 0, 65);
	k->port[1][0].flags = HOP_PORT_GAPS;
	assert_int_equal(kit_want_plan(k)->chan[2].payload_bytes, 200 + 16); /* 195 up to 200 */
	kit_free(k);
}

static void
gather_of_too_many_pieces_is_refused(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_gather(k, 0, 5000000);
	assert_null(kit_plan(k));
	assert_string_equal(kit_find(k, 269)->text,
			    "work.in: gather count is 5000000; it can be 1 to 1048576");
	kit_free(k);
}

static void
initial_messages_cannot_be_gathered(void **state)
{
	(void)state;
	struct kit *k = kit_chain();

	kit_gather(k, 0, 4);
	k->edge[0].initial = 1;
	kit_want_error(k, 262, 0, "work.in: `initial` messages cannot be gathered into a frame");
	kit_free(k);
}

static void
carriage_follows_threads_and_processes(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	uint32_t src = kit_node(k, "src", 0, 2, 64);

	for (uint32_t i = 0; i < 3; i++)
		kit_edge(k, src, i / 2, kit_node(k, hr_printf(k->arena, "s%u", i), 1, 0, 0), 0);
	kit_place(k, src, kit_partition(k, "a", "0"));
	kit_place(k, 1, 0);
	kit_place(k, 2, kit_partition(k, "b", "1"));
	kit_place(k, 3, kit_partition(k, "c", "2"));
	k->partition[2].process = kit_process(k, "other");
	struct hr_plan *p = kit_want_plan(k);

	assert_int_equal(p->edge[0].carriage, HR_SAME_THREAD);
	assert_int_equal(p->edge[1].carriage, HR_OTHER_THREAD);
	assert_int_equal(p->edge[2].carriage, HR_SHARED_MEMORY);
	assert_null(p->edge[0].why);
	assert_false(p->chan[0].shared);
	assert_true(p->chan[1].shared);
	kit_free(k);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unset_depth_is_four_or_twice_the_need),
		cmocka_unit_test(window_is_at_most_32_or_what_the_op_says),
		cmocka_unit_test(depth_below_the_need_is_refused_where_it_stands),
		cmocka_unit_test(depth_from_the_defaults_says_where_it_came_from),
		cmocka_unit_test(max_batch_below_the_need_is_refused),
		cmocka_unit_test(slots_are_loans_plus_the_deepest_queue),
		cmocka_unit_test(large_messages_are_loaned_one_at_a_time),
		cmocka_unit_test(dropping_readers_add_their_depth_blocking_ones_share),
		cmocka_unit_test(config_says_what_the_plan_says),
		cmocka_unit_test(readers_alignment_counts),
		cmocka_unit_test(output_without_readers_has_loans_only),
		cmocka_unit_test(too_many_readers_are_refused),
		cmocka_unit_test(too_many_slots_are_refused),
		cmocka_unit_test(payload_that_no_channel_can_hold_is_refused),
		cmocka_unit_test(writer_that_publishes_more_than_a_queue_holds_is_refused),
		cmocka_unit_test(initial_messages_must_fit),
		cmocka_unit_test(gather_reads_pieces_and_writes_a_channel_of_its_own),
		cmocka_unit_test(gather_never_blocks_on_its_own_channel),
		cmocka_unit_test(piece_queue_is_a_frame_but_not_endless),
		cmocka_unit_test(gather_with_gaps_has_room_for_the_bitmap),
		cmocka_unit_test(gather_of_too_many_pieces_is_refused),
		cmocka_unit_test(initial_messages_cannot_be_gathered),
		cmocka_unit_test(carriage_follows_threads_and_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

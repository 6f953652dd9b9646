/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends_model.c - end of stream, and a reader that closes.
 *
 * End: the reader says "ended" only when everything published was taken, because it
 * reads the cursor after the flag.  Close: the writer reads the reader's cursor
 * after the flag, counts the rest as left and takes the slots back at once.
 */
#include "mc.h"

enum { MESSAGES = 2, LOOKS = 3 };

static struct mc_atomic tail, head, ended, closed;
static struct mc_plain payload[MESSAGES];
static uint64_t n_got, n_left;
static int is_settled;

static int r5 = MC_RELEASE, a5 = MC_ACQUIRE;
static int r6 = MC_RELEASE, a6 = MC_ACQUIRE;
static int early_end, tail_first, early_close, head_first;

static void
setup(void)
{
	mc_atomic_init(&tail, 0);
	mc_atomic_init(&head, 0);
	mc_atomic_init(&ended, 0);
	mc_atomic_init(&closed, 0);
	for (int i = 0; i < MESSAGES; i++)
		mc_plain_init(&payload[i]);
	n_got = n_left = 0;
	is_settled = 0;
}

/* ---- end of stream ---------------------------------------------------------------------- */

static void
ending_writer(void)
{
	for (uint64_t t = 0; t < MESSAGES; t++) {
		if (early_end && t == MESSAGES - 1)
			mc_store(&ended, 1, (enum mc_order)r5);
		mc_write(&payload[t], 100 + t);
		mc_store(&tail, t + 1, MC_RELEASE);
	}
	mc_store(&ended, 1, (enum mc_order)r5);
}

/* hmq_reader_state: 1 when the stream has ended and all was taken. */
static int
has_ended(void)
{
	uint64_t to, is_end;

	if (tail_first) {
		to = mc_load(&tail, MC_ACQUIRE);
		is_end = mc_load(&ended, (enum mc_order)a5);
	} else {
		is_end = mc_load(&ended, (enum mc_order)a5);
		to = mc_load(&tail, MC_ACQUIRE);
	}
	for (; n_got < to; n_got++)
		mc_check(mc_read(&payload[n_got]) == 100 + n_got, "wrong message");
	return is_end != 0;
}

static void
reader_to_the_end(void)
{
	for (int i = 0; i < LOOKS; i++)
		if (has_ended())
			return;
	mc_assume(false);
}

static void
finish_end(void)
{
	mc_check(n_got == MESSAGES, "ended before the last message");
}

/* ---- a reader that closes --------------------------------------------------------------- */

static void
writer_with_a_closing_reader(void)
{
	uint64_t at = 0;

	for (uint64_t t = 0; t < MESSAGES; t++) {
		mc_write(&payload[t], 100 + t);
		mc_store(&tail, t + 1, MC_RELEASE);
	}
	if (head_first)
		at = mc_load(&head, MC_RELAXED);
	if (mc_load(&closed, (enum mc_order)a6) == 0)
		return;
	if (!head_first)
		at = mc_load(&head, MC_RELAXED);
	n_left = MESSAGES - at;
	is_settled = 1;
	for (uint64_t t = 0; t < MESSAGES; t++)
		mc_write(&payload[t], 200 + t); /* the slots are ours again */
}

static void
closing_reader(void)
{
	uint64_t to = mc_load(&tail, MC_ACQUIRE);

	if (early_close)
		mc_store(&closed, 1, (enum mc_order)r6);
	for (; n_got < to; n_got++) {
		mc_check(mc_read(&payload[n_got]) == 100 + n_got, "wrong message");
		/* The order of R2 is the ring model's subject; here only the flag is. */
		mc_store(&head, n_got + 1, MC_RELAXED);
	}
	if (!early_close)
		mc_store(&closed, 1, (enum mc_order)r6);
}

static void
finish_close(void)
{
	mc_check(!is_settled || n_got + n_left == MESSAGES, "taken and left do not add up");
}

int
main(void)
{
	static const struct mc_model end = {
		setup, { ending_writer, reader_to_the_end }, 2, finish_end, 1000
	};
	static const struct mc_mutation end_mutations[] = {
		{ "R5 relaxed: writer ends", &r5, MC_RELAXED },
		{ "A5 relaxed: reader sees the end", &a5, MC_RELAXED },
		{ "the end comes before the last message", &early_end, 1 },
		{ "cursor read before the flag", &tail_first, 1 },
	};
	static const struct mc_model close_model = {
		setup, { writer_with_a_closing_reader, closing_reader }, 2, finish_close, 1000
	};
	static const struct mc_mutation close_mutations[] = {
		{ "R6 relaxed: reader closes", &r6, MC_RELAXED },
		{ "A6 relaxed: writer sees it closed", &a6, MC_RELAXED },
		{ "closed before the last message is taken", &early_close, 1 },
		{ "cursor read before the flag", &head_first, 1 },
	};
	int n_bad = mc_prove("end of stream", &end, end_mutations,
			     sizeof(end_mutations) / sizeof(end_mutations[0]));

	n_bad += mc_prove("a reader closes", &close_model, close_mutations,
			  sizeof(close_mutations) / sizeof(close_mutations[0]));
	return n_bad > 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * death_model.c - either end is killed between any two of its steps.
 *
 * The kernel's mark (R8) comes after all the dead thread did.  A dead writer: its
 * reader takes everything that was published and nothing else, because it reads the
 * cursor again after it saw the mark.  A dead reader: the writer zeroes its row,
 * counts what was queued and uses the slots again; nothing is counted twice, and what
 * another reader holds stays untouched.
 */
#include "mc.h"

enum { MESSAGES = 2, LOOKS = 3 };

static struct mc_atomic tail, head, dead, held[MESSAGES];
static struct mc_plain payload[MESSAGES];
static uint64_t n_got, n_abandoned;
static int is_lost;

static int a8 = MC_ACQUIRE;
static int no_second_look, no_mark, head_first, keep_row, early_tail;

static void
setup(void)
{
	mc_atomic_init(&tail, 0);
	mc_atomic_init(&head, 0);
	mc_atomic_init(&dead, 0);
	for (int i = 0; i < MESSAGES; i++) {
		mc_atomic_init(&held[i], 0);
		mc_plain_init(&payload[i]);
	}
	n_got = n_abandoned = 0;
	is_lost = 0;
}

static void
publish(uint64_t t)
{
	if (early_tail)
		mc_store(&tail, t + 1, MC_RELEASE);
	mc_write(&payload[t], 100 + t);
	mc_store(&held[t], 1, MC_RELAXED);
	mc_store(&tail, t + 1, MC_RELEASE);
}

/* ---- the writer dies -------------------------------------------------------------------- */

static void
setup_mortal_writer(void)
{
	setup();
	mc_mortal(0, &dead);
}

static void
mortal_writer(void)
{
	for (uint64_t t = 0; t < MESSAGES; t++)
		publish(t);
}

static void
take_all(void)
{
	uint64_t to = mc_load(&tail, MC_ACQUIRE);

	for (; n_got < to; n_got++)
		mc_check(mc_read(&payload[n_got]) == 100 + n_got, "half a message was seen");
}

static void
reader_of_a_mortal_writer(void)
{
	for (int i = 0; i < LOOKS; i++) {
		take_all();
		if (mc_load(&dead, (enum mc_order)a8) != 0) {
			if (!no_second_look)
				take_all();
			is_lost = 1;
			return;
		}
	}
}

static void
finish_mortal_writer(void)
{
	mc_check(!is_lost || n_got == mc_load(&tail, MC_RELAXED),
		 "lost was said before the last message");
}

/* ---- the reader dies -------------------------------------------------------------------- */

static void
setup_mortal_reader(void)
{
	setup();
	mc_mortal(1, &dead);
}

static void
mortal_reader(void)
{
	uint64_t to = mc_load(&tail, MC_ACQUIRE);

	for (; n_got < to; n_got++) {
		mc_store(&head, n_got + 1, MC_RELEASE);
		mc_check(mc_read(&payload[n_got]) == 100 + n_got, "wrong message");
		mc_store(&held[n_got], 0, MC_RELEASE);
	}
}

static void
writer_of_a_mortal_reader(void)
{
	uint64_t at = 0;

	for (uint64_t t = 0; t < MESSAGES; t++)
		publish(t);
	if (head_first)
		at = mc_load(&head, MC_RELAXED);
	if (!no_mark && mc_load(&dead, (enum mc_order)a8) == 0)
		return;
	if (!head_first)
		at = mc_load(&head, MC_RELAXED);
	n_abandoned = MESSAGES - at;
	is_lost = 1;
	for (uint64_t t = 0; t < MESSAGES && !keep_row; t++)
		mc_store(&held[t], 0, MC_RELAXED);
	for (uint64_t t = 0; t < MESSAGES; t++)
		mc_write(&payload[t], 200 + t); /* the slots are ours again */
}

static void
finish_mortal_reader(void)
{
	mc_check(!is_lost || mc_load(&head, MC_RELAXED) + n_abandoned == MESSAGES,
		 "taken and abandoned do not add up");
	for (int i = 0; i < MESSAGES; i++)
		mc_check(!is_lost || mc_load(&held[i], MC_RELAXED) == 0,
			 "a dead reader holds a slot");
}

/* ---- one of two readers dies ------------------------------------------------------------ */

/* One message to both: reader 0 may die at any step, reader 1 (head_1, held_1) lives. */
static struct mc_atomic held_1, tail_1;
static int forget_the_living, zero_both;

static void
setup_two_readers(void)
{
	setup();
	mc_atomic_init(&held_1, 0);
	mc_atomic_init(&tail_1, 0);
	mc_mortal(1, &dead);
}

static void
writer_to_two(void)
{
	mc_write(&payload[0], 100);
	mc_store(&held[0], 1, MC_RELAXED);
	mc_store(&tail, 1, MC_RELEASE);
	mc_store(&held_1, 1, MC_RELAXED);
	mc_store(&tail_1, 1, MC_RELEASE);
	if (mc_load(&dead, (enum mc_order)a8) == 0)
		return;
	mc_store(&held[0], 0, MC_RELAXED);
	if (zero_both)
		mc_store(&held_1, 0, MC_RELAXED);
	if (!forget_the_living && mc_load(&held_1, MC_ACQUIRE) != 0)
		return;
	mc_write(&payload[0], 200);
	is_lost = 1;
}

static void
one_that_dies(void)
{
	if (mc_load(&tail, MC_ACQUIRE) == 0)
		return;
	mc_store(&head, 1, MC_RELEASE);
	mc_check(mc_read(&payload[0]) == 100, "wrong message");
	mc_store(&held[0], 0, MC_RELEASE);
}

static void
one_that_lives(void)
{
	if (mc_load(&tail_1, MC_ACQUIRE) == 0)
		return;
	mc_check(mc_read(&payload[0]) == 100, "overwritten under the living reader");
	mc_store(&held_1, 0, MC_RELEASE);
	n_got = 1;
}

static void
finish_two_readers(void)
{
	mc_check(!is_lost || n_got == 1, "used again before the living reader had it");
}

int
main(void)
{
	static const struct mc_model writer_model = { setup_mortal_writer,
						      { mortal_writer, reader_of_a_mortal_writer },
						      2,
						      finish_mortal_writer,
						      1000 };
	static const struct mc_mutation writer_mutations[] = {
		{ "A8 relaxed: reader sees the mark", &a8, MC_RELAXED },
		{ "no second look at the cursor", &no_second_look, 1 },
		{ "cursor moved before the message is whole", &early_tail, 1 },
	};
	static const struct mc_model reader_model = { setup_mortal_reader,
						      { writer_of_a_mortal_reader, mortal_reader },
						      2,
						      finish_mortal_reader,
						      1000 };
	static const struct mc_mutation reader_mutations[] = {
		{ "A8 relaxed: writer sees the mark", &a8, MC_RELAXED },
		{ "slots taken back without the mark", &no_mark, 1 },
		{ "cursor read before the mark", &head_first, 1 },
		{ "the row is not zeroed", &keep_row, 1 },
	};
	static const struct mc_model two_model = { setup_two_readers,
						   { writer_to_two, one_that_dies, one_that_lives },
						   3,
						   finish_two_readers,
						   4 };
	static const struct mc_mutation two_mutations[] = {
		{ "A8 relaxed: writer sees the mark", &a8, MC_RELAXED },
		{ "slots taken back whoever else holds them", &forget_the_living, 1 },
		{ "the living reader's row is zeroed too", &zero_both, 1 },
	};
	int n_bad = mc_prove("a writer dies", &writer_model, writer_mutations,
			     sizeof(writer_mutations) / sizeof(writer_mutations[0]));

	n_bad += mc_prove("a reader dies", &reader_model, reader_mutations,
			  sizeof(reader_mutations) / sizeof(reader_mutations[0]));
	n_bad += mc_prove("one of two readers dies", &two_model, two_mutations,
			  sizeof(two_mutations) / sizeof(two_mutations[0]));
	return n_bad > 0;
}

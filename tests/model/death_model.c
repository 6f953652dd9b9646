/* SPDX-License-Identifier: Apache-2.0 */
/*
 * death_model.c - either end is killed between any two of its steps.
 *
 * The kernel's mark (R8) comes after all the dead thread did.  A dead writer: its
 * reader takes everything that was published and nothing else, because it reads the
 * cursor again after it saw the mark.  A dead reader: the writer zeroes its row,
 * counts what was queued and uses the slots again; nothing is counted twice.
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
	int n_bad = mc_prove("a writer dies", &writer_model, writer_mutations,
			     sizeof(writer_mutations) / sizeof(writer_mutations[0]));

	n_bad += mc_prove("a reader dies", &reader_model, reader_mutations,
			  sizeof(reader_mutations) / sizeof(reader_mutations[0]));
	return n_bad > 0;
}

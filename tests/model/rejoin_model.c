/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rejoin_model.c - a reader dies or ends and another takes its place.
 *
 * The writer does not see the death: the new reader's ticket tells it (R6, A6).  It
 * settles the old account, makes the row ready and lets the new one in (R10, A10).
 * Every message is taken by the old one, abandoned, left or taken by the new one; none
 * twice, none under a reader.  Either side may die before any step.
 */
#include "mc.h"

enum { SLOTS = 4, MESSAGES = 3, DEPTH = 2, LOOKS = 2, TICKET = 4 };

static struct mc_atomic tail, head, ticket, accepted, held[SLOTS], dead;
static struct mc_plain payload[SLOTS], cell[DEPTH];
static uint64_t n_old, n_new, n_abandoned, n_lost, n_sent, start, n_pool, pool[SLOTS];
static uint64_t w_tail, w_ticket, out_of[SLOTS];
static bool is_settled, is_in;

static int r6 = MC_RELEASE, a6 = MC_ACQUIRE;
static int r10 = MC_RELEASE, a10 = MC_ACQUIRE;
static int keep_row, keep_head, do_not_wait, do_not_settle, early_accept;

static void
setup(void)
{
	mc_atomic_init(&tail, 0);
	mc_atomic_init(&head, 0);
	mc_atomic_init(&ticket, 0);
	mc_atomic_init(&accepted, 0);
	mc_atomic_init(&dead, 0);
	for (uint64_t i = 0; i < SLOTS; i++) {
		mc_atomic_init(&held[i], 0);
		mc_plain_init(&payload[i]);
		pool[i] = i;
		out_of[i] = 0;
	}
	for (int i = 0; i < DEPTH; i++)
		mc_plain_init(&cell[i]);
	n_pool = SLOTS;
	n_old = n_new = n_abandoned = n_lost = n_sent = start = 0;
	w_tail = w_ticket = 0;
	is_settled = is_in = false;
}

/* ---- the writer ------------------------------------------------------------------------- */

static void
scan(void)
{
	for (uint64_t slot = 0; slot < SLOTS; slot++)
		if (out_of[slot] && mc_load(&held[slot], MC_ACQUIRE) == 0) {
			out_of[slot] = 0;
			pool[n_pool++] = slot;
		}
}

static void
look_at_ticket(void)
{
	uint64_t now = mc_load(&ticket, (enum mc_order)a6);

	if (now == w_ticket)
		return;
	if (early_accept)
		mc_store(&accepted, now, (enum mc_order)r10);
	if (!do_not_settle)
		n_abandoned = w_tail - mc_load(&head, MC_RELAXED);
	for (uint64_t slot = 0; slot < SLOTS && !keep_row; slot++)
		mc_store(&held[slot], 0, MC_RELAXED);
	scan();
	start = w_tail;
	if (!keep_head)
		mc_store(&head, w_tail, MC_RELAXED);
	is_settled = true;
	w_ticket = now;
	if (!early_accept)
		mc_store(&accepted, now, (enum mc_order)r10);
}

static void
writer(void)
{
	for (int t = 0; t < MESSAGES; t++) {
		uint64_t slot;

		look_at_ticket();
		n_sent++;
		if (w_tail - mc_load(&head, MC_ACQUIRE) == DEPTH) {
			n_lost++;
			continue;
		}
		if (n_pool == 0)
			scan();
		mc_assume(n_pool > 0);
		slot = pool[--n_pool];
		mc_write(&payload[slot], 100 + w_tail);
		mc_store(&held[slot], 1, MC_RELAXED);
		mc_write(&cell[w_tail % DEPTH], slot);
		out_of[slot] = 1;
		w_tail++;
		mc_store(&tail, w_tail, MC_RELEASE);
	}
}

/* ---- the readers ------------------------------------------------------------------------ */

static void
take(uint64_t *at, uint64_t *count)
{
	uint64_t to = mc_load(&tail, MC_ACQUIRE), slot;

	mc_check(to - *at <= DEPTH, "more is queued than fits");
	if (*at == to)
		return;
	slot = mc_read(&cell[*at % DEPTH]);
	mc_store(&head, *at + 1, MC_RELEASE);
	(*count)++;
	mc_check(mc_read(&payload[slot]) == 100 + *at, "a message twice or overwritten");
	(*at)++;
	mc_store(&held[slot], 0, MC_RELEASE);
}

static void
old_reader(void)
{
	uint64_t at = 0;

	take(&at, &n_old);
	take(&at, &n_old);
}

static void
new_reader(void)
{
	uint64_t at = 0;

	mc_store(&ticket, TICKET, (enum mc_order)r6);
	for (int look = 0; look < LOOKS; look++) {
		if (!is_in && !do_not_wait && mc_load(&accepted, (enum mc_order)a10) != TICKET)
			continue;
		if (!is_in)
			at = mc_load(&head, MC_RELAXED);
		is_in = true;
		take(&at, &n_new);
	}
}

static void
new_reader_after_the_death(void)
{
	/* Whoever starts it saw the old one die. */
	mc_assume(mc_load(&dead, MC_ACQUIRE) == 1);
	new_reader();
}

static void
setup_mortal_reader(void)
{
	setup();
	mc_mortal(1, &dead);
}

static void
finish(void)
{
	uint64_t queued = mc_load(&tail, MC_RELAXED) - mc_load(&head, MC_RELAXED);
	uint64_t n_held = 0;

	mc_check(n_sent == n_old + n_new + n_abandoned + n_lost + queued,
		 "the counts do not add up");
	if (!is_settled)
		return;
	mc_check(n_old + n_abandoned == start, "the old account is not exact");
	for (uint64_t i = 0; i < SLOTS; i++)
		n_held += mc_load(&held[i], MC_RELAXED);
	mc_check(n_held == queued, "the old reader still holds a slot");
}

/* ---- the writer dies while it lets one in ------------------------------------------------ */

static void
setup_mortal_writer(void)
{
	setup();
	mc_mortal(0, &dead);
}

static void
one_after_the_other(void)
{
	old_reader();
	new_reader();
	if (!is_in || mc_load(&dead, MC_ACQUIRE) == 0)
		return;
	/* Let in before the death: what was published after is there, to the last. */
	for (uint64_t at = mc_load(&head, MC_RELAXED); n_new < DEPTH && at < MESSAGES;) {
		uint64_t before = at;

		take(&at, &n_new);
		if (at == before)
			break;
	}
	mc_check(mc_load(&tail, MC_RELAXED) == mc_load(&head, MC_RELAXED),
		 "something published was left");
}

static void
finish_mortal_writer(void)
{
	uint64_t to = mc_load(&tail, MC_RELAXED), at = mc_load(&head, MC_RELAXED);

	mc_check(to - at <= DEPTH, "the cursors make no sense");
	mc_check(!is_in || n_old + n_abandoned == start, "the old account is not exact");
}

#define N_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

int
main(void)
{
	static const struct mc_model model = { setup_mortal_reader,
					       { writer, old_reader, new_reader_after_the_death },
					       3,
					       finish,
					       3 };
	static const struct mc_mutation mutations[] = {
		{ "R6 relaxed: the new reader's ticket", &r6, MC_RELAXED },
		{ "A6 relaxed: writer sees the ticket", &a6, MC_RELAXED },
		{ "R10 relaxed: writer lets it in", &r10, MC_RELAXED },
		{ "A10 relaxed: reader is let in", &a10, MC_RELAXED },
		{ "the old row is not zeroed", &keep_row, 1 },
		{ "the cursor stays where it was", &keep_head, 1 },
		{ "the new reader does not wait to be let in", &do_not_wait, 1 },
		{ "the old account is not settled", &do_not_settle, 1 },
		{ "let in before the row is ready", &early_accept, 1 },
	};
	static const struct mc_model writer_dies = {
		setup_mortal_writer, { writer, one_after_the_other }, 2, finish_mortal_writer, 3
	};
	static const struct mc_mutation writer_mutations[] = {
		{ "A10 relaxed: reader is let in", &a10, MC_RELAXED },
		{ "let in before the row is ready", &early_accept, 1 },
	};
	int n_bad = mc_prove("another reader", &model, mutations, N_OF(mutations));

	n_bad += mc_prove("another reader, the writer dies", &writer_dies, writer_mutations,
			  N_OF(writer_mutations));
	return n_bad > 0;
}

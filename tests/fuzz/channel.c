/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.c - see channel.h.
 */
#include "channel.h"

/* Reads all of a message: what cannot be read is a fault of the library. */
static void
touch(const struct hmq_rx *rx)
{
	static volatile uint8_t sink;
	const uint8_t *data = rx->data;

	sink = (uint8_t)(sink + rx->head->rank);
	if (rx->bytes > 0)
		sink = (uint8_t)(sink + data[0] + data[rx->bytes - 1]);
}

void
user_open(struct user *u, const struct hmq_segment *seg, struct hmq_waiter *waiter)
{
	struct hmq_peer peer[HMQ_MAX_READERS];
	struct hmq_peer to_writer = { .waiter = waiter, .life = waiter, .event_fd = -1 };
	struct hmq_edge_stat stat;
	struct hmq_error err;

	*u = (struct user){ .seg = *seg, .waiter = waiter };
	for (int i = 0; i < HMQ_MAX_READERS; i++) {
		peer[i] = (struct hmq_peer){ .event_fd = -1 };
		if (!waiter)
			continue;
		peer[i].waiter = (void *)((uint8_t *)waiter + HMQ_WAITER_BYTES);
		peer[i].life = peer[i].waiter;
	}
	while (u->n_readers < USER_READERS && hmq_reader_open(&u->reader[u->n_readers].r, seg,
							      u->n_readers, &to_writer, &err) == 0)
		u->n_readers++;
	if (hmq_writer_open(&u->w, seg, peer, &err))
		u->w = NULL;
	hmq_chan_stat(seg, 0, &stat);
}

static void
meanwhile(struct user *u, struct fuzz_input *in)
{
	if (u->meanwhile && fuzz_below(in, 4) == 0)
		u->meanwhile(u->arg, in);
}

/* ---- the writer ------------------------------------------------------------------------- */

static void
writer_step(struct user *u, struct fuzz_input *in, uint32_t what)
{
	uint32_t n = fuzz_below(in, 4);

	switch (what) {
	case 0:
	case 1:
		if (n > USER_MESSAGES - u->n_loans)
			n = USER_MESSAGES - u->n_loans;
		u->n_loans += hmq_loan(u->w, u->loan + u->n_loans, n);
		break;
	case 2:
	case 3:
	case 4:
		if (n > u->n_loans)
			n = u->n_loans;
		for (uint32_t i = 0; i < n; i++) {
			struct hmq_tx *tx = &u->loan[u->n_loans - n + i];

			tx->head->bytes = fuzz_below(in, 8) ? tx->capacity : tx->capacity + 1;
			if (tx->capacity > 0)
				memset(tx->data, 0x5a, tx->capacity);
		}
		if (hmq_publish(u->w, u->loan + u->n_loans - n, n) == (int32_t)n)
			u->n_loans -= n;
		hmq_writer_culprit(u->w);
		break;
	case 5:
		hmq_cancel(u->w, u->loan, u->n_loans);
		u->n_loans = 0;
		break;
	case 6:
		hmq_room(u->w);
		hmq_writer_next_look(u->w, 0);
		break;
	case 7:
		hmq_writer_readers(u->w);
		break;
	case 8:
		hmq_writer_is_idle(u->w);
		break;
	case 9:
		hmq_prime(u->w, n, fuzz_below(in, 3), fuzz_u8(in));
		break;
	default:
		hmq_writer_end(u->w);
		break;
	}
}

/* ---- a reader --------------------------------------------------------------------------- */

static void
release_some(struct user_reader *r, struct fuzz_input *in, uint32_t n)
{
	if (n > r->n_taken)
		n = r->n_taken;
	if (n == 0)
		return;
	if (fuzz_below(in, 2)) /* the newest, or the oldest first */
		hmq_release(r->r, r->taken + r->n_taken - n, n);
	else {
		hmq_release(r->r, r->taken, n);
		memmove(r->taken, r->taken + n, (r->n_taken - n) * sizeof(r->taken[0]));
	}
	r->n_taken -= n;
}

static void
take_some(struct user *u, struct user_reader *r, struct fuzz_input *in, uint32_t n)
{
	int32_t there;
	uint32_t skip = fuzz_below(in, 8) ? 0 : fuzz_below(in, 4);

	if (n > USER_MESSAGES - r->n_taken)
		n = USER_MESSAGES - r->n_taken;
	there = hmq_peek(r->r, skip, r->taken + r->n_taken, n);
	for (int32_t i = 0; i < there; i++)
		touch(&r->taken[r->n_taken + (uint32_t)i]);
	if (there <= 0 || skip > 0)
		return;
	meanwhile(u, in);
	/* Whoever found out in between that the writer lies must cope with taking what was shown.
	 */
	hmq_queued(r->r);
	hmq_reader_state(r->r);
	meanwhile(u, in);
	n = (uint32_t)there;
	if (fuzz_below(in, 2)) {
		hmq_take(r->r, r->taken + r->n_taken, n);
		return;
	}
	hmq_advance(r->r, n);
	r->n_taken += n;
}

/* Another reader takes the place of one that has ended. */
static void
rejoin(struct user *u, struct user_reader *r)
{
	struct hmq_peer to_writer = { .waiter = u->waiter, .event_fd = -1 };
	struct hmq_reader *fresh;
	uint32_t index = (uint32_t)(r - u->reader);

	if (hmq_reader_rejoin(&fresh, &u->seg, index, &to_writer, NULL))
		return;
	hmq_reader_free(r->r);
	r->r = fresh;
	if (u->w)
		hmq_writer_set_peer(u->w, index, &to_writer);
}

static void
reader_step(struct user *u, struct user_reader *r, struct fuzz_input *in, uint32_t what)
{
	uint32_t n = fuzz_below(in, 4);

	switch (what) {
	case 0:
	case 1:
	case 2:
		take_some(u, r, in, n);
		break;
	case 3:
	case 4:
		release_some(r, in, n);
		break;
	case 5:
		hmq_queued(r->r);
		break;
	case 6:
		hmq_reader_state(r->r);
		break;
	case 7:
		hmq_reader_peer(r->r);
		break;
	default:
		release_some(r, in, USER_MESSAGES);
		hmq_reader_end(r->r);
		if (fuzz_below(in, 2))
			rejoin(u, r);
		break;
	}
}

void
user_step(struct user *u, struct fuzz_input *in)
{
	uint32_t what = fuzz_u8(in);
	struct hmq_edge_stat stat;

	if (what < 100 && u->w)
		writer_step(u, in, what % 11);
	else if (what < 240 && u->n_readers > 0)
		reader_step(u, &u->reader[fuzz_below(in, u->n_readers)], in, what % 9);
	else if (what < 250)
		hmq_chan_stat(&u->seg, fuzz_below(in, 5), &stat);
	else if (u->waiter)
		hmq_waiter_wait(u->waiter, hmq_waiter_prepare(u->waiter), 0);
}

void
user_close(struct user *u)
{
	if (u->w)
		hmq_cancel(u->w, u->loan, u->n_loans);
	for (uint32_t i = 0; i < u->n_readers; i++) {
		hmq_reader_end(u->reader[i].r);
		hmq_reader_free(u->reader[i].r);
	}
	if (u->w)
		hmq_writer_end(u->w);
	hmq_writer_free(u->w);
}

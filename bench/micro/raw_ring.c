/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw_ring.c - the shortest queue there is: one writer, one reader, 64 B copied
 * in and out, head and tail in blocks of their own, the peer's index cached.
 *
 * The floor of a message between spinning ends: no pool, no head, no loan, no
 * fan-out, no sleep, no death, no trust.  Paced; from the due time until the
 * reader has the 64 B.
 */
#include "micro.h"

enum { DEPTH = 64 };

struct ring {                             /* indices run free */
	_Alignas(HB_BLOCK) uint32_t head; /* reader writes */
	_Alignas(HB_BLOCK) uint32_t tail; /* writer writes */
	_Alignas(HB_BLOCK) struct hb_msg slot[DEPTH];
};

struct end {
	struct ring *ring;
	uint32_t mine, theirs; /* own index; the peer's as last seen */
};

static bool
push(struct end *e, const struct hb_msg *m)
{
	if (e->mine - e->theirs == DEPTH) {
		e->theirs = hr_load32_acquire(&e->ring->head);
		if (e->mine - e->theirs == DEPTH)
			return false;
	}
	memcpy(&e->ring->slot[e->mine % DEPTH], m, sizeof *m);
	hr_store32_release(&e->ring->tail, ++e->mine);
	return true;
}

static bool
pop(struct end *e, struct hb_msg *m)
{
	if (e->mine == e->theirs) {
		e->theirs = hr_load32_acquire(&e->ring->tail);
		if (e->mine == e->theirs)
			return false;
	}
	memcpy(m, &e->ring->slot[e->mine % DEPTH], sizeof *m);
	hr_store32_release(&e->ring->head, ++e->mine);
	return true;
}

static bool
send_paced(struct hb_job *job)
{
	struct end e = { .ring = (void *)job->share->body };
	uint64_t due;
	struct hb_msg m;

	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		due += HB_PACE_NS;
		hb_msg_make(&m, hb_wait_until(due), i);
		while (!push(&e, &m))
			hr_cpu_relax();
	}
	return true;
}

static bool
receive_paced(struct hb_job *job)
{
	struct end e = { .ring = (void *)job->share->body };
	struct hb_msg m;

	hb_meet(job);
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		while (!pop(&e, &m))
			;
		if (!hb_received(job, i, &m, hr_mono_ns()))
			return false;
	}
	return true;
}

double
hb_raw_ring(const struct hb_env *env, int ends)
{
	struct hb_job job = { .env = env,
			      .body_bytes = sizeof(struct ring),
			      .kind = (enum hb_ends)ends,
			      .send = send_paced,
			      .receive = receive_paced };

	hb_pace(&job, env);
	return hb_run_ends(&job);
}

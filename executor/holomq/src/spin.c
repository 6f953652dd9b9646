/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin.c - how long an idle end should spin before it sleeps.
 *
 * Sleeping and being woken costs a known time, measured here once per worker; what
 * spinning can save is at most that.  So it spins while the gaps between messages,
 * as a moving average, are not longer than the cost, and then for a few such gaps,
 * never for longer than the cost: an end that guesses wrong wastes no more than it
 * could have saved.  Pure arithmetic but for the measurement; no state is shared.
 */
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "layout.h"

enum {
	NAPS = 5,
	NAP_NS = 20000,
	LEAST_NS = 2000,  /* no kernel is faster */
	MOST_NS = 200000, /* what is slower was disturbed while it was measured */
	WEIGHT = 8,       /* a new gap counts one eighth */
	MOST_COSTS = 4,   /* a gap counts as at most so many costs: it is forgotten after a few */
	SPIN_GAPS = 4,
};

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* How much later than asked for a sleep ends: the way into the kernel and back onto the CPU. */
static int64_t
nap(void)
{
	uint32_t word = 0;
	int64_t until = now_ns() + NAP_NS;
	struct timespec at = { until / 1000000000, until % 1000000000 };

	while (now_ns() < until)
		syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &at, NULL,
			FUTEX_BITSET_MATCH_ANY);
	return now_ns() - until;
}

int64_t
hmq_spin_cost(void)
{
	int64_t least = MOST_NS;
	/* A timer may be late by the thread's slack; a wake is not. */
	int64_t slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);

	for (int i = 0; i < NAPS; i++) {
		int64_t cost = nap() - slack;

		if (cost < least)
			least = cost;
	}
	return least > LEAST_NS ? least : LEAST_NS;
}

void
hmq_spin_init(struct hmq_spin *s, int64_t cost_ns)
{
	s->cost_ns = cost_ns > 0 ? cost_ns : 0;
	s->mean_ns = s->cost_ns;
}

void
hmq_spin_learn(struct hmq_spin *s, int64_t gap_ns, int slept)
{
	int64_t most = MOST_COSTS * s->cost_ns;

	if (slept) /* part of it was the sleep's own doing */
		gap_ns -= s->cost_ns;
	if (gap_ns < 0)
		gap_ns = 0;
	if (gap_ns > most)
		gap_ns = most;
	s->mean_ns += (gap_ns - s->mean_ns) / WEIGHT;
}

int64_t
hmq_spin_budget(const struct hmq_spin *s)
{
	int64_t some = SPIN_GAPS * s->mean_ns;

	if (s->mean_ns > s->cost_ns)
		return 0;
	if (some < s->cost_ns / SPIN_GAPS)
		some = s->cost_ns / SPIN_GAPS;
	return some < s->cost_ns ? some : s->cost_ns;
}

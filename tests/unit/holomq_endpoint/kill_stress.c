/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill_stress.c - publisher and subscribers killed at any instant, met again by name.
 *
 * One publisher and two subscribers meet, talk and part without end; after a random
 * while one of them is killed and started again: in export, in the hand-shake, with
 * messages in its hands.  Nobody hangs, no message between two others is lost or torn,
 * a successor always gets the name, and nothing is left.  Prints its seed.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "atomic.h"
#include "place.h"

enum { READERS = 2, PEERS = 1 + READERS, ROUNDS = 150 };

struct board { /* shared with the children */
	uint64_t sent;
	uint64_t taken[READERS];
};

static struct board *board;

/* Says which check it was. */
static void
complain(int line, int64_t what)
{
	dprintf(2, "kill_stress.c:%d: %lld\n", line, (long long)what);
	_exit(98);
}

#define WANT(cond, what)                                                                           \
	do {                                                                                       \
		if (!(cond))                                                                       \
			complain(__LINE__, (int64_t)(what));                                       \
	} while (0)

static void
publish_for_ever(const struct place *p)
{
	struct hmq_export e = place_export(p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD);
	struct hmq_endpoint *ep;
	struct hmq_error err;

	e.seats = READERS;
	WANT(hmq_endpoint_export(&ep, &e, &err) == 0, err.code);
	for (uint64_t n = 0;;) {
		(void)hmq_endpoint_wait(ep, 1, place_after(LONG));
		if (place_send(hmq_endpoint_writer(ep), n) == 1) {
			n++;
			hmq_store_relaxed_u64(&board->sent, board->sent + 1);
		} else {
			(void)hmq_endpoint_sleep(ep, place_after(LONG));
		}
	}
}

static void
subscribe_for_ever(const struct place *p, int me)
{
	struct hmq_import i = place_import(p, HMQ_ROLE_READER);
	struct hmq_endpoint *ep;
	struct hmq_reader *r;
	int64_t until;
	int rc;

	for (;;) {
		uint64_t next = UINT64_MAX;

		rc = hmq_endpoint_import(&ep, &i, place_after(LONG), NULL);
		/* A seat of a peer that was just killed may be free a little later. */
		if (rc == -EUSERS)
			continue;
		WANT(rc == 0, rc);
		r = hmq_endpoint_reader(ep);
		until = place_after(3000000);
		while (hmq_reader_state(r) == HMQ_OPEN && place_after(0) < until) {
			uint64_t n = place_take(r);

			if (n == UINT64_MAX) {
				rc = hmq_endpoint_sleep(ep, until);
				WANT(rc == 0 || rc == -ETIMEDOUT, rc);
				continue;
			}
			WANT(next == UINT64_MAX || n == next, n - next);
			next = n + 1;
			hmq_store_relaxed_u64(&board->taken[me], board->taken[me] + 1);
		}
		WANT(hmq_reader_state(r) != HMQ_BROKEN, HMQ_BROKEN);
		hmq_endpoint_close(ep);
	}
}

static pid_t
start(const struct place *p, int who)
{
	pid_t pid = place_fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (who == 0)
		publish_for_ever(p);
	else
		subscribe_for_ever(p, who - 1);
	_exit(99);
}

/* Until everybody got further than it was, or somebody has ended by itself. */
static void
until_all_move(const pid_t *pid)
{
	struct board before = *board;
	int status;

	for (;;) {
		int moved = hmq_load_relaxed_u64(&board->sent) != before.sent;

		for (int k = 0; k < READERS; k++)
			moved += hmq_load_relaxed_u64(&board->taken[k]) != before.taken[k];
		if (moved == PEERS)
			return;
		for (int k = 0; k < PEERS; k++)
			if (waitpid(pid[k], &status, WNOHANG) != 0)
				fail_msg("peer %d ended: %#x", k, status);
		sched_yield();
	}
}

static void
whoever_is_killed_the_others_go_on(void **state)
{
	unsigned seed = (unsigned)time(NULL);
	struct place p;
	pid_t pid[PEERS];

	(void)state;
	printf("seed %u\n", seed);
	place_open(&p);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_true(board != MAP_FAILED);
	for (int k = 0; k < PEERS; k++)
		pid[k] = start(&p, k);
	for (int round = 0; round < ROUNDS; round++) {
		struct timespec while_ = { 0, rand_r(&seed) % 4000000 };
		int who = rand_r(&seed) % PEERS;

		if (round % 3 == 0)
			until_all_move(pid);
		nanosleep(&while_, NULL); /* any instant will do */
		assert_int_equal(kill(pid[who], SIGKILL), 0);
		assert_int_equal(place_reap(pid[who]), 256 + SIGKILL);
		pid[who] = start(&p, who);
	}
	until_all_move(pid);
	for (int k = 0; k < PEERS; k++) {
		kill(pid[k], SIGKILL);
		place_reap(pid[k]);
	}
	hmq_endpoint_clean(p.dir, NULL, NULL, NULL);
	munmap(board, sizeof(*board));
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whoever_is_killed_the_others_go_on),
	};

	return cmocka_run_group_tests_name("holomq_endpoint_kill", tests, NULL, NULL);
}

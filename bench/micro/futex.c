/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.c - wake a process that sleeps on another CPU: one word, FUTEX_WAKE,
 * nothing else.
 *
 * The floor of a message to a sleeping receiver.  Paced; from the due time until
 * the receiver runs.  In the second variant the sender sleeps too, in
 * clock_nanosleep until the message is due: the floor of a paced source that
 * does not spin.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "micro.h"

struct word {
	_Alignas(HB_BLOCK) uint32_t sent;
	struct hb_msg msg; /* paced: the receiver is done with one before the next is due */
	_Alignas(HB_BLOCK) uint32_t taken; /* the receiver writes */
};

static void
sleep_until(uint64_t due_ns)
{
	struct timespec at = { (time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static bool
send_paced(struct hb_job *job)
{
	struct word *w = (void *)job->share->body;
	uint64_t due;

	prctl(PR_SET_TIMERSLACK, 1UL);
	hb_meet(job);
	due = hr_mono_ns();
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		due += HB_PACE_NS;
		if (job->variant == HB_SENDER_SLEEPS)
			sleep_until(due);
		hb_wait_until(due);
		/* One slot: a message that the host delayed by a whole period is waited for. */
		while (hr_load32_acquire(&w->taken) != i)
			hr_cpu_relax();
		hb_msg_make(&w->msg, due, i);
		hr_store32_release(&w->sent, i + 1);
		syscall(SYS_futex, &w->sent, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return true;
}

static bool
receive_paced(struct hb_job *job)
{
	struct word *w = (void *)job->share->body;

	hb_meet(job);
	for (uint32_t i = 0; i < job->warm + job->n; i++) {
		struct hb_msg m;
		uint64_t now;

		while (hr_load32_acquire(&w->sent) == i)
			syscall(SYS_futex, &w->sent, FUTEX_WAIT, i, NULL, NULL, 0);
		m = w->msg;
		now = hr_mono_ns();
		hr_store32_release(&w->taken, i + 1);
		if (!hb_received(job, i, &m, now))
			return false;
	}
	return true;
}

double
hb_futex(const struct hb_env *env, int sender)
{
	struct hb_job job = { .env = env,
			      .body_bytes = sizeof(struct word),
			      .kind = HB_PROCESSES,
			      .variant = sender,
			      .send = send_paced,
			      .receive = receive_paced };

	hb_pace(&job, env);
	return hb_run_ends(&job);
}

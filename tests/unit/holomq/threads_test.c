/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads_test.c - one writer and three readers in threads of their own.
 *
 * Content, order and counts hold for readers that block, that lose and that leave
 * half-way; ThreadSanitizer looks on in its build.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "rig.h"

enum { MESSAGES = 5000, LEAVES_AFTER = 1000 };

struct reader_thread {
	pthread_t thread;
	struct hmq_reader *r;
	uint64_t until; /* leave after so many */
	int may_lose;
	uint64_t got;
	const char *fault;
};

static void
read_window(struct reader_thread *t, uint64_t *want)
{
	struct hmq_rx rx[8];
	int32_t n = hmq_peek(t->r, 0, rx, 1 + t->got % 8);

	if (n == 0)
		sched_yield();
	for (int32_t i = 0; i < n; i++) {
		uint64_t number;

		memcpy(&number, rx[i].data, sizeof(number));
		if (number < *want || (number > *want && !t->may_lose) || rx[i].head->seq != number)
			t->fault = "out of order";
		*want = number + 1;
	}
	/* Released in reverse, taken in two steps half of the time. */
	if (t->got % 2) {
		hmq_advance(t->r, (uint32_t)n);
		for (int32_t i = n; i > 0; i--)
			hmq_release(t->r, &rx[i - 1], 1);
	} else {
		hmq_take(t->r, rx, (uint32_t)n);
	}
	t->got += (uint64_t)n;
}

static void *
reader_main(void *arg)
{
	struct reader_thread *t = arg;
	uint64_t want = 0;

	while (!t->fault && t->got < t->until && hmq_reader_state(t->r) == HMQ_OPEN)
		read_window(t, &want);
	hmq_reader_end(t->r);
	return NULL;
}

static void
send_all(struct rig *rig)
{
	struct hmq_tx tx[4];

	while (rig->next < MESSAGES) {
		uint32_t room = hmq_room(rig->w);
		uint32_t want = 1 + (uint32_t)(rig->next % 4);
		uint32_t n = hmq_loan(rig->w, tx, room < want ? room : want);

		if (n == 0)
			sched_yield();
		for (uint32_t i = 0; i < n; i++, rig->next++) {
			memcpy(tx[i].data, &rig->next, sizeof(rig->next));
			tx[i].head->bytes = sizeof(rig->next);
		}
		assert_int_equal(hmq_publish(rig->w, tx, n), n);
	}
	hmq_writer_end(rig->w);
}

static void
readers_of_every_kind_get_what_they_should(void **state)
{
	static const struct hmq_reader_config readers[] = { { 5, HMQ_BLOCK },
							    { 3, HMQ_DROP_NEWEST },
							    { 4, HMQ_BLOCK } };
	struct reader_thread t[3] = { { .until = UINT64_MAX },
				      { .until = UINT64_MAX, .may_lose = 1 },
				      { .until = LEAVES_AFTER } };
	struct hmq_edge_stat s;
	struct rig rig;

	(void)state;
	rig_open(&rig, 0, 12, readers, 3);
	for (int i = 0; i < 3; i++) {
		t[i].r = rig.r[i];
		assert_int_equal(pthread_create(&t[i].thread, NULL, reader_main, &t[i]), 0);
	}
	send_all(&rig);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_join(t[i].thread, NULL), 0);
	assert_int_equal(hmq_writer_is_idle(rig.w), 1);
	for (uint32_t i = 0; i < 3; i++) {
		assert_null(t[i].fault);
		assert_int_equal(hmq_chan_stat(&rig.seg, i, &s), 0);
		assert_int_equal(s.sent, rig.next);
		assert_int_equal(s.received, t[i].got);
		rig_check_identity(&rig, i);
	}
	assert_int_equal(t[0].got, rig.next);
	assert_true(t[2].got >= LEAVES_AFTER);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_of_every_kind_get_what_they_should),
	};

	return cmocka_run_group_tests_name("holomq_threads", tests, NULL, NULL);
}

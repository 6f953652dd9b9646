/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rig.c - builds, drives and takes apart one channel for the tests of HoloMQ.
 *
 * Everything asserts through cmocka, so a helper never returns half a rig.
 */
#include <dirent.h>
#include <string.h>

#include "rig.h"

const struct hmq_peer rig_no_peer = { .event_fd = -1 };

void
rig_open(struct rig *rig, uint32_t flags, uint32_t slots, const struct hmq_reader_config *readers,
	 uint32_t n_readers)
{
	struct hmq_config cfg = { .slots = slots,
				  .payload_bytes = RIG_BYTES,
				  .n_readers = n_readers,
				  .reader = readers };
	struct hmq_peer peers[HMQ_MAX_READERS];
	struct hmq_error err;

	memset(rig, 0, sizeof(*rig));
	rig->n_readers = n_readers;
	assert_int_equal(
		hmq_segment_create(&rig->seg, "rig", hmq_chan_bytes(&cfg, &err), flags, &err), 0);
	assert_int_equal(hmq_chan_format(&rig->seg, &cfg, &err), 0);
	for (uint32_t i = 0; i < n_readers; i++)
		peers[i] = rig_no_peer;
	assert_int_equal(hmq_writer_open(&rig->w, &rig->seg, peers, &err), 0);
	for (uint32_t i = 0; i < n_readers; i++)
		assert_int_equal(hmq_reader_open(&rig->r[i], &rig->seg, i, &rig_no_peer, &err), 0);
}

void
rig_open_one(struct rig *rig, uint32_t flags, uint32_t slots, uint32_t depth)
{
	struct hmq_reader_config reader = { depth, HMQ_BLOCK };

	rig_open(rig, flags, slots, &reader, 1);
}

void
rig_close(struct rig *rig)
{
	hmq_writer_free(rig->w);
	for (uint32_t i = 0; i < rig->n_readers; i++)
		hmq_reader_free(rig->r[i]);
	hmq_segment_close(&rig->seg);
}

int32_t
rig_send(struct rig *rig, uint32_t n)
{
	struct hmq_tx tx[256];
	int32_t rc;

	assert_true(n <= 256);
	assert_int_equal(hmq_loan(rig->w, tx, n), n);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = rig->next + i;

		memcpy(tx[i].data, &number, sizeof(number));
		tx[i].head->bytes = sizeof(number);
	}
	rc = hmq_publish(rig->w, tx, n);
	if (rc < 0)
		hmq_cancel(rig->w, tx, n);
	else
		rig->next += n;
	return rc;
}

uint64_t
rig_number(const struct hmq_rx *rx)
{
	uint64_t number;

	assert_int_equal(rx->bytes, sizeof(number));
	memcpy(&number, rx->data, sizeof(number));
	return number;
}

uint32_t
rig_take(struct rig *rig, uint32_t reader, uint32_t n)
{
	struct hmq_rx rx[256];
	int32_t got;

	assert_true(n <= 256);
	got = hmq_peek(rig->r[reader], 0, rx, n);
	assert_true(got >= 0);
	for (int32_t i = 0; i < got; i++)
		assert_int_equal(rig_number(&rx[i]), rig->want[reader]++);
	hmq_take(rig->r[reader], rx, (uint32_t)got);
	return (uint32_t)got;
}

void
rig_check_identity(const struct rig *rig, uint32_t reader)
{
	struct hmq_edge_stat s;

	assert_int_equal(hmq_chan_stat(&rig->seg, reader, &s), 0);
	assert_int_equal(s.sent, s.received + s.lost + s.left + s.abandoned);
	assert_int_equal(s.queued, 0);
}

int
rig_count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testops.h - the plugins that only tests load, and what their files share.
 *
 * libtestops.so, one op per behaviour; numbers are u64, little endian, from 0:
 *   sources  test/seq_source   count size rate: numbered messages
 *            test/live_source  rate size: the same, ends only when told to
 *            test/pieces       script "FRAME/INDEX[/STREAM] ...": one message each
 *            test/c32_source   count n: complex float32
 *   passers  test/copy         in -> out
 *            test/two_out      in -> hit (even numbers), miss (odd numbers)
 *            test/join2        a, b -> out: pairs; alone once the other ended
 *            test/opt_in       in, optional side -> out
 *            test/need5        in -> out: takes five, makes one
 *            test/nap          in -> out: sleeps `work` a message (BLOCKS)
 *   sinks    test/seq_sink     file lossy: checks order, writes the numbers at close
 *            test/head_sink    file: "frame index stream flags bytes number" a line
 *            test/f64_sink     accepts float64 only
 *            test/many_in      any number of inputs
 *            test/done_after   n: DONE after n messages
 *            test/slow         work: busy time per message
 *            test/hog          keeps the first 8 messages, takes no more
 *            test/stall        never takes
 *   faults   test/crash        at where: SIGSEGV in shape, open, start, process, stop or close
 *            test/hang         at spin: process() never returns
 *            test/hang_stop    where: stop or close never returns
 *            test/fail_open    errno text: open fails
 *            test/fail_at      n text: process fails
 *   params   test/param_all    one parameter of each type, written to `file` in open
 * n and at count messages from 1.
 *
 * libtwin_a, libtwin_b     both offer test/copy2 for the CPU
 * libcuda_fake             test/copy for CUDA; says that there is no driver
 * libcuda_odd              test/copy for CUDA with another port name
 * libbad_major, libbad_draft, libno_symbol, libundefined (holo_no_such_function),
 * libmissing_dep (libholodep_gone.so), libctor_crash (SIGSEGV in a constructor)
 * libcorrupt_WHAT_VALUE    one wrong word in the table each, see corrupt.c
 *
 * Under AddressSanitizer a crash is an exit unless ASAN_OPTIONS=handle_segv=0.
 */
#ifndef TESTOPS_H
#define TESTOPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <holorun/op.h>

#define TO_PARAM(type, strct, member, def, min, max, doc)                                          \
	HOP_PARAM(type, 0, strct, member, def, min, max, doc)
#define TO_PORT(dir, name, flags)                                                                  \
	{                                                                                          \
		name, "test messages", dir, flags, HOP_MEM_HOST, 1, 0, 0, 0, 0                     \
	}

extern const struct hop_op test_seq_source, test_live_source, test_pieces, test_c32_source;
extern const struct hop_op test_copy, test_two_out, test_join2, test_opt_in, test_need5, test_nap;
extern const struct hop_op test_seq_sink, test_head_sink, test_f64_sink, test_many_in,
	test_done_after, test_slow, test_hog, test_stall;
extern const struct hop_op test_crash, test_hang, test_hang_stop, test_fail_open, test_fail_at;
extern const struct hop_op test_param_all;

static inline uint64_t
to_number(const struct hop_rx *rx)
{
	uint64_t n = UINT64_MAX;

	if (rx->bytes >= sizeof n)
		memcpy(&n, rx->data, sizeof n);
	return n;
}

static inline void
to_copy(const struct hop_tx *tx, const struct hop_rx *rx)
{
	uint64_t bytes = rx->bytes < tx->capacity ? rx->bytes : tx->capacity;

	hop_derive(tx, rx);
	tx->head->bytes = bytes;
	tx->head->dtype = rx->head->dtype;
	tx->head->rank = rx->head->rank;
	memcpy(tx->head->dim, rx->head->dim, sizeof tx->head->dim);
	memcpy(tx->data, rx->data, bytes);
}

static inline uint32_t
to_min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline void
to_busy(int64_t work_ns)
{
	struct timespec t;
	int64_t end = 0, now;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		end = end ? end : now + work_ns;
	} while (now < end);
}

static inline int
to_same_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	(void)ctx;
	for (uint32_t i = 0; i < shape->n_out; i++)
		*shape->out[i] = *shape->in[0];
	return 0;
}

#endif /* TESTOPS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - what is measured, against which floor, and the bound it must keep.
 *
 * A row stands near its floor, because the two are measured one after the other
 * in each repetition.
 */
#include "rows.h"

#include "graph.h"
#include "iceoryx.h"
#include "micro.h"

/* Key, text, function and its argument; then the floor and the bound, if any. */
#define ROW(k, text, fn, a, ...)                                                                   \
	{                                                                                          \
		.key = (k), .what = (text), .measure = (fn), .arg = (int)(a), __VA_ARGS__          \
	}
/* The figures of row `of`, against another floor. */
#define ALSO(k, text, of, ...)                                                                     \
	{                                                                                          \
		.key = (k), .what = (text), .same_as = (of), __VA_ARGS__                           \
	}
#define TO(f) .floor = (f)
#define TIMES(x, f) .floor = (f), .kind = HB_RATIO, .bound = (x)
#define NS(x) .floor = "floor.call", .kind = HB_NS, .bound = (x)

enum { MIB = 1 << 20 };

struct hb_row hb_rows[] = {
	/* One CPU. */
	ROW("floor.call", "call through a pointer", hb_call, 0, ),
	ROW("floor.clock", "reading of the clock", hb_clock, 0, ),

	/* Spinning ends. */
	ROW("floor.line", "cache line to another CPU, one way", hb_pingpong, 0, ),
	ROW("raw.2p", "raw ring, 2 processes", hb_raw_ring, HB_PROCESSES, ),
	ROW("raw.2p.again", "A/A: the same again", hb_raw_ring, HB_PROCESSES, TO("raw.2p")),
	ROW("hmq.spin.2p", "HoloMQ spin, 2 processes", hb_hmq_spin, HB_PROCESSES,
	    TIMES(1.5, "raw.2p")),
	ROW("iox.spin", "iceoryx polled, 2 processes", hb_iceoryx_spin, 0, ),
	ALSO("hmq.iox.spin", "HoloMQ spin, to iceoryx polled", "hmq.spin.2p",
	     TIMES(0.5, "iox.spin")),
	ROW("graph.spin.2p", "graph 1:1 spin, 2 processes", hb_one_to_one, HB_SPIN | HB_APART,
	    TIMES(3, "raw.2p")),
	ROW("graph.spin.2t", "graph 1:1 spin, 2 threads", hb_one_to_one, HB_SPIN,
	    TIMES(3, "raw.2t")),
	ROW("raw.2t", "raw ring, 2 threads", hb_raw_ring, HB_THREADS, ),
	ROW("hmq.spin.2t", "HoloMQ spin, 2 threads", hb_hmq_spin, HB_THREADS, TIMES(2, "raw.2t")),
	ALSO("graph.spin.apart", "graph 1:1 spin, processes to threads", "graph.spin.2p",
	     TIMES(1.2, "graph.spin.2t")),

	ROW("raw.serial", "raw ring, each when the last was taken", hb_raw_serialized,
	    HB_PROCESSES, ),
	ROW("hmq.serial", "HoloMQ, each when the last was taken", hb_hmq_serialized, HB_PROCESSES,
	    TO("raw.serial")),

	/* Size. */
	ROW("hmq.64", "HoloMQ, slots of 64 B", hb_hmq_large, 64, ),
	ROW("hmq.1m", "HoloMQ, slots of 1 MiB, 64 B touched", hb_hmq_large, MIB,
	    TIMES(1.1, "hmq.64")),
	ROW("hmq.desc.64", "HoloMQ, 64 B described", hb_hmq_described, 64, ),
	ROW("hmq.desc.1m", "HoloMQ, 1 MiB described, 64 B touched", hb_hmq_described, MIB,
	    TIMES(1.1, "hmq.desc.64")),

	/* As many as go through. */
	ROW("raw.full", "raw ring saturated, per message", hb_raw_saturated, 0, ),
	ROW("raw.full.again", "A/A: the same again", hb_raw_saturated, 0, TO("raw.full")),
	ROW("hmq.full", "HoloMQ saturated, reader spins", hb_hmq_saturated, HB_NEVER_SLEEPS,
	    TIMES(2, "raw.full")),
	ROW("hmq.full.sleep", "HoloMQ saturated, reader may sleep", hb_hmq_saturated, HB_MAY_SLEEP,
	    TIMES(2.86, "raw.full")),
	ROW("iox.full", "iceoryx saturated, reader polls", hb_iceoryx_saturated, 0, ),
	ALSO("hmq.iox.full", "HoloMQ saturated, to iceoryx", "hmq.full",
	     TIMES(1 / 3.0, "iox.full")),
	ROW("hmq.fan.across", "HoloMQ saturated, each further reader", hb_hmq_fan, HB_ACROSS,
	    NS(100)),

	/* Sleeping receivers. */
	ROW("floor.futex", "futex wake, 2 processes", hb_futex, HB_SENDER_SPINS, ),
	ROW("floor.futex.again", "A/A: the same again", hb_futex, HB_SENDER_SPINS,
	    TO("floor.futex")),
	ROW("hmq.sleep.2p", "HoloMQ sleep, 2 processes", hb_hmq_sleep, HB_PROCESSES,
	    TIMES(1.5, "floor.futex")),
	ROW("iox.sleep", "iceoryx in its wait set, 2 processes", hb_iceoryx_sleep, 0,
	    TO("floor.futex")),
	ALSO("hmq.iox.sleep", "HoloMQ sleep, to iceoryx", "hmq.sleep.2p", TO("iox.sleep")),
	ROW("graph.sleep.2p", "graph 1:1 sleep, 2 processes", hb_one_to_one, HB_SLEEP | HB_APART,
	    TIMES(1.5, "floor.futex")),
	ROW("graph.sleep.2t", "graph 1:1 sleep, 2 threads", hb_one_to_one, HB_SLEEP,
	    TIMES(1.5, "floor.futex")),
	ALSO("graph.sleep.apart", "graph 1:1 sleep, processes to threads", "graph.sleep.2p",
	     TIMES(1.2, "graph.sleep.2t")),
	ROW("floor.timer", "sender's timer, then futex wake", hb_futex, HB_SENDER_SLEEPS, ),
	ROW("graph.timer.2p", "graph 1:1, both ends sleep, 2 processes", hb_one_to_one,
	    HB_BOTH_SLEEP | HB_APART, TIMES(1.5, "floor.timer")),

	/* CPU time. */
	ROW("hmq.publish", "HoloMQ publish, receiver awake and busy", hb_hmq_publish, HB_BUSY,
	    NS(100)),
	ROW("hmq.publish.polled", "HoloMQ publish, receiver polls meanwhile", hb_hmq_publish,
	    HB_POLLS, TO("floor.line")),
	ROW("hmq.alone.1", "HoloMQ loan to take, one thread, batch 1", hb_hmq_alone, 1,
	    TO("floor.call")),
	ROW("hmq.alone.32", "the same, batch 32, per message", hb_hmq_alone, 32, TO("floor.call")),
	ROW("hmq.call.loan", "HoloMQ loan, one thread, one message", hb_hmq_one_call, HB_LOAN,
	    TO("floor.call")),
	ROW("hmq.call.publish", "publish", hb_hmq_one_call, HB_PUBLISH, TO("floor.call")),
	ROW("hmq.call.peek", "peek", hb_hmq_one_call, HB_PEEK, TO("floor.call")),
	ROW("hmq.call.take", "take", hb_hmq_one_call, HB_TAKE, TO("floor.call")),
	ROW("hmq.fan.alone", "HoloMQ in one thread, each further reader", hb_hmq_fan, HB_ALONE,
	    NS(100)),
	ROW("bare.copy.1", "process() of std/copy, 64 B, batch 1", hb_bare_copy, 1,
	    TO("floor.call")),
	ROW("bare.copy.32", "the same, batch 32, per message", hb_bare_copy, 32, TO("floor.call")),
	ROW("graph.host.1", "host cost per op and message, batch 1", hb_host_cost, 1, NS(100)),
	ROW("graph.host.32", "host cost per op and message, batch 32", hb_host_cost, 32, NS(25)),
	ROW("graph.chain", "chain of 10 ops, one partition, p50", hb_chain_latency, 0, NS(1500)),
};
const size_t hb_n_rows = sizeof hb_rows / sizeof hb_rows[0];

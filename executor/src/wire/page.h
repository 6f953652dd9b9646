/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - the run page: what all processes of a run tell each other.
 *
 * One shared segment made by wire, mapped by the supervisor and every child.
 * It holds the waiters of all workers, the few words by which the supervisor
 * commands (go, stop), and what workers report: states, counts, histograms, the
 * failure that ended them.  Each field says who writes it; counters have one
 * writer and are read relaxed.  No pointers.  A child is not trusted: indices
 * read from here are checked by whoever uses them.
 */
#ifndef HR_PAGE_H
#define HR_PAGE_H

#include <holomq/holomq.h>

#include "plan/plan.h"
#include "stat/hist.h"

#define HR_PAGE_MAGIC 0x31454741504e5548ull
#define HR_NO_NODE UINT32_MAX

enum hr_phase {                     /* commands, only ever rising; supervisor writes */
		HR_PHASE_OPEN = 0,  /* children load, wire and open their ops */
		HR_PHASE_START = 1, /* workers run start() */
		HR_PHASE_GO = 2,    /* everyone is attached: sources may begin */
		HR_PHASE_ABORT = 3, /* before GO something failed: undo and leave */
};

enum hr_stop { /* supervisor writes */
	       HR_STOP_NONE = 0,
	       HR_STOP_LIVE =
		       1, /* finite sources are done: live ones deliver what is there and end */
	       HR_STOP_SOURCES = 2, /* first signal, duration, failure: all sources end */
	       HR_STOP_NOW = 3, /* stalled, second signal: leave the loop, deliver nothing more */
};

enum hr_worker_state { /* worker writes */
		       HR_WORKER_NEW = 0,
		       HR_WORKER_STARTED = 1, /* pinned, start() of all its ops returned */
		       HR_WORKER_RUNNING = 2,
		       HR_WORKER_ENDED = 3,
};

enum hr_node_state { /* its worker writes */
		     HR_NODE_NEW = 0,
		     HR_NODE_RUNNING = 1,
		     HR_NODE_ENDED = 2,  /* in the ordinary way */
		     HR_NODE_FAILED = 3, /* a callback failed */
		     HR_NODE_LOST = 4,   /* ended because a peer died */
};

enum hr_wait_for { /* what a node that is not called waits for; its worker writes */
		   HR_FOR_NOTHING = 0, /* it was called in the last pass */
		   HR_FOR_INPUT = 1,
		   HR_FOR_OUTPUT = 2,
		   HR_FOR_TIME = 3, /* wake_at, or a descriptor: the outside world */
};

enum hr_call {
	HR_CALL_NONE,
	HR_CALL_OPEN,
	HR_CALL_START,
	HR_CALL_PROCESS,
	HR_CALL_STOP,
	HR_CALL_CLOSE
};
extern const char *const hr_call_name[];

struct hr_page_worker { /* worker writes, unless said otherwise */
	uint32_t state; /* release; supervisor acquires */
	uint32_t tid;
	int32_t cpu;     /* achieved: where it may run; -1: more than one CPU */
	uint32_t policy; /* achieved: SCHED_* */
	int32_t priority;
	uint32_t in_node; /* node being called, HR_NO_NODE: none */
	uint32_t in_call; /* enum hr_call */
	uint32_t reserved;
	uint64_t calls; /* of process() */
	uint64_t moved; /* messages taken and published: progress */
	uint64_t passes;
	uint64_t sleeps;
	uint64_t cpu_ns;           /* of the thread, at its end */
	uint64_t start_ns, end_ns; /* of the loop */
	uint64_t pad[5];
};

struct hr_page_node {       /* its worker writes */
	uint32_t state;     /* release */
	uint32_t wait_for;  /* enum hr_wait_for */
	uint32_t wait_port; /* which input or output */
	uint32_t reserved;
	uint64_t calls;
	uint64_t taken;   /* over all inputs */
	uint64_t filled;  /* over all outputs */
	uint64_t work_ns; /* sampled, scaled up */
	uint64_t wait_in_ns;
	uint64_t wait_out_ns;
	uint64_t end_ns;
	uint64_t max_call_ns; /* of the sampled calls */
	uint64_t bad_publish; /* reserved */
	uint64_t pad[5];
};

struct hr_page_gather { /* reader's worker writes; the words of docs/graph-format.md */
	uint64_t received, placed, duplicate, late, shed, invalid;
	uint64_t opened, complete, partial, dropped, shed_frames, published;
	uint64_t pad[4];
};

struct hr_page_edge { /* reader's worker writes; queue is copied by the reader's process */
	struct hmq_edge_stat queue;    /* of the channel; pieces if it gathers */
	struct hmq_edge_stat gathered; /* of the gather's channel */
	uint32_t queue_valid; /* release: queue and gathered were copied (at end or on request) */
	uint32_t sampled;     /* not every message was timed: max and p99.9 get a ~ */
	struct hr_hist age;   /* taken - born_ns; into a sink: e2e, read after the call */
	struct hr_hist tail;  /* into a sink: after the call - last_ns */
	uint64_t pad[7];
};

enum hr_failure_kind {
	HR_FAILURE_NONE = 0,
	HR_FAILURE_ERROR = 1,  /* a callback returned an error */
	HR_FAILURE_SIGNAL = 2, /* SIGSEGV and its kin, written by the signal handler */
	HR_FAILURE_HOST = 3,   /* not an op's fault: pinning, attach, memory */
	HR_FAILURE_EDGE = 4,   /* when_full: fail, or a message larger than its slot */
};

struct hr_page_failure {   /* one per worker and one per process; that thread writes, once */
	uint32_t kind;     /* release, last */
	uint32_t node;     /* HR_NO_NODE: none */
	uint32_t call;     /* enum hr_call */
	int32_t code;      /* errno, or the signal */
	int32_t exit_code; /* 1, or 3 for what this machine cannot do */
	uint32_t line;
	uint64_t when_ns;
	uint64_t message; /* how many messages the node had taken or made */
	char file[96];
	char text[376];
};

enum { HR_LOG_ENTRIES = 128, HR_LOG_TEXT = 240 };
struct hr_page_log_entry {
	uint32_t turn; /* see run/log.c */
	uint32_t node;
	int32_t level;
	uint32_t reserved;
	char text[HR_LOG_TEXT];
};
struct hr_page_log {      /* any thread of one process writes; the supervisor reads */
	uint32_t tail;    /* writers, by compare-and-swap */
	uint32_t head;    /* supervisor */
	uint64_t dropped; /* supervisor's view: entries lost since the ring was full */
	uint64_t full;    /* writers add, relaxed */
	uint64_t pad[5];
	struct hr_page_log_entry entry[HR_LOG_ENTRIES];
};

struct hr_page_process {   /* its control thread writes */
	uint32_t opened;   /* release: all open() returned */
	uint32_t closed;   /* release: all close() returned, everything copied here */
	uint32_t snapshot; /* release: = hr_page.snapshot_asked once the queues were copied */
	uint32_t pid;
	uint32_t gone;   /* release; supervisor: it ended, or died and will not be back */
	uint32_t lives;  /* supervisor: times it was started */
	uint64_t cpu_ns; /* user + system since its workers were started; the supervisor's word if
			  * it died */
	uint64_t max_rss_bytes;
	uint32_t in_node;     /* node whose open or close is being called, if in_call says so */
	uint32_t in_call;     /* enum hr_call */
	uint64_t cpu_base_ns; /* spent before its workers were started: loading, opening */
	uint64_t pad[2];
};

/* The first record of the page; the supervisor writes, children map it read-only. */
struct hr_page_words {
	uint64_t magic;
	uint64_t bytes;
	uint64_t digest; /* the plan's */
	int64_t go_ns;   /* before phase GO */
	uint32_t phase;  /* enum hr_phase, release */
	uint32_t stop;   /* enum hr_stop, release */
	uint32_t snapshot_asked;
	uint32_t reserved;
};

/*
 * A process's own view of the page: where every record lies follows from the plan and is kept in
 * private memory, so that whatever a wild write does to the page, nobody is led outside.
 */
struct hr_page {
	struct hr_page_words *words;
	uint64_t bytes;
	uint32_t n_processes, n_workers, n_nodes, n_edges, n_counters;
	uint32_t reserved;
	uint64_t off_waiters, off_workers, off_nodes, off_edges, off_gathers, off_counters;
	uint64_t off_failures, off_processes, off_logs;
	uint64_t digest;
	const uint32_t *counter_base; /* per node */
};

/* Records of different workers lie side by side: no two of them share a block that both write. */
enum { HR_PAGE_BLOCK = 128 };
_Static_assert(sizeof(struct hr_page_worker) % HR_PAGE_BLOCK == 0, "whole blocks");
_Static_assert(sizeof(struct hr_page_node) % HR_PAGE_BLOCK == 0, "whole blocks");
_Static_assert(sizeof(struct hr_page_gather) % HR_PAGE_BLOCK == 0, "whole blocks");
_Static_assert(sizeof(struct hr_page_edge) % HR_PAGE_BLOCK == 0, "whole blocks");

/* Bytes for this plan. */
uint64_t hr_page_bytes(const struct hr_plan *p);
/* How to see memory of that size as this plan's page; touches nothing. */
struct hr_page *hr_page_view(struct hr_arena *a, void *memory, const struct hr_plan *p);
/* Lay it out in zeroed memory. */
void hr_page_format(struct hr_page *page, const struct hr_plan *p);
/* 0, or -EBADMSG when the memory, of so many bytes, does not belong to this plan. */
int hr_page_check(const struct hr_page *page, uint64_t bytes);
/* For a child: its ops cannot overwrite what the supervisor says.  0 or -errno. */
int hr_page_protect(const struct hr_page *page);

struct hmq_waiter *hr_page_waiter(struct hr_page *page, uint32_t worker);
struct hr_page_worker *hr_page_worker(struct hr_page *page, uint32_t worker);
struct hr_page_node *hr_page_node(struct hr_page *page, uint32_t node);
struct hr_page_edge *hr_page_edge(struct hr_page *page, uint32_t edge);
struct hr_page_gather *hr_page_gather(struct hr_page *page, uint32_t edge);
/* The counters of a node, in the order of its op's table. */
uint64_t *hr_page_counters(struct hr_page *page, uint32_t node);
/* who: worker number, or n_workers + process number for the process's control thread. */
struct hr_page_failure *hr_page_failure(struct hr_page *page, uint32_t who);
struct hr_page_process *hr_page_process(struct hr_page *page, uint32_t process);
struct hr_page_log *hr_page_log(struct hr_page *page, uint32_t process);

#endif

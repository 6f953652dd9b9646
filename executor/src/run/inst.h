/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inst.h - what a running node, a gather and a worker are made of.
 *
 * Built by build.c in the control thread from plan and wiring; from then on each
 * instance is touched by its worker alone, except the page it reports into.
 * All arrays have their final size: nothing here allocates later.
 */
#ifndef HR_INST_H
#define HR_INST_H

#include <pthread.h>

#include "run/run.h"
#include "wire/wire.h"

struct hr_worker;
struct hr_gather_run;

struct hr_attached { /* an older channel, mapped as long as somebody reads it; control's */
	struct hmq_segment seg;
	struct hr_attached *next;
	uint32_t refs;
};

struct hr_reading { /* one life of a reader */
	struct hmq_reader *reader;
	struct hr_reading *chain;     /* the next of the list it is in */
	struct hr_attached *attached; /* NULL: the wiring's own segment; control's */
	uint32_t held; /* worker's: messages kept, or shown though it is `now` no longer */
};

/* The reading end of an edge.  Only one whose writer's process may restart ever changes. */
struct hr_link {
	struct hmq_reader *reader; /* worker's: of `now` */
	struct hr_reading *now;    /* worker's */
	struct hr_reading *coming; /* worker's: taken from `next`, oldest first */
	struct hr_reading *before; /* worker's: left with messages held */
	void *next; /* list of struct hr_reading, oldest first: control adds, worker takes all */
	void *left; /* list: the worker is done with them; control takes all and frees them */
	struct hr_reading *latest; /* control's: the newest offered */
	struct hr_reading *spare;  /* control's: freed, to be used again */
	const uint32_t *gone;      /* hr_page_process.gone of the writer's process */
	uint32_t ended;            /* worker: nothing is read any more */
	bool may_return;
};

struct hr_in { /* an input of an instance; reader NULL: not connected */
	struct hr_link link;
	struct hop_rx *rx; /* the window, `max` entries */
	uint32_t max;
	uint32_t shown; /* entries filled */
	uint32_t min;   /* max(min_batch, need) */
	uint32_t edge;
	bool ended; /* nothing will come after what is shown */
	bool lost;  /* ... because the writer died */
	bool any;   /* HOP_PORT_ANY */
	bool loop;  /* has `initial`: its end does not matter */
	bool odd;   /* some shown entry is kept or carried */
	uint32_t max_keeps;
	uint32_t n_keeps;            /* held past process() */
	struct hop_rx *keep;         /* max_keeps entries */
	struct hr_reading **keep_of; /* whose slot each is */
	bool *keep_shown;            /* per entry of rx: kept in this window, do not release */
	struct hr_reading **carry;   /* whose slot each of the first `carried` entries is */
	uint32_t carried;            /* shown, of readings before link.now */
	struct hr_page_edge *page;
	int64_t timed_ns; /* when a message was last timed */
};

struct hr_out {
	struct hmq_writer *writer;
	struct hop_tx *tx; /* loans, `max` entries */
	uint32_t max;
	uint32_t loaned;
	uint32_t min; /* min_batch */
	uint32_t chan;
	bool held;        /* no reader now, but one will be back: nothing is published */
	bool may_return;  /* some reader's process may restart */
	bool has_readers; /* by plan */
	bool unread;      /* had readers, all of them left */
};

enum hr_inst_state { HR_INST_RUNS, HR_INST_DRAINS, HR_INST_ENDED };

struct hr_inst {
	struct hop_ctx ctx; /* first: callbacks get its address */
	struct hop_io io;
	struct hop_shape shape; /* what was settled; query "shape/1" */
	const struct hop_op *op;
	void *state_mem;
	struct hr_in *in;
	struct hr_out *out;
	uint32_t n_in, n_out;
	uint32_t node;
	enum hr_inst_state state;
	bool is_source; /* no input ports */
	bool is_sink;   /* no output ports */
	bool end_any;
	bool watched;  /* has descriptors in the worker's epoll set */
	bool fd_ready; /* one of them had an event since the op last found nothing */
	bool idle;     /* the last call moved nothing */
	bool opened, started;
	bool peer_lost;
	uint32_t seen; /* what was shown at that call, to notice a change */
	enum hr_wait_for wait_for;
	uint32_t wait_port;
	int64_t wake_ns;    /* wake_at; 0: none */
	int64_t count_left; /* --count; INT64_MAX: no limit */
	uint64_t calls, timed_calls;
	int64_t timed_ns;
	struct hr_page_node *page;
	struct hr_worker *worker;
	struct hr_host *host;
	struct hr_gather_run **gather; /* those that feed it */
	uint32_t n_gathers;
	/* what HOP_FAIL recorded in the present call */
	int32_t fail_code;
	uint32_t fail_line;
	char fail_file[96];
	char fail_text[376];
};

struct hr_worker { /* in blocks of its own: each pass of the loop writes to it */
	_Alignas(HR_PAGE_BLOCK) const struct hr_plan_worker *plan;
	struct hr_host *host;
	uint32_t index;
	uint32_t n_inst;
	struct hr_inst **inst; /* in calling order */
	uint32_t n_live;       /* not ended */
	int32_t epoll_fd;      /* -1: sleeps in its futex */
	struct hmq_waiter *waiter;
	struct hr_page_worker *page;
	struct hr_page *run_page;
	uint64_t pass;
	int64_t sampled_ns; /* time of the last sampled pass */
	uint32_t stop;      /* page->stop as this worker acted on it */
	bool hurt;          /* its failure record is used */
	bool thread_runs;
	bool guarded; /* the test guard watches this loop: not where ops may block */
	pthread_t thread;
	int start_rc;
};

struct hr_host { /* all workers of one process */
	const struct hr_plan *plan;
	const struct hr_run_options *opt;
	struct hr_wiring *wiring;
	struct hr_arena *arena;
	uint32_t process; /* UINT32_MAX: all of them (in-process) */
	bool rejoins;     /* restarted: its readers come back to channels that live on */
	uint32_t n_workers;
	struct hr_worker *worker;
	uint32_t n_inst;
	struct hr_inst *inst;
	struct hop_host api;
	struct hr_attached *attached; /* all there were, in use or not */
	uint32_t in_node, in_call;    /* what the control thread is calling */
	int32_t done_fd; /* eventfd: a worker's thread ended; -1: nobody waits for that */
	/* The test guard's entries, if it is loaded; NULL in a user's process. */
	void (*guard_enter)(int allow_fd);
	void (*guard_leave)(void);
};

/* Around what must not allocate, lock or enter the kernel; nothing without the test guard. */
static inline void
hr_guard_enter(const struct hr_worker *w, int allow_fd)
{
	if (__builtin_expect(w->guarded, 0))
		w->host->guard_enter(allow_fd);
}

static inline void
hr_guard_leave(const struct hr_worker *w)
{
	if (__builtin_expect(w->guarded, 0))
		w->host->guard_leave();
}

/* A window entry is the transport's own; window.c asserts it. */
static inline struct hmq_rx *
hr_hmq_rx(struct hop_rx *rx)
{
	return (struct hmq_rx *)(void *)rx;
}

static inline struct hmq_tx *
hr_hmq_tx(struct hop_tx *tx)
{
	return (struct hmq_tx *)(void *)tx;
}

/* host.c [control] */
int hr_host_open(struct hr_host *h, struct hr_arena *a, struct hr_wiring *w,
		 const struct hr_run_options *opt, uint32_t process, bool rejoins);
int hr_host_start(struct hr_host *h); /* threads; they report STARTED and wait for GO */
void hr_host_join(struct hr_host *h);
void hr_host_close(struct hr_host *h); /* close() of what was opened, handles, queue copies */
/* A failure of this process's control thread; node may be HR_NO_NODE. */
void hr_control_fail(struct hr_host *h, uint32_t kind, uint32_t node, uint32_t call, int code,
		     const char *text);

/* build.c [control] */
int hr_host_build(struct hr_host *h);
void hr_host_free(struct hr_host *h);
/* Copy the queues' numbers of this process's edges into the page. */
void hr_host_snapshot(struct hr_host *h);

/* window.c [worker]: one look at a node: open the window, call, close it.  Messages moved. */
uint32_t hr_inst_step(struct hr_inst *n, int64_t now, bool sample);
/* ends.c [worker] */
void hr_inst_end(struct hr_inst *n, enum hr_node_state as);
/* It had readers, and none is left. */
bool hr_inst_is_unread(struct hr_inst *n);
/* How many it has dealt with, those of the present call included: names the message at which it
 * failed.  Async-signal-safe. */
uint64_t hr_inst_messages(const struct hr_inst *n);
/* Supervisor's wish to stop, seen by this worker. */
void hr_inst_stop(struct hr_inst *n, uint32_t stop);

/* link.c */
/* [worker] hmq_reader_peer, and OPEN as long as the writer may come back.  Moves over to the next
 * reading when the present one holds no more than the `shown` messages that are shown. */
uint32_t hr_link_peer(struct hr_link *l, uint32_t shown);
/* [worker] One message of r is held no more. */
void hr_link_let_go(struct hr_link *l, struct hr_reading *r);
/* [worker] Nothing will be read any more. */
void hr_link_end(struct hr_link *l);
/* [control] The rest. */
int hr_link_open(struct hr_host *h, struct hr_link *l, uint32_t chan, uint32_t reader,
		 const struct hmq_peer *peer, struct hmq_error *err);
void hr_link_close(struct hr_link *l);
/* The writer of a channel came back with a new segment: every link that reads it gets it. */
int hr_link_renew(struct hr_host *h, uint32_t chan, int fd, struct hr_error *err);

/* gather.c */
struct hr_link *hr_gather_link(struct hr_gather_run *g);
uint32_t hr_gather_edge(const struct hr_gather_run *g);
struct hr_gather_run *hr_gather_new(struct hr_host *h, uint32_t edge, struct hr_inst *reader);
uint32_t hr_gather_step(struct hr_gather_run *g, int64_t now);
int64_t hr_gather_deadline(const struct hr_gather_run *g); /* INT64_MAX: none */
void hr_gather_close_input(struct hr_gather_run *g);       /* its node ended */
void hr_gather_free(struct hr_gather_run *g);

/* loop.c [worker] */
void hr_worker_loop(struct hr_worker *w);
/* Take note of a stop the supervisor asked for; cheap when there is none. */
void hr_worker_obey(struct hr_worker *w);

/* hostapi.c */
void hr_host_api(struct hop_host *api);
void hr_worker_fail(struct hr_worker *w, struct hr_inst *n, uint32_t kind, uint32_t call, int code,
		    const char *text);
/* Record for a control thread (who = n_workers + process). */
void hr_page_fail(struct hr_page *page, uint32_t who, const struct hr_page_failure *f);

/* log.c: any thread to the supervisor. */
void hr_log_put(struct hr_page_log *log, uint32_t node, int32_t level, const char *text);
/* Next entry or false. */
bool hr_log_take(struct hr_page_log *log, struct hr_page_log_entry *out);
/* Its writers are dead, one perhaps with a line half written: what was not taken is dropped. */
void hr_log_start_over(struct hr_page_log *log);

/* thread.c */
struct rusage;
uint64_t hr_usage_cpu_ns(const struct rusage *u); /* user + system */
/* thread.c: pin, schedule, name; read back. */
void hr_thread_place(struct hr_worker *w);
void hr_thread_keep_house(const struct hr_plan *p);
/* The signal handler's view of who is running in this thread. */
void hr_crash_install(void);
void hr_crash_thread(struct hr_worker *w);
void hr_crash_control(struct hr_host *h);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * super.h - the supervisor's state, shared by its files and nobody else.
 *
 * super.c drives the phases and the loop, spawn.c makes and buries children,
 * watch.c notices stalls and laggards, incident.c finds the first cause.  One
 * thread.
 */
#ifndef HR_SUPER_H
#define HR_SUPER_H

#include <sched.h>

#include "run/bundle.h"
#include "run/inst.h"

struct hr_child_proc {
	pid_t pid; /* 0: not started */
	int pidfd;
	int control; /* socket to it */
	bool dead;   /* reaped */
	int status;  /* of waitpid */
	uint64_t dead_ns;
	bool killed;    /* by us, as a laggard or when forced */
	bool contained; /* its end was dealt with: the graph goes on */
	bool stopped;   /* was seen stopped, and that was said */
	uint32_t process;
	char words[400]; /* what it said when it could not attach */
};

struct hr_seen { /* what the supervisor last saw of a worker */
	uint64_t calls;
	uint32_t node;
	int64_t since_ns; /* that call, that node: since */
	bool named;       /* said once that it takes long */
};

struct hr_life { /* of a process that may fail */
	int64_t restarts;
	int64_t respawn_ns; /* when it is started again; 0: not waiting */
	bool starting;      /* started again, its workers have not all reported yet */
	bool told;          /* to start its workers */
	bool named;         /* said that it takes long to start */
	bool waits;         /* not started again before its readers took what it left */
	int64_t started_ns; /* when it was started again */
};

struct hr_old_chan { /* of a writer that was restarted; kept until its readers took all */
	struct hmq_segment seg;
	uint32_t chan;
	uint32_t lives[HMQ_MAX_READERS]; /* which life of each reader it was offered to */
	struct hr_old_chan *next;
};

struct hr_serve;

struct hr_super {
	struct hr_arena *arena;
	const struct hr_plan *plan;
	const struct hr_run_options *opt;
	struct hr_outcome *out;
	struct hr_wiring wiring;
	struct hr_page *page;
	struct hr_child_proc *child;
	uint32_t n_children;
	struct hr_host host; /* in-process only */
	bool host_started;
	uint64_t cpu_base_ns;   /* in-process: spent before its workers were started */
	cpu_set_t allowed;      /* where the user lets us run */
	struct hr_serve *serve; /* answers tools; NULL: none */
	int signal_fd;
	int bundle_fd;
	/* the run */
	bool running;   /* GO was given */
	bool said_slow; /* that opening or starting takes long */
	bool over;
	uint32_t stop;   /* enum hr_stop as given */
	int64_t stop_ns; /* when sources were told to stop; 0 */
	int64_t now;
	int64_t stall_ns, grace_ns;
	enum hr_reason reason;
	int signal;       /* the first one */
	int exit_code;    /* decided by the supervisor: 5, 6, 128 + n; 0 otherwise */
	int64_t ended_ns; /* when all workers had ended; 0 */
	int64_t kill_ns;  /* after STOP_NOW: when patience ends */
	/* progress */
	uint64_t moved;
	int64_t moved_ns;
	int64_t busy_ns;      /* when an op was last seen inside a call */
	int64_t said_ns;      /* last progress line */
	struct hr_seen *seen; /* per worker */
	bool *finite;         /* per node: fed by finite sources only */
	bool has_live, has_finite;
	/* failures that do not stop the graph */
	struct hr_life *life;       /* per process */
	struct hmq_edge_stat *past; /* per edge: of channels that were replaced */
	struct hr_old_chan *old;
	struct hr_old_chan *spare; /* settled, to be used again */
	bool beyond_repair;        /* a restart was not to be */
	uint32_t n_incidents;
	uint32_t n_contained; /* of them, and their consequences: the graph went on */
	uint64_t n_untold;    /* more such, which were said but not kept */
};

/* spawn.c */
int hr_spawn_all(struct hr_super *s, struct hr_error *err);
/* Start c->process, again or for the first time. */
int hr_spawn_one(struct hr_super *s, struct hr_child_proc *c, struct hr_error *err);
void hr_spawn_tell_one(const struct hr_child_proc *c, char letter, uint32_t chan, int fd);
void hr_spawn_tell(struct hr_super *s, char command);
/* Close what is left of its former life. */
void hr_spawn_forget(struct hr_child_proc *c);
/* Collect whoever has ended; true if anyone did. */
bool hr_spawn_reap(struct hr_super *s);
void hr_spawn_kill(struct hr_super *s, struct hr_child_proc *c);
void hr_spawn_kill_all(struct hr_super *s);
bool hr_spawn_any_alive(const struct hr_super *s);
void hr_spawn_close(struct hr_super *s);

/* watch.c */
void hr_watch_init(struct hr_super *s);
/* One look: progress, long calls, stall, laggards. */
void hr_watch_tick(struct hr_super *s);
/* Say why this child has to be killed: the node and the call that does not return, if any. */
void hr_watch_blame(struct hr_super *s, const struct hr_child_proc *child);

/* failover.c */
void hr_failover_init(struct hr_super *s);
/* Deal with failures that the graph survives; whatever is left stops it. */
void hr_failover_tick(struct hr_super *s);
/* A process is being started again: that is no end... */
bool hr_failover_is_busy(const struct hr_super *s);
/* ... and no stall. */
bool hr_failover_is_at_work(const struct hr_super *s);
int64_t hr_failover_deadline(const struct hr_super *s);
/* Sum up the channels that were replaced. */
void hr_failover_settle(struct hr_super *s);

/* renew.c */
/* Sum up and let go of replaced channels that are done with, or all if it is the last look; how
 * many this process wrote remain. */
uint32_t hr_renew_settle(struct hr_super *s, uint32_t process, bool last);
/* New channels for all a process writes; its readers are told. */
int hr_renew_channels(struct hr_super *s, uint32_t process, struct hr_error *err);
/* A process ended: whatever it may not have seen of new channels is not read by anyone. */
void hr_renew_close_rows(struct hr_super *s, uint32_t process);
/* A process died: set straight what it was in the middle of. */
void hr_renew_page(struct hr_super *s, uint32_t process);

/* super.c */
void hr_super_wake(struct hr_super *s);
void hr_super_stop(struct hr_super *s, uint32_t stop);
void hr_super_say(struct hr_super *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fresh copies of all queues in the page; waits a little for the children to make them. */
void hr_super_snapshot(struct hr_super *s);

/* incident.c */
struct hr_incident *hr_incident_add(struct hr_super *s, uint32_t node, uint32_t process,
				    uint64_t when_ns, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* A failure record or an unasked death is there: time to stop. */
bool hr_incident_any(const struct hr_super *s);
bool hr_incident_died_badly(const struct hr_super *s, const struct hr_child_proc *c);
/* Note what happened to a dead child whose graph goes on, and forget its records. */
void hr_incident_contain(struct hr_super *s, const struct hr_child_proc *c);
/* The same for nodes that failed with on_failure: detach while their process lives. */
void hr_incident_contain_records(struct hr_super *s);
/* From the page and the children's ends: all causes, sorted by time. */
void hr_incidents_collect(struct hr_super *s);

#endif

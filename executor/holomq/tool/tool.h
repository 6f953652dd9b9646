/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h - the program holomq: what its files share.
 *
 *   main.c         commands and options
 *   runs.c         find running graphs, get their memory, read-only
 *   json_read.c    the JSON they answer with
 *   show.c         list, stat, top
 *   tap.c          look at the messages of an edge without taking part
 *   watch.c        echo, record
 *   record_file.c  the file of a recording
 *   replay.c       a recording as an exported endpoint
 *   clean.c        dead sockets
 */
#ifndef HMQ_TOOL_H
#define HMQ_TOOL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>

#include "holomq/holomq.h"

/* Exit codes, as holorun's. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_MACHINE = 3,
	EXIT_DENIED = 4,
};

struct options {
	const char *word[4]; /* after the command */
	uint32_t n_words;
	const char *dir;     /* of exported endpoints */
	const char *run;     /* pid, or the name of a graph; NULL: any */
	uint64_t count;      /* 0: no limit */
	int64_t duration_ns; /* 0: no limit */
	int64_t interval_ns;
	int64_t wait_ns;
	uint64_t bytes; /* of a payload to show */
	int is_json;
	int deny_drops;
	int spin;
	int full_speed;
};

typedef int command(const struct options *o);
command tool_list, tool_stat, tool_top, tool_echo, tool_record, tool_replay, tool_clean;

/* "holomq: ..." on stderr; returns code. */
__attribute__((format(printf, 2, 3))) int tool_fail(int code, const char *fmt, ...);
int64_t tool_now_ns(void);
void tool_pause(int64_t ns);
/* Set by SIGINT and SIGTERM, after tool_catch_signals. */
int tool_stopped(void);
void tool_catch_signals(void);

/* ---- runs ------------------------------------------------------------------------------- */

#define WORD_BYTES 128u

struct edge {
	char from[WORD_BYTES]; /* "src.out" */
	char to[WORD_BYTES];   /* "sink.in" */
	char policy[16];
	char carriage[16];
	uint64_t segment_bytes, payload_bytes;
	uint64_t page_at, valid_at;
	uint32_t slots, depth, reader;
	int32_t fd; /* index into the run's descriptors; -1: inside a process */
	struct hmq_dtype dtype;
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK];
	double rate_hz;
	struct hmq_segment seg; /* mapped read-only; base NULL: not (yet) */
};

struct run {
	char graph[WORD_BYTES];
	char socket[108]; /* of the name, without the zero in front */
	int64_t pid;
	int64_t start_ns;
	int conn;
	uint32_t n_edges, n_fds;
	struct edge *edge;
	int *fd;
	const uint8_t *page; /* read-only */
	uint64_t page_bytes;
};

/* All runs of this user; *n of them, kept until runs_free.  A run that goes away while it is asked
 * is left out. */
int runs_find(struct run **out, uint32_t *n);
void runs_free(struct run *run, uint32_t n);
/* One run by pid or graph, NULL: the only one.  0 or an exit code, after saying why. */
int runs_pick(const char *which, struct run **out, uint32_t *n, struct run **one);
/* Ask for fresh numbers of edges inside processes; they come within milliseconds. */
void run_refresh(struct run *r);
/* Its supervisor has hung up. */
int run_is_over(const struct run *r);
/* 0, or -1: it has none to show. */
int run_stat(const struct run *r, const struct edge *e, struct hmq_edge_stat *out);
/* "src.out", "sink.in", "src.out -> sink.in" or a number. */
struct edge *run_edge(struct run *r, const char *name);

/* ---- JSON ------------------------------------------------------------------------------- */

/* A view of a value in a text; begin NULL: there is none. */
struct value {
	const char *begin;
	const char *end;
};

/* 0, or -1: not JSON, or deeper than 32. */
int json_check(const char *text, size_t bytes);
/* Of texts that json_check found good. */
struct value json_all(const char *text, size_t bytes);
struct value json_member(struct value object, const char *key);
struct value json_item(struct value array, uint32_t index);
int64_t json_int(struct value v, int64_t otherwise);
double json_number(struct value v, double otherwise);
/* Cut to size; "" when it is no string. */
void json_string(struct value v, char *out, size_t size);

/* ---- taps ------------------------------------------------------------------------------- */

struct tap {
	const struct hmq_segment *seg;
	uint64_t at;       /* next message of the edge */
	uint64_t next_seq; /* what was shown has smaller numbers */
	uint64_t seen;     /* copied whole */
	uint64_t missed;   /* torn or gone before they could be copied */
	uint64_t room;
	struct hmq_head head;
	uint8_t *data; /* room bytes: head.bytes of them are the payload */
	struct tap_view *view;
};

int tap_open(struct tap *t, const struct hmq_segment *seg, uint32_t reader);
void tap_close(struct tap *t);
/* 1: head and data hold a message; 0: none now; -1: the stream has ended and all was looked at. */
int tap_next(struct tap *t);

/* ---- recordings ------------------------------------------------------------------------- */

struct record_writer {
	int fd;
	char path[4000];
	uint64_t records, length;
	int64_t first_ns;
	struct record_file *head;
};

/* The message of format e; 0 or an exit code after saying why. */
int record_create(struct record_writer *w, const char *path, const struct edge *e);
int record_add(struct record_writer *w, const struct hmq_head *h, const void *data);
/* Whole: it takes its name; else it becomes PATH.INCOMPLETE with the number of those missed. */
int record_finish(struct record_writer *w, int is_whole, uint64_t missed);

struct record_reader {
	const uint8_t *file;
	uint64_t length, at;
	uint64_t max_bytes;
	struct hmq_dtype dtype;
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK];
	int is_whole;
};

int record_open(struct record_reader *r, const char *path);
void record_close(struct record_reader *r);
/* 1: head and data (in the file) are set; 0: the end; -1: nonsense, after saying where. */
int record_next(struct record_reader *r, struct hmq_head *h, const void **data);

#endif /* HMQ_TOOL_H */

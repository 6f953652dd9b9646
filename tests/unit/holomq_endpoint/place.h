/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - a folder of its own, endpoints in it, and peers in child processes.
 *
 * Children leave by _exit or by a signal and report by a pipe; nothing sleeps for
 * order.  place_close checks that no file and no descriptor is left.
 */
#ifndef PLACE_H
#define PLACE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "holomq/holomq.h"

struct place {
	char dir[64];
	int pipe[2];
	int n_fds; /* before */
};

void place_open(struct place *p);
void place_close(struct place *p);
/* The path of something in it; valid until the next call. */
const char *place_path(const struct place *p, const char *leaf);

/* Complete configurations of messages of 8 bytes named "x", depth 4, block. */
struct hmq_export place_export(const struct place *p, uint32_t role, uint32_t flags);
struct hmq_import place_import(const struct place *p, uint32_t role);

int64_t place_after(int64_t ns); /* a deadline */
#define LONG INT64_C(60000000000)

/* fork; never -1. */
pid_t place_fork(void);
/* 0 .. 255, or 256 + signal. */
int place_reap(pid_t pid);
/* Child to parent, one byte. */
void place_tell(struct place *p, char what);
char place_hear(struct place *p);

/* Publish the next number; what hmq_publish said, -EAGAIN without a slot. */
int32_t place_send(struct hmq_writer *w, uint64_t number);
/* Take one: its number; UINT64_MAX: none there. */
uint64_t place_take(struct hmq_reader *r);

/* A child that imports as a reader, tells 'j', takes `take` messages telling their number as a
 * byte, then does what `end` says. */
enum { END_CLOSE, END_DIE, END_HANG };
pid_t place_reader(struct place *p, const struct hmq_import *cfg, uint32_t take, int end);

/* In a child cmocka's asserts would jump into the parent's frames. */
#define CHILD_CHECK(cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			_exit(100);                                                                \
	} while (0)

#endif /* PLACE_H */

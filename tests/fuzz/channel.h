/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel.h - an honest user of a channel whose memory anybody may write.
 *
 * Every call of the API by a script of bytes, within the rules of holomq.h: only what
 * was shown is taken, what was taken is released once, loans are published or
 * cancelled.  Between the calls the memory may be scribbled on.
 */
#ifndef FUZZ_CHANNEL_H
#define FUZZ_CHANNEL_H

#include "fuzz.h"
#include "holomq/holomq.h"

enum { USER_READERS = 4, USER_MESSAGES = 16 };

struct user_reader {
	struct hmq_reader *r;
	struct hmq_rx taken[USER_MESSAGES]; /* to be released */
	uint32_t n_taken;
	int is_ended;
};

struct user {
	struct hmq_segment seg;
	struct hmq_writer *w;
	struct hmq_tx loan[USER_MESSAGES];
	uint32_t n_loans;
	struct user_reader reader[USER_READERS];
	uint32_t n_readers;        /* opened; the channel may have more */
	struct hmq_waiter *waiter; /* [2]: the writer's, the readers' */
	/* What the others do between two calls that belong together; NULL: nothing. */
	void (*meanwhile)(void *arg, struct fuzz_input *in);
	void *arg;
};

/* Open what can be opened in seg; everything may be refused. */
void user_open(struct user *u, const struct hmq_segment *seg, struct hmq_waiter *waiter);
/* One call, chosen by the input. */
void user_step(struct user *u, struct fuzz_input *in);
void user_close(struct user *u);

#endif /* FUZZ_CHANNEL_H */

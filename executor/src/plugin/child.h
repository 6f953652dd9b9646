/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - runs foreign code in a child process that may crash or hang.
 *
 * The child has limits on CPU and wall time, prints nothing, leaves no core, and
 * dies with its parent.  What it was doing when it ended is known from a shared
 * page; what it has to say is a text of any length.  The caller must be
 * single-threaded.  [control] only; blocks until the child is reaped.
 */
#ifndef HR_CHILD_H
#define HR_CHILD_H

#include "base/text.h"
#include "plugin/stage.h"

enum { HR_CHILD_LIMIT_MS = 10000 };

enum hr_child_how {
	HR_CHILD_CLEAN,  /* the body returned */
	HR_CHILD_EXITED, /* foreign code called exit, or a sanitizer did */
	HR_CHILD_SIGNAL,
	HR_CHILD_TIMEOUT,
};

struct hr_child_end {
	enum hr_child_how how;
	int status;            /* exit status or signal */
	struct hr_stage stage; /* what ran last */
	const char *text;      /* what the body added; "" unless clean */
};

/* The body runs in the child; what it puts in out comes back, if wants_text (which takes a memory
 * file).  0 or -errno: no child could be started. */
int hr_child_run(struct hr_arena *a, int limit_ms, bool wants_text,
		 void (*body)(void *arg, struct hr_text *out), void *arg, struct hr_child_end *end);
/* "was killed by SIGSEGV", "called exit(1)", "did not return in 10 s". */
const char *hr_child_how_text(struct hr_arena *a, const struct hr_child_end *end, int limit_ms);

#endif

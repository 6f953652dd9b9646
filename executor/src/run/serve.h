/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.h - a run answers the tools of its user.
 *
 * A socket in the abstract namespace, @holorun/<uid>/<pid> (.1 .. .9 behind it where
 * that is taken, by another pid namespace or another run of the process), SOCK_SEQPACKET.
 * A request is one packet of text:
 *
 *   channels  the edges and the page, as JSON, and all descriptors, read-only
 *   refresh   queues of channels inside a process are copied into the page, soon
 *
 * The answer to channels begins with a packet "fds N" and the JSON's descriptor, then
 * N descriptors follow in packets of at most 128, in the order the JSON counts them.
 * The answer to refresh is "ok".  The supervisor never waits for a caller: who does
 * not read is hung up on.
 */
#ifndef HR_SERVE_H
#define HR_SERVE_H

#include "run/super.h"

/* NULL when it cannot be had: the run goes on without, the tools do not see it. */
struct hr_serve *hr_serve_open(struct hr_super *s);
/* Readable when hr_serve_accept has something to do. */
int hr_serve_fd(const struct hr_serve *v);
void hr_serve_accept(struct hr_serve *v);
void hr_serve_close(struct hr_serve *v);

#endif

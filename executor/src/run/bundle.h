/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - what a child needs to make the same plan as its supervisor.
 *
 * The very texts that were read (a file may have changed since), the options
 * that shaped the graph, the descriptors and the plan's digest, as JSON in a
 * sealed memfd that all children of a run inherit.  The child's command line:
 *
 *     holorun --holorun-child BUNDLE_FD CONTROL_FD PROCESS
 */
#ifndef HR_BUNDLE_H
#define HR_BUNDLE_H

#include "run/run.h"
#include "wire/wire.h"

#define HR_CHILD_OPTION "--holorun-child"

struct hr_bundle {
	struct hr_load_options load; /* with the snapshot filled */
	struct hr_plugin_dirs dirs;
	struct hr_run_options run; /* count, log_level */
	struct hr_wire_fds fds;
	uint64_t digest;
	int64_t supervisor; /* pid */
	int64_t lives;      /* how often this process was started before */
};

/* A sealed descriptor, or -errno. */
int hr_bundle_write(struct hr_arena *a, const struct hr_plan *p, const struct hr_run_options *opt,
		    const struct hr_wire_fds *fds, uint32_t lives, struct hr_error *err);
int hr_bundle_read(struct hr_arena *a, int fd, struct hr_bundle *out, struct hr_error *err);

/*
 * Commands on the control socket (SOCK_SEQPACKET), supervisor to child: a letter, three zero bytes
 * and a channel number; RENEW carries the new channel's descriptor.  A child answers with text only
 * when it cannot even attach to the run page.
 */
enum {
	HR_TELL_START = 'S',
	HR_TELL_ABORT = 'A',
	HR_TELL_SNAPSHOT = 'Q',
	HR_TELL_RENEW = 'R',
};

struct hr_command {
	char letter;
	char zero[3];
	uint32_t chan;
};

#endif

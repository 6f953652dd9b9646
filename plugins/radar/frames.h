/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.h - was every frame number seen exactly once?  Numbers start at 0 and
 * may come out of order within FRAMES_WINDOW of each other.  Constant memory;
 * each number costs a bit once.
 */
#ifndef HR_PLUGIN_RADAR_FRAMES_H
#define HR_PLUGIN_RADAR_FRAMES_H

#include <stdint.h>

enum { FRAMES_WINDOW = 65536 };

struct frames {
	uint64_t expected; /* how many there are; 0: unknown */
	uint64_t low;      /* settled below: seen, or counted missing */
	uint64_t high;     /* one more than the largest seen */
	uint64_t missing;
	uint64_t first_missing;
	uint64_t seen[FRAMES_WINDOW / 64]; /* bit frame mod FRAMES_WINDOW, for low and above */
};

enum frames_verdict {
	FRAMES_NEW,
	FRAMES_AGAIN,  /* seen before, or too late to tell */
	FRAMES_BEYOND, /* no such frame, or further ahead than the window */
};

enum frames_verdict frames_see(struct frames *f, uint64_t frame);
/* Nothing will come any more: what was not seen is missing. */
void frames_end(struct frames *f);

#endif /* HR_PLUGIN_RADAR_FRAMES_H */

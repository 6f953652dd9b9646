/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listing.h - detections as a text file, one line each: "frame range doppler
 * power", power as an exact hexadecimal float, so that two runs can be compared
 * byte for byte.  Kept in memory while the graph runs; written at the end.
 */
#ifndef HR_PLUGIN_RADAR_LISTING_H
#define HR_PLUGIN_RADAR_LISTING_H

#include "radar.h"

struct listing_line {
	uint64_t frame;
	struct hk_detection d;
	uint32_t reserved;
};

struct listing {
	struct listing_line *at; /* NULL: no file is wanted */
	uint64_t count, room;
	uint64_t lost; /* lines beyond the room */
	int fd;
};

/* [control] Creates the file; 0, or a negative errno after HOP_FAIL with nothing left behind. */
int listing_open(struct listing *l, const struct hop_ctx *ctx, const char *path, uint64_t room);
/* [worker] */
void listing_add(struct listing *l, uint64_t frame, const struct hk_detections *d);
/* [control] Writes the file; a failure is logged, as it comes after the verdict. */
void listing_close(struct listing *l, const struct hop_ctx *ctx, const char *path);

#endif /* HR_PLUGIN_RADAR_LISTING_H */

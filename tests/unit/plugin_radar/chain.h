/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain.h - the receiver as a graph would run it, op by op through the fake
 * host: chirps in, detections out.  A test takes the frames of a scene, breaks
 * something, and looks at the verdict.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include <errno.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_host.h"

enum { SAMPLES = 512, CHIRPS = 64, CHIRP_BYTES = SAMPLES * 4, CAPACITY = 4096 };

struct detection {
	uint32_t range, doppler;
	float power;
};

struct detections {
	uint32_t count, rows, cols;
	struct detection at[];
};

struct chain {
	struct fh_plugin plugin;
	struct fh *range, *doppler, *cfar, *cluster, *verify;
};

/* Frames of the scene, [frames][chirps] x CHIRP_BYTES; freed by the caller. */
char *chain_scene(const struct fh_plugin *plugin, uint32_t frames);

/* Opens all ops; verify expects `frames`, with one parameter changed by `tune` if not NULL. */
void chain_open(struct chain *c, uint32_t frames, void (*tune)(const struct hop_op *, void *));
void chain_close(struct chain *c);

/* A frame through all ops to verify, under this head. */
void chain_frame(struct chain *c, const struct hop_head *head, const char *chirps);
/* The end of the input: verify's verdict. */
hop_status chain_end(struct chain *c);

struct hop_format chain_format_chirp(void);   /* i16x2[SAMPLES] */
struct hop_format chain_format_frame(void);   /* c64[CHIRPS][SAMPLES] */
struct hop_format chain_format_power(void);   /* f32[SAMPLES][CHIRPS] */
struct hop_format chain_format_targets(void); /* u32[1 + CAPACITY][3] */

#endif /* CHAIN_H */

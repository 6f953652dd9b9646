/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radar.h - what the files of the radar plugin share: the ops by name, formats
 * and their names in messages, memory for kernel objects.
 *
 * Formats: a chirp is i16x2[samples] or c64[samples]; a frame c64[chirps]
 * [samples]; a power map f32[range][doppler]; detections u32[1 + capacity][3],
 * a struct hk_detections of which the head's bytes and dim say what is used:
 * row 0 is count, range bins, Doppler bins, every other row one detection.
 */
#ifndef HR_PLUGIN_RADAR_H
#define HR_PLUGIN_RADAR_H

#include <holorun/op.h>
#include <hk/radar.h>

extern const struct hop_op radar_scene;
extern const struct hop_op radar_range_fft;
extern const struct hop_op radar_doppler_fft;
extern const struct hop_op radar_cfar;
extern const struct hop_op radar_cluster;
extern const struct hop_op radar_verify;

enum {
	RADAR_MIN_SAMPLES = 8,
	RADAR_MAX_SAMPLES = 65536,
	RADAR_MAX_CHIRPS = 8192,
	RADAR_FORMAT_TEXT = 64,
};

/* A parameter with unit and choices. */
#define RADAR_PARAM(type, strct, member, unit, def, min, max, choices, doc)                        \
	{                                                                                          \
#member, doc, HOP_P_##type, 0, (uint32_t)offsetof(strct, member),                  \
			(uint32_t)sizeof(((strct *)0)->member), unit, def, min, max, choices       \
	}

extern const char *const radar_windows[]; /* the choices of `window`, as enum hk_window */

enum radar_type { RADAR_I16X2, RADAR_C64, RADAR_F32, RADAR_U32 };

int radar_is(const struct hop_format *f, enum radar_type type, uint32_t rank);
/* Fills what a format is made of; unused dims are 0. */
void radar_set(struct hop_format *f, enum radar_type type, uint32_t rank, uint32_t dim0,
	       uint32_t dim1);
/* "c64[128][1024]", for a message about a wrong input; returns text. */
const char *radar_text(const struct hop_format *f, char text[RADAR_FORMAT_TEXT]);

/* Detections a payload of this format holds; 0 if it is not that format. */
uint32_t radar_capacity(const struct hop_format *f);
void radar_set_detections(struct hop_format *f, uint32_t capacity);
/* Completes the head of a message of detections. */
void radar_fill_detections(const struct hop_tx *tx, uint32_t count);
/* The detections of a message, or NULL if it does not hold what its count says. */
const struct hk_detections *radar_detections(const struct hop_rx *rx);

/* [control] What shape() settled; NULL after a HOP_FAIL. */
const struct hop_shape *radar_shape(const struct hop_ctx *ctx);
/* [control] Memory for a kernel object; NULL after a HOP_FAIL. */
void *radar_alloc(const struct hop_ctx *ctx, size_t bytes, const char *what);

#endif /* HR_PLUGIN_RADAR_H */

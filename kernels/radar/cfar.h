/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the CFAR: the object and its variants.  A variant runs rows lo..hi
 * and reports cells through cfar_add.
 */
#ifndef HK_CFAR_INTERNAL_H
#define HK_CFAR_INTERNAL_H

#include <hk/radar.h>

enum { MAX_LEVELS = 16, LINE_STEP = 16 };

typedef uint32_t (*hk_cfar_run)(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
				struct hk_detections *out, uint32_t capacity);

/* Sums of 2^level rows, for the first rows that are still needed; a ring. */
struct level {
	float *rows;
	size_t mask; /* rows held - 1; a power of two less one */
};

struct hk_cfar {
	struct hk_cfar_params p;
	hk_cfar_run run;
	float scale;  /* factor / training cells */
	size_t outer; /* width of the windows */
	size_t inner;
	int top;                        /* the largest power of two in `outer` is 2^top */
	size_t row_stride;              /* floats of a ring row */
	size_t stride;                  /* floats of a line buffer */
	struct level level[MAX_LEVELS]; /* 1 .. top - 1 */
	size_t block;                   /* lines summed at a time */
	/* `block` lines, and as many more for each doubling of them. */
	float *outer_line, *inner_line;
	float *outer_sum, *inner_sum;
};

uint32_t hk_cfar_run_ref(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
			 struct hk_detections *out, uint32_t capacity);
uint32_t hk_cfar_run_fast(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
			  struct hk_detections *out, uint32_t capacity);
uint32_t hk_cfar_run_avx2(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
			  struct hk_detections *out, uint32_t capacity);
int hk_cfar_has_avx2(void);

/* Returns how many did not fit: 0 or 1. */
static inline uint32_t
cfar_add(struct hk_detections *out, uint32_t capacity, size_t row, size_t col, float power)
{
	if (out->count >= capacity)
		return 1;
	out->at[out->count++] = (struct hk_detection){ (uint32_t)row, (uint32_t)col, power };
	return 0;
}

#endif /* HK_CFAR_INTERNAL_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CFAR object: sizes, scratch memory and the choice of a variant.  Which
 * rings there are follows from the bits of the two window widths; how they
 * are used is in cfar_body.h.
 */
#include <errno.h>
#include <string.h>

#include "cfar.h"

/* Lines are summed in blocks of about this many cells: they stay in the first-level cache. */
enum { BLOCK_CELLS = 512 };

static size_t
padded(size_t bytes)
{
	return (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN;
}

static size_t
power_of_two(size_t at_least)
{
	size_t n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

static int
log2_floor(size_t n)
{
	int k = 0;

	while (n >>= 1)
		k++;
	return k;
}

/* Where the piece of 2^k rows starts in a window that is the sum of its powers, largest first. */
static size_t
piece_at(size_t width, int k)
{
	return width >> (k + 1) << (k + 1);
}

/*
 * Rows of 2^k-sums that one step still reads, counted from the start of the
 * outer window: the newest is the last that fits the window; the oldest is
 * what the next level or one of the windows takes.
 */
static size_t
ring_rows(size_t outer, size_t inner, int k, int top)
{
	size_t newest = outer - ((size_t)1 << k);
	size_t oldest = k + 1 < top ? outer - ((size_t)2 << k) : 0;

	if ((outer >> k & 1) && piece_at(outer, k) < oldest)
		oldest = piece_at(outer, k);
	if ((inner >> k & 1) && (outer - inner) / 2 + piece_at(inner, k) < oldest)
		oldest = (outer - inner) / 2 + piece_at(inner, k);
	return power_of_two(newest - oldest + 1);
}

/* Lays the scratch memory out; with `cfar` NULL it only measures. */
static size_t
lay_out(struct hk_cfar *cfar, const struct hk_cfar_params *p)
{
	size_t inner = 2 * (size_t)p->guard + 1;
	size_t outer = inner + 2 * (size_t)p->train;
	size_t line = padded((p->cols + 2 * outer + LINE_STEP) * sizeof(float));
	size_t row = padded(p->cols * sizeof(float));
	size_t block = p->cols < BLOCK_CELLS / 2 ? BLOCK_CELLS / p->cols : 1;
	int top = log2_floor(outer);
	size_t at = padded(sizeof *cfar);

	for (int k = 1; k < top && k < MAX_LEVELS; k++) {
		size_t rows = ring_rows(outer, inner, k, top);

		if (cfar)
			cfar->level[k] = (struct level){ (void *)((char *)cfar + at), rows - 1 };
		at += rows * row;
	}
	if (cfar) {
		cfar->outer = outer;
		cfar->inner = inner;
		cfar->top = top;
		cfar->stride = line / sizeof(float);
		cfar->row_stride = row / sizeof(float);
		cfar->outer_line = (void *)((char *)cfar + at);
		cfar->block = block;
		cfar->inner_line = cfar->outer_line + (size_t)top * block * cfar->stride;
		cfar->outer_sum = cfar->inner_line + (size_t)top * block * cfar->stride;
		cfar->inner_sum = cfar->outer_sum + block * cfar->stride;
	}
	return at + (2 * (size_t)top + 2) * block * line;
}

size_t
hk_cfar_bytes(const struct hk_cfar_params *params)
{
	return lay_out(NULL, params);
}

int
hk_variant_runs(enum hk_variant variant)
{
	return variant != HK_AVX2 || hk_cfar_has_avx2();
}

static hk_cfar_run
runner(enum hk_variant variant)
{
	if (variant == HK_REF)
		return hk_cfar_run_ref;
	if (variant == HK_FAST || !hk_cfar_has_avx2())
		return hk_cfar_run_fast;
	return hk_cfar_run_avx2;
}

int
hk_cfar_init(struct hk_cfar *cfar, const struct hk_cfar_params *params, enum hk_variant variant)
{
	size_t outer = 2 * ((size_t)params->guard + params->train) + 1;
	size_t inner = 2 * (size_t)params->guard + 1;

	if (!params->train || params->rows < outer || params->cols < outer ||
	    !hk_variant_runs(variant))
		return -EINVAL;
	memset(cfar, 0, hk_cfar_bytes(params));
	cfar->p = *params;
	cfar->run = runner(variant);
	cfar->scale = params->factor / (float)(outer * outer - inner * inner);
	lay_out(cfar, params);
	return 0;
}

uint32_t
hk_cfar_detect(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
	       struct hk_detections *out, uint32_t capacity)
{
	out->rows = (uint32_t)cfar->p.rows;
	out->cols = (uint32_t)cfar->p.cols;
	return cfar->run(cfar, power, lo, hi, out, capacity);
}

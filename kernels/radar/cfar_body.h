/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast CFAR, compiled once per instruction set.  Sums over a window of w
 * cells are made by doubling: sums of 2, 4, 8 ... cells, and w as a sum of its
 * powers of two.  Down the columns first, row by row through rings of partial
 * sums; then along a line that is padded with its own wrap.
 *
 * Every sum depends on the cells of its window only, not on where the rows
 * began: a map cut into row ranges gives the same bits.  Every loop is over
 * plain arrays, so that the compiler vectorises it without changing a bit.
 */
#include <string.h>

#include "cfar.h"

/* Line buffers have room for this: loops then need no scalar tail. */
static inline size_t
whole(size_t n)
{
	return (n + LINE_STEP - 1) / LINE_STEP * LINE_STEP;
}

static inline void
add(float *restrict dst, const float *restrict a, const float *restrict b, size_t n)
{
	for (size_t j = 0; j < n; j++)
		dst[j] = a[j] + b[j];
}

static inline void
add_to(float *restrict dst, const float *restrict a, size_t n)
{
	for (size_t j = 0; j < n; j++)
		dst[j] += a[j];
}

/* The arrays whose sum is a window's sum: one, two or more for each bit of its width. */
struct pieces {
	const float *at[2 * MAX_LEVELS];
	int count;
};

/* Four at a time where there are four: this pass is bound by loads. */
static inline void
add_pieces(float *restrict dst, const struct pieces *p, size_t n)
{
	const float *const *a = p->at;
	int done;

	if (p->count >= 4) {
		const float *restrict a0 = a[0], *restrict a1 = a[1];
		const float *restrict a2 = a[2], *restrict a3 = a[3];

		for (size_t j = 0; j < n; j++)
			dst[j] = (a0[j] + a1[j]) + (a2[j] + a3[j]);
		done = 4;
	} else if (p->count == 3) {
		const float *restrict a0 = a[0], *restrict a1 = a[1], *restrict a2 = a[2];

		for (size_t j = 0; j < n; j++)
			dst[j] = (a0[j] + a1[j]) + a2[j];
		done = 3;
	} else if (p->count == 2) {
		add(dst, a[0], a[1], n);
		done = 2;
	} else {
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): count is 1 here */
		memcpy(dst, a[0], n * sizeof *dst);
		done = 1;
	}
	for (; done < p->count; done++)
		add_to(dst, a[done], n);
}

/* Sum of 2^k rows from `row` on; level 0 is the map itself, which wraps. */
static inline const float *
sums(const struct hk_cfar *c, const float *power, int k, int64_t row)
{
	int64_t rows = (int64_t)c->p.rows;

	if (k)
		return c->level[k].rows + ((size_t)row & c->level[k].mask) * c->row_stride;
	while (row < 0)
		row += rows;
	while (row >= rows)
		row -= rows;
	return power + (size_t)row * c->p.cols;
}

/* The outer window now starts at `first`: bring every level up to its end. */
static inline void
advance(struct hk_cfar *c, const float *power, int64_t first)
{
	for (int k = 1; k < c->top; k++) {
		int64_t row = first + (int64_t)c->outer - ((int64_t)1 << k);
		float *dst = c->level[k].rows + ((size_t)row & c->level[k].mask) * c->row_stride;

		add(dst, sums(c, power, k - 1, row),
		    sums(c, power, k - 1, row + ((int64_t)1 << (k - 1))), c->p.cols);
	}
}

/* Column sums over the `width` rows from `first` on. */
static inline void
column_sums(const struct hk_cfar *c, const float *power, int64_t first, size_t width, float *dst)
{
	struct pieces p = { .count = 0 };

	for (int k = c->top; k >= 0; k--) {
		if (!(width >> k & 1))
			continue;
		if (k == c->top) { /* no ring: its two halves */
			p.at[p.count++] = sums(c, power, k - 1, first);
			/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): top >
			 * 0 */
			p.at[p.count++] = sums(c, power, k - 1, first + ((int64_t)1 << (k - 1)));
		} else {
			p.at[p.count++] = sums(c, power, k, first);
		}
		first += (int64_t)1 << k;
	}
	add_pieces(dst, &p, c->p.cols);
}

/* line[reach .. reach + cols) is filled: add the wrap on both sides. */
static inline void
pad(float *line, size_t cols, size_t reach)
{
	memcpy(line, line + cols, reach * sizeof *line);
	memcpy(line + reach + cols, line + reach, reach * sizeof *line);
}

/*
 * In each of n lines, dst[j] = sum of line[j .. j + width); the buffers after
 * `line` take its doublings.  The lines are summed as one array: what that
 * computes between two of them is not used, and a load is far from the store
 * it straddles.
 */
static inline void
line_sums(const struct hk_cfar *c, float *line, float *dst, size_t width, size_t n)
{
	struct pieces p = { .count = 0 };
	size_t before = (n - 1) * c->stride, len = c->p.cols + width - 1, at = 0;

	for (size_t step = 1; step <= width; step *= 2) {
		if (width & step) {
			p.at[p.count++] = line + at;
			at += step;
		}
		if (2 * step > width)
			break;
		if (4 * step > width) { /* the largest power is not made: its two halves */
			p.at[p.count++] = line + at;
			p.at[p.count++] = line + at + step;
			break;
		}
		len -= step;
		add(line + c->block * c->stride, line, line + step, before + whole(len));
		line += c->block * c->stride;
	}
	add_pieces(dst, &p, before + whole(c->p.cols));
}

static inline uint32_t
detect_row(const struct hk_cfar *c, const float *restrict cell, size_t row, size_t line,
	   struct hk_detections *out, uint32_t capacity)
{
	const float *restrict outer = c->outer_sum + line * c->stride;
	const float *restrict inner = c->inner_sum + line * c->stride;
	size_t n = c->p.cols;
	float scale = c->scale;
	uint32_t lost = 0;
	int any = 0;

	for (size_t j = 0; j < n; j++)
		any |= cell[j] > scale * (outer[j] - inner[j]);
	for (size_t j = 0; any && j < n; j++)
		if (cell[j] > scale * (outer[j] - inner[j]))
			lost += cfar_add(out, capacity, row, j, cell[j]);
	return lost;
}

static inline void
fill_line(struct hk_cfar *c, const float *power, size_t row, size_t line)
{
	size_t guard = c->p.guard, reach = guard + c->p.train;
	int64_t first = (int64_t)row - (int64_t)reach;
	float *outer = c->outer_line + line * c->stride;
	float *inner = c->inner_line + line * c->stride;

	advance(c, power, first);
	column_sums(c, power, first, c->outer, outer + reach);
	column_sums(c, power, first + c->p.train, c->inner, inner + guard);
	pad(outer, c->p.cols, reach);
	pad(inner, c->p.cols, guard);
}

/* The rings fill in as many steps as the window is high. */
static inline void
fill_rings(struct hk_cfar *c, const float *power, size_t row)
{
	int64_t first = (int64_t)row - (int64_t)(c->p.guard + c->p.train);

	for (int64_t f = first - (int64_t)c->outer; f < first; f++)
		advance(c, power, f);
}

static inline uint32_t
cfar_body(struct hk_cfar *c, const float *power, size_t lo, size_t hi, struct hk_detections *out,
	  uint32_t capacity)
{
	uint32_t lost = 0;

	fill_rings(c, power, lo);
	for (size_t row = lo; row < hi; row += c->block) {
		size_t n = hi - row < c->block ? hi - row : c->block;

		for (size_t i = 0; i < n; i++)
			fill_line(c, power, row + i, i);
		line_sums(c, c->outer_line, c->outer_sum, c->outer, n);
		line_sums(c, c->inner_line, c->inner_sum, c->inner, n);
		for (size_t i = 0; i < n; i++)
			lost += detect_row(c, power + (row + i) * c->p.cols, row + i, i, out,
					   capacity);
	}
	return lost;
}

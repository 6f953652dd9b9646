/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast CFAR for AVX2; called only where hk_cfar_has_avx2() says so.  For
 * windows of 21 and 5 (guard 2, train 8) and whole vectors, sums along a line
 * and the comparison are one pass in registers, in the order of additions that
 * line_sums has; it is load-bound, and this halves the loads.  Any other size
 * runs the common body, compiled for AVX2.
 */
#include <immintrin.h>

#include "cfar_body.h"

enum { LANES = 8, OUTER = 21, INNER = 5 };

int
hk_cfar_has_avx2(void)
{
	return __builtin_cpu_supports("avx2") != 0;
}

/* Sums of two and two of four neighbours. */
static inline __m256
four(const float *v)
{
	return _mm256_add_ps(_mm256_add_ps(_mm256_loadu_ps(v), _mm256_loadu_ps(v + 1)),
			     _mm256_add_ps(_mm256_loadu_ps(v + 2), _mm256_loadu_ps(v + 3)));
}

/* Sums of eight that start four lanes into `a`: fours of there and of `b`. */
static inline __m256
eight(__m256 a, __m256 b)
{
	return _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x21), b);
}

static inline __m256
five(const float *v)
{
	__m256 one_two = _mm256_add_ps(_mm256_loadu_ps(v + 1), _mm256_loadu_ps(v + 2));
	__m256 three_four = _mm256_add_ps(_mm256_loadu_ps(v + 3), _mm256_loadu_ps(v + 4));

	return _mm256_add_ps(_mm256_add_ps(_mm256_loadu_ps(v), one_two), three_four);
}

static inline uint32_t
detect_line(const struct hk_cfar *c, const float *cell, size_t row, size_t line,
	    struct hk_detections *out, uint32_t capacity)
{
	const float *outer = c->outer_line + line * c->stride;
	const float *inner = c->inner_line + line * c->stride;
	__m256 scale = _mm256_set1_ps(c->scale);
	__m256 fours = four(outer + 1), next = four(outer + 1 + LANES);
	__m256 eights = eight(fours, next);
	uint32_t lost = 0;

	for (size_t j = 0; j < c->p.cols; j += LANES) {
		__m256 last = four(outer + j + 1 + 2 * LANES);
		__m256 eights_last = eight(next, last);
		__m256 sum = _mm256_add_ps(_mm256_add_ps(_mm256_loadu_ps(outer + j), fours),
					   _mm256_add_ps(eights, eights_last));
		__m256 limit = _mm256_mul_ps(scale, _mm256_sub_ps(sum, five(inner + j)));
		__m256 over = _mm256_cmp_ps(_mm256_loadu_ps(cell + j), limit, _CMP_GT_OQ);
		unsigned mask = (unsigned)_mm256_movemask_ps(over);

		for (; mask; mask &= mask - 1) {
			size_t at = j + (size_t)__builtin_ctz(mask);

			lost += cfar_add(out, capacity, row, at, cell[at]);
		}
		fours = next;
		next = last;
		eights = eights_last;
	}
	return lost;
}

uint32_t
hk_cfar_run_avx2(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
		 struct hk_detections *out, uint32_t capacity)
{
	uint32_t lost = 0;

	if (cfar->outer != OUTER || cfar->inner != INNER || cfar->p.cols % LANES)
		return cfar_body(cfar, power, lo, hi, out, capacity);
	fill_rings(cfar, power, lo);
	for (size_t row = lo; row < hi; row += cfar->block) {
		size_t n = hi - row < cfar->block ? hi - row : cfar->block;

		for (size_t i = 0; i < n; i++)
			fill_line(cfar, power, row + i, i);
		for (size_t i = 0; i < n; i++)
			lost += detect_line(cfar, power + (row + i) * cfar->p.cols, row + i, i, out,
					    capacity);
	}
	return lost;
}

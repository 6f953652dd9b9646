/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of right: for every cell, every training cell, in double.
 * Slow on purpose; the other variants are tested against it.
 */
#include "cfar.h"

static double
box(const struct hk_cfar *c, const float *power, size_t row, size_t col, size_t reach)
{
	const struct hk_cfar_params *p = &c->p;
	double sum = 0.0;

	for (size_t i = 0; i <= 2 * reach; i++)
		for (size_t j = 0; j <= 2 * reach; j++) {
			size_t r = (row + p->rows + i - reach) % p->rows;
			size_t d = (col + p->cols + j - reach) % p->cols;

			sum += (double)power[r * p->cols + d];
		}
	return sum;
}

uint32_t
hk_cfar_run_ref(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
		struct hk_detections *out, uint32_t capacity)
{
	const struct hk_cfar_params *p = &cfar->p;
	size_t reach = (size_t)p->guard + p->train;
	uint32_t lost = 0;

	for (size_t row = lo; row < hi; row++)
		for (size_t col = 0; col < p->cols; col++) {
			double outer = box(cfar, power, row, col, reach);
			double inner = box(cfar, power, row, col, p->guard);
			float cell = power[row * p->cols + col];

			if ((double)cell > (double)cfar->scale * (outer - inner))
				lost += cfar_add(out, capacity, row, col, cell);
		}
	return lost;
}

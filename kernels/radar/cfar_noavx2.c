/* SPDX-License-Identifier: Apache-2.0 */
/* In place of cfar_avx2.c on other architectures: says no, and falls back. */
#include "cfar.h"

int
hk_cfar_has_avx2(void)
{
	return 0;
}

uint32_t
hk_cfar_run_avx2(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
		 struct hk_detections *out, uint32_t capacity)
{
	return hk_cfar_run_fast(cfar, power, lo, hi, out, capacity);
}

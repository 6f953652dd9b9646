/* SPDX-License-Identifier: Apache-2.0 */
/* The fast CFAR for any CPU. */
#include "cfar_body.h"

uint32_t
hk_cfar_run_fast(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
		 struct hk_detections *out, uint32_t capacity)
{
	return cfar_body(cfar, power, lo, hi, out, capacity);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows along one axis.  Computed in double with libm and rounded once; used
 * when an object is made, never per message.
 */
#include <math.h>

#include <hk/radar.h>

static const double pi = 3.14159265358979323846;

void
hk_window_fill(enum hk_window window, float *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		w[i] = 1.0f;
		if (window == HK_WINDOW_HANN && n > 1)
			w[i] = (float)(0.5 * (1.0 - cos(2.0 * pi * (double)i / (double)(n - 1))));
	}
}

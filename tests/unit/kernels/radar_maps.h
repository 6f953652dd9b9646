/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radar_maps.h - what the radar kernel tests share: aligned memory, a small
 * generator with a printed seed, and the receiver's front end on one frame.
 */
#ifndef RADAR_MAPS_H
#define RADAR_MAPS_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <hk/radar.h>

static inline void *
room(size_t bytes)
{
	void *p = aligned_alloc(HK_ALIGN, (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN);

	assert_non_null(p);
	memset(p, 0, bytes);
	return p;
}

static inline struct hk_detections *
detections_room(uint32_t capacity)
{
	return room(sizeof(struct hk_detections) + capacity * sizeof(struct hk_detection));
}

/* In double; cmocka's assert_float_equal rounds to float first. */
static inline void
close_or_fail(double found, double wanted, double within, const char *file, int line)
{
	if (found - wanted > within || wanted - found > within || found != found) {
		print_error("wanted %.12g within %g, found %.12g\n", wanted, within, found);
		_fail(file, line);
	}
}
#define assert_close(found, wanted, within)                                                        \
	close_or_fail((double)(found), (double)(wanted), (double)(within), __FILE__, __LINE__)

/* Uniform in [0, 1), xorshift64. */
static inline double
uniform(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* The power map of a frame; freed by the caller. */
static inline float *
scene_map(const struct hk_scene *scene, uint64_t frame)
{
	size_t n = scene->samples, m = scene->chirps;
	int16_t *iq = room(n * 4);
	struct hk_c32 *spectra = room(n * m * sizeof *spectra);
	float *power = room(n * m * sizeof *power);
	struct hk_range_fft *range = room(hk_range_fft_bytes(n));
	struct hk_doppler *doppler = room(hk_doppler_bytes(n, m));

	assert_int_equal(hk_range_fft_init(range, n, HK_WINDOW_HANN), 0);
	assert_int_equal(hk_doppler_init(doppler, n, m, HK_WINDOW_HANN), 0);
	for (uint32_t c = 0; c < m; c++) {
		hk_scene_chirp(scene, frame, c, iq);
		hk_range_fft_i16(range, iq, spectra + c * n);
	}
	hk_doppler_power(doppler, spectra, power, 0, n);
	hk_range_fft_fini(range);
	hk_doppler_fini(doppler);
	free(iq);
	free(spectra);
	free(range);
	free(doppler);
	return power;
}

/* Runs one CFAR variant over rows lo..hi; returns what did not fit. */
static inline uint32_t
detect(const struct hk_cfar_params *p, enum hk_variant variant, const float *power, size_t lo,
       size_t hi, struct hk_detections *out, uint32_t capacity)
{
	struct hk_cfar *cfar = room(hk_cfar_bytes(p));
	uint32_t lost;

	assert_int_equal(hk_cfar_init(cfar, p, variant), 0);
	lost = hk_cfar_detect(cfar, power, lo, hi, out, capacity);
	free(cfar);
	return lost;
}

static inline void
assert_same(const struct hk_detections *found, const struct hk_detections *wanted)
{
	assert_int_equal(found->count, wanted->count);
	assert_memory_equal(found, wanted, sizeof *found + found->count * sizeof found->at[0]);
}

#endif /* RADAR_MAPS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hk/radar.h - kernels of an FMCW radar receiver on plain arrays, float32.
 *
 * A frame (CPI) is `chirps` chirps of `samples` complex samples.  Range bins
 * run along samples, Doppler bins along chirps; neither axis is shifted, both
 * wrap.  Powers and samples are in ADC counts, squared where power.
 *
 * Objects live in memory the caller provides: *_bytes() says how much, aligned
 * to HK_ALIGN; *_init() fills it and may allocate inside FFTW (not at the same
 * time in two threads); *_fini() ends it.  Nothing else allocates, locks or
 * enters the kernel.  An object is used by one thread at a time.
 *
 * Same input, same CPU: same bits, whatever the object's address.
 */
#ifndef HK_RADAR_H
#define HK_RADAR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HK_ALIGN = 64 };

struct hk_c32 {
	float re, im;
};

/* ---- window -------------------------------------------------------------- */

enum hk_window { HK_WINDOW_NONE, HK_WINDOW_HANN };

/* Symmetric Hann: 0.5 (1 - cos(2 pi i / (n - 1))); NONE (and n == 1): ones. */
void hk_window_fill(enum hk_window window, float *w, size_t n);

/* ---- scene --------------------------------------------------------------- */

/*
 * A repeatable scene of three targets in white noise: bandwidth 307.2 MHz at
 * 77 GHz, sampled at 20.48 MHz; the noise's complex standard deviation is 512
 * counts.  Frame f shows what frame f mod `distinct` shows, and each distinct
 * frame moves every target by a further 8 range bins, so that a repeated,
 * swapped or stale frame shows on content.  Frames of 2048 samples and more
 * hold the large-CPI targets.
 *
 * Only additions, multiplications and integer operations: every machine
 * produces the same bytes.
 */
enum { HK_SCENE_TARGETS = 3 };

struct hk_scene {
	uint32_t samples, chirps;
	uint32_t distinct; /* at least 1 */
	uint64_t seed;
};

struct hk_target {
	double range;     /* bins, 0 <= range < samples, fractional */
	double doppler;   /* bins, 0 <= doppler < chirps, fractional */
	double amplitude; /* counts */
	double phase;     /* turns, of sample 0 of chirp 0 */
};

/* What is where in a frame. */
void hk_scene_truth(const struct hk_scene *scene, uint64_t frame,
		    struct hk_target truth[HK_SCENE_TARGETS]);
/* One chirp: samples x (int16 I, int16 Q). */
void hk_scene_chirp(const struct hk_scene *scene, uint64_t frame, uint32_t chirp, int16_t *iq);

/* Distance of two bins on an axis of n that wraps. */
uint32_t hk_circular(uint32_t a, uint32_t b, uint32_t n);

/* ---- range FFT ------------------------------------------------------------ */

/* Windowed forward FFT of one chirp, unnormalised. */
struct hk_range_fft;
size_t hk_range_fft_bytes(size_t samples);
/* -ENOMEM if FFTW makes no plan. */
int hk_range_fft_init(struct hk_range_fft *fft, size_t samples, enum hk_window window);
void hk_range_fft_fini(struct hk_range_fft *fft);
/* out: samples, aligned to HK_ALIGN. */
void hk_range_fft_i16(struct hk_range_fft *fft, const int16_t *iq, struct hk_c32 *out);
void hk_range_fft_c32(struct hk_range_fft *fft, const struct hk_c32 *in, struct hk_c32 *out);

/* ---- Doppler FFT ---------------------------------------------------------- */

/*
 * Corner turn, window, forward FFT along the chirps and |X|^2: c32
 * [chirps][samples] in, f32 [samples][chirps] out.  Works on blocks of
 * HK_DOPPLER_ROWS range rows: one cache line of each chirp at a time.
 */
enum { HK_DOPPLER_ROWS = 8 };
struct hk_doppler;
size_t hk_doppler_bytes(size_t samples, size_t chirps);
int hk_doppler_init(struct hk_doppler *doppler, size_t samples, size_t chirps,
		    enum hk_window window);
void hk_doppler_fini(struct hk_doppler *doppler);
/* Range rows lo <= row < hi of the output; lo is a multiple of HK_DOPPLER_ROWS. */
void hk_doppler_power(struct hk_doppler *doppler, const struct hk_c32 *in, float *power, size_t lo,
		      size_t hi);

/* ---- CFAR ----------------------------------------------------------------- */

struct hk_detection {
	uint32_t range, doppler; /* bins */
	float power;
};

/* How detections travel: a count, the map they are from, then that many of a fixed capacity. */
struct hk_detections {
	uint32_t count;
	uint32_t rows, cols; /* range and Doppler bins */
	struct hk_detection at[];
};

/*
 * 2-D cell averaging over a power map [rows][cols] that wraps on both axes.  A
 * cell is detected where
 *	p > factor / cells * (outer - inner)
 * outer is the sum over (2 (guard + train) + 1)^2 cells around it, inner over
 * (2 guard + 1)^2, cells = the difference of the two counts.  Both dimensions
 * must be at least 2 (guard + train) + 1, train at least 1.
 *
 * The variants differ in the order they add in, so a cell within rounding of
 * its threshold may differ between REF and the others; FAST and AVX2 agree to
 * the bit.
 */
enum hk_variant {
	HK_BEST, /* the fastest this CPU runs */
	HK_REF,  /* straight loops in double: the definition */
	HK_FAST, /* sums by doubling, portable */
	HK_AVX2, /* the same, compiled for AVX2 */
};
int hk_variant_runs(enum hk_variant variant); /* nonzero if this CPU can */

struct hk_cfar_params {
	size_t rows, cols;
	uint32_t guard, train;
	float factor;
};
struct hk_cfar;
size_t hk_cfar_bytes(const struct hk_cfar_params *params);
/* -EINVAL: a dimension is too small, or the variant does not run here. */
int hk_cfar_init(struct hk_cfar *cfar, const struct hk_cfar_params *params,
		 enum hk_variant variant);
/*
 * Appends the detections of rows lo <= row < hi to `out` in row-major order and
 * sets what map they are from.  The caller zeroes the count.
 * Returns how many did not fit `capacity`.
 */
uint32_t hk_cfar_detect(struct hk_cfar *cfar, const float *power, size_t lo, size_t hi,
			struct hk_detections *out, uint32_t capacity);

/* ---- clustering ------------------------------------------------------------ */

/*
 * Joins detections that touch, also over corners and the wrap of both axes,
 * and keeps each cluster's strongest (the first of equals).
 */
struct hk_cluster;
size_t hk_cluster_bytes(uint32_t capacity);
void hk_cluster_init(struct hk_cluster *cluster, uint32_t capacity);
/* Zero if `in` is what hk_cluster_keep takes: in bounds, row-major, none twice, at most capacity.
 */
int hk_cluster_check(const struct hk_cluster *cluster, const struct hk_detections *in);
/* out has room for in->count and becomes row-major; it may be `in`. */
void hk_cluster_keep(struct hk_cluster *cluster, const struct hk_detections *in,
		     struct hk_detections *out);

/* ---- what the scene should look like ---------------------------------------- */

/*
 * Runs the scene through range and Doppler FFT and says where each target is
 * and how strong its strongest cell within `reach` bins is on both axes: what
 * a receiver with the same windows must find, to the bit on the same CPU.
 */
struct hk_expected {
	uint32_t range, doppler; /* the bins next to the truth */
	float power;
};
struct hk_expect;
size_t hk_expect_bytes(const struct hk_scene *scene);
/* -ENOMEM if FFTW makes no plan. */
int hk_expect_init(struct hk_expect *expect, const struct hk_scene *scene, enum hk_window window);
void hk_expect_fini(struct hk_expect *expect);
void hk_expect_frame(struct hk_expect *expect, uint64_t frame, uint32_t reach,
		     struct hk_expected out[HK_SCENE_TARGETS]);

#ifdef __cplusplus
}
#endif
#endif /* HK_RADAR_H */

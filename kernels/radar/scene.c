/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scene: point targets in white noise, any chirp of any frame on its own.
 *
 * Guarantees the same bytes on every machine: noise is a sum of integers from
 * a counter-based generator, sines are a polynomial and a rotation, and the
 * build forbids contraction.  Noise has a bound (six standard deviations) and
 * so has the sum: int16 never saturates.  It is not a radar simulator: no
 * range migration within a frame, no clutter.
 */
#include <hk/radar.h>

static const double light = 299792458.0; /* m/s */
static const double bandwidth = 307.2e6; /* Hz swept by one chirp */
static const double carrier = 77e9;      /* Hz */
static const double sample_rate = 20.48e6;
static const double two_pi = 6.28318530717958647693;
static const double noise_std = 512.0;              /* of the complex sample, counts */
static const double per_part = 0.70710678118654752; /* of that on I and on Q */
static const double bins_per_frame = 8.0;

enum { LARGE_SAMPLES = 2048 };

struct reflector {
	double range_m, speed_ms;
	double snr; /* amplitude over the noise's standard deviation */
};

/* 10^(dB / 20) of -5, -10, 0 and 6 dB: literals, because pow() is not portable to the bit. */
static const struct reflector small_cpi[HK_SCENE_TARGETS] = {
	{ 80.0, 5.0, 0.56234132519034908 },
	{ 200.0, -12.0, 0.31622776601683794 },
	{ 350.0, 15.0, 1.0 },
};
static const struct reflector large_cpi[HK_SCENE_TARGETS] = {
	{ 30.0, 2.0, 1.9952623149688797 },
	{ 75.0, -3.0, 1.9952623149688797 },
	{ 120.0, 1.0, 1.9952623149688797 },
};

/* x mod n for n > 0, also for negative x; |x| below 2^53. */
static double
wrap(double x, double n)
{
	double q = x / n;
	double whole = (double)(int64_t)q;

	if (q < whole)
		whole -= 1.0;
	x -= whole * n;
	return x >= n ? x - n : x;
}

/* exp(j 2 pi turns) by Taylor series within an eighth of a turn, error below 1e-15. */
static void
unit(double turns, double *re, double *im)
{
	double t = wrap(turns, 1.0) * 4.0;
	int quarter = (int)(t + 0.5);
	double a = (t - (double)quarter) * (two_pi / 4.0);
	double a2 = a * a;
	double c = 1.0, s = 1.0;

	for (int k = 16; k >= 2; k -= 2) {
		c = 1.0 - c * a2 / (double)(k * (k - 1));
		s = 1.0 - s * a2 / (double)(k * (k + 1));
	}
	s *= a;
	switch (quarter & 3) {
	case 0:
		*re = c;
		*im = s;
		break;
	case 1:
		*re = -s;
		*im = c;
		break;
	case 2:
		*re = -c;
		*im = -s;
		break;
	default:
		*re = s;
		*im = -c;
		break;
	}
}

void
hk_scene_truth(const struct hk_scene *scene, uint64_t frame,
	       struct hk_target truth[HK_SCENE_TARGETS])
{
	const struct reflector *r = scene->samples >= LARGE_SAMPLES ? large_cpi : small_cpi;
	double f = (double)(frame % scene->distinct);
	double t_chirp = (double)scene->samples / sample_rate;
	double t_frame = t_chirp * (double)scene->chirps;

	for (int k = 0; k < HK_SCENE_TARGETS; k++) {
		double range = r[k].range_m + r[k].speed_ms * f * t_frame;
		double bin = 2.0 * bandwidth * range / light + bins_per_frame * f;

		truth[k] = (struct hk_target){
			.range = wrap(bin, (double)scene->samples),
			.doppler = wrap(2.0 * r[k].speed_ms * carrier / light * t_frame,
					(double)scene->chirps),
			.amplitude = noise_std * r[k].snr,
			.phase = wrap(-2.0 * carrier * range / light, 1.0),
		};
	}
}

/* splitmix64's finaliser: word i of the stream that starts at `base`. */
static uint64_t
word(uint64_t base, uint64_t i)
{
	uint64_t z = base + i * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * Standard normal by the central limit: the sum of twelve uniform 16-bit
 * numbers has variance 2^32 - 1 and mean 393210.
 */
static double
normal(uint64_t base, uint64_t i)
{
	const uint64_t even = UINT64_C(0x0000ffff0000ffff);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < 3; k++) {
		uint64_t w = word(base, 3 * i + k);

		sum += (w & even) + ((w >> 16) & even);
	}
	sum = (sum & UINT64_C(0xffffffff)) + (sum >> 32);
	return ((double)(int64_t)sum - 393210.0) / 65536.0;
}

/* To the nearest, halves up; by truncation of a positive number. */
static int16_t
to_int16(double x)
{
	return (int16_t)((int32_t)(x + 32768.5) - 32768);
}

void
hk_scene_chirp(const struct hk_scene *scene, uint64_t frame, uint32_t chirp, int16_t *iq)
{
	struct hk_target truth[HK_SCENE_TARGETS];
	double re[HK_SCENE_TARGETS], im[HK_SCENE_TARGETS];
	double step_re[HK_SCENE_TARGETS], step_im[HK_SCENE_TARGETS];
	uint64_t which = frame % scene->distinct * scene->chirps + chirp;
	uint64_t base = word(word(scene->seed, 1), which + 1);
	double sigma = noise_std * per_part;

	hk_scene_truth(scene, frame, truth);
	for (int k = 0; k < HK_SCENE_TARGETS; k++) {
		unit(truth[k].phase + truth[k].doppler * (double)chirp / (double)scene->chirps,
		     &re[k], &im[k]);
		re[k] *= truth[k].amplitude;
		im[k] *= truth[k].amplitude;
		unit(truth[k].range / (double)scene->samples, &step_re[k], &step_im[k]);
	}
	for (uint32_t n = 0; n < scene->samples; n++) {
		double i = sigma * normal(base, 2 * (uint64_t)n);
		double q = sigma * normal(base, 2 * (uint64_t)n + 1);

		for (int k = 0; k < HK_SCENE_TARGETS; k++) {
			double turned = re[k] * step_re[k] - im[k] * step_im[k];

			i += re[k];
			q += im[k];
			im[k] = re[k] * step_im[k] + im[k] * step_re[k];
			re[k] = turned;
		}
		iq[2 * n] = to_int16(i);
		iq[2 * n + 1] = to_int16(q);
	}
}

uint32_t
hk_circular(uint32_t a, uint32_t b, uint32_t n)
{
	uint32_t d = a > b ? a - b : b - a;

	return d < n - d ? d : n - d;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver must find in a frame of the scene: the same kernels on the
 * same samples.  For verifiers, before anything runs: a frame at a time, in
 * memory for one chirp, one frame of spectra and one power map.
 */
#include <assert.h>
#include <errno.h>

#include <hk/radar.h>

struct hk_expect {
	struct hk_scene scene;
	int16_t *chirp;
	struct hk_c32 *spectra;
	float *power;
	struct hk_range_fft *range;
	struct hk_doppler *doppler;
};

/* Hands out parts of the object's memory, or with `base` NULL counts them. */
static void *
part(char *base, size_t *at, size_t bytes)
{
	void *p = base ? base + *at : NULL;

	*at += (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN;
	return p;
}

static size_t
lay_out(struct hk_expect *e, const struct hk_scene *scene)
{
	size_t n = scene->samples, cells = n * scene->chirps, at = 0;
	struct hk_expect parts;

	part((char *)e, &at, sizeof *e);
	parts.scene = *scene;
	parts.chirp = part((char *)e, &at, n * 2 * sizeof(int16_t));
	parts.spectra = part((char *)e, &at, cells * sizeof(struct hk_c32));
	parts.power = part((char *)e, &at, cells * sizeof(float));
	parts.range = part((char *)e, &at, hk_range_fft_bytes(n));
	parts.doppler = part((char *)e, &at, hk_doppler_bytes(n, scene->chirps));
	if (e)
		*e = parts;
	return at;
}

size_t
hk_expect_bytes(const struct hk_scene *scene)
{
	return lay_out(NULL, scene);
}

int
hk_expect_init(struct hk_expect *expect, const struct hk_scene *scene, enum hk_window window)
{
	lay_out(expect, scene);
	if (hk_range_fft_init(expect->range, scene->samples, window))
		return -ENOMEM;
	if (!hk_doppler_init(expect->doppler, scene->samples, scene->chirps, window))
		return 0;
	hk_range_fft_fini(expect->range);
	return -ENOMEM;
}

void
hk_expect_fini(struct hk_expect *expect)
{
	hk_doppler_fini(expect->doppler);
	hk_range_fft_fini(expect->range);
}

static float
strongest(const struct hk_expect *e, const struct hk_expected *at, uint32_t reach)
{
	uint32_t rows = e->scene.samples, cols = e->scene.chirps;
	float best = 0.0f;

	for (uint32_t i = 0; i <= 2 * reach; i++)
		for (uint32_t j = 0; j <= 2 * reach; j++) {
			size_t r = (at->range + rows - reach % rows + i) % rows;
			size_t d = (at->doppler + cols - reach % cols + j) % cols;
			float p = e->power[r * cols + d];

			best = p > best ? p : best;
		}
	return best;
}

void
hk_expect_frame(struct hk_expect *expect, uint64_t frame, uint32_t reach,
		struct hk_expected out[HK_SCENE_TARGETS])
{
	const struct hk_scene *scene = &expect->scene;
	struct hk_target truth[HK_SCENE_TARGETS];

	assert(scene->samples && scene->chirps);
	for (uint32_t m = 0; m < scene->chirps; m++) {
		hk_scene_chirp(scene, frame, m, expect->chirp);
		hk_range_fft_i16(expect->range, expect->chirp,
				 expect->spectra + (size_t)m * scene->samples);
	}
	hk_doppler_power(expect->doppler, expect->spectra, expect->power, 0, scene->samples);
	hk_scene_truth(scene, frame, truth);
	for (int k = 0; k < HK_SCENE_TARGETS; k++) {
		out[k].range = (uint32_t)(truth[k].range + 0.5) % scene->samples;
		out[k].doppler = (uint32_t)(truth[k].doppler + 0.5) % scene->chirps;
		out[k].power = strongest(expect, &out[k], reach);
	}
}

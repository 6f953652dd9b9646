/* SPDX-License-Identifier: Apache-2.0 */
/* truth.c - runs the distinct frames through the receiver's kernels once.  See truth.h. */
#include <errno.h>

#include "truth.h"

int
truth_open(struct truth *t, const struct hop_ctx *ctx, const struct hk_scene *scene,
	   enum hk_window window, uint32_t reach)
{
	size_t frame_bytes = HK_SCENE_TARGETS * sizeof *t->frame;
	struct hk_expect *expect = radar_alloc(ctx, hk_expect_bytes(scene), "the expected frames");

	t->scene = *scene;
	t->frame = NULL;
	if (!expect)
		return -ENOMEM;
	if (hk_expect_init(expect, scene, window)) {
		ctx->host->free(ctx, expect);
		return HOP_FAIL(ctx, ENOMEM, "FFTW made no plan for %u x %u", scene->samples,
				scene->chirps);
	}
	t->frame = radar_alloc(ctx, scene->distinct * frame_bytes, "the expected targets");
	for (uint32_t f = 0; t->frame && f < scene->distinct; f++)
		hk_expect_frame(expect, f, reach, t->frame + (size_t)f * HK_SCENE_TARGETS);
	hk_expect_fini(expect);
	ctx->host->free(ctx, expect);
	return t->frame ? 0 : -ENOMEM;
}

void
truth_close(struct truth *t, const struct hop_ctx *ctx)
{
	ctx->host->free(ctx, t->frame);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h - what each distinct frame of the scene must show: computed before
 * the graph runs, so that no edge runs beside the network.
 */
#ifndef HR_PLUGIN_RADAR_TRUTH_H
#define HR_PLUGIN_RADAR_TRUTH_H

#include "radar.h"

struct truth {
	struct hk_scene scene;
	struct hk_expected *frame; /* [distinct][HK_SCENE_TARGETS] */
};

/* [control] 0, or a negative errno after HOP_FAIL with nothing left behind. */
int truth_open(struct truth *t, const struct hop_ctx *ctx, const struct hk_scene *scene,
	       enum hk_window window, uint32_t reach);
void truth_close(struct truth *t, const struct hop_ctx *ctx);

static inline const struct hk_expected *
truth_of(const struct truth *t, uint64_t frame)
{
	return t->frame + frame % t->scene.distinct * HK_SCENE_TARGETS;
}

#endif /* HR_PLUGIN_RADAR_TRUTH_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the radar plugin: FMCW radar from chirps to checked targets. */
#include "radar.h"

static const struct hop_op *const ops[] = {
	&radar_scene, &radar_range_fft, &radar_doppler_fft,
	&radar_cfar,  &radar_cluster,   &radar_verify,
};

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "radar",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};

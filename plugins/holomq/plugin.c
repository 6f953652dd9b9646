/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the table of the holomq plugin: messages out to other programs, messages in. */
#include "endpoints.h"

static const struct hop_op *const ops[] = { &holomq_export, &holomq_import };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "holomq",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};

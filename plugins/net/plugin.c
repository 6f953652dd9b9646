/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the table of the net plugin: packets in, packets out. */
#include "net.h"

static const struct hop_op *const ops[] = { &net_udp_source, &net_udp_sink };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "net",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};

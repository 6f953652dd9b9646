/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c - the table of the std plugin: sources, sinks and passers-by that
 * need no knowledge of what they carry.
 */
#include "std.h"

static const struct hop_op *const ops[] = {
	&std_sequence, &std_copy,      &std_null,        &std_check,
	&std_busy,     &std_file_sink, &std_file_source,
};

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "std",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};

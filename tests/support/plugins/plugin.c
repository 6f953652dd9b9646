/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - the table of libtestops.so; the list with explanations is in testops.h. */
#include "testops.h"

static const struct hop_op *const ops[] = {
	&test_seq_source, &test_live_source, &test_pieces,   &test_c32_source, &test_copy,
	&test_two_out,    &test_join2,       &test_opt_in,   &test_need5,      &test_nap,
	&test_seq_sink,   &test_head_sink,   &test_f64_sink, &test_many_in,    &test_done_after,
	&test_slow,       &test_hog,         &test_stall,    &test_crash,      &test_hang,
	&test_hang_stop,  &test_fail_open,   &test_fail_at,  &test_param_all,
};

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "testops",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = sizeof ops / sizeof ops[0],
	.abi_draft = HOP_ABI_DRAFT,
};

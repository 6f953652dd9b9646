/* SPDX-License-Identifier: Apache-2.0 */
/* ctor_crash.c - a plugin that gets SIGSEGV while the loader runs its constructor. */
#include <holorun/op.h>

__attribute__((constructor, no_sanitize("undefined", "address"))) static void
crash(void)
{
	uintptr_t nowhere = 0;

	__asm__("" : "+r"(nowhere));
	*(int *)nowhere = 1;
}

static const struct hop_op *const ops[] = { NULL };

const struct hop_plugin hop_plugin_v1 = {
	.size = sizeof hop_plugin_v1,
	.abi_major = HOP_ABI_MAJOR,
	.abi_minor = HOP_ABI_MINOR,
	.name = "ctor_crash",
	.version = "0.1.0",
	.license = "Apache-2.0",
	.ops = ops,
	.n_ops = 0,
	.abi_draft = HOP_ABI_DRAFT,
};

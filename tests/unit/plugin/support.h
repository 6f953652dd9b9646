/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - graphs from YAML text, ops in memory, and what binding said.
 *
 * A struct rig owns one arena; every test makes one and frees it.
 */
#ifndef PLUGIN_TEST_SUPPORT_H
#define PLUGIN_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin/bind.h"

struct rig {
	struct hr_arena *a;
	struct hr_diags d;
	struct hr_graph *g;
	struct hr_plugins *p;
	struct hr_bound *b;
	const char *dir;
	struct hr_plugin_dirs dirs;
};

/* Plugin folder: the build's test plugins. */
void rig_init(struct rig *r);
void rig_fini(struct rig *r);
/* Validate a text (lines without `holorun: 1`); plugins and nodes are the test's. */
void rig_graph(struct rig *r, const char *yaml);
/* rig_graph, load its plugins, bind. */
void rig_bind(struct rig *r, const char *yaml);
/* rig_graph, bind to ops that lie in memory, as if from plugin /mem/libmem.so. */
void rig_bind_ops(struct rig *r, const char *yaml, const struct hop_op *const *ops, uint32_t n);
/* All diagnostics as text. */
const char *rig_text(struct rig *r);
/* Fail unless the text of the diagnostics has the part. */
void rig_says(struct rig *r, const char *part);
/* Fail unless there is exactly one error with this code whose underlined token is `token`. */
void rig_error_at(struct rig *r, uint32_t code, const char *token);
const struct hr_bound_node *rig_node(struct rig *r, const char *name);

/* An op to change and to verify: test/op, input in, output out, params gain (REAL), n (INT). */
struct op_params {
	double gain;
	int64_t n;
};
struct mem_plugin {
	struct hop_port port[4];
	struct hop_param param[4];
	struct hop_counter counter[2];
	struct hop_axis axis[2];
	struct hop_after after[1];
	struct hop_op op;
	const struct hop_op *list[2];
	struct hop_plugin plugin;
};
void mem_plugin_init(struct mem_plugin *m);

#endif

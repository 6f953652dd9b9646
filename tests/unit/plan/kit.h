/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.h - bound graphs and machines made by hand, for tests of the planner.
 *
 * Nodes, edges and partitions are added one by one; kit_plan closes the graph
 * and plans it.  Edges must be added in the order of their readers.  Every
 * object has a place of its own in "t.yaml", so that tests can tell which one a
 * diagnostic points to: node i stands at line 100 + i, edge i at 200 + i (its
 * depth at column 30, its initial at 40), partition i at 300 + i (its cpus at
 * column 20, wait at 50, sched at 60).
 */
#ifndef KIT_H
#define KIT_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan/plan.h"

enum { KIT_MAX = 128, KIT_PORTS = 8 };

struct kit {
	struct hr_arena *arena;
	struct hr_diags diags;
	struct hr_graph graph;
	struct hr_bound bound;
	struct hr_machine machine;
	struct hr_file file;
	/* Writable views of what the graph holds as const. */
	struct hr_node node[KIT_MAX];
	struct hr_edge edge[KIT_MAX];
	struct hr_partition partition[KIT_MAX];
	struct hr_process process[KIT_MAX];
	struct hr_bound_node bnode[KIT_MAX];
	struct hr_bound_edge bedge[KIT_MAX];
	struct hop_op op[KIT_MAX];
	struct hop_port port[KIT_MAX][2 * KIT_PORTS]; /* inputs, then outputs */
	struct hr_port_in in[KIT_MAX][KIT_PORTS];
	struct hr_port_out out[KIT_MAX][KIT_PORTS];
	uint32_t order[KIT_MAX];
	struct hr_cpu cpu[KIT_MAX];
};

/* A machine of 4 CPUs, all allowed, no limits; no partitions; process main. */
struct kit *kit_new(void);
void kit_free(struct kit *k);
/* CPUs 0 .. n-1; bit i of allowed: CPU i may be used. */
void kit_machine(struct kit *k, uint32_t n_cpus, uint64_t allowed);
/* Returns its index.  Outputs carry messages of `bytes`.  Ports are called in, in1 ..; out, out1.
 */
uint32_t kit_node(struct kit *k, const char *name, uint32_t n_in, uint32_t n_out, uint64_t bytes);
uint32_t kit_edge(struct kit *k, uint32_t from, uint32_t out, uint32_t to, uint32_t in);
/* cpus NULL: none given. */
uint32_t kit_partition(struct kit *k, const char *name, const char *cpus);
uint32_t kit_process(struct kit *k, const char *name);
void kit_place(struct kit *k, uint32_t node, uint32_t partition);
void kit_depth(struct kit *k, uint32_t edge, uint32_t depth);
/* Put a gather of `count` pieces, window 2, on an edge; returns it for changes. */
struct hr_gather *kit_gather(struct kit *k, uint32_t edge, int64_t count);

/* Plan; NULL when there were errors.  May be called again after changes. */
struct hr_plan *kit_plan(struct kit *k);
/* Plan, want no errors. */
struct hr_plan *kit_want_plan(struct kit *k);
/* Plan, want NULL and exactly this one error at this line (0: no place), with this text. */
void kit_want_error(struct kit *k, uint32_t code, uint32_t line, const char *text);
const struct hr_diag *kit_find(const struct kit *k, uint32_t code);

/* src -> work -> sink with 1 KiB messages; edges 0 and 1. */
struct kit *kit_chain(void);

#endif

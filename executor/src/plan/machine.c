// SPDX-License-Identifier: Apache-2.0
/*
 * machine.c - a machine's CPUs from hwloc: live, from XML, or synthetic.
 *
 * CPUs that exist but may not be used are kept, so that a message can tell "not
 * there" from "not allowed".  A recorded machine has the memory its XML states
 * and no limits; a synthetic one has neither.
 */
#include "plan/machine.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plan/limits.h"

enum { MAX_OS_CPU = 1 << 16 };

static uint32_t
index_or_zero(hwloc_obj_t obj)
{
	return obj ? obj->logical_index : 0;
}

static void
describe_cpu(hwloc_topology_t t, hwloc_obj_t pu, struct hr_cpu *cpu)
{
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, pu);
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu);
	hwloc_obj_t l3 = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_L3CACHE, pu);
	int numa = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : -1;

	cpu->os = pu->os_index;
	cpu->core = core ? core->logical_index : pu->logical_index;
	cpu->package = index_or_zero(package);
	cpu->numa = numa < 0 ? 0 : (uint32_t)numa;
	cpu->l3 = index_or_zero(l3 ? l3 : package);
}

static int
by_os(const void *a, const void *b)
{
	const struct hr_cpu *x = a, *y = b;

	return (x->os > y->os) - (x->os < y->os);
}

/* This thread's affinity; its parents' and the cgroup's are inside hwloc's allowed set. */
static hwloc_bitmap_t
own_affinity(void)
{
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	cpu_set_t *mask = NULL;
	int n = 1024;

	for (; n <= MAX_OS_CPU; n *= 2) {
		mask = CPU_ALLOC((size_t)n);
		if (!mask || sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)n), mask) == 0)
			break;
		CPU_FREE(mask);
		mask = NULL;
	}
	if (!mask) {
		hwloc_bitmap_fill(set);
		return set;
	}
	for (int i = 0; i < n; i++)
		if (CPU_ISSET_S((size_t)i, CPU_ALLOC_SIZE((size_t)n), mask))
			hwloc_bitmap_set(set, (unsigned)i);
	CPU_FREE(mask);
	return set;
}

static void
fill_cpus(struct hr_arena *a, hwloc_topology_t t, struct hr_machine *m)
{
	hwloc_bitmap_t allowed = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(t));
	int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
	int numa = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);

	if (m->live) {
		hwloc_bitmap_t own = own_affinity();

		hwloc_bitmap_and(allowed, allowed, own);
		hwloc_bitmap_free(own);
	}
	m->n_cpus = n > 0 ? (uint32_t)n : 0;
	m->n_numa = numa > 0 ? (uint32_t)numa : 1;
	m->cpu = HR_ARRAY(a, m->n_cpus, struct hr_cpu);
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, i);

		describe_cpu(t, pu, &m->cpu[i]);
		m->cpu[i].allowed = hwloc_bitmap_isset(allowed, pu->os_index);
		m->n_allowed += m->cpu[i].allowed;
	}
	qsort(m->cpu, m->n_cpus, sizeof(*m->cpu), by_os);
	hwloc_bitmap_free(allowed);
}

static void
fill_limits(struct hr_arena *a, struct hr_machine *m)
{
	m->memory_bytes = hr_limits_memory(a, "/proc", "/sys/fs/cgroup", &m->memory_from);
	m->memlock_bytes = hr_limits_memlock();
	m->rtprio_max = hr_limits_rtprio(a, "/proc");
}

/* Where the topology comes from.  0, or -1 with a diagnostic. */
static int
choose_source(hwloc_topology_t t, const char *topology, bool *xml, struct hr_diags *d)
{
	struct hr_diag *e;

	*xml = topology && (strchr(topology, '/') || access(topology, F_OK) == 0);
	if (!topology)
		return 0;
	if (*xml && access(topology, R_OK) < 0) {
		hr_error(d, HR_NOWHERE, 268, "--topology: cannot read '%s': %s", topology,
			 strerrordesc_np(errno));
		return -1;
	}
	if ((*xml ? hwloc_topology_set_xml(t, topology)
		  : hwloc_topology_set_synthetic(t, topology)) == 0)
		return 0;
	if (*xml) {
		e = hr_error(d, HR_NOWHERE, 268, "--topology: '%s' is not a topology in XML",
			     topology);
		hr_help(e, "record one with `lstopo --of xml > machine.xml` on the machine");
		return -1;
	}
	e = hr_error(d, HR_NOWHERE, 268,
		     "--topology: '%s' is neither a file nor a synthetic description", topology);
	hr_help(e, "a description looks like \"pack:2 core:8 pu:2\"");
	return -1;
}

static int
load_topology(hwloc_topology_t t, const char *topology, bool *xml, struct hr_diags *d)
{
	if (choose_source(t, topology, xml, d) < 0)
		return -1;
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_load(t) < 0) {
		hr_error(d, HR_NOWHERE, topology ? 268 : 313, "cannot load the topology of %s: %s",
			 topology ? topology : "this machine", strerrordesc_np(errno));
		return -1;
	}
	return 0;
}

struct hr_machine *
hr_machine_load(struct hr_arena *a, const char *topology, struct hr_diags *d)
{
	struct hr_machine *m = HR_NEW(a, struct hr_machine);
	bool xml = false;
	hwloc_topology_t t;

	if (hwloc_topology_init(&t) < 0) {
		hr_error(d, HR_NOWHERE, 313, "cannot start hwloc: %s", strerrordesc_np(errno));
		return NULL;
	}
	if (load_topology(t, topology, &xml, d) < 0) {
		hwloc_topology_destroy(t);
		return NULL;
	}
	const char *slash = xml ? strrchr(topology, '/') : NULL;

	m->source = topology ? hr_strdup(a, slash ? slash + 1 : topology) : "this machine";
	m->live = !topology;
	m->memory_from = "unknown";
	m->memlock_bytes = UINT64_MAX;
	m->rtprio_max = m->live ? 0 : 99;
	fill_cpus(a, t, m);
	if (m->live)
		fill_limits(a, m);
	else if (xml) {
		m->memory_bytes = hwloc_get_root_obj(t)->total_memory;
		m->memory_from = m->memory_bytes ? "all of the recorded machine" : "unknown";
	}
	hwloc_topology_destroy(t);
	if (!m->n_allowed) {
		hr_error(d, HR_NOWHERE, 313, "%s has no CPU that may be used", m->source);
		return NULL;
	}
	return m;
}

const struct hr_cpu *
hr_machine_cpu(const struct hr_machine *m, uint32_t os)
{
	const struct hr_cpu key = { .os = os };

	return m->n_cpus ? bsearch(&key, m->cpu, m->n_cpus, sizeof(*m->cpu), by_os) : NULL;
}

const char *
hr_machine_xml(struct hr_arena *a)
{
	const char *text = NULL;
	hwloc_topology_t t;
	char *buf = NULL;
	int len = 0;

	if (hwloc_topology_init(&t) < 0)
		return NULL;
	hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_load(t) == 0 && hwloc_topology_export_xmlbuffer(t, &buf, &len, 0) == 0) {
		text = hr_strdup(a, buf);
		hwloc_free_xmlbuffer(t, buf);
	}
	hwloc_topology_destroy(t);
	return text;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * machine_test.c - machines live, recorded and described; limits of other systems.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit.h"
#include "plan/cpus.h"
#include "plan/limits.h"

static struct hr_machine *
load(struct kit *k, const char *topology)
{
	hr_diags_init(&k->diags, k->arena);
	return hr_machine_load(k->arena, topology, &k->diags);
}

static void
description_gives_cpus_in_os_order(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	struct hr_machine *m = load(k, "pack:2 core:8 pu:2");

	assert_non_null(m);
	assert_int_equal(m->n_cpus, 32);
	assert_int_equal(m->n_allowed, 32);
	assert_false(m->live);
	assert_int_equal(m->memory_bytes, 0);
	for (uint32_t i = 0; i < 32; i++) {
		assert_int_equal(m->cpu[i].os, i);
		assert_true(m->cpu[i].allowed);
	}
	assert_int_equal(m->cpu[1].core, 0);
	assert_int_equal(m->cpu[2].core, 1);
	assert_int_equal(m->cpu[15].package, 0);
	assert_int_equal(m->cpu[16].package, 1);
	assert_ptr_equal(hr_machine_cpu(m, 31), &m->cpu[31]);
	assert_null(hr_machine_cpu(m, 32));
	kit_free(k);
}

static void
recorded_topology_has_its_numa_nodes_and_memory(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	struct hr_machine *m =
		load(k, hr_printf(k->arena, "%s/server-2x32.xml", getenv("TOPOLOGIES")));

	assert_non_null(m);
	assert_string_equal(m->source, "server-2x32.xml");
	assert_int_equal(m->n_cpus, 64);
	assert_int_equal(m->n_numa, 2);
	assert_int_equal(m->cpu[31].numa, 0);
	assert_int_equal(m->cpu[32].numa, 1);
	assert_int_equal(m->cpu[32].package, 1);
	assert_int_not_equal(m->cpu[0].l3, m->cpu[63].l3);
	assert_true(m->memory_bytes > 0);
	assert_int_equal(m->memlock_bytes, UINT64_MAX);
	kit_free(k);
}

static void
recorded_topology_keeps_what_was_not_allowed(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	struct hr_machine *m = load(k, hr_printf(k->arena, "%s/node-64.xml", getenv("TOPOLOGIES")));

	assert_non_null(m);
	assert_int_equal(m->n_cpus, 64);
	assert_int_equal(m->n_allowed, 62);
	assert_string_equal(hr_cpus_allowed(k->arena, m), "2-63");
	assert_int_equal(m->n_numa, 1);
	kit_free(k);
}

static void
recorded_siblings_share_a_core(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	struct hr_machine *m =
		load(k, hr_printf(k->arena, "%s/laptop-8c-smt.xml", getenv("TOPOLOGIES")));

	assert_non_null(m);
	assert_int_equal(m->n_cpus, 16);
	assert_int_equal(m->cpu[0].core, m->cpu[8].core);
	assert_int_not_equal(m->cpu[0].core, m->cpu[1].core);
	kit_free(k);
}

static void
want_refused(struct kit *k, const char *topology, const char *text)
{
	assert_null(load(k, topology));
	assert_int_equal(k->diags.n_errors, 1);
	assert_int_equal(k->diags.first->code, 268);
	assert_int_equal(k->diags.exit_code, 2);
	if (!strstr(k->diags.first->text, text))
		fail_msg("wanted '%s', found '%s'", text, k->diags.first->text);
}

static void
unreadable_topologies_are_refused(void **state)
{
	(void)state;
	struct kit *k = kit_new();

	want_refused(k, "./nosuch.xml", "cannot read './nosuch.xml': No such file");
	want_refused(k, "nosuch.xml", "neither a file nor a synthetic description");
	want_refused(k, "pack:x", "neither a file nor a synthetic description");
	want_refused(k, "/etc/passwd", "is not a topology in XML");
	kit_free(k);
}

static void
live_machine_allows_what_this_thread_may_use(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	struct hr_machine *m = load(k, NULL);
	cpu_set_t set;

	assert_non_null(m);
	assert_true(m->live);
	assert_string_equal(m->source, "this machine");
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	for (uint32_t i = 0; i < m->n_cpus; i++)
		if (m->cpu[i].allowed)
			assert_true(CPU_ISSET(m->cpu[i].os, &set));
	assert_true(m->n_allowed >= 1);
	assert_true(m->memory_bytes > 0);
	kit_free(k);
}

static void
narrow_affinity_narrows_the_machine(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	cpu_set_t old, one;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(old), &old), 0);
	while (!CPU_ISSET(cpu, &old))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	struct hr_machine *m = load(k, NULL);

	assert_int_equal(sched_setaffinity(0, sizeof(old), &old), 0);
	assert_non_null(m);
	assert_int_equal(m->n_allowed, 1);
	assert_true(hr_machine_cpu(m, (uint32_t)cpu)->allowed);
	kit_free(k);
}

static void
recording_loads_back(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	const char *xml = hr_machine_xml(k->arena);
	char path[] = "/tmp/plan_machine_XXXXXX";
	int fd = mkstemp(path);

	assert_non_null(xml);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, strlen(xml)), (ssize_t)strlen(xml));
	close(fd);
	struct hr_machine *m = load(k, path), *live = load(k, NULL);

	unlink(path);
	assert_non_null(m);
	assert_int_equal(m->n_cpus, live->n_cpus);
	kit_free(k);
}

/* ---- limits on made-up systems -------------------------------------------- */

struct fake {
	struct kit *k;
	char root[64];
	const char *proc, *cgroup;
	const char *made[32]; /* in order; removed backwards */
	uint32_t n;
};

static void
make_dir(struct fake *f, const char *path)
{
	f->made[f->n] = hr_printf(f->k->arena, "%s/%s", f->root, path);
	assert_int_equal(mkdir(f->made[f->n++], 0700), 0);
}

static void
make_file(struct fake *f, const char *path, const char *text)
{
	f->made[f->n] = hr_printf(f->k->arena, "%s/%s", f->root, path);
	FILE *out = fopen(f->made[f->n++], "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void
fake_init(struct fake *f)
{
	*f = (struct fake){ .k = kit_new(), .root = "/tmp/plan_limits_XXXXXX" };
	assert_non_null(mkdtemp(f->root));
	f->proc = hr_printf(f->k->arena, "%s/proc", f->root);
	f->cgroup = hr_printf(f->k->arena, "%s/cg", f->root);
	make_dir(f, "proc");
	make_dir(f, "proc/self");
	make_dir(f, "cg");
	make_file(f, "proc/meminfo", "MemTotal: 999 kB\nMemAvailable:   1000 kB\n");
}

static void
fake_fini(struct fake *f)
{
	while (f->n > 0)
		assert_int_equal(remove(f->made[--f->n]), 0);
	assert_int_equal(rmdir(f->root), 0);
	kit_free(f->k);
}

static void
want_memory(struct fake *f, uint64_t bytes, const char *from)
{
	const char *got;

	assert_int_equal(hr_limits_memory(f->k->arena, f->proc, f->cgroup, &got), bytes);
	assert_string_equal(got, from);
}

static void
memory_is_what_is_available(void **state)
{
	(void)state;
	struct fake f;

	fake_init(&f);
	want_memory(&f, 1000 * 1024, "MemAvailable");
	make_file(&f, "proc/self/cgroup", "0::/\n");
	want_memory(&f, 1000 * 1024, "MemAvailable");
	make_file(&f, "cg/memory.max", "max\n");
	make_file(&f, "cg/memory.current", "5\n");
	want_memory(&f, 1000 * 1024, "MemAvailable");
	fake_fini(&f);
}

static void
narrower_cgroup_counts_less_its_use_without_cache(void **state)
{
	(void)state;
	struct fake f;

	fake_init(&f);
	make_file(&f, "proc/self/cgroup", "0::/a/b\n");
	make_dir(&f, "cg/a");
	make_dir(&f, "cg/a/b");
	make_file(&f, "cg/a/b/memory.max", "800000\n");
	make_file(&f, "cg/a/b/memory.current", "300000\n");
	want_memory(&f, 500000, "the memory cgroup");
	make_file(&f, "cg/a/b/memory.stat", "anon 1\ninactive_file 100000\n");
	want_memory(&f, 600000, "the memory cgroup");
	/* A level above may be narrower, or full. */
	make_file(&f, "cg/a/memory.max", "400000\n");
	make_file(&f, "cg/a/memory.current", "500000\n");
	want_memory(&f, 0, "the memory cgroup");
	fake_fini(&f);
}

static void
legacy_cgroup_counts_too(void **state)
{
	(void)state;
	struct fake f;

	fake_init(&f);
	make_file(&f, "proc/self/cgroup", "broken\n3:cpu,memory:/x\n2:memoryless:/x\n");
	make_dir(&f, "cg/memory");
	make_dir(&f, "cg/memory/x");
	make_file(&f, "cg/memory/x/memory.limit_in_bytes", "10000\n");
	make_file(&f, "cg/memory/x/memory.usage_in_bytes", "4000\n");
	make_file(&f, "cg/memory/x/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
	want_memory(&f, 6500, "the memory cgroup");
	fake_fini(&f);
}

static void
unknown_system_has_unknown_memory(void **state)
{
	(void)state;
	struct kit *k = kit_new();
	const char *from;

	assert_int_equal(hr_limits_memory(k->arena, "/nosuch", "/nosuch", &from), 0);
	assert_string_equal(from, "unknown");
	kit_free(k);
}

static void
priority_limit_is_the_capability_or_the_rlimit(void **state)
{
	(void)state;
	struct rlimit lim;
	struct fake f;

	fake_init(&f);
	assert_int_equal(getrlimit(RLIMIT_RTPRIO, &lim), 0);
	uint32_t soft = lim.rlim_cur < 99 ? (uint32_t)lim.rlim_cur : 99;

	assert_int_equal(hr_limits_rtprio(f.k->arena, f.proc), soft);
	make_file(&f, "proc/self/status", "Name: x\nCapEff:\t0000000000800000\n");
	assert_int_equal(hr_limits_rtprio(f.k->arena, f.proc), 99);
	fake_fini(&f);
}

static void
memlock_limit_is_the_rlimit(void **state)
{
	(void)state;
	struct rlimit old, one = { 0 };

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	one = old;
	one.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &one), 0);
	assert_int_equal(hr_limits_memlock(), 4096);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
	assert_int_equal(hr_limits_memlock(),
			 old.rlim_cur == RLIM_INFINITY ? UINT64_MAX : old.rlim_cur);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(description_gives_cpus_in_os_order),
		cmocka_unit_test(recorded_topology_has_its_numa_nodes_and_memory),
		cmocka_unit_test(recorded_topology_keeps_what_was_not_allowed),
		cmocka_unit_test(recorded_siblings_share_a_core),
		cmocka_unit_test(unreadable_topologies_are_refused),
		cmocka_unit_test(live_machine_allows_what_this_thread_may_use),
		cmocka_unit_test(narrow_affinity_narrows_the_machine),
		cmocka_unit_test(recording_loads_back),
		cmocka_unit_test(memory_is_what_is_available),
		cmocka_unit_test(narrower_cgroup_counts_less_its_use_without_cache),
		cmocka_unit_test(legacy_cgroup_counts_too),
		cmocka_unit_test(unknown_system_has_unknown_memory),
		cmocka_unit_test(priority_limit_is_the_capability_or_the_rlimit),
		cmocka_unit_test(memlock_limit_is_the_rlimit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

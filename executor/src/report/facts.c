// SPDX-License-Identifier: Apache-2.0
/*
 * facts.c - the machine's facts for result.json, from /proc, /sys and uname.
 */
#include "report/facts.h"

#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/files.h"

static const struct { /* files of one line */
	const char *key, *path;
} lines[] = {
	{ "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
	{ "isolated", "/sys/devices/system/cpu/isolated" },
	{ "transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "kernel_command_line", "/proc/cmdline" },
};

/* NULL: cannot be read. */
static char *
slurp(struct hr_arena *a, const char *path)
{
	struct hr_error err;
	char *data;
	size_t len;

	if (hr_read_whole(a, path, 1 << 20, &data, &len, &err))
		return NULL;
	while (len && (data[len - 1] == '\n' || data[len - 1] == ' '))
		data[--len] = '\0';
	return data;
}

static const char *
cpu_model(struct hr_arena *a)
{
	char *s = slurp(a, "/proc/cpuinfo");
	char *at = s ? strstr(s, "model name") : NULL;
	char *colon = at ? strchr(at, ':') : NULL;

	if (!colon)
		return NULL;
	colon += 1 + (colon[1] == ' ');
	return hr_strndup(a, colon, strcspn(colon, "\n"));
}

/* What gives a container away; NULL: nothing did. */
static const char *
container(struct hr_arena *a)
{
	const char *cgroup;

	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (!access("/run/systemd/container", F_OK))
		return slurp(a, "/run/systemd/container");
	cgroup = slurp(a, "/proc/1/cgroup");
	if (cgroup &&
	    (strstr(cgroup, "docker") || strstr(cgroup, "kubepods") || strstr(cgroup, "lxc")))
		return "cgroup";
	return NULL;
}

cJSON *
hr_machine_facts(struct hr_arena *a)
{
	cJSON *o = cJSON_CreateObject();
	struct utsname u;
	struct sysinfo si;
	const char *model = cpu_model(a), *inside = container(a);

	if (model)
		hr_json_add_text(o, "cpu_model", model);
	hr_json_add_int(o, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	if (!sysinfo(&si))
		hr_json_add_int(o, "memory_bytes", (int64_t)(si.totalram * si.mem_unit));
	if (!uname(&u)) {
		hr_json_add_text(o, "kernel", hr_printf(a, "%s %s", u.sysname, u.release));
		hr_json_add_text(o, "architecture", u.machine);
		hr_json_add_text(o, "host", u.nodename);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		const char *s = slurp(a, lines[i].path);

		if (s && *s)
			hr_json_add_text(o, lines[i].key, s);
	}
	hr_json_add_text(o, "container", inside ? inside : "none");
	hr_json_add_text(o, "compiler", __VERSION__);
	return o;
}

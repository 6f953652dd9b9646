// SPDX-License-Identifier: Apache-2.0
/*
 * limits.c - memory, memlock and priority limits from /proc and cgroups.
 *
 * A cgroup's room is its limit less what it uses, where clean file cache
 * (inactive_file) does not count as used: the kernel gives it back.  Both
 * hierarchies are walked up to their root, since any level may be the narrow one.
 */
#include "plan/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/files.h"

enum { FILE_LIMIT = 1 << 20, CAP_SYS_NICE_BIT = 23, RTPRIO_MAX = 99 };

struct cgroup_kind {        /* how a hierarchy spells it */
	const char *prefix; /* under the root */
	const char *limit;
	const char *usage;
	const char *cache; /* key in memory.stat */
};
static const struct cgroup_kind unified = { "", "memory.max", "memory.current", "inactive_file" };
static const struct cgroup_kind legacy = { "/memory", "memory.limit_in_bytes",
					   "memory.usage_in_bytes", "total_inactive_file" };

/* A file's text, or NULL. */
static char *
slurp(struct hr_arena *a, const char *path)
{
	struct hr_error err;
	char *text = NULL;
	size_t len = 0;

	return hr_read_whole(a, path, FILE_LIMIT, &text, &len, &err) < 0 ? NULL : text;
}

/* The number after `key` at the start of a line; false if it is not there. */
static bool
find_number(const char *text, const char *key, uint64_t *value)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) != 0)
			continue;
		*value = strtoull(line + n, NULL, 10);
		return true;
	}
	return false;
}

static bool
read_number(struct hr_arena *a, const char *dir, const char *name, uint64_t *value)
{
	const char *text = slurp(a, hr_printf(a, "%s/%s", dir, name));

	/* "max" means no limit. */
	if (!text || *text < '0' || *text > '9')
		return false;
	*value = strtoull(text, NULL, 10);
	return true;
}

/* The least room at dir or any folder above it, down to the hierarchy's root. */
static uint64_t
cgroup_room(struct hr_arena *a, const struct cgroup_kind *kind, const char *root, const char *path)
{
	char *dir = hr_printf(a, "%s%s%s", root, kind->prefix, path);
	size_t root_len = strlen(root) + strlen(kind->prefix);
	uint64_t room = UINT64_MAX;

	while (strlen(dir) >= root_len) {
		uint64_t limit, usage, cache = 0;

		if (read_number(a, dir, kind->limit, &limit) &&
		    read_number(a, dir, kind->usage, &usage)) {
			const char *stat = slurp(a, hr_printf(a, "%s/memory.stat", dir));

			if (stat && find_number(stat, hr_printf(a, "%s ", kind->cache), &cache))
				usage -= cache < usage ? cache : usage;
			uint64_t here = limit > usage ? limit - usage : 0;

			room = here < room ? here : room;
		}
		char *slash = strrchr(dir, '/');

		if (!slash)
			break;
		*slash = 0;
	}
	return room;
}

/* True if a comma-separated list holds "memory". */
static bool
lists_memory(const char *list, size_t n)
{
	static const char word[] = "memory";
	size_t len = sizeof(word) - 1;

	for (size_t i = 0; i + len <= n; i++)
		if ((i == 0 || list[i - 1] == ',') && memcmp(list + i, word, len) == 0 &&
		    (i + len == n || list[i + len] == ','))
			return true;
	return false;
}

/* Lines are "id:controllers:/path"; the unified one has no controllers. */
static uint64_t
cgroups_room(struct hr_arena *a, const char *proc, const char *root)
{
	char *text = slurp(a, hr_printf(a, "%s/self/cgroup", proc));
	uint64_t room = UINT64_MAX;
	char *save = NULL;

	if (!text)
		return room;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *list = strchr(line, ':');
		char *path = list ? strchr(list + 1, ':') : NULL;
		uint64_t here = UINT64_MAX;

		if (!path)
			continue;
		size_t n = (size_t)(path - list - 1);

		if (n == 0)
			here = cgroup_room(a, &unified, root, path + 1);
		else if (lists_memory(list + 1, n))
			here = cgroup_room(a, &legacy, root, path + 1);
		room = here < room ? here : room;
	}
	return room;
}

uint64_t
hr_limits_memory(struct hr_arena *a, const char *proc, const char *cgroup, const char **from)
{
	const char *meminfo = slurp(a, hr_printf(a, "%s/meminfo", proc));
	uint64_t room = cgroups_room(a, proc, cgroup);
	uint64_t kib;

	if (meminfo && find_number(meminfo, "MemAvailable:", &kib) && kib * 1024 <= room) {
		*from = "MemAvailable";
		return kib * 1024;
	}
	*from = room == UINT64_MAX ? "unknown" : "the memory cgroup";
	return room == UINT64_MAX ? 0 : room;
}

uint64_t
hr_limits_memlock(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_MEMLOCK, &lim) < 0 || lim.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return lim.rlim_cur;
}

uint32_t
hr_limits_rtprio(struct hr_arena *a, const char *proc)
{
	char *status = slurp(a, hr_printf(a, "%s/self/status", proc));
	const char *caps = status ? strstr(status, "\nCapEff:") : NULL;
	struct rlimit lim;

	if (caps && (strtoull(caps + strlen("\nCapEff:"), NULL, 16) >> CAP_SYS_NICE_BIT & 1))
		return RTPRIO_MAX;
	if (getrlimit(RLIMIT_RTPRIO, &lim) < 0)
		return 0;
	return lim.rlim_cur < RTPRIO_MAX ? (uint32_t)lim.rlim_cur : RTPRIO_MAX;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * schema.c - the table of keys, and what to say about a key that is not in it.
 *
 * A key that another level has is "in the wrong place" and gets directions; any
 * other gets the nearest name.  Keys that start with x- are the user's own.
 */
#include "model/schema.h"

#include <string.h>

#include "base/text.h"

struct level {
	const char *is;   /* "a node key" */
	const char *move; /* where to */
	enum hr_level up; /* the level around it */
};

static const struct level levels[HR_N_LEVELS] = {
	[HR_L_TOP] = { "a top-level key", "move it to the first column, beside `nodes`", HR_L_TOP },
	[HR_L_PLUGIN] = { "a plugin key", "move it into an item of `plugins`, beside `path`",
			  HR_L_TOP },
	[HR_L_KNOB] = { "a knob key", "move it into a knob, beside `type`", HR_L_TOP },
	[HR_L_DEFAULTS] = { "a key of `defaults`", "move it under `defaults`", HR_L_TOP },
	[HR_L_CHANNEL] = { "a channel key", "move it under `defaults: channel:`", HR_L_DEFAULTS },
	[HR_L_NODE] = { "a node key", "move it into a node, beside `op`", HR_L_TOP },
	[HR_L_INPUT] = { "an input key", "move it into an input: `in: {from: source, ...}`",
			 HR_L_NODE },
	[HR_L_INITIAL] = { "a key of `initial`", "move it under `initial`", HR_L_INPUT },
	[HR_L_GATHER] = { "a gather key", "move it under `gather` of an input", HR_L_INPUT },
	[HR_L_FAILURE] = { "a key of `on_failure`", "move it under `on_failure` of a node",
			   HR_L_NODE },
	[HR_L_RESTART] = { "a restart key", "move it under `on_failure: {restart: {...}}`",
			   HR_L_FAILURE },
	[HR_L_PARTITION] = { "a partition key",
			     "move it under `partitions`, into the partition of the node",
			     HR_L_TOP },
	[HR_L_SCHED] = { "a sched key", "move it under `sched` of a partition", HR_L_PARTITION },
	[HR_L_PROCESS] = { "a process key", "move it under `processes`", HR_L_TOP },
	[HR_L_PRESET] = { "a preset key", "move it under `presets`, into a preset", HR_L_TOP },
	[HR_L_ENDPOINT] = { "an endpoint key",
			    "move it into an endpoint, beside `export` or `import`", HR_L_TOP },
};

struct key {
	enum hr_level level;
	bool is_later; /* in the language, not in this version */
	const char *name;
};

static const struct key keys[] = {
	{ HR_L_TOP, false, "holorun" },
	{ HR_L_TOP, false, "name" },
	{ HR_L_TOP, false, "about" },
	{ HR_L_TOP, false, "plugins" },
	{ HR_L_TOP, false, "knobs" },
	{ HR_L_TOP, true, "require" },
	{ HR_L_TOP, true, "include" },
	{ HR_L_TOP, false, "defaults" },
	{ HR_L_TOP, false, "nodes" },
	{ HR_L_TOP, false, "partitions" },
	{ HR_L_TOP, false, "processes" },
	{ HR_L_TOP, false, "endpoints" },
	{ HR_L_TOP, true, "env" },
	{ HR_L_TOP, true, "latency" },
	{ HR_L_TOP, true, "memory" },
	{ HR_L_TOP, false, "presets" },
	{ HR_L_PLUGIN, false, "path" },
	{ HR_L_PLUGIN, false, "optional" },
	{ HR_L_KNOB, false, "type" },
	{ HR_L_KNOB, false, "default" },
	{ HR_L_KNOB, false, "min" },
	{ HR_L_KNOB, false, "max" },
	{ HR_L_KNOB, false, "choices" },
	{ HR_L_KNOB, false, "help" },
	{ HR_L_DEFAULTS, false, "channel" },
	{ HR_L_DEFAULTS, false, "stall_timeout" },
	{ HR_L_DEFAULTS, false, "stop_grace" },
	{ HR_L_CHANNEL, false, "depth" },
	{ HR_L_CHANNEL, false, "when_full" },
	{ HR_L_NODE, false, "op" },
	{ HR_L_NODE, false, "params" },
	{ HR_L_NODE, false, "inputs" },
	{ HR_L_NODE, true, "replicas" },
	{ HR_L_NODE, true, "overrides" },
	{ HR_L_NODE, false, "device" },
	{ HR_L_NODE, true, "enabled" },
	{ HR_L_NODE, false, "on_failure" },
	{ HR_L_NODE, true, "sync" },
	{ HR_L_NODE, true, "tile" },
	{ HR_L_NODE, true, "after" },
	{ HR_L_NODE, true, "workers" },
	{ HR_L_NODE, true, "order" },
	{ HR_L_NODE, false, "end" },
	{ HR_L_INPUT, false, "from" },
	{ HR_L_INPUT, false, "depth" },
	{ HR_L_INPUT, false, "when_full" },
	{ HR_L_INPUT, false, "gather" },
	{ HR_L_INPUT, false, "initial" },
	{ HR_L_INPUT, true, "fresh" },
	{ HR_L_GATHER, false, "count" },
	{ HR_L_GATHER, false, "by" },
	{ HR_L_GATHER, false, "window" },
	{ HR_L_GATHER, false, "missing" },
	{ HR_L_GATHER, false, "timeout" },
	{ HR_L_GATHER, false, "min_valid" },
	{ HR_L_GATHER, false, "order" },
	{ HR_L_INITIAL, false, "count" },
	{ HR_L_INITIAL, true, "format" },
	{ HR_L_FAILURE, false, "restart" },
	{ HR_L_RESTART, false, "max" },
	{ HR_L_RESTART, false, "backoff" },
	{ HR_L_PARTITION, false, "nodes" },
	{ HR_L_PARTITION, false, "cpus" },
	{ HR_L_PARTITION, false, "process" },
	{ HR_L_PARTITION, false, "wait" },
	{ HR_L_PARTITION, false, "sched" },
	{ HR_L_PARTITION, true, "numa" },
	{ HR_L_PARTITION, false, "exclusive" },
	{ HR_L_SCHED, false, "policy" },
	{ HR_L_SCHED, false, "priority" },
	{ HR_L_SCHED, false, "required" },
	{ HR_L_PROCESS, true, "env" },
	{ HR_L_PRESET, false, "knobs" },
	{ HR_L_PRESET, false, "sweep" },
	{ HR_L_PRESET, false, "bench" },
	{ HR_L_PRESET, false, "expect" },
	{ HR_L_PRESET, false, "overlay" },
	{ HR_L_ENDPOINT, false, "export" },
	{ HR_L_ENDPOINT, false, "import" },
	{ HR_L_ENDPOINT, false, "name" },
	{ HR_L_ENDPOINT, false, "kind" },
	{ HR_L_ENDPOINT, false, "layout" },
	{ HR_L_ENDPOINT, false, "depth" },
	{ HR_L_ENDPOINT, false, "when_full" },
	{ HR_L_ENDPOINT, false, "seats" },
	{ HR_L_ENDPOINT, false, "required" },
	{ HR_L_ENDPOINT, false, "attach_timeout" },
	{ HR_L_ENDPOINT, false, "dir" },
	{ HR_L_ENDPOINT, false, "format" },
	{ HR_L_ENDPOINT, false, "max_bytes" },
	{ HR_L_ENDPOINT, false, "serve" },
	{ HR_L_ENDPOINT, false, "lossy_end" },
	{ HR_L_ENDPOINT, false, "any_user" },
};
enum { N_KEYS = sizeof(keys) / sizeof(keys[0]) };

static const struct key *
find_key(const char *name, enum hr_level level)
{
	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].level == level && !strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static unsigned
depth_of(enum hr_level l)
{
	unsigned depth = 0;

	for (; l != HR_L_TOP; l = levels[l].up)
		depth++;
	return depth;
}

/* Steps between two levels in the tree of levels. */
static unsigned
distance(enum hr_level a, enum hr_level b)
{
	unsigned steps = 0, da = depth_of(a), db = depth_of(b);

	for (; a != b; steps++) {
		if (da >= db) {
			a = levels[a].up;
			da--;
		} else {
			b = levels[b].up;
			db--;
		}
	}
	return steps;
}

/* "One level up or down": the neighbours of a level, and the three places where most keys live.
 * Anything further would send people with a misspelt parameter to odd corners. */
static bool
is_near(enum hr_level home, enum hr_level from)
{
	return distance(home, from) <= 1 || home == HR_L_NODE || home == HR_L_PARTITION ||
	       home == HR_L_TOP;
}

/* The level nearest to `from` that has the key, or HR_N_LEVELS.  What this version has comes before
 * what it has not. */
static enum hr_level
find_home(const char *name, enum hr_level from)
{
	enum hr_level best = HR_N_LEVELS;

	for (int later = 0; later < 2 && best == HR_N_LEVELS; later++)
		for (size_t i = 0; i < N_KEYS; i++) {
			const struct key *k = &keys[i];

			if (k->is_later == !!later && !strcmp(k->name, name) &&
			    is_near(k->level, from) &&
			    (best == HR_N_LEVELS ||
			     distance(k->level, from) < distance(best, from)))
				best = k->level;
		}
	return best;
}

const char *
hr_key_home(const char *key)
{
	enum hr_level l = find_home(key, HR_L_NODE);

	return l == HR_N_LEVELS ? NULL : levels[l].is;
}

const char *
hr_key_move(const char *key)
{
	enum hr_level l = find_home(key, HR_L_NODE);

	return l == HR_N_LEVELS ? NULL : levels[l].move;
}

static size_t
names_of(enum hr_level level, const char *names[N_KEYS])
{
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		if (keys[i].level == level && !keys[i].is_later)
			names[n++] = keys[i].name;
	return n;
}

static struct hr_diag *
report_unknown(const struct hr_yaml_pair *p, enum hr_level level, struct hr_diags *d)
{
	enum hr_level home = find_home(p->key, level);
	const char *names[N_KEYS];
	size_t n = names_of(level, names);
	struct hr_diag *e;

	if (home != HR_N_LEVELS && !hr_nearest(p->key, names, n)) {
		e = hr_error(d, p->key_at, 204, "'%s' is %s, not %s", p->key, levels[home].is,
			     levels[level].is);
		hr_help(e, "%s", levels[home].move);
		return e;
	}
	e = hr_error(d, p->key_at, 203, "unknown %s '%s'", strchr(levels[level].is, ' ') + 1,
		     p->key);
	hr_suggest(e, p->key, names, n);
	return e;
}

void
hr_schema_check(const struct hr_yaml *map, enum hr_level level, struct hr_diags *d,
		hr_unknown_fn found, void *self)
{
	for (uint32_t i = 0; i < map->n; i++) {
		const struct hr_yaml_pair *p = &map->pair[i];
		const struct key *k = find_key(p->key, level);

		if (!strncmp(p->key, "x-", 2) || (k && !k->is_later))
			continue;
		if (k) {
			hr_error(d, p->key_at, 290, "'%s' is not in this version", p->key);
			continue;
		}
		struct hr_diag *e = report_unknown(p, level, d);

		if (found)
			found(self, p, e);
	}
}

bool
hr_schema_is_misspelt(const struct hr_yaml *map, enum hr_level level, const char *key)
{
	const char *names[N_KEYS];
	size_t n = names_of(level, names);

	if (map->is_partial)
		return true;
	for (uint32_t i = 0; i < map->n; i++) {
		const char *nearest = find_key(map->pair[i].key, level)
					      ? NULL
					      : hr_nearest(map->pair[i].key, names, n);

		if (nearest && !strcmp(nearest, key))
			return true;
	}
	return false;
}

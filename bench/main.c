/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - holorun-bench: measure, print the table, write JSON.
 *
 * Exit 0: every selected row was measured or skipped; 1: a row got wrong data or
 * could not be written; 2: usage.  A missed bound is shown, and is exit 1 only with
 * --strict: on a shared machine a figure is news, not a fault.
 */
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows.h"

enum { PATIENCE_S = 60, MAX_PATIENCE_S = 24 * 3600, REPS = 25, PACED = 600, PACED_BRIEF = 60 };

struct options {
	const char *only, *json;
	bool list, strict;
	uint32_t reps;
	struct hb_env env;
};

static const char usage[] = "usage: holorun-bench [options]\n"
			    "  --reps N        repetitions of each row (25)\n"
			    "  --only GLOB     rows whose key matches, and the floors they need\n"
			    "  --patience S    seconds to wait for quiet moments, in all (60)\n"
			    "  --json FILE     write everything there too\n"
			    "  --list          print the rows and their bounds, measure nothing\n"
			    "  --brief         few messages: to see that it works, not how fast\n"
			    "  --strict        exit 1 when a bound is missed\n"
			    "  --holorun FILE  the executable (beside this one)\n"
			    "  --graphs DIR    its graphs\n"
			    "  --plugins DIR   its plugins (../plugins)\n";

static const struct option longs[] = {
	{ "reps", required_argument, NULL, 'r' },   { "patience", required_argument, NULL, 'w' },
	{ "only", required_argument, NULL, 'o' },   { "json", required_argument, NULL, 'j' },
	{ "list", no_argument, NULL, 'l' },         { "brief", no_argument, NULL, 'b' },
	{ "strict", no_argument, NULL, 's' },       { "holorun", required_argument, NULL, 'x' },
	{ "graphs", required_argument, NULL, 'g' }, { "plugins", required_argument, NULL, 'p' },
	{ "help", no_argument, NULL, 'h' },         { 0 },
};

/* A path relative to the folder of this program. */
static const char *
beside(const char *relative)
{
	char self[PATH_MAX], *path = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return relative;
	self[n] = 0;
	return asprintf(&path, "%s/%s", dirname(self), relative) < 0 ? relative : path;
}

static int
usage_error(void)
{
	fputs(usage, stderr);
	return 2;
}

static bool
is_number(const char *option, const char *text, long least, long most, long *out)
{
	char *end;

	*out = strtol(text, &end, 10);
	if (!*end && end != text && *out >= least && *out <= most)
		return true;
	fprintf(stderr, "%s: wanted %ld to %ld, found '%s'\n", option, least, most, text);
	return false;
}

/* 0: go on; else exit code + 1. */
static int
parse(struct options *o, int argc, char **argv)
{
	long n;
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (c) {
		case 'r':
			if (!is_number("--reps", optarg, 1, HB_MAX_REPS, &n))
				return 1 + 2;
			o->reps = (uint32_t)n;
			break;
		case 'w':
			if (!is_number("--patience", optarg, 0, MAX_PATIENCE_S, &n))
				return 1 + 2;
			o->env.patience_s = (int)n;
			break;
		case 'o':
			o->only = optarg;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'l':
			o->list = true;
			break;
		case 'b':
			o->env.brief = true;
			break;
		case 's':
			o->strict = true;
			break;
		case 'x':
			o->env.holorun = optarg;
			break;
		case 'g':
			o->env.graphs = optarg;
			break;
		case 'p':
			o->env.plugins = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1 + 0;
		default:
			return 1 + usage_error();
		}
	}
	return optind < argc ? 1 + usage_error() : 0;
}

static void
find_machine(struct hb_env *env)
{
	env->n_cpus = hb_cpus(env->cpu, 2);
	if (env->n_cpus < 2)
		env->cpu[1] = env->cpu[0];
	env->paced = env->brief ? PACED_BRIEF : PACED;
}

static int
exit_code(const struct hb_result *r, bool strict)
{
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct hb_row *row = &r->row[i];

		if (row->selected && row->state == HB_FAILED)
			return 1;
		if (row->selected && strict && hb_is_missed(r, row))
			return 1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct options o = { .reps = REPS, .env.patience_s = PATIENCE_S };
	struct hb_result r = { .row = hb_rows, .n_rows = hb_n_rows };
	int rc;

	o.env.holorun = beside("holorun");
	o.env.plugins = beside("../plugins");
	o.env.graphs = HB_GRAPHS;
	rc = parse(&o, argc, argv);
	if (rc)
		return rc - 1;
	if (o.list) {
		hb_print_list(&r);
		return 0;
	}
	find_machine(&o.env);
	r.reps = o.reps;
	if (!hb_select(&r, o.only)) {
		fprintf(stderr, "--only: no row matches '%s'; see --list\n", o.only);
		return 2;
	}
	hb_run(&r, &o.env);
	hb_print_table(&r);
	if (o.json) {
		rc = hb_write_json(&r, o.json);
		if (rc) {
			fprintf(stderr, "%s: %s\n", o.json, strerror(-rc));
			return 1;
		}
	}
	return exit_code(&r, o.strict);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * commands.c - the table of commands, and how one is carried out.
 *
 * The first word that is no option names the command; when it is none of the
 * table but may be a file, the command is `run`.
 */
#include "cli/cli.h"

#include <string.h>

enum {
	TABLE = 1u << HR_AS_TABLE,
	JSON = 1u << HR_AS_JSON,
	CSV = 1u << HR_AS_CSV,
	DOT = 1u << HR_AS_DOT,
};

const struct hr_command hr_commands[] = {
	{ "run", "FILE", "run to the end, a signal or --duration, and report", hr_verb_run,
	  HR_FOR_RUN, TABLE | JSON | CSV },
	{ "check", "FILE...", "find what is wrong; start nothing, print problems only",
	  hr_verb_check, HR_FOR_CHECK, TABLE | JSON },
	{ "plan", "FILE", "show where everything runs and what carries every edge", hr_verb_plan,
	  HR_FOR_PLAN, TABLE | JSON | DOT },
	{ "ops", "list | describe OP", "show plugins and the operators they offer", hr_verb_ops,
	  HR_FOR_OPS, TABLE | JSON },
	{ "knobs", "FILE", "show the knobs of a graph: type, range, value, where used",
	  hr_verb_knobs, HR_FOR_KNOBS, TABLE | JSON },
	{ "explain", "[CODE]", "explain a diagnostic: cause and cure", hr_verb_explain,
	  HR_FOR_TEXTS, TABLE | JSON },
	{ "version", "", "print the version of holorun and of the operator ABI", hr_verb_version,
	  HR_FOR_TEXTS, TABLE | JSON },
	{ "help", "[COMMAND]", "print this, or the options of a command", hr_verb_help,
	  HR_FOR_TEXTS, TABLE },
	{ 0 },
};

const struct hr_command *
hr_command_find(const char *name)
{
	for (const struct hr_command *c = hr_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

int
hr_cli_main(int argc, char **argv, const char *(*env)(const char *name))
{
	struct hr_arena *a = hr_arena_new();
	struct hr_diags d;
	struct hr_cli c = {
		.arena = a,
		.diags = &d,
		.argc = argc,
		.argv = (const char *const *)argv,
		.load = { .env = env, .endpoint_dir = hr_cli_endpoint_dir(a) },
		.log_level = HOP_LOG_INFO,
	};
	int rc;

	hr_diags_init(&d, a);
	hr_cli_parse(&c);
	if (d.n_errors)
		rc = hr_cli_refuse(&c, &d);
	else if (c.version)
		rc = hr_verb_version(&c);
	else if (c.help)
		rc = hr_verb_help(&c);
	else
		rc = c.command->call(&c);
	hr_arena_free(a);
	return rc;
}

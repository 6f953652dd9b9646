// SPDX-License-Identifier: Apache-2.0
/*
 * verb_run.c - `holorun run`: through all rooms, then what happened.
 *
 * Everything that can be refused is refused before hr_run, the folder for the
 * results included.  Afterwards incidents go to stderr, first cause first, and
 * the summary to stdout.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder is made when there is something to write; that it can be is known now. */
static void
check_out_dir(struct hr_cli *c)
{
	struct stat st;
	const char *dir = c->out_dir, *why = NULL;

	if (!stat(dir, &st)) {
		if (!S_ISDIR(st.st_mode))
			why = strerrordesc_np(ENOTDIR);
		else if (access(dir, W_OK | X_OK))
			why = strerrordesc_np(errno);
	} else if (errno != ENOENT) {
		why = strerrordesc_np(errno);
	} else {
		char *parent = hr_strdup(c->arena, dir);
		size_t n = strlen(parent);

		while (n > 1 && parent[n - 1] == '/')
			parent[--n] = '\0';
		char *slash = strrchr(parent, '/');

		if (slash)
			slash[slash == parent] = '\0';
		if (access(slash ? parent : ".", W_OK | X_OK))
			why = hr_printf(c->arena, "it does not exist and cannot be made: %s",
					strerrordesc_np(errno));
	}
	if (why)
		hr_error(c->diags, HR_NOWHERE, 284, "--out %s: %s", dir, why);
}

static bool
wants_progress(const struct hr_cli *c)
{
	if (c->progress == HR_AUTO)
		return !c->quiet && isatty(STDERR_FILENO);
	return c->progress == HR_ALWAYS;
}

static void
say_line(const char *line)
{
	(void)fprintf(stderr, "%s\n", line);
}

static int
go(struct hr_cli *c, struct hr_rooms *r, struct hr_outcome *out)
{
	struct hr_run_options opt = {
		.load = &c->load,
		.dirs = &c->dirs,
		.doc = r->doc,
		.in_process = c->in_process,
		.quiet = c->quiet,
		.progress = wants_progress(c),
		.say = say_line,
		.duration_ns = c->duration_ns,
		.count = c->count,
		.stall_timeout_ns = c->stall_timeout_ns,
		.stop_grace_ns = c->stop_grace_ns,
		.log_level = c->log_level,
	};

	return hr_run(c->arena, r->plan, &opt, out, c->diags);
}

static int
report(struct hr_cli *c, struct hr_rooms *r, struct hr_outcome *out)
{
	struct hr_report rep = {
		.plan = r->plan,
		.outcome = out,
		.load = &c->load,
		.name = c->name,
		.argv = c->argv,
		.argc = c->argc,
		.deny_drops = c->deny & HR_DENY_DROPS,
		.deny_warnings = c->deny & HR_DENY_WARNINGS,
		.deny_fallback = c->deny & HR_DENY_FALLBACK,
	};
	int code = hr_report_check(c->arena, &rep, out);
	const char *incidents = hr_report_incidents(c->arena, &rep);
	const char *text = c->format == HR_AS_JSON  ? hr_report_json(c->arena, &rep)
			   : c->format == HR_AS_CSV ? hr_report_csv(c->arena, &rep)
						    : hr_report_text(c->arena, &rep);
	struct hr_diags d;

	if (incidents)
		hr_cli_say(incidents);
	code = hr_cli_result(text, code);
	hr_diags_init(&d, c->arena);
	if (c->out_dir && hr_report_write(c->arena, &rep, c->out_dir, &d)) {
		for (const struct hr_diag *i = d.first; i; i = i->next)
			hr_cli_say(hr_printf(c->arena, "holorun: %s\n", i->text));
		code = code ? code : (int)d.exit_code;
	}
	return code;
}

int
hr_verb_run(struct hr_cli *c)
{
	const char *file = hr_cli_one_file(c);
	struct hr_rooms r;
	struct hr_outcome out = { 0 };

	if (c->out_dir)
		check_out_dir(c);
	if (!file || hr_rooms_enter(c, file, HR_TO_PLAN, &r, c->diags) || c->diags->n_errors)
		return hr_cli_refuse(c, c->diags);
	if (c->catalog && hr_report_catalog(c->arena, r.plan, c->catalog, c->diags))
		return hr_cli_refuse(c, c->diags);
	hr_cli_warn(c, c->diags);
	/* What was said is said: from here on only what hr_run itself refuses. */
	hr_diags_init(c->diags, c->arena);
	if (go(c, &r, &out))
		return hr_cli_refuse(c, c->diags);
	return report(c, &r, &out);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * show.c - what reaches the terminal, and through which of its two doors.
 *
 * Results go to stdout in one piece; diagnostics go to stderr as text, or to
 * stdout as JSON when that is what the verb was asked for.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
hr_cli_wants_color(const struct hr_cli *c)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	if (c->color != HR_AUTO)
		return c->color == HR_ALWAYS;
	if ((no_color && *no_color) || !term || !strcmp(term, "dumb"))
		return false;
	return isatty(STDERR_FILENO);
}

void
hr_cli_say(const char *text)
{
	/* When stderr is gone there is nowhere left to complain. */
	(void)fputs(text, stderr);
	(void)fflush(stderr);
}

int
hr_cli_result(const char *text, int exit_code)
{
	if (fputs(text, stdout) >= 0 && !fflush(stdout))
		return exit_code;
	if (errno == EPIPE)
		return exit_code;
	(void)fprintf(stderr, "holorun: standard output cannot be written: %s\n",
		      strerrordesc_np(errno));
	return exit_code ? exit_code : 3;
}

int
hr_cli_refuse(const struct hr_cli *c, struct hr_diags *d)
{
	if (c->format == HR_AS_JSON)
		return hr_cli_result(hr_diags_json(d, c->arena), (int)d->exit_code);
	hr_cli_say(hr_diags_text(d, c->arena, hr_cli_wants_color(c)));
	return (int)d->exit_code;
}

void
hr_cli_warn(const struct hr_cli *c, struct hr_diags *d)
{
	if (d->n_warnings)
		hr_cli_say(hr_diags_text(d, c->arena, hr_cli_wants_color(c)));
}

const char *
hr_cli_one_file(struct hr_cli *c)
{
	if (c->args.n == 1)
		return c->args.item[0];
	struct hr_diag *e;

	if (!c->args.n)
		e = hr_error(c->diags, HR_NOWHERE, 282, "%s: which graph? no file was given",
			     c->command->name);
	else
		e = hr_error(c->diags, HR_NOWHERE, 282, "%s: one graph at a time: '%s' is too much",
			     c->command->name, c->args.item[1]);
	hr_help(e, "usage: holorun %s %s", c->command->name, c->command->args);
	return NULL;
}

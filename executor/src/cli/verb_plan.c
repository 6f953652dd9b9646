// SPDX-License-Identifier: Apache-2.0
/*
 * verb_plan.c - `holorun plan` and `holorun check`: everything but the run.
 *
 * Both go as far as the plan and start nothing.  check takes several files and
 * prints problems only.
 */
#include "cli/cli.h"

#include "base/json.h"

int
hr_verb_plan(struct hr_cli *c)
{
	const char *file = hr_cli_one_file(c);
	struct hr_rooms r;

	if (!file || hr_rooms_enter(c, file, HR_TO_PLAN, &r, c->diags))
		return hr_cli_refuse(c, c->diags);
	if (c->catalog && hr_report_catalog(c->arena, r.plan, c->catalog, c->diags))
		return hr_cli_refuse(c, c->diags);
	hr_cli_warn(c, c->diags);
	if (c->format == HR_AS_JSON)
		return hr_cli_result(hr_plan_json(c->arena, r.plan), 0);
	if (c->format == HR_AS_DOT)
		return hr_cli_result(hr_plan_dot(c->arena, r.plan), 0);
	return hr_cli_result(hr_plan_text(c->arena, r.plan), 0);
}

static const char not_checked[] = "operators, ports, parameters, formats, placement";

/* The diagnostics as JSON with one more member. */
static const char *
with_not_checked(struct hr_arena *a, const char *json)
{
	cJSON *o = cJSON_Parse(json);

	if (!o)
		return json;
	cJSON_AddStringToObject(o, "not_checked", not_checked);
	return hr_json_text(a, o, true);
}

static int
worse(int a, int b)
{
	/* A wrong request comes before what this machine cannot do. */
	return !a ? b : !b ? a : a < b ? a : b;
}

static int
check_one(struct hr_cli *c, const char *file, struct hr_diags *d)
{
	struct hr_rooms r;

	hr_rooms_enter(c, file, c->no_plugins ? HR_TO_GRAPH : HR_TO_PLAN, &r, d);
	if (c->format != HR_AS_JSON && (d->n_errors || d->n_warnings))
		hr_cli_say(hr_diags_text(d, c->arena, hr_cli_wants_color(c)));
	return (int)d->exit_code;
}

int
hr_verb_check(struct hr_cli *c)
{
	int code = 0;

	if (!c->args.n)
		hr_cli_one_file(c); /* says so */
	if (c->diags->n_errors)
		return hr_cli_refuse(c, c->diags);
	for (size_t i = 0; i < c->args.n; i++) {
		/* JSON is one object for all files; text comes file by file. */
		if (c->format != HR_AS_JSON)
			hr_diags_init(c->diags, c->arena);
		code = worse(code, check_one(c, c->args.item[i], c->diags));
	}
	if (c->format != HR_AS_JSON) {
		if (c->no_plugins)
			hr_cli_say(hr_printf(c->arena, "not checked (--no-plugins): %s\n",
					     not_checked));
		return code;
	}
	const char *json = hr_diags_json(c->diags, c->arena);

	return hr_cli_result(c->no_plugins ? with_not_checked(c->arena, json) : json, code);
}

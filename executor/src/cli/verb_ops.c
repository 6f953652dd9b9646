// SPDX-License-Identifier: Apache-2.0
/*
 * verb_ops.c - `holorun ops list` and `holorun ops describe OP`.
 */
#include "cli/cli.h"

#include <string.h>

static const char *
usage_error(struct hr_cli *c)
{
	struct hr_diag *e = hr_error(c->diags, HR_NOWHERE, 282, "ops: list, or describe OP");

	hr_help(e, "usage: holorun ops list, holorun ops describe std/copy");
	return NULL;
}

int
hr_verb_ops(struct hr_cli *c)
{
	bool json = c->format == HR_AS_JSON;
	const char *what = c->args.n ? c->args.item[0] : "", *text = NULL;
	int rc = -1;

	if (!strcmp(what, "list") && c->args.n == 1)
		rc = hr_ops_list(c->arena, &c->dirs, json, &text, c->diags);
	else if (!strcmp(what, "describe") && c->args.n == 2)
		rc = hr_ops_describe(c->arena, &c->dirs, c->args.item[1], json, &text, c->diags);
	else
		usage_error(c);
	if (c->diags->n_errors)
		return hr_cli_refuse(c, c->diags);
	hr_cli_warn(c, c->diags);
	return hr_cli_result(text ? text : "", rc < 0 ? 3 : 0);
}

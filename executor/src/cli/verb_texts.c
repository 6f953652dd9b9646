// SPDX-License-Identifier: Apache-2.0
/*
 * verb_texts.c - explain, version, help: answers that need no graph.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag_codes.h"
#include "base/json.h"

/* ---- explain ---- */

static char
letter(const struct hr_diag_code *d)
{
	return d->exit_code ? 'E' : 'W';
}

/* E214, e214 or 214; NULL: no such code. */
static const struct hr_diag_code *
read_code(const char *s)
{
	char *end;
	unsigned long n;
	char first = (char)toupper((unsigned char)*s);

	if (first == 'E' || first == 'W')
		s++;
	if (!isdigit((unsigned char)*s))
		return NULL;
	n = strtoul(s, &end, 10);
	if (*end || n > UINT32_MAX)
		return NULL;
	return hr_diag_code_find((uint32_t)n);
}

static void
add_code(cJSON *list, const struct hr_diag_code *d)
{
	cJSON *o = cJSON_CreateObject();
	char code[16] = { letter(d) };

	for (uint32_t i = 0, div = 100; i < 3; i++, div /= 10)
		code[i + 1] = (char)('0' + d->code / div % 10);
	cJSON_AddStringToObject(o, "code", code);
	hr_json_add_int(o, "exit", d->exit_code);
	cJSON_AddStringToObject(o, "title", d->title);
	cJSON_AddStringToObject(o, "cause", d->cause);
	cJSON_AddStringToObject(o, "cure", d->cure);
	cJSON_AddItemToArray(list, o);
}

static int
explain_all(struct hr_cli *c)
{
	struct hr_text t;

	hr_text_init(&t, c->arena);
	for (size_t i = 0; i < hr_n_diag_codes; i++)
		hr_text_add(&t, "%c%03u  %s\n", letter(&hr_diag_codes[i]), hr_diag_codes[i].code,
			    hr_diag_codes[i].title);
	return hr_cli_result(t.s, 0);
}

static int
explain_json(struct hr_cli *c, const struct hr_diag_code *one)
{
	cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "codes");

	for (size_t i = 0; i < hr_n_diag_codes; i++)
		if (!one || one == &hr_diag_codes[i])
			add_code(list, &hr_diag_codes[i]);
	return hr_cli_result(hr_json_text(c->arena, o, true), 0);
}

int
hr_verb_explain(struct hr_cli *c)
{
	const struct hr_diag_code *d = NULL;

	if (c->args.n > 1) {
		hr_error(c->diags, HR_NOWHERE, 282, "explain: one code at a time");
		return hr_cli_refuse(c, c->diags);
	}
	if (c->args.n == 1) {
		d = read_code(c->args.item[0]);
		if (!d) {
			struct hr_diag *e = hr_error(c->diags, HR_NOWHERE, 281,
						     "explain: no diagnostic has the code '%s'",
						     c->args.item[0]);

			hr_help(e, "'holorun explain' lists all codes");
			return hr_cli_refuse(c, c->diags);
		}
	}
	if (c->format == HR_AS_JSON)
		return explain_json(c, d);
	if (!d)
		return explain_all(c);
	const char *exit_text =
		d->exit_code ? hr_printf(c->arena, "exit %u", d->exit_code) : "a warning";

	return hr_cli_result(hr_printf(c->arena, "%c%03u: %s (%s)\n\ncause: %s\ncure:  %s\n",
				       letter(d), d->code, d->title, exit_text, d->cause, d->cure),
			     0);
}

/* ---- version ---- */

int
hr_verb_version(struct hr_cli *c)
{
	if (c->format != HR_AS_JSON)
		return hr_cli_result(
			hr_printf(c->arena, "holorun %s\noperator ABI %d.%d, draft %d\n",
				  hr_version, HOP_ABI_MAJOR, HOP_ABI_MINOR, HOP_ABI_DRAFT),
			0);
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "holorun", hr_version);
	hr_json_add_int(o, "abi_major", HOP_ABI_MAJOR);
	hr_json_add_int(o, "abi_minor", HOP_ABI_MINOR);
	hr_json_add_int(o, "abi_draft", HOP_ABI_DRAFT);
	return hr_cli_result(hr_json_text(c->arena, o, true), 0);
}

/* ---- help ---- */

static int
help_one(struct hr_cli *c, const struct hr_command *cmd)
{
	struct hr_text t;

	hr_text_init(&t, c->arena);
	hr_text_add(&t, "usage: holorun %s%s%s [OPTION...]\n\n%s\n\noptions:\n", cmd->name,
		    *cmd->args ? " " : "", cmd->args, cmd->about);
	hr_cli_option_lines(&t, cmd->bit);
	return hr_cli_result(t.s, 0);
}

static int
help_all(struct hr_cli *c)
{
	struct hr_text t;

	hr_text_init(&t, c->arena);
	hr_text_puts(&t, "usage: holorun FILE [OPTION...]\n"
			 "       holorun COMMAND [ARGUMENT...] [OPTION...]\n\ncommands:\n");
	for (const struct hr_command *i = hr_commands; i->name; i++) {
		const char *left = hr_printf(c->arena, "%s %s", i->name, i->args);

		hr_text_add(&t, "  %-24s %s\n", left, i->about);
	}
	hr_text_puts(&t, "\noptions:\n");
	hr_cli_option_lines(&t, UINT32_MAX);
	hr_text_puts(&t, "\nexit: 0 ended, 1 a node failed, 2 the request is wrong, 3 this machine "
			 "cannot,\n4 losses denied, 5 stalled, 6 killed, "
			 "130/143/129 second signal\n");
	return hr_cli_result(t.s, 0);
}

int
hr_verb_help(struct hr_cli *c)
{
	const char *name = c->args.n && c->command && !strcmp(c->command->name, "help")
				   ? c->args.item[0]
				   : NULL;
	const struct hr_command *cmd = name ? hr_command_find(name) : c->command;

	if (name && !cmd) {
		hr_error(c->diags, HR_NOWHERE, 280, "help: there is no command '%s'", name);
		return hr_cli_refuse(c, c->diags);
	}
	if (cmd && cmd->call != hr_verb_help)
		return help_one(c, cmd);
	return help_all(c);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * options.c - argv to struct hr_cli, by a table of options.
 *
 * Options may stand anywhere before "--".  Everything wrong is reported, each
 * under its own word of the command line; nothing is guessed and nothing that
 * is not understood is passed over.
 */
#include "cli/cli.h"

#include <limits.h>
#include <string.h>

#include "base/utf8.h"

const char *const hr_format_name[HR_N_FORMATS] = { "table", "json", "csv", "dot" };

enum kind {
	FLAG,     /* bool */
	TEXT,     /* const char * */
	LIST,     /* struct hr_strings */
	DURATION, /* int64_t, > 0 */
	COUNT,    /* int64_t, > 0 */
	SETTING,  /* name=value */
	DENY,
	LEVEL,
	FORMAT,
	WHEN,     /* auto | always | never */
	WHEN_OPT, /* the same; without a value: always */
	PLANNED,  /* in the design, not in this version */
};

struct option {
	const char *name; /* "--duration", "-k" */
	const char *arg;  /* NULL: takes none */
	enum kind kind;
	uint32_t bits; /* commands it belongs to */
	size_t offset;
	const char *about;
};

enum {
	GRAPH = HR_FOR_RUN | HR_FOR_CHECK | HR_FOR_PLAN | HR_FOR_KNOBS,
	PLUGINS = HR_FOR_RUN | HR_FOR_CHECK | HR_FOR_PLAN | HR_FOR_OPS,
	ALL = GRAPH | PLUGINS | HR_FOR_TEXTS,
};
#define AT(member) offsetof(struct hr_cli, member)

static const struct option options[] = {
	{ "-k", "NAME=VALUE", SETTING, GRAPH, 0, "set a knob; may be given many times" },
	{ "-f", "OVERLAY", LIST, GRAPH, AT(overlays),
	  "merge a file over the graph; left to right" },
	{ "--preset", "NAME", TEXT, GRAPH, AT(load.preset), "use the knobs of a preset" },
	{ "--plugin-path", "DIR", LIST, PLUGINS, AT(plugin_paths), "search plugins here first" },
	{ "--out", "DIR", TEXT, HR_FOR_RUN, AT(out_dir),
	  "write result.json and results.csv there" },
	{ "--catalog", "FILE", TEXT, HR_FOR_RUN | HR_FOR_PLAN, AT(catalog),
	  "write what the graph's endpoints are, if it changed" },
	{ "--name", "NAME", TEXT, HR_FOR_RUN, AT(name), "what the report calls this run" },
	{ "--duration", "TIME", DURATION, HR_FOR_RUN, AT(duration_ns), "stop after this time" },
	{ "--count", "N", COUNT, HR_FOR_RUN, AT(count), "messages per source, then end" },
	{ "--stall-timeout", "TIME", DURATION, HR_FOR_RUN, AT(stall_timeout_ns),
	  "give up when nothing moved for so long (the graph's, 10 s)" },
	{ "--stop-grace", "TIME", DURATION, HR_FOR_RUN, AT(stop_grace_ns),
	  "time to end before being killed (the graph's, 3 s)" },
	{ "--deny", "WHAT", DENY, HR_FOR_RUN | HR_FOR_CHECK | HR_FOR_PLAN, 0,
	  "warnings, fallback: do not start; drops: exit 4" },
	{ "--topology", "FILE", TEXT, HR_FOR_CHECK | HR_FOR_PLAN, AT(topology),
	  "plan for another machine: hwloc XML or \"pack:2 core:8 pu:1\"" },
	{ "--in-process", NULL, FLAG, HR_FOR_RUN, AT(in_process),
	  "no child processes: for debuggers" },
	{ "--no-plugins", NULL, FLAG, HR_FOR_CHECK, AT(no_plugins), "check the structure only" },
	{ "--log-level", "LEVEL", LEVEL, HR_FOR_RUN, 0, "error, warn, info or debug (info)" },
	{ "--quiet", NULL, FLAG, HR_FOR_RUN, AT(quiet), "no progress, no info lines" },
	{ "--progress", "[=WHEN]", WHEN_OPT, HR_FOR_RUN, AT(progress),
	  "auto, always or never (auto)" },
	{ "--color", "WHEN", WHEN, ALL, AT(color), "auto, always or never (auto)" },
	{ "--format", "FORMAT", FORMAT, ALL, AT(format), "table, json, csv or dot (table)" },
	{ "--help", NULL, FLAG, ALL, AT(help), "print help" },
	{ "-h", NULL, FLAG, ALL, AT(help), NULL },
	{ "--version", NULL, FLAG, ALL, AT(version), "print the version" },
	{ "-o", "PATH=VALUE", PLANNED, 0, 0, "set a knob with -k, or write an overlay for -f" },
	{ "-s", "NAME=VALUES", PLANNED, 0, 0, "run once per value with -k" },
	{ "-z", "NAMES", PLANNED, 0, 0, "run once per value with -k" },
	{ "-x", "EXPR", PLANNED, 0, 0, "run once per value with -k" },
	{ "--origin", NULL, PLANNED, 0, 0, "'knobs' shows what set each knob" },
	{ "--seed", "N", PLANNED, 0, 0, "declare a knob for the seed and set it with -k" },
	{ "--expand", NULL, PLANNED, 0, 0, NULL },
	{ "--runs", "N", PLANNED, 0, 0, NULL },
	{ "--fail-fast", NULL, PLANNED, 0, 0, NULL },
	{ "--resume", NULL, PLANNED, 0, 0, NULL },
	{ "--dry-run", NULL, PLANNED, 0, 0, "'plan' starts nothing" },
	{ "--shuffle", "SEED", PLANNED, 0, 0, NULL },
};
enum { N_OPTIONS = sizeof(options) / sizeof(options[0]) };

/* Words the design has and this version has not. */
static const char *const planned_commands[] = {
	"sweep", "tune", "bench", "compare", "profile", "record", "replay", "top",
	"ps",    "stop", "clean", "doctor",  "schema",  "new",    NULL,
};
static const char *const planned_formats[] = { "jsonl", "yaml", "mermaid", NULL };

struct parse {
	struct hr_cli *c;
	struct hr_file *line;           /* the command line as a text */
	const uint32_t *col;            /* where each word starts in it */
	struct hr_span used[N_OPTIONS]; /* line 0: not given */
	struct hr_span format_at, command_at;
	bool only_args; /* after "--" */
};

/* ---- places ---- */

static void
make_line(struct parse *p)
{
	struct hr_cli *c = p->c;
	uint32_t *col = HR_ARRAY(c->arena, (size_t)c->argc + 1, uint32_t);
	struct hr_text t;

	hr_text_init(&t, c->arena);
	for (int i = 0; i < c->argc; i++) {
		if (i)
			hr_text_puts(&t, " ");
		col[i] = (uint32_t)hr_utf8_count(t.s, t.len) + 1;
		hr_text_puts(&t, i ? c->argv[i] : "holorun");
	}
	p->col = col;
	p->line = HR_NEW(c->arena, struct hr_file);
	*p->line = (struct hr_file){
		.name = "command line", .dir = "/", .text = t.s, .len = t.len, .order = UINT32_MAX
	};
}

static struct hr_span
word(const struct parse *p, int i)
{
	return (struct hr_span){ .file = p->line,
				 .line = 1,
				 .col = p->col[i],
				 .len = (uint32_t)hr_utf8_count(p->c->argv[i],
								strlen(p->c->argv[i])) };
}

static bool
in_list(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (!strcmp(*list, s))
			return true;
	return false;
}

/* ---- one option ---- */

static void
bad_value(struct parse *p, struct hr_span at, const struct option *o, const char *why)
{
	hr_error(p->c->diags, at, 281, "%s: %s", o->name, why);
}

static void
bad_choice(struct parse *p, struct hr_span at, const struct option *o, const char *got,
	   const char *const *names, size_t n)
{
	struct hr_diag *e = hr_error(p->c->diags, at, 281, "%s: '%s' is not known", o->name, got);

	hr_suggest(e, got, names, n);
}

/* Index in names, or -1 and a diagnostic. */
static int
choose(struct parse *p, struct hr_span at, const struct option *o, const char *got,
       const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], got))
			return i;
	bad_choice(p, at, o, got, names, (size_t)n);
	return -1;
}

static void
set_number(struct parse *p, struct hr_span at, const struct option *o, const char *got)
{
	struct hr_value v = { .type = HR_T_TEXT, .text = got, .at = at }, out;
	const char *why = NULL;

	if (hr_value_convert(p->c->arena, &v, o->kind == COUNT ? HR_T_INT : HR_T_DURATION, &out,
			     &why))
		bad_value(p, at, o, why);
	else if (out.i <= 0)
		bad_value(p, at, o, "must be greater than 0");
	else
		*(int64_t *)(void *)((char *)p->c + o->offset) = out.i;
}

static void
set_knob(struct parse *p, struct hr_span at, const struct option *o, const char *got)
{
	struct hr_cli *c = p->c;
	const char *eq = strchr(got, '=');

	if (!eq || eq == got) {
		bad_value(p, at, o, "a setting has the form NAME=VALUE");
		return;
	}
	size_t n = c->load.n_settings;
	struct hr_setting *s = HR_PUSH(c->arena, c->settings, n, c->settings_cap);

	*s = (struct hr_setting){ .name = hr_strndup(c->arena, got, (size_t)(eq - got)),
				  .value = eq + 1 };
	c->load.n_settings = (uint32_t)n;
}

static void
set_deny(struct parse *p, struct hr_span at, const struct option *o, const char *got)
{
	static const char *const names[] = { "warnings", "drops", "fallback" };

	for (const char *s = got; *s;) {
		size_t n = strcspn(s, ",");
		int i = choose(p, at, o, hr_strndup(p->c->arena, s, n), names, 3);

		if (i >= 0)
			p->c->deny |= 1u << i;
		s += n + (s[n] == ',');
	}
}

static void
set_format(struct parse *p, struct hr_span at, const struct option *o, const char *got)
{
	if (in_list(planned_formats, got)) {
		hr_error(p->c->diags, at, 292, "--format %s is not in this version", got);
		return;
	}
	int i = choose(p, at, o, got, hr_format_name, HR_N_FORMATS);

	if (i >= 0)
		p->c->format = (enum hr_format)i;
	p->format_at = at;
}

static void
set(struct parse *p, struct hr_span at, const struct option *o, const char *got)
{
	static const char *const whens[] = { "auto", "always", "never" };
	static const char *const levels[] = { "error", "warn", "info", "debug" };
	void *where = (char *)p->c + o->offset;
	int i;

	switch (o->kind) {
	case FLAG:
		*(bool *)where = true;
		break;
	case TEXT:
		if (!*got)
			bad_value(p, at, o, "the text is empty");
		*(const char **)where = got;
		break;
	case LIST:
		if (!*got)
			bad_value(p, at, o, "the text is empty");
		hr_strings_add(p->c->arena, where, got);
		break;
	case DURATION:
	case COUNT:
		set_number(p, at, o, got);
		break;
	case SETTING:
		set_knob(p, at, o, got);
		break;
	case DENY:
		set_deny(p, at, o, got);
		break;
	case LEVEL:
		i = choose(p, at, o, got, levels, 4);
		if (i >= 0)
			p->c->log_level = i;
		break;
	case FORMAT:
		set_format(p, at, o, got);
		break;
	case WHEN:
	case WHEN_OPT:
		i = choose(p, at, o, got, whens, 3);
		if (i >= 0)
			*(enum hr_when *)where = (enum hr_when)i;
		break;
	case PLANNED:
		break;
	}
}

/* ---- words ---- */

static const struct option *
find(const char *name)
{
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

static void
unknown_option(struct parse *p, int i, const char *name)
{
	const char *names[N_OPTIONS];
	struct hr_diag *e = hr_error(p->c->diags, word(p, i), 280, "unknown option '%s'", name);

	for (size_t k = 0; k < N_OPTIONS; k++)
		names[k] = options[k].name;
	hr_suggest(e, name, names, N_OPTIONS);
	hr_help(e, "'holorun help' lists all options");
}

static void
planned_option(struct parse *p, int i, const struct option *o)
{
	struct hr_diag *e =
		hr_error(p->c->diags, word(p, i), 292, "option %s is not in this version", o->name);

	if (o->about)
		hr_help(e, "%s", o->about);
}

/* The option of word i, and its value if it stands in the same word ("--x=v", "-kv"). */
static const struct option *
split(struct parse *p, int i, const char **value)
{
	const char *w = p->c->argv[i];
	size_t n = w[1] == '-' ? strcspn(w, "=") : 2;
	const char *name = hr_strndup(p->c->arena, w, n);
	const struct option *o = find(name);

	*value = w[1] == '-' ? (w[n] ? w + n + 1 : NULL) : (w[n] ? w + n : NULL);
	if (!o && w[1] != '-')
		name = w; /* "-durration" is one wrong word */
	if (!o)
		unknown_option(p, i, name);
	return o;
}

/* Returns how many words it used. */
static int
take_option(struct parse *p, int i)
{
	const char *value;
	const struct option *o = split(p, i, &value);
	int used = 1;

	if (!o)
		return 1;
	p->used[o - options] = word(p, i);
	if (!o->arg && value) {
		bad_value(p, word(p, i), o, "takes no value");
		return 1;
	}
	if (o->arg && !value && o->kind != WHEN_OPT) {
		if (i + 1 >= p->c->argc) {
			bad_value(p, word(p, i), o,
				  hr_printf(p->c->arena, "%s is missing", o->arg));
			return 1;
		}
		value = p->c->argv[i + 1];
		used = 2;
	} else if (!value) {
		value = o->kind == WHEN_OPT ? "always" : "";
	}
	if (o->kind == PLANNED)
		planned_option(p, i, o);
	else
		set(p, word(p, i + used - 1), o, value);
	return used;
}

/* ---- the command ---- */

static void
unknown_command(struct parse *p, const char *name, struct hr_span at)
{
	const char *names[32];
	size_t n = 0;
	struct hr_diag *e;
	bool planned = in_list(planned_commands, name);

	for (const struct hr_command *c = hr_commands; c->name; c++)
		names[n++] = c->name;
	if (planned)
		e = hr_error(p->c->diags, at, 292, "command '%s' is not in this version", name);
	else
		e = hr_error(p->c->diags, at, 280, "'%s' is neither a command nor a graph file",
			     name);
	hr_suggest(e, planned ? "" : name, names, n);
}

static void
take_word(struct parse *p, int i)
{
	struct hr_cli *c = p->c;
	const char *w = c->argv[i];

	if (c->command || p->command_at.line) {
		hr_strings_add(c->arena, &c->args, w);
		return;
	}
	p->command_at = word(p, i);
	c->command = hr_command_find(w);
	if (c->command)
		return;
	/* A name with a dot or a slash is meant as a file, there or not.  After an unknown option
	 * the word may have been meant as its value: one error is enough. */
	if (!strpbrk(w, "./") && c->diags->n_errors)
		return;
	if (!strpbrk(w, "./")) {
		unknown_command(p, w, p->command_at);
		return;
	}
	c->command = hr_command_find("run");
	hr_strings_add(c->arena, &c->args, w);
}

static void
check_fit(struct parse *p)
{
	struct hr_cli *c = p->c;

	if (!c->command)
		return;
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (p->used[i].line && options[i].bits && !(options[i].bits & c->command->bit))
			hr_error(c->diags, p->used[i], 280, "option %s does not belong to '%s'",
				 options[i].name, c->command->name);
	if (p->format_at.line && !(c->command->formats & (1u << c->format)))
		hr_error(c->diags, p->format_at, 281, "'%s' cannot print %s", c->command->name,
			 hr_format_name[c->format]);
}

void
hr_cli_parse(struct hr_cli *c)
{
	struct parse p = { .c = c };

	make_line(&p);
	for (int i = 1; i < c->argc;) {
		const char *w = c->argv[i];

		if (p.only_args || w[0] != '-' || !w[1]) {
			take_word(&p, i++);
		} else if (!strcmp(w, "--")) {
			p.only_args = true;
			i++;
		} else {
			i += take_option(&p, i);
		}
	}
	if (!p.command_at.line && !c->help && !c->version && !c->diags->n_errors) {
		struct hr_diag *e = hr_error(c->diags, HR_NOWHERE, 282, "no command and no graph");

		hr_help(e, "usage: holorun FILE, or 'holorun help'");
	}
	check_fit(&p);
	c->load.overlay = c->overlays.item;
	c->load.n_overlays = (uint32_t)c->overlays.n;
	c->load.setting = c->settings;
	c->dirs = hr_cli_plugin_dirs(c->arena, &c->plugin_paths);
}

void
hr_cli_option_lines(struct hr_text *t, uint32_t bits)
{
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct option *o = &options[i];

		if (!(o->bits & bits) || !o->about)
			continue;
		size_t start = t->len;

		hr_text_add(t, "  %s%s%s", o->name, o->arg && o->arg[0] == '[' ? "" : " ",
			    o->arg ? o->arg : "");
		if (t->len - start < 26)
			hr_text_fill(t, ' ', 26 - (t->len - start));
		hr_text_add(t, " %s\n", o->about);
	}
}

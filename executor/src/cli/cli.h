/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli.h - the command line: what was asked, and the rooms up to where.
 *
 * One struct hr_cli lives for one command.  Verbs are functions in a table;
 * options are rows of a table.  stdout gets the verb's result and nothing else,
 * stderr gets the rest.  Only this layer reads the environment.
 */
#ifndef HR_CLI_H
#define HR_CLI_H

#include "base/text.h"
#include "report/report.h"

enum hr_format { HR_AS_TABLE, HR_AS_JSON, HR_AS_CSV, HR_AS_DOT, HR_N_FORMATS };
extern const char *const hr_format_name[HR_N_FORMATS];

enum hr_when { HR_AUTO, HR_ALWAYS, HR_NEVER };

enum { /* --deny, a set */
       HR_DENY_WARNINGS = 1u << 0,
       HR_DENY_DROPS = 1u << 1,
       HR_DENY_FALLBACK = 1u << 2,
};

struct hr_command;

struct hr_cli {
	struct hr_arena *arena;
	struct hr_diags *diags; /* of the command; more than one only in `check` */
	const char *const *argv;
	int argc;
	const struct hr_command *command;
	struct hr_strings args; /* what is neither verb nor option */
	struct hr_load_options load;
	struct hr_plugin_dirs dirs;
	/* as the options left them */
	struct hr_strings overlays, plugin_paths;
	struct hr_setting *settings;
	size_t settings_cap;
	const char *out_dir;
	const char *catalog;
	const char *name;
	const char *topology;
	int64_t duration_ns, count, stall_timeout_ns, stop_grace_ns; /* 0: not given */
	uint32_t deny;
	int32_t log_level;
	enum hr_format format;
	enum hr_when color, progress;
	bool quiet, in_process, no_plugins, help, version;
};

/* Where a command may be used: bits of struct hr_command and of the options. */
enum {
	HR_FOR_RUN = 1u << 0,
	HR_FOR_CHECK = 1u << 1,
	HR_FOR_PLAN = 1u << 2,
	HR_FOR_OPS = 1u << 3,
	HR_FOR_KNOBS = 1u << 4,
	HR_FOR_TEXTS = 1u << 5, /* explain, version, help */
};

struct hr_command {
	const char *name;
	const char *args; /* as in the usage line */
	const char *about;
	int (*call)(struct hr_cli *c); /* returns the exit code */
	uint32_t bit;
	uint32_t formats; /* a set of 1u << enum hr_format */
};
/* Ends with a NULL name. */
extern const struct hr_command hr_commands[];
const struct hr_command *hr_command_find(const char *name);

/* Read argv into c; what is wrong goes to c->diags.  c->format and c->color hold even then. */
void hr_cli_parse(struct hr_cli *c);
/* One line per option for `help`. */
void hr_cli_option_lines(struct hr_text *t, uint32_t bits);

/* Folders of plugins: --plugin-path, HOLORUN_PLUGIN_PATH, then where this program was built or
 * installed. */
struct hr_plugin_dirs hr_cli_plugin_dirs(struct hr_arena *a, const struct hr_strings *given);

/* Where endpoints lie that name no folder: $XDG_RUNTIME_DIR/holomq, else /run/user/UID/holomq, else
 * /tmp/holomq-UID. */
const char *hr_cli_endpoint_dir(struct hr_arena *a);

/* ---- the rooms ---- */

enum hr_stage { HR_TO_GRAPH, HR_TO_BOUND, HR_TO_PLAN };
struct hr_rooms {
	struct hr_doc *doc;
	struct hr_graph *graph;
	struct hr_plugins *plugins;
	struct hr_bound *bound;
	struct hr_machine *machine;
	struct hr_plan *plan;
};
/* Go through the rooms up to `stage`.  0, or -1 with errors in d; then what could be made is set.
 */
int hr_rooms_enter(struct hr_cli *c, const char *file, enum hr_stage stage, struct hr_rooms *r,
		   struct hr_diags *d);

/* ---- printing ---- */

bool hr_cli_wants_color(const struct hr_cli *c);
/* The result of a verb.  Returns exit_code, or 3 when stdout cannot take it; a reader that went
 * away (head) is no error. */
int hr_cli_result(const char *text, int exit_code);
void hr_cli_say(const char *text); /* to stderr */
/* Print d where it belongs: text to stderr, JSON to stdout.  Returns its exit code. */
int hr_cli_refuse(const struct hr_cli *c, struct hr_diags *d);
/* Warnings of something that goes on: always text on stderr. */
void hr_cli_warn(const struct hr_cli *c, struct hr_diags *d);
/* The one file of a verb that needs exactly one; NULL and a diagnostic otherwise. */
const char *hr_cli_one_file(struct hr_cli *c);

/* ---- verbs ---- */

int hr_verb_run(struct hr_cli *c);
int hr_verb_check(struct hr_cli *c);
int hr_verb_plan(struct hr_cli *c);
int hr_verb_ops(struct hr_cli *c);
int hr_verb_knobs(struct hr_cli *c);
int hr_verb_explain(struct hr_cli *c);
int hr_verb_version(struct hr_cli *c);
int hr_verb_help(struct hr_cli *c);
/* The whole program but its children; env as in struct hr_load_options. */
int hr_cli_main(int argc, char **argv, const char *(*env)(const char *name));

#endif

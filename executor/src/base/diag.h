/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - places in files and what is wrong there.
 *
 * Every stage adds to one hr_diags; the caller prints them sorted by position.
 * Codes live in diag_codes.h: E1xx text, E2xx graph (exit 2), E3xx this machine
 * (exit 3), W4xx warnings.  [control] only, one thread.
 */
#ifndef HR_DIAG_H
#define HR_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Where each key and list item of a file starts, in file order: gives a diagnostic its path. */
struct hr_path_step {
	uint32_t line, col;
	uint32_t parent; /* index of the step around this one, UINT32_MAX: top */
	uint32_t item;   /* position in a list, if key is NULL */
	const char *key;
};
struct hr_paths {
	struct hr_path_step *step;
	size_t n, cap;
};

/* A text that was read: a graph, an overlay, or a command line option ("-k n=5"). */
struct hr_file {
	const char *name; /* as shown in messages: the path as the user gave it */
	const char *dir;  /* absolute folder that relative paths in it start from */
	const char *text; /* whole, NUL-terminated; may hold NULs */
	size_t len;
	struct hr_file *next;
	struct hr_paths *paths; /* filled by the parser; NULL: none */
	uint32_t order;         /* diagnostics are sorted by this first: graph, overlays, options */
	uint32_t reserved;
};

/* The bytes of a line (from 1), without its line break and without a byte order mark; beyond the
 * last line: the empty end.  Walks from the beginning: for messages only. */
const char *hr_file_line(const struct hr_file *f, uint32_t line, size_t *len);

/* line and col count from 1, in characters; line 0: no place.  len: characters to underline. */
struct hr_span {
	const struct hr_file *file;
	uint32_t line;
	uint32_t col;
	uint32_t len;
	uint32_t reserved;
};
#define HR_NOWHERE ((struct hr_span){ 0 })

enum hr_severity { HR_ERROR, HR_WARNING };

struct hr_note {
	struct hr_span at; /* line 0: a help line without a place */
	const char *text;
	struct hr_note *next;
};

struct hr_diag {
	enum hr_severity severity;
	uint32_t code; /* 214 prints as E214 */
	struct hr_span at;
	const char *text;
	struct hr_note *notes; /* "note: first defined at ..." */
	struct hr_note *helps; /* "help: did you mean ..." */
	struct hr_diag *next;
	struct hr_diags *owner;
};

/* No more than this many of each severity are kept (all are counted): a hostile file must not
 * cost memory or time. */
enum { HR_DIAGS_KEPT = 200, HR_DIAGS_SHOWN = 20 };

struct hr_diags {
	struct hr_arena *arena; /* borrowed; outlives the diags */
	struct hr_diag *first, *last;
	uint32_t n_errors;
	uint32_t n_warnings;
	uint32_t exit_code; /* the smallest of the errors' exit codes: 2 before 3; 0 if none */
	uint32_t n_kept;
};

void hr_diags_init(struct hr_diags *d, struct hr_arena *a);
/* Add one; the result may get notes and helps.  Two errors with the same code and place are one:
 * the second is not kept, and what is added to it goes nowhere. */
struct hr_diag *hr_error(struct hr_diags *d, struct hr_span at, uint32_t code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
struct hr_diag *hr_warning(struct hr_diags *d, struct hr_span at, uint32_t code, const char *fmt,
			   ...) __attribute__((format(printf, 4, 5)));
void hr_note(struct hr_diag *d, struct hr_span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void hr_help(struct hr_diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "did you mean 'x'?" if one of names is near (edit distance <= 2, or equal after folding - _ and
 * case), and the list of all names if there are at most 12 of them. */
void hr_suggest(struct hr_diag *d, const char *got, const char *const *names, size_t n);
/* The nearest of names, or NULL: nothing is near. */
const char *hr_nearest(const char *got, const char *const *names, size_t n);

/* "nodes.work.inputs.in" for a place in a parsed file, "" for elsewhere. */
const char *hr_span_path(struct hr_arena *a, struct hr_span at);
/* "graph.yaml:12:3" */
const char *hr_span_text(struct hr_arena *a, struct hr_span at);

/* Sort by file order, line, column (stable); printing does it first. */
void hr_diags_sort(struct hr_diags *d);
/* Text as users see it, appended to a caller-freed arena string.  color: ANSI.  At most 20 errors,
 * then how many more.  The last line is "N errors; nothing was started" if there are errors. */
char *hr_diags_text(struct hr_diags *d, struct hr_arena *a, bool color);
/* The same as JSON text: {"diagnostics": [{code, severity, file, line, col, path, message, notes,
 * help[]}], "errors": N, "warnings": N}. */
char *hr_diags_json(struct hr_diags *d, struct hr_arena *a);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.h - a YAML text as a tree that remembers where everything stood.
 *
 * Built from libyaml's events.  Scalars stay text: nothing is a number or a
 * boolean until a declaration says so.  Maps keep file order and refuse
 * duplicate keys; aliases share the anchor's nodes (each use is counted against
 * the limit).  Pure: text in, tree or diagnostics out.
 */
#ifndef HR_DOC_H
#define HR_DOC_H

#include "base/diag.h"

enum hr_yaml_kind { HR_YAML_SCALAR, HR_YAML_LIST, HR_YAML_MAP };

struct hr_yaml;

struct hr_yaml_pair {
	const char *key;
	struct hr_span key_at;
	struct hr_yaml *value;
};

struct hr_yaml {
	enum hr_yaml_kind kind;
	bool plain;        /* scalar without quotes */
	const char *tag;   /* "!remove", "!replace"; NULL: none */
	struct hr_span at; /* of the token; for a map or list, of its first token */
	const char *text;  /* scalar: NUL-terminated */
	size_t len;
	struct hr_yaml **item;     /* list */
	struct hr_yaml_pair *pair; /* map */
	uint32_t n;                /* items or pairs */
	uint8_t exact;   /* scalar: 1 + bytes from the token's start to text, if the source has the
			  * text   letter by letter; 0: escapes or line breaks make the two differ */
	bool is_partial; /* map: a key was refused (and reported); what is missing may be it */
	bool is_key;     /* map or list in the place of a key: refused */
	uint8_t reserved;
};

enum {
	HR_YAML_MAX_BYTES = 4 << 20,
	HR_YAML_MAX_DEPTH = 64,
	HR_YAML_MAX_NODES = 1000000, /* after alias expansion */
};

/* Wrap a text as a file that spans can point into.  name and text are copied. */
struct hr_file *hr_file_new(struct hr_arena *a, const char *name, const char *dir, const char *text,
			    size_t len);
/* Read a file from disk; on failure a diagnostic (E101/E102) and NULL. */
struct hr_file *hr_file_read(struct hr_arena *a, const char *path, struct hr_span wanted_by,
			     struct hr_diags *d);
/* The tree, or NULL with at least one diagnostic. */
struct hr_yaml *hr_yaml_parse(struct hr_arena *a, const struct hr_file *f, struct hr_diags *d);
/* The value of a key in a map, or NULL. */
const struct hr_yaml_pair *hr_yaml_get(const struct hr_yaml *map, const char *key);
/* The place of n bytes from byte `off` of a scalar's text; the whole token where escapes or line
 * breaks make the two differ. */
struct hr_span hr_yaml_part(const struct hr_yaml *scalar, size_t off, size_t n);
/* An empty plain scalar: `key:` with nothing behind it. */
bool hr_yaml_is_empty(const struct hr_yaml *y);
/* "a map", "a list", "text": for messages. */
const char *hr_yaml_kind_name(const struct hr_yaml *y);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * parse.c - libyaml's events become a tree with places.
 *
 * One frame per open map or list, so depth is bounded by a table, not by the
 * stack.  Anchored trees are shared; their sizes are added at each use, so that
 * an alias bomb is found by arithmetic before it costs anything.
 */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/text.h"
#include "base/utf8.h"
#include "yaml/internal.h"

struct anchor {
	struct hr_yaml *node; /* NULL while it is still open */
	uint64_t size;        /* nodes in it, aliases expanded */
	uint32_t height;      /* levels of maps and lists in it */
	uint32_t reserved;
};

struct frame {
	struct hr_yaml *node;
	size_t cap;
	const char *key; /* read, waiting for its value */
	struct hr_span key_at;
	bool has_key;
	uint32_t step;   /* path of the entry being read */
	uint32_t parent; /* path of the map or list itself */
	size_t anchor;   /* index, SIZE_MAX: none */
	uint64_t size_before;
	uint32_t height;
};

struct parser {
	struct hr_arena *arena;
	const struct hr_file *file;
	struct hr_diags *diags;
	struct frame frame[HR_YAML_MAX_DEPTH];
	uint32_t depth;
	struct hr_yaml *root;
	struct anchor *anchor;
	size_t n_anchors, cap_anchors;
	struct hr_names anchor_names; /* the latest of each name */
	uint64_t size;
	bool failed; /* stop reading */
};

struct hr_span
hr_yaml_span(const struct hr_file *f, const yaml_mark_t *from, const yaml_mark_t *to)
{
	uint32_t len = to->index > from->index ? (uint32_t)(to->index - from->index) : 1;

	return (struct hr_span){ .file = f,
				 .line = (uint32_t)from->line + 1,
				 .col = (uint32_t)from->column + 1,
				 .len = len };
}

static struct frame *
top(struct parser *p)
{
	return p->depth ? &p->frame[p->depth - 1] : NULL;
}

static uint32_t
add_step(struct parser *p, struct hr_span at, uint32_t parent, const char *key, uint32_t item)
{
	struct hr_paths *paths = p->file->paths;

	if (!paths)
		return UINT32_MAX;
	*HR_PUSH(p->arena, paths->step, paths->n, paths->cap) =
		(struct hr_path_step){ at.line, at.col, parent, item, key };
	return (uint32_t)(paths->n - 1);
}

static void
grow_size(struct parser *p, uint64_t by, struct hr_span at)
{
	p->size += by;
	if (p->size <= HR_YAML_MAX_NODES || p->failed)
		return;
	hr_error(p->diags, at, 114,
		 "too large: with aliases expanded the file has more than %d values",
		 HR_YAML_MAX_NODES);
	p->failed = true;
}

/* A text stands where a key belongs. */
static void
take_key(struct parser *p, struct frame *f, const struct hr_yaml *node)
{
	f->has_key = true;
	f->key = node->text;
	f->key_at = node->at;
	if (node->kind != HR_YAML_SCALAR) {
		hr_error(p->diags, node->at, 116, "a key must be text, this is %s",
			 hr_yaml_kind_name(node));
		f->key = NULL;
	} else if (hr_yaml_is_empty(node)) {
		hr_error(p->diags, node->at, 116, "the key before ':' is missing");
		f->key = NULL;
	} else if (node->plain && !strcmp(node->text, "<<")) {
		hr_error(p->diags, node->at, 290, "'<<' (merge keys) is not in this version");
		f->key = NULL;
	} else if (strlen(node->text) != node->len) {
		hr_error(p->diags, node->at, 116, "a key cannot hold a NUL character");
		f->key = NULL;
	} else if (node->plain && (unsigned char)*node->text >= 0x80) {
		/* An odd space at the start of a line becomes part of the first word. */
		p->failed = hr_yaml_check_indent(p->file, node->at.line, p->diags);
	}
	f->node->is_partial |= !f->key;
	f->step = add_step(p, node->at, f->parent, f->key ? f->key : "?", 0);
}

/* A finished value goes to where it belongs. */
static void
place_value(struct parser *p, struct hr_yaml *node)
{
	struct frame *f = top(p);

	if (!f) {
		p->root = node;
	} else if (f->node->kind == HR_YAML_LIST) {
		size_t n = f->node->n;

		/* NOLINTNEXTLINE(bugprone-sizeof-expression): items are pointers */
		*HR_PUSH(p->arena, f->node->item, n, f->cap) = node;
		f->node->n = (uint32_t)n;
	} else {
		f->has_key = false;
		if (!f->key) /* was reported */
			return;
		size_t n = f->node->n;

		*HR_PUSH(p->arena, f->node->pair, n, f->cap) =
			(struct hr_yaml_pair){ f->key, f->key_at, node };
		f->node->n = (uint32_t)n;
	}
}

/* Every node, before its content is read. */
static void
begin_node(struct parser *p, struct hr_span at)
{
	struct frame *f = top(p);

	grow_size(p, 1, at);
	if (f && f->node->kind == HR_YAML_LIST)
		f->step = add_step(p, at, f->parent, NULL, f->node->n);
}

static bool
is_at_key(struct parser *p)
{
	struct frame *f = top(p);

	return f && f->node->kind == HR_YAML_MAP && !f->has_key;
}

static size_t
add_anchor(struct parser *p, const yaml_char_t *name)
{
	if (!name)
		return SIZE_MAX;
	*HR_PUSH(p->arena, p->anchor, p->n_anchors, p->cap_anchors) = (struct anchor){ 0 };
	hr_names_put(p->arena, &p->anchor_names, hr_strdup(p->arena, (const char *)name),
		     (uint32_t)(p->n_anchors - 1));
	return p->n_anchors - 1;
}

static const char *
take_tag(struct parser *p, const yaml_char_t *tag, struct hr_span at)
{
	static const char *const tags[] = { "!remove", "!replace" };
	const char *text = (const char *)tag;

	if (!tag)
		return NULL;
	for (size_t i = 0; i < 2; i++)
		if (!strcmp(text, tags[i]))
			return tags[i];
	struct hr_diag *e = hr_error(p->diags, at, 117, "the tag '%s' has no meaning here", text);

	hr_suggest(e, text, tags, 2);
	hr_help(e, "types come from declarations, not from tags");
	return NULL;
}

/* Plain text on one line is the source itself; quoted text is if nothing but the quotes was
 * dropped, as every escape is longer than what it stands for. */
static uint8_t
exactness(const struct hr_yaml *y, const yaml_event_t *ev)
{
	size_t source = ev->end_mark.index - ev->start_mark.index;
	size_t chars = hr_utf8_count(y->text, y->len);
	yaml_scalar_style_t style = ev->data.scalar.style;

	if (ev->start_mark.line != ev->end_mark.line)
		return 0;
	if (style == YAML_PLAIN_SCALAR_STYLE)
		return source == chars;
	if (style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
		return source == chars + 2 ? 2 : 0;
	return 0;
}

static void
on_scalar(struct parser *p, const yaml_event_t *ev)
{
	struct hr_yaml *y = HR_NEW(p->arena, struct hr_yaml);

	y->kind = HR_YAML_SCALAR;
	y->at = hr_yaml_span(p->file, &ev->start_mark, &ev->end_mark);
	y->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	y->len = ev->data.scalar.length;
	y->text = hr_strndup(p->arena, (const char *)ev->data.scalar.value, y->len);
	y->tag = take_tag(p, ev->data.scalar.tag, y->at);
	y->exact = exactness(y, ev);
	size_t anchor = add_anchor(p, ev->data.scalar.anchor);

	if (anchor != SIZE_MAX) {
		p->anchor[anchor].node = y;
		p->anchor[anchor].size = 1;
	}
	if (is_at_key(p)) {
		grow_size(p, 1, y->at);
		take_key(p, top(p), y);
		return;
	}
	begin_node(p, y->at);
	place_value(p, y);
}

static void
raise_height(struct frame *f, uint32_t height)
{
	if (f && f->height < height)
		f->height = height;
}

static void
on_alias(struct parser *p, const yaml_event_t *ev)
{
	const char *name = (const char *)ev->data.alias.anchor;
	struct hr_span at = hr_yaml_span(p->file, &ev->start_mark, &ev->end_mark);
	uint32_t index = hr_names_find(&p->anchor_names, name);
	const struct anchor *found = index == UINT32_MAX ? NULL : &p->anchor[index];

	if (!found || !found->node) {
		hr_error(p->diags, at, 115,
			 found ? "the alias '*%s' stands inside its own anchor"
			       : "no anchor '&%s' before this alias",
			 name);
		p->failed = true;
		return;
	}
	if (is_at_key(p)) {
		take_key(p, top(p), found->node);
		return;
	}
	if (p->depth + found->height > HR_YAML_MAX_DEPTH) {
		hr_error(p->diags, at, 113,
			 "nested too deeply: with this alias expanded more than %d levels",
			 HR_YAML_MAX_DEPTH);
		p->failed = true;
		return;
	}
	begin_node(p, at);
	grow_size(p, found->size - 1, at);
	raise_height(top(p), found->height);
	place_value(p, found->node);
}

static void
on_open(struct parser *p, const yaml_event_t *ev, enum hr_yaml_kind kind)
{
	bool is_map = kind == HR_YAML_MAP;
	struct hr_span at = hr_yaml_span(p->file, &ev->start_mark, &ev->end_mark);
	const yaml_char_t *anchor =
		is_map ? ev->data.mapping_start.anchor : ev->data.sequence_start.anchor;
	const yaml_char_t *tag = is_map ? ev->data.mapping_start.tag : ev->data.sequence_start.tag;

	if (p->depth == HR_YAML_MAX_DEPTH) {
		hr_error(p->diags, at, 113, "nested too deeply: more than %d levels",
			 HR_YAML_MAX_DEPTH);
		p->failed = true;
		return;
	}
	struct hr_yaml *y = HR_NEW(p->arena, struct hr_yaml);
	struct frame *around = top(p);
	bool as_key = is_at_key(p);

	y->kind = kind;
	y->at = at;
	if (as_key) /* reported here; its content is read and dropped */
		take_key(p, around, y);
	begin_node(p, at);
	y->tag = take_tag(p, tag, at);
	p->frame[p->depth++] = (struct frame){
		.node = y,
		.parent = around ? around->step : UINT32_MAX,
		.step = around ? around->step : UINT32_MAX,
		.anchor = add_anchor(p, anchor),
		.size_before = p->size - 1,
		.height = 1,
	};
	y->is_key = as_key;
}

static int
compare_pairs(const void *pa, const void *pb)
{
	const struct hr_yaml_pair *const *a = pa, *const *b = pb;
	int by_key = strcmp((*a)->key, (*b)->key);

	return by_key ? by_key : (*a < *b ? -1 : *a > *b);
}

/* Later ones go, so that nothing is said twice about them. */
static void
drop_marked(struct hr_yaml *map)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < map->n; i++)
		if (map->pair[i].value)
			map->pair[n++] = map->pair[i];
	map->n = n;
}

static void
refuse_duplicates(struct parser *p, struct hr_yaml *map)
{
	if (map->n < 2)
		return;
	struct hr_yaml_pair **sorted = HR_ARRAY(p->arena, map->n, struct hr_yaml_pair *);

	for (uint32_t i = 0; i < map->n; i++)
		sorted[i] = &map->pair[i];
	qsort(sorted, map->n, sizeof(struct hr_yaml_pair *), compare_pairs);
	const struct hr_yaml_pair *first = sorted[0];

	for (uint32_t i = 1; i < map->n; i++) {
		if (strcmp(first->key, sorted[i]->key) != 0) {
			first = sorted[i];
			continue;
		}
		struct hr_diag *e = hr_error(p->diags, sorted[i]->key_at, 110,
					     "duplicate key '%s' (first defined at %u:%u)",
					     first->key, first->key_at.line, first->key_at.col);

		hr_note(e, first->key_at, "first defined here");
		sorted[i]->value = NULL;
	}
	drop_marked(map);
}

static void
on_close(struct parser *p)
{
	struct frame *f = &p->frame[--p->depth];

	if (f->node->kind == HR_YAML_MAP)
		refuse_duplicates(p, f->node);
	if (f->anchor != SIZE_MAX) {
		struct anchor *a = &p->anchor[f->anchor];

		a->node = f->node;
		a->size = p->size - f->size_before;
		a->height = f->height;
	}
	raise_height(top(p), f->height + 1);
	if (!f->node->is_key)
		place_value(p, f->node);
}

static void
on_document(struct parser *p, const yaml_event_t *ev)
{
	if (!p->root)
		return;
	hr_error(p->diags, hr_yaml_span(p->file, &ev->start_mark, &ev->end_mark), 111,
		 "a second document starts here; a file holds one graph");
	p->failed = true;
}

static void
on_event(struct parser *p, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		on_document(p, ev);
		break;
	case YAML_SCALAR_EVENT:
		on_scalar(p, ev);
		break;
	case YAML_ALIAS_EVENT:
		on_alias(p, ev);
		break;
	case YAML_SEQUENCE_START_EVENT:
		on_open(p, ev, HR_YAML_LIST);
		break;
	case YAML_MAPPING_START_EVENT:
		on_open(p, ev, HR_YAML_MAP);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		on_close(p);
		break;
	default:
		break;
	}
}

static void
read_events(struct parser *p)
{
	bool has_bom = p->file->len >= 3 && !memcmp(p->file->text, "\xef\xbb\xbf", 3);
	size_t skip = has_bom ? 3 : 0;
	yaml_parser_t yp;

	if (!yaml_parser_initialize(&yp)) {
		hr_error(p->diags, HR_NOWHERE, 301, "out of memory");
		p->failed = true;
		return;
	}
	yaml_parser_set_encoding(&yp, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&yp, (const unsigned char *)p->file->text + skip,
				     p->file->len - skip);
	for (bool done = false; !done && !p->failed;) {
		yaml_event_t ev;

		if (!yaml_parser_parse(&yp, &ev)) {
			hr_yaml_report(p->file, &yp, p->arena, p->diags);
			p->failed = true;
			break;
		}
		on_event(p, &ev);
		done = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&yp);
}

static void
report_empty(struct parser *p)
{
	bool blank = true;

	for (size_t i = 0; i < p->file->len && blank; i++)
		blank = strchr(" \t\r\n", p->file->text[i]) != NULL;
	struct hr_diag *e =
		hr_error(p->diags, (struct hr_span){ .file = p->file, .line = 1, .col = 1 }, 112,
			 blank ? "the file is empty" : "the file holds only comments");

	hr_help(e, "a graph starts with the line 'holorun: 1'");
}

struct hr_yaml *
hr_yaml_parse(struct hr_arena *a, const struct hr_file *f, struct hr_diags *d)
{
	if (f->len > HR_YAML_MAX_BYTES) {
		hr_error(d, (struct hr_span){ .file = f }, 102,
			 "too large: a graph file may hold %d MiB", HR_YAML_MAX_BYTES >> 20);
		return NULL;
	}
	if (!hr_yaml_check_bytes(f, d))
		return NULL;
	struct parser *p = HR_NEW(a, struct parser);

	p->arena = a;
	p->file = f;
	p->diags = d;
	if (f->paths)
		f->paths->n = 0;
	read_events(p);
	if (!p->failed && (!p->root || hr_yaml_is_empty(p->root)))
		report_empty(p);
	/* Duplicate keys leave a usable tree, so that later stages find what else is wrong. */
	return !p->failed && p->root && !hr_yaml_is_empty(p->root) ? p->root : NULL;
}

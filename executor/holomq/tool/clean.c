/* SPDX-License-Identifier: Apache-2.0 */
/* clean.c - remove the sockets of dead endpoints; live ones and other files are not touched. */
#include <dirent.h>
#include <string.h>

#include "catalog.h"
#include "tool.h"

struct said {
	struct hmq_json *json; /* NULL: lines */
	const char *dir;
};

static void
say(const char *name, void *arg)
{
	const struct said *s = arg;

	if (s->json)
		hmq_json_text(s->json, name);
	else
		printf("removed %s/%s\n", s->dir, name);
}

int
tool_clean(const struct options *o)
{
	static char text[1 << 16];
	struct hmq_error err = { 0 };
	struct hmq_json j = { 0 };
	struct said s = { .json = o->is_json ? &j : NULL, .dir = o->dir };
	int32_t n;

	hmq_json_init(&j, text, sizeof(text));
	hmq_json_open(&j, '{');
	hmq_json_key(&j, "dir");
	hmq_json_text(&j, o->dir);
	hmq_json_key(&j, "removed");
	hmq_json_open(&j, '[');
	n = hmq_endpoint_clean(o->dir, say, &s, &err);
	if (n < 0)
		return tool_fail(EXIT_MACHINE, "%s", err.text);
	hmq_json_close(&j, ']');
	hmq_json_close(&j, '}');
	hmq_json_end(&j);
	if (o->is_json)
		puts(text);
	else
		printf("%d dead socket%s removed\n", n, n == 1 ? "" : "s");
	return EXIT_DONE;
}

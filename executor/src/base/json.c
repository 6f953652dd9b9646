// SPDX-License-Identifier: Apache-2.0
/*
 * json.c - the three things cJSON leaves open: arena texts, exact int64, bad UTF-8.
 */
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

char *
hr_json_text(struct hr_arena *a, cJSON *tree, bool pretty)
{
	char *printed = pretty ? cJSON_Print(tree) : cJSON_PrintUnformatted(tree);
	char *text =
		printed ? hr_printf(a, "%s%s", printed, pretty ? "\n" : "") : hr_strdup(a, "null");

	cJSON_free(printed);
	cJSON_Delete(tree);
	return text;
}

void
hr_json_add_int(cJSON *object, const char *key, int64_t value)
{
	char digits[24];

	(void)snprintf(digits, sizeof(digits), "%" PRId64, value);
	cJSON_AddRawToObject(object, key, digits);
}

cJSON *
hr_json_string(const char *value)
{
	struct hr_arena *a = hr_arena_new();
	size_t n = strlen(value);
	struct hr_text t;

	hr_text_init(&t, a);
	for (size_t i = 0; i < n;) {
		uint32_t code;
		size_t k = hr_utf8_next(value + i, n - i, &code);

		if (k)
			hr_text_putn(&t, value + i, k);
		else
			hr_text_puts(&t, "\xef\xbf\xbd");
		i += k ? k : 1;
	}
	cJSON *string = cJSON_CreateString(t.s);

	hr_arena_free(a);
	return string;
}

void
hr_json_add_text(cJSON *object, const char *key, const char *value)
{
	cJSON_AddItemToObject(object, key, hr_json_string(value));
}

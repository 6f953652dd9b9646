/* SPDX-License-Identifier: Apache-2.0 */
/* scan.c - the cursor of scan.h. */
#include <errno.h>
#include <string.h>

#include "scan.h"

int
scan_fail(const struct scan *s, uint32_t from, const char *what, struct hk_net_error *err)
{
	err->what = what;
	err->at = from;
	err->len = s->at > from ? s->at - from : 1;
	return -EINVAL;
}

bool
scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(s->text + s->at, word, len) != 0)
		return false;
	s->at += (uint32_t)len;
	return true;
}

bool
scan_number(struct scan *s, uint64_t max, uint64_t *value)
{
	const char *p = s->text + s->at;
	uint64_t v = 0;
	bool ok = *p >= '0' && *p <= '9';

	for (; *p >= '0' && *p <= '9'; p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		ok = ok && v <= (max - digit) / 10 && digit <= max;
		v = ok ? v * 10 + digit : v;
	}
	s->at = (uint32_t)(p - s->text);
	*value = v;
	return ok;
}

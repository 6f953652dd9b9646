/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - a cursor over a text, shared by the parsers of this folder.
 * Numbers are decimal, digits only: the grammars have no other form.
 */
#ifndef HK_NET_SCAN_H
#define HK_NET_SCAN_H

#include "hk/net.h"

struct scan {
	const char *text;
	uint32_t at;
};

/* Fills *err with a sentence about [from, s->at) (at least one byte) and returns -EINVAL. */
int scan_fail(const struct scan *s, uint32_t from, const char *what, struct hk_net_error *err);
/* True, and past it, if the text goes on with `word`. */
bool scan_word(struct scan *s, const char *word);
/* A decimal number up to max; false without one or beyond, the cursor behind its digits. */
bool scan_number(struct scan *s, uint64_t max, uint64_t *value);

#endif /* HK_NET_SCAN_H */

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8.h - one character at a time.
 *
 * Strict: overlong forms, surrogates and values above U+10FFFF are invalid.
 */
#ifndef HR_UTF8_H
#define HR_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length in bytes (1-4) of the character at s, of which n bytes may be read, and its number;
 * 0 if those bytes are no character. */
size_t hr_utf8_next(const char *s, size_t n, uint32_t *code);
/* Characters in n bytes; an invalid byte counts as one. */
size_t hr_utf8_count(const char *s, size_t n);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * error.c - writes a failure down where it was noticed.
 *
 * Keeps the first cause: the caller passes a cleared struct, and whoever fails
 * first fills it; a longer text is cut, never overrun.
 */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

int
hr_fail(struct hr_error *err, int err_no, const char *file, int line, const char *fmt, ...)
{
	assert(err_no > 0 && "a failure has a positive errno");
	if (err) {
		va_list ap;

		err->code = -err_no;
		err->file = file;
		err->line = line;
		va_start(ap, fmt);
		(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -err_no;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - a failure that is not a diagnostic: no line of a file is to blame.
 *
 * The place that detects it writes it once with HR_FAIL; callers pass it on.
 */
#ifndef HR_ERROR_H
#define HR_ERROR_H

struct hr_error {
	int code;         /* negative errno, as returned */
	const char *file; /* of the source that noticed */
	int line;
	char text[500];
};

/* Records and returns -err_no. */
int hr_fail(struct hr_error *err, int err_no, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
#define HR_FAIL(err, err_no, ...) hr_fail((err), (err_no), __FILE__, __LINE__, __VA_ARGS__)

#endif

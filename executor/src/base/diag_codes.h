/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag_codes.h - every diagnostic holorun can give, one line each.
 *
 * The table is what `explain` prints and where a code's exit status comes from;
 * a code that is not here cannot be used (asserted).  E1xx text, E2xx graph
 * (exit 2), E3xx this machine (exit 3), W4xx warnings.  A number never changes
 * its meaning.
 */
#ifndef HR_DIAG_CODES_H
#define HR_DIAG_CODES_H

#include <stddef.h>
#include <stdint.h>

struct hr_diag_code {
	uint32_t code;
	uint32_t exit_code; /* 0 for warnings */
	const char *title;
	const char *cause;
	const char *cure;
};

extern const struct hr_diag_code hr_diag_codes[];
extern const size_t hr_n_diag_codes;
/* NULL: no such code. */
const struct hr_diag_code *hr_diag_code_find(uint32_t code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - every row that holorun-bench measures, in the order of the table. */
#ifndef HB_ROWS_H
#define HB_ROWS_H

#include "harness.h"

extern struct hb_row hb_rows[];
extern const size_t hb_n_rows;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h - the steps of hr_plugin_verify, for the loader, which reports them
 * under different codes and keeps the copy.
 */
#ifndef HR_VERIFY_H
#define HR_VERIFY_H

#include "plugin/plugin.h"

/* Versions only; reads no further than they lie. */
const char *hr_plugin_check_abi(struct hr_arena *a, const struct hop_plugin *p);
/* Everything else.  NULL: fine, and *copy has the tables in this host's sizes. */
const char *hr_plugin_check(struct hr_arena *a, const struct hop_plugin *p,
			    const struct hop_plugin **copy);
/* Rows of one direction; a port array counts once. */
uint32_t hr_op_n_ports(const struct hop_op *op, uint32_t dir);

#endif

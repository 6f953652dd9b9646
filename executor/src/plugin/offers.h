/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.h - what the loaded plugins offer under a name, and what those that
 * could not be loaded may have offered.
 */
#ifndef HR_OFFERS_H
#define HR_OFFERS_H

#include "base/text.h"
#include "plugin/binding.h"

struct hr_offer {
	const struct hop_op *op; /* NULL: none */
	const struct hr_plugin *plugin;
};

struct hr_offers {                      /* of what a node writes under `op` */
	const char *name;               /* without @lib */
	const char *lib;                /* after '@', or NULL */
	struct hr_offer on[2];          /* by HOP_ON_* */
	const struct hr_plugin *second; /* another offer for second_device; or NULL */
	uint32_t second_device;
};

struct hr_offers hr_offers_of(const struct hr_binding *x, const char *text);
bool hr_offers_none(const struct hr_offers *o);
/* Of all loaded plugins, each once. */
struct hr_strings hr_offers_names(struct hr_arena *a, const struct hr_plugins *plugins);

/* failed.c: a diagnostic for each plugin that could not be loaded and is wanted; the nodes that
 * this explains are marked in x->missing_known. */
void hr_failed_report(const struct hr_binding *x);
/* A help line for each plugin that could not be loaded. */
void hr_failed_hint(const struct hr_binding *x, struct hr_diag *e);
/* A plugin that could not be loaded because its device's driver is missing, or NULL. */
const struct hr_plugin *hr_failed_for_device(const struct hr_binding *x);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.c - looks an op up by name in the tables of all loaded plugins.
 */
#include <string.h>

#include "plugin/find.h"
#include "plugin/offers.h"

struct hr_offers
hr_offers_of(const struct hr_binding *x, const char *text)
{
	const char *at = strchr(text, '@');
	struct hr_offers c = { .name = text };

	if (at) {
		c.name = hr_strndup(x->a, text, (size_t)(at - text));
		c.lib = at + 1;
	}
	for (uint32_t i = 0; i < x->plugins->n; i++) {
		const struct hr_plugin *p = &x->plugins->at[i];

		if (!p->table || (c.lib && !hr_plugin_is_called(x->a, p->path, c.lib)))
			continue;
		for (uint32_t k = 0; k < p->table->n_ops; k++) {
			const struct hop_op *op = p->table->ops[k];

			if (strcmp(op->name, c.name) != 0)
				continue;
			if (c.on[op->device].op) {
				c.second = p;
				c.second_device = op->device;
			} else {
				c.on[op->device] = (struct hr_offer){ op, p };
			}
		}
	}
	return c;
}

bool
hr_offers_none(const struct hr_offers *o)
{
	return !o->on[HOP_ON_CPU].op && !o->on[HOP_ON_CUDA].op;
}

struct hr_strings
hr_offers_names(struct hr_arena *a, const struct hr_plugins *plugins)
{
	struct hr_strings names = { 0 };

	for (uint32_t i = 0; i < plugins->n; i++) {
		const struct hop_plugin *t = plugins->at[i].table;

		for (uint32_t k = 0; t && k < t->n_ops; k++)
			if (!hr_strings_has(&names, t->ops[k]->name))
				hr_strings_add(a, &names, t->ops[k]->name);
	}
	return names;
}

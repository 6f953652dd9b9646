/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.c - notes in the shared page what foreign code runs.  See stage.h.
 */
#include <stdio.h>

#include "plugin/stage.h"

/* Of this process; a probe child sets it once, right after fork. */
static struct hr_stage *attached;

void
hr_stage_attach(struct hr_stage *page)
{
	attached = page;
}

void
hr_stage_enter(const char *doing, const char *plugin, const char *op, const char *node)
{
	if (!attached)
		return;
	(void)snprintf(attached->plugin, sizeof attached->plugin, "%s", plugin);
	(void)snprintf(attached->op, sizeof attached->op, "%s", op ? op : "");
	(void)snprintf(attached->node, sizeof attached->node, "%s", node ? node : "");
	(void)snprintf(attached->doing, sizeof attached->doing, "%s", doing);
}

void
hr_stage_leave(void)
{
	if (attached)
		attached->doing[0] = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage.h - which plugin code is about to run.
 *
 * The parent of a probe reads it after the child died: a crash in foreign code
 * can then be blamed on a plugin, an op and a callback.  Nothing is attached in
 * a process that is no probe, and entering costs nothing there.  One thread.
 */
#ifndef HR_STAGE_H
#define HR_STAGE_H

#include <stdint.h>

struct hr_stage {       /* lives in a page shared with the parent */
	char doing[64]; /* "loading it (ELF constructors)", "shape()" */
	char plugin[1024];
	char op[128];
	char node[128];
	uint32_t done; /* the child reached its end */
};

/* All later entries of this process go there; NULL: nowhere. */
void hr_stage_attach(struct hr_stage *page);
/* Foreign code follows.  op and node may be NULL. */
void hr_stage_enter(const char *doing, const char *plugin, const char *op, const char *node);
/* Foreign code returned. */
void hr_stage_leave(void);

#endif

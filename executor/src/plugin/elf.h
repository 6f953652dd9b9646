/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elf.h - what can be said of a plugin file without running any of it.
 *
 * Reads headers, the dynamic section and the notes with pread; every offset of
 * the file is checked before use.  [control] only.
 */
#ifndef HR_ELF_H
#define HR_ELF_H

#include <stdbool.h>

#include "base/arena.h"

struct hr_elf {
	const char *refused;       /* one sentence: why this file can be no plugin here; or NULL */
	const char *build_id;      /* hex; "" if there is none */
	const char *const *needed; /* DT_NEEDED */
	unsigned n_needed;
	const char *runpath; /* DT_RUNPATH or DT_RPATH, as written; or NULL */
};

/* path: absolute. */
struct hr_elf hr_elf_read(struct hr_arena *a, const char *path);

#endif

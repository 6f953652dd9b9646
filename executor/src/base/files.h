/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - whole files: read with a limit, written whole or not at all.
 *
 * Writing goes to a temporary name beside the target and is renamed over it, so
 * that a reader sees the old file or the new one, and a killed writer leaves the
 * old one.  Blocks; [control] only.
 */
#ifndef HR_FILES_H
#define HR_FILES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"

/* 0 or -errno.  A NUL is put after the data and not counted.  -EFBIG beyond limit, -EISDIR. */
int hr_read_whole(struct hr_arena *a, const char *path, size_t limit, char **data, size_t *len,
		  struct hr_error *err);
/* 0 or -errno; after failure the old file is as it was and no temporary is left. */
int hr_write_whole(const char *path, const void *data, size_t len, struct hr_error *err);
/* Absolute folder of an existing file, symbolic links resolved: "/a/b" for "/a/b/c.yaml". */
const char *hr_dir_of(struct hr_arena *a, const char *path);

#endif

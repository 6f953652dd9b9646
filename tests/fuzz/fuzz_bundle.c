/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_bundle.c - what a child process is given to make its plan from.
 *
 * The bytes are the bundle's JSON in a memfd; what was read is used as the child uses
 * it: the texts are loaded and validated.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "run/bundle.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("bundle", MFD_CLOEXEC);
	struct hr_arena *a = hr_arena_new();
	struct hr_bundle b;
	struct hr_error err;
	struct hr_diags diags;
	struct hr_doc *doc;

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	    hr_bundle_read(a, fd, &b, &err) == 0) {
		hr_diags_init(&diags, a);
		doc = hr_load(a, &b.load, &diags);
		if (doc)
			hr_validate(a, doc, &b.load, &diags);
		hr_diags_text(&diags, a, false);
	}
	if (fd >= 0)
		close(fd);
	hr_arena_free(a);
	return 0;
}

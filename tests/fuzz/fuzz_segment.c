/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_segment.c - a segment that somebody else filled: map, open, use.
 *
 * The first byte says how: bytes as they are, or a channel that was formatted and then
 * changed at some places, or a descriptor with wrong seals.  Whatever lies there is an
 * error or is usable; nothing is read outside of it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channel.h"

enum { PAGE = 4096, MAX_STEPS = 64 };

/* A descriptor as a peer would send it; -1: not to be had. */
static int
make_memfd(const uint8_t *data, size_t bytes, int seals)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)bytes) || pwrite(fd, data, bytes, 0) != (ssize_t)bytes ||
	    fcntl(fd, F_ADD_SEALS, seals)) {
		close(fd);
		return -1;
	}
	return fd;
}

static size_t
format(uint8_t *page, size_t bytes, struct fuzz_input *in)
{
	struct hmq_reader_config readers[3];
	struct hmq_config cfg = { .reader = readers };
	struct hmq_segment seg = { .base = page, .bytes = bytes, .fd = -1 };

	cfg.slots = 1 + fuzz_below(in, 4);
	cfg.payload_bytes = fuzz_u8(in);
	cfg.n_readers = fuzz_below(in, 4);
	for (int i = 0; i < 3; i++) {
		readers[i].depth = 1 + fuzz_below(in, 4);
		readers[i].policy = fuzz_below(in, 4);
	}
	if (hmq_chan_format(&seg, &cfg, NULL))
		return 0;
	for (uint32_t n = fuzz_below(in, 5); n > 0; n--) {
		uint64_t at = fuzz_below(in, 2) ? fuzz_u8(in) : fuzz_u16(in) % (bytes - 8);
		uint64_t v, width = UINT64_C(1) << fuzz_below(in, 4);

		memcpy(&v, page + at, 8);
		v = fuzz_number(in, v);
		memcpy(page + at, &v, width);
	}
	return hmq_chan_bytes(&cfg, NULL);
}

static void
use(const struct hmq_segment *seg, struct fuzz_input *in)
{
	struct user u;

	user_open(&u, seg, NULL);
	for (int i = 0; i < MAX_STEPS && in->left > 0; i++)
		user_step(&u, in);
	user_close(&u);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[16 * PAGE];
	struct fuzz_input in = { data, size };
	struct hmq_segment seg;
	uint8_t how = fuzz_u8(&in);
	size_t bytes = PAGE;
	int fd;

	memset(image, 0, sizeof(image));
	if (how % 4 == 0) {
		bytes = in.left < sizeof(image) ? in.left : sizeof(image);
		memcpy(image, in.data, bytes);
		if (how & 4)
			bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	} else {
		bytes = format(image, sizeof(image), &in);
	}
	fd = make_memfd(image, bytes, how & 8 ? F_SEAL_SHRINK : F_SEAL_SHRINK | F_SEAL_GROW);
	if (fd < 0)
		return 0;
	if (hmq_segment_map(&seg, fd, NULL)) {
		close(fd);
		return 0;
	}
	use(&seg, &in);
	hmq_segment_close(&seg);
	return 0;
}

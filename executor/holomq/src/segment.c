/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.c - memory that is really there, private or shared.
 *
 * A shared segment is a memfd sealed against shrinking and growing: nothing in
 * /dev/shm, nothing left to clean up, and a peer that truncates it cannot turn our
 * next access into SIGBUS.  Pages are allocated and touched before create returns.
 * The library's only heap use is here too: handles, made in [control] code.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic.h"
#include "layout.h"

enum { FENCE_BYTES = 256 << 10 };

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define SEALS_NEEDED (F_SEAL_SHRINK | F_SEAL_GROW)

void *
hmq_alloc(size_t bytes)
{
	size_t whole = (bytes + HMQ_BLOCK_BYTES - 1) / HMQ_BLOCK_BYTES * HMQ_BLOCK_BYTES;
	void *p = aligned_alloc(HMQ_BLOCK_BYTES, whole);

	if (p)
		memset(p, 0, whole);
	return p;
}

void
hmq_dealloc(void *p)
{
	free(p);
}

/* One write per page, through the mapping: the page table entries exist afterwards too, and the
 * pages lie where the caller runs.  Relaxed: an access the compiler keeps, nothing else. */
static void
touch(void *base, uint64_t bytes)
{
	uint8_t *p = base;

	for (uint64_t at = 0; at < bytes; at += HMQ_PAGE_BYTES)
		hmq_store_relaxed_u8(p + at, 0);
}

/*
 * What the kernel could give without swapping; UINT64_MAX when it does not say.  Asked before a
 * memfd is filled: fallocate has no limit of its own and would go on until the kernel kills.
 */
static uint64_t
available_bytes(void)
{
	char text[1024];
	const char *line;
	ssize_t n;
	int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return UINT64_MAX;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return UINT64_MAX;
	text[n] = '\0';
	line = strstr(text, "MemAvailable:");
	return line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

static int
make_memfd(const char *name, uint64_t bytes, struct hmq_error *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int code;

	if (fd < 0)
		return hmq_fail(err, errno, "memfd_create %s: %s", name, strerrordesc_np(errno));
	if (ftruncate(fd, (off_t)bytes) || fallocate(fd, 0, 0, (off_t)bytes)) {
		code = errno;
		hmq_fail(err, code, "segment %s: %llu bytes refused: %s", name,
			 (unsigned long long)bytes, strerrordesc_np(code));
		goto close_fd;
	}
	if (fcntl(fd, F_ADD_SEALS, SEALS)) {
		code = errno;
		hmq_fail(err, code, "segment %s: sealing refused: %s", name, strerrordesc_np(code));
		goto close_fd;
	}
	return fd;

close_fd:
	close(fd);
	return -code;
}

/*
 * Fenced by addresses nobody may touch: whoever runs over the end of a segment
 * hits them, not the neighbour's messages, and the fault names the culprit.
 */
static void *
map_fenced(uint64_t bytes, int flags, int fd)
{
	char *fence = mmap(NULL, bytes + 2 * (uint64_t)FENCE_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *base;
	int code;

	if (fence == MAP_FAILED)
		return MAP_FAILED;
	base = mmap(fence + FENCE_BYTES, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0);
	if (base == MAP_FAILED) {
		code = errno;
		munmap(fence, bytes + 2 * (uint64_t)FENCE_BYTES);
		errno = code;
	}
	return base;
}

int
hmq_segment_create(struct hmq_segment *seg, const char *name, uint64_t bytes, uint32_t flags,
		   struct hmq_error *err)
{
	int shared = (flags & HMQ_SEG_SHARED) != 0;
	int fd = -1;

	*seg = (struct hmq_segment){ .fd = -1 };
	if (bytes == 0 || bytes > INT64_MAX - HMQ_PAGE_BYTES)
		return hmq_fail(err, EINVAL, "segment %s: %llu bytes make no sense", name,
				(unsigned long long)bytes);
	if (flags & ~(uint32_t)HMQ_SEG_SHARED)
		return hmq_fail(err, EINVAL, "segment %s: unknown flags %#x", name, flags);
	bytes = (bytes + HMQ_PAGE_BYTES - 1) / HMQ_PAGE_BYTES * HMQ_PAGE_BYTES;
	uint64_t available = available_bytes();

	if (bytes > available)
		return hmq_fail(err, ENOMEM, "segment %s: %llu bytes wanted, %llu available", name,
				(unsigned long long)bytes, (unsigned long long)available);
	if (shared) {
		fd = make_memfd(name, bytes, err);
		if (fd < 0)
			return fd;
	}
	void *base = map_fenced(bytes, shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd);
	if (base == MAP_FAILED) {
		int code = errno;

		if (shared)
			close(fd);
		return hmq_fail(err, code, "segment %s: mapping %llu bytes: %s", name,
				(unsigned long long)bytes, strerrordesc_np(code));
	}
	touch(base, bytes);
	*seg = (struct hmq_segment){ .base = base, .bytes = bytes, .fd = fd, .flags = flags };
	return 0;
}

int
hmq_segment_map(struct hmq_segment *seg, int32_t fd, struct hmq_error *err)
{
	struct stat st;
	int seals;

	*seg = (struct hmq_segment){ .fd = -1 };
	if (fstat(fd, &st))
		return hmq_fail(err, errno, "descriptor %d: %s", fd, strerrordesc_np(errno));
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return hmq_fail(err, errno, "descriptor %d has no seals: not a memfd", fd);
	if ((seals & SEALS_NEEDED) != SEALS_NEEDED)
		return hmq_fail(err, EPERM,
				"descriptor %d is not sealed against shrinking and growing", fd);
	if (st.st_size < HMQ_PAGE_BYTES)
		return hmq_fail(err, EBADMSG, "segment of %lld bytes: wanted a page at least",
				(long long)st.st_size);
	void *base = map_fenced((uint64_t)st.st_size, MAP_SHARED | MAP_POPULATE, fd);
	if (base == MAP_FAILED)
		return hmq_fail(err, errno, "mapping %lld bytes: %s", (long long)st.st_size,
				strerrordesc_np(errno));
	*seg = (struct hmq_segment){
		.base = base, .bytes = (uint64_t)st.st_size, .fd = fd, .flags = HMQ_SEG_SHARED
	};
	return 0;
}

void
hmq_segment_close(struct hmq_segment *seg)
{
	if (seg->base)
		munmap((char *)seg->base - FENCE_BYTES, seg->bytes + 2 * (uint64_t)FENCE_BYTES);
	if (seg->fd >= 0)
		close(seg->fd);
	*seg = (struct hmq_segment){ .fd = -1 };
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.c - payloads that lie elsewhere: the writer's buffers, the readers' cache.
 *
 * A message of 128 bytes describes bytes in another segment, so its cost does not
 * depend on their number.  The channel's order is the payload's: a place is written
 * before the descriptor is published, and not again before its slot came back, if
 * the writer keeps to one place per slot.  The generation catches a writer that does
 * not, and a reader that kept a descriptor for longer than its message.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"

#define SEALS_NEEDED (F_SEAL_SHRINK | F_SEAL_GROW)
#define HUGE_PAGE (UINT64_C(2) << 20)

static uint64_t
round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

/* Complete a head from its two numbers; 0, or -EOVERFLOW. */
static int
place(struct hmq_buffer_head *h)
{
	uint64_t all;

	if (h->places < 1 || h->places > HMQ_MAX_SLOTS || h->place_bytes < 1 ||
	    h->place_bytes > HMQ_MAX_PAYLOAD)
		return -EINVAL;
	h->place_bytes = round_up(h->place_bytes, HMQ_PAGE_BYTES);
	h->first_at = round_up(sizeof(*h) + h->places * sizeof(uint64_t), HMQ_PAGE_BYTES);
	if (__builtin_mul_overflow(h->place_bytes, h->places, &all) || all > INT64_MAX / 2)
		return -EOVERFLOW;
	h->bytes = h->first_at + all;
	return 0;
}

static uint64_t *
generation(const struct hmq_buffer *b, uint32_t index)
{
	return (uint64_t *)(void *)(b->base + sizeof(b->head)) + index;
}

/* ---- the writer ------------------------------------------------------------------------- */

/* Huge pages come from a pool of their own: no seal and no check of hmq_segment_create differs,
 * but the call and the rounding do. */
static int
make_huge(struct hmq_segment *seg, const char *name, uint64_t bytes, struct hmq_error *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
	void *base = MAP_FAILED;
	int code;

	bytes = round_up(bytes, HUGE_PAGE);
	if (fd >= 0 && !ftruncate(fd, (off_t)bytes) && !fallocate(fd, 0, 0, (off_t)bytes) &&
	    !fcntl(fd, F_ADD_SEALS, SEALS_NEEDED | F_SEAL_SEAL))
		base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (base == MAP_FAILED) {
		code = errno;
		if (fd >= 0)
			close(fd);
		return hmq_fail(err, code, "buffer %s: %llu bytes of huge pages refused: %s", name,
				(unsigned long long)bytes, strerrordesc_np(code));
	}
	*seg = (struct hmq_segment){ .base = base, .bytes = bytes, .fd = fd };
	return 0;
}

int
hmq_buffer_create(struct hmq_buffer **out, const char *name, uint64_t place_bytes, uint32_t places,
		  uint32_t flags, struct hmq_error *err)
{
	struct hmq_buffer_head h = { .magic = HMQ_BUFFER_MAGIC,
				     .version = HMQ_BUFFER_VERSION,
				     .places = places,
				     .place_bytes = place_bytes };
	struct hmq_segment seg;
	struct hmq_buffer *b;
	int rc = place(&h);

	*out = NULL;
	if (rc || (flags & ~(uint32_t)HMQ_BUFFER_HUGE))
		return hmq_fail(err, rc ? -rc : EINVAL,
				"buffer %s: %u places of %llu bytes, flags %#x: not possible", name,
				places, (unsigned long long)place_bytes, flags);
	if (getrandom(&h.number, sizeof(h.number), 0) != (ssize_t)sizeof(h.number))
		return hmq_fail(err, errno, "buffer %s: no random number", name);
	b = hmq_alloc(sizeof(*b));
	if (!b)
		return hmq_fail(err, ENOMEM, "no memory for buffer %s", name);
	rc = flags & HMQ_BUFFER_HUGE ? make_huge(&seg, name, h.bytes, err)
				     : hmq_segment_create(&seg, name, h.bytes, HMQ_SEG_SHARED, err);
	if (rc) {
		hmq_dealloc(b);
		return rc;
	}
	*b = (struct hmq_buffer){ .base = seg.base, .mapped = seg.bytes, .head = h, .fd = seg.fd };
	memcpy(b->base, &h, sizeof(h));
	*out = b;
	return 0;
}

void
hmq_buffer_free(struct hmq_buffer *b)
{
	if (!b)
		return;
	munmap(b->base, b->mapped);
	close(b->fd);
	hmq_dealloc(b);
}

int32_t
hmq_buffer_fd(const struct hmq_buffer *b)
{
	return b->fd;
}

void *
hmq_buffer_begin(struct hmq_buffer *b, uint32_t index)
{
	uint64_t g;

	if (index >= b->head.places)
		return NULL;
	/* relaxed: only the writer writes it */
	g = hmq_load_relaxed_u64(generation(b, index));
	if (g % 2 == 0)
		hmq_store_relaxed_u64(generation(b, index), g + 1);
	return b->base + b->head.first_at + index * b->head.place_bytes;
}

int
hmq_buffer_finish(struct hmq_buffer *b, uint32_t index, uint64_t bytes, struct hmq_descriptor *out)
{
	uint64_t g;

	if (index >= b->head.places)
		return -EINVAL;
	if (bytes > b->head.place_bytes)
		return -EMSGSIZE;
	/* relaxed: only the writer writes it */
	g = hmq_load_relaxed_u64(generation(b, index));
	if (g % 2 == 0)
		return -EINVAL;
	/* relaxed: hmq_publish releases bytes, generation and descriptor together */
	hmq_store_relaxed_u64(generation(b, index), g + 1);
	*out = (struct hmq_descriptor){ .kind = HMQ_DESCRIBES_BUFFER,
					.buffer = b->head.number,
					.generation = g + 1,
					.offset = b->head.first_at + index * b->head.place_bytes,
					.bytes = bytes };
	return 0;
}

/* ---- the reader ------------------------------------------------------------------------- */

int
hmq_cache_new(struct hmq_cache **out, struct hmq_error *err)
{
	*out = hmq_alloc(sizeof(**out));
	return *out ? 0 : hmq_fail(err, ENOMEM, "no memory for a cache of buffers");
}

void
hmq_cache_free(struct hmq_cache *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n; i++)
		munmap((void *)(uintptr_t)c->view[i].base, c->view[i].mapped);
	hmq_dealloc(c);
}

static const struct hmq_import_view *
find(const struct hmq_cache *c, uint64_t number)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->view[i].head.number == number)
			return &c->view[i];
	return NULL;
}

static int
check_head(const struct hmq_buffer_head *h, uint64_t mapped, struct hmq_error *err)
{
	struct hmq_buffer_head want = *h;

	if (h->magic != HMQ_BUFFER_MAGIC)
		return hmq_fail(err, EBADMSG, "not a buffer: magic %#llx",
				(unsigned long long)h->magic);
	if (h->version != HMQ_BUFFER_VERSION)
		return hmq_fail(err, EPROTO, "buffer version: wanted %u, found %u",
				HMQ_BUFFER_VERSION, h->version);
	if (place(&want) || memcmp(&want, h, sizeof(want)) != 0 || h->bytes > mapped)
		return hmq_fail(err, EBADMSG, "a buffer of %u places of %llu bytes in %llu",
				h->places, (unsigned long long)h->place_bytes,
				(unsigned long long)mapped);
	return 0;
}

int
hmq_cache_import(struct hmq_cache *c, int32_t fd, struct hmq_error *err)
{
	struct hmq_import_view v;
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);
	int rc;

	if (seals < 0 || (seals & SEALS_NEEDED) != SEALS_NEEDED || fstat(fd, &st))
		return hmq_fail(err, EPERM, "descriptor %d is no sealed memfd", fd);
	if (st.st_size < (off_t)(2 * HMQ_PAGE_BYTES))
		return hmq_fail(err, EBADMSG, "a buffer of %lld bytes: too small",
				(long long)st.st_size);
	v.mapped = (uint64_t)st.st_size;
	v.base = mmap(NULL, v.mapped, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (v.base == MAP_FAILED)
		return hmq_fail(err, errno, "mapping a buffer of %llu bytes: %s",
				(unsigned long long)v.mapped, strerrordesc_np(errno));
	memcpy(&v.head, v.base, sizeof(v.head));
	rc = check_head(&v.head, v.mapped, err);
	if (!rc && !find(c, v.head.number)) {
		if (c->n < HMQ_CACHE_BUFFERS) {
			c->view[c->n++] = v;
			return 1;
		}
		rc = hmq_fail(err, ENOSPC, "%u buffers are imported already", HMQ_CACHE_BUFFERS);
	}
	munmap((void *)(uintptr_t)v.base, v.mapped);
	return rc;
}

int
hmq_cache_find(const struct hmq_cache *c, const struct hmq_descriptor *d, const void **data)
{
	struct hmq_descriptor own;
	const struct hmq_import_view *v;
	const uint64_t *g;
	uint64_t index;

	memcpy(&own, d, sizeof(own)); /* the peer may change it while we look */
	*data = NULL;
	if (own.kind != HMQ_DESCRIBES_BUFFER)
		return own.kind == HMQ_DESCRIBES_CUDA_IPC ? -ENOTSUP : -EBADMSG;
	v = find(c, own.buffer);
	if (!v)
		return -ENOENT;
	if (own.offset < v->head.first_at || own.bytes > v->head.place_bytes)
		return -EBADMSG;
	index = (own.offset - v->head.first_at) / v->head.place_bytes;
	if (index >= v->head.places || own.offset != v->head.first_at + index * v->head.place_bytes)
		return -EBADMSG;
	g = (const uint64_t *)(const void *)(v->base + sizeof(v->head)) + index;
	/* relaxed: ordered by the message that brought the descriptor (A1) */
	if (hmq_load_relaxed_u64(g) != own.generation)
		return -ESTALE;
	*data = v->base + own.offset;
	return 0;
}

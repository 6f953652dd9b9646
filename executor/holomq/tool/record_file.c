/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_file.c - the file of a recording: the one of std/file_sink and std/file_source.
 *
 * A header of 128 bytes, then records: 128 bytes of head, the payload, zeros up to the
 * next multiple of 64; little endian; holomq(7) has the fields.  A recording has its
 * name only when it is whole; else it is PATH.INCOMPLETE and says in its header how
 * many messages it misses.  A file that is read may be anybody's: it is checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "layout.h"
#include "tool.h"

#define MAGIC "holorec\n"
#define MARK 0x64726372u
#define ALIGN UINT64_C(64)

enum { VERSION = 1, CUT = 0, WHOLE = 1 };

struct record_file {
	char magic[8];
	uint32_t version;
	uint32_t state;
	uint64_t records;
	uint64_t length; /* of the file, header included */
	struct hmq_dtype dtype;
	uint32_t rank; /* 0: plain bytes */
	uint32_t dim[HMQ_MAX_RANK];
	uint64_t max_bytes;
	double rate_hz;
	uint64_t missed; /* messages that were seen passing but not copied */
	uint64_t reserved[4];
};

struct record {
	uint32_t mark;
	uint32_t flags;
	uint64_t bytes;
	uint64_t frame;
	int64_t born_ns; /* since the first record's */
	int64_t last_ns; /* the same origin */
	int64_t stamp_ns;
	uint32_t index;
	uint32_t stream;
	struct hmq_dtype dtype;
	uint32_t rank;
	uint32_t dim[HMQ_MAX_RANK];
	uint8_t user[24];
	uint64_t reserved;
};

_Static_assert(sizeof(struct record_file) == 128, "the file's layout");
_Static_assert(sizeof(struct record) == 128, "the file's layout");

static uint64_t
stride_of(uint64_t bytes)
{
	return sizeof(struct record) + (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- writing ---------------------------------------------------------------------------- */

static void
tmp_of(const struct record_writer *w, char *out, size_t size)
{
	(void)snprintf(out, size, "%s.tmp", w->path);
}

int
record_create(struct record_writer *w, const char *path, const struct edge *e)
{
	char tmp[4096];

	memset(w, 0, sizeof(*w));
	w->fd = -1;
	if (strlen(path) >= sizeof(w->path))
		return tool_fail(EXIT_USAGE, "the path of the recording is too long");
	(void)snprintf(w->path, sizeof(w->path), "%s", path);
	tmp_of(w, tmp, sizeof(tmp));
	w->head = hmq_alloc(sizeof(*w->head));
	if (!w->head)
		return tool_fail(EXIT_MACHINE, "no memory for a recording");
	w->fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (w->fd < 0) {
		hmq_dealloc(w->head);
		return tool_fail(EXIT_FAILED, "%s: %s", tmp, strerrordesc_np(errno));
	}
	*w->head = (struct record_file){ .magic = "",
					 .version = VERSION,
					 .dtype = e->dtype,
					 .rank = e->rank,
					 .max_bytes = e->payload_bytes,
					 .rate_hz = e->rate_hz };
	memcpy(w->head->magic, MAGIC, sizeof(w->head->magic));
	memcpy(w->head->dim, e->dim, sizeof(w->head->dim));
	w->length = sizeof(*w->head);
	if (pwrite(w->fd, w->head, sizeof(*w->head), 0) != (ssize_t)sizeof(*w->head))
		return tool_fail(EXIT_FAILED, "%s: %s", tmp, strerrordesc_np(errno));
	return 0;
}

static int
write_all(int fd, struct iovec *iov, int n, uint64_t at)
{
	while (n > 0) {
		ssize_t done = pwritev(fd, iov, n, (off_t)at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		at += (uint64_t)done;
		for (; n > 0 && (size_t)done >= iov->iov_len; n--)
			done -= (ssize_t)(iov++)->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

int
record_add(struct record_writer *w, const struct hmq_head *h, const void *data)
{
	static const char zeros[ALIGN];
	uint64_t stride = stride_of(h->bytes);
	struct record r = { .mark = MARK,
			    .flags = h->flags,
			    .bytes = h->bytes,
			    .frame = h->frame,
			    .stamp_ns = h->stamp_ns,
			    .index = h->index,
			    .stream = h->stream,
			    .dtype = h->dtype,
			    .rank = h->rank };
	struct iovec iov[3] = {
		{ &r, sizeof(r) },
		{ (void *)(uintptr_t)data, h->bytes },
		{ (void *)(uintptr_t)zeros, stride - sizeof(r) - h->bytes },
	};

	if (w->records == 0)
		w->first_ns = h->born_ns;
	r.born_ns = h->born_ns - w->first_ns;
	r.last_ns = h->last_ns - w->first_ns;
	memcpy(r.dim, h->dim, sizeof(r.dim));
	memcpy(r.user, h->user, sizeof(r.user));
	if (write_all(w->fd, iov, 3, w->length))
		return tool_fail(EXIT_FAILED, "%s: record %llu: %s", w->path,
				 (unsigned long long)w->records, strerrordesc_np(errno));
	w->records++;
	w->length += stride;
	return 0;
}

int
record_finish(struct record_writer *w, int is_whole, uint64_t missed)
{
	char tmp[4096], to[4096];
	int rc = 0;

	tmp_of(w, tmp, sizeof(tmp));
	(void)snprintf(to, sizeof(to), "%s%s", w->path, is_whole ? "" : ".INCOMPLETE");
	w->head->state = is_whole ? WHOLE : CUT;
	w->head->records = w->records;
	w->head->length = w->length;
	w->head->missed = missed;
	if (ftruncate(w->fd, (off_t)w->length) ||
	    pwrite(w->fd, w->head, sizeof(*w->head), 0) != (ssize_t)sizeof(*w->head) ||
	    rename(tmp, to))
		rc = tool_fail(EXIT_FAILED, "%s: %s", to, strerrordesc_np(errno));
	else if (!is_whole)
		tool_fail(0, "%s: cut after %llu records", to, (unsigned long long)w->records);
	close(w->fd);
	hmq_dealloc(w->head);
	return rc;
}

/* ---- reading ---------------------------------------------------------------------------- */

static const char *
check(const struct record_file *f)
{
	if (memcmp(f->magic, MAGIC, sizeof(f->magic)) != 0)
		return "not a recording: it does not begin with \"holorec\"";
	if (f->version != VERSION)
		return "a recording of another version; this program reads version 1";
	if (f->rank > HMQ_MAX_RANK)
		return "bad header: more than 8 dimensions";
	if (f->max_bytes == 0 || f->max_bytes > HMQ_MAX_PAYLOAD)
		return "bad header: payload size not within 1 byte and 1 TiB";
	return NULL;
}

int
record_open(struct record_reader *r, const char *path)
{
	struct record_file f;
	struct stat st;
	const char *wrong;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(r, 0, sizeof(*r));
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return tool_fail(EXIT_FAILED, "%s: %s", path,
				 fd < 0 ? strerrordesc_np(errno) : "not a file");
	}
	if (st.st_size < (off_t)sizeof(f)) {
		close(fd);
		return tool_fail(EXIT_FAILED, "%s: not a recording: shorter than its header", path);
	}
	r->length = (uint64_t)st.st_size;
	r->file = mmap(NULL, r->length, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (r->file == MAP_FAILED)
		return tool_fail(EXIT_MACHINE, "%s: %s", path, strerrordesc_np(errno));
	memcpy(&f, r->file, sizeof(f));
	wrong = check(&f);
	if (wrong) {
		record_close(r);
		return tool_fail(EXIT_FAILED, "%s: %s", path, wrong);
	}
	r->at = sizeof(f);
	r->max_bytes = f.max_bytes;
	r->dtype = f.dtype;
	r->rank = f.rank;
	memcpy(r->dim, f.dim, sizeof(r->dim));
	r->is_whole = f.state == WHOLE && f.length == r->length;
	return 0;
}

void
record_close(struct record_reader *r)
{
	munmap((void *)(uintptr_t)r->file, r->length);
}

int
record_next(struct record_reader *r, struct hmq_head *h, const void **data)
{
	struct record rec = { 0 };

	if (r->at == r->length)
		return 0;
	if (r->length - r->at >= sizeof(rec))
		memcpy(&rec, r->file + r->at, sizeof(rec));
	if (r->length - r->at < sizeof(rec) || rec.mark != MARK || rec.bytes > r->max_bytes ||
	    rec.rank > HMQ_MAX_RANK || stride_of(rec.bytes) > r->length - r->at) {
		/* The torn tail of a recorder that was killed is the end, and no lie. */
		if (!r->is_whole && r->length - r->at < sizeof(rec) + r->max_bytes + ALIGN)
			return 0;
		tool_fail(0, "no record at byte %llu", (unsigned long long)r->at);
		return -1;
	}
	memset(h, 0, sizeof(*h));
	h->frame = rec.frame;
	h->born_ns = rec.born_ns;
	h->last_ns = rec.last_ns;
	h->stamp_ns = rec.stamp_ns;
	h->bytes = rec.bytes;
	h->index = rec.index;
	h->flags = rec.flags;
	h->stream = rec.stream;
	h->dtype = rec.dtype;
	h->rank = (uint16_t)rec.rank;
	memcpy(h->dim, rec.dim, sizeof(h->dim));
	memcpy(h->user, rec.user, sizeof(h->user));
	*data = r->file + r->at + sizeof(rec);
	r->at += stride_of(rec.bytes);
	return 1;
}

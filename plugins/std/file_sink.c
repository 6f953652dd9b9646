/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_sink.c - std/file_sink: write a stream to a recording (record.h).
 *
 * It writes to PATH.tmp and renames it to PATH once the end of the stream is
 * on file, so PATH is a whole recording or what was there before.  Cut short,
 * the file becomes PATH.INCOMPLETE and says so inside; every record in it is
 * whole.  A killed process leaves PATH.tmp, which the next run overwrites.
 * Writing may block, so the op has a thread of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record.h"

enum { C_RECORDS, C_BYTES };
enum { PATH_SIZE = 4096 };

struct file_sink_params {
	const char *path;
};

struct file_sink {
	int fd;
	uint32_t renamed; /* nothing is left to do in close */
	uint64_t records;
	uint64_t length;
	int64_t first_ns;
	struct record_file head;
	char tmp[PATH_SIZE];
};

static const struct hop_port ports[] = {
	{ "in", "any message", HOP_IN, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	STD_PARAM(PATH, struct file_sink_params, path, NULL, NULL, NULL, NULL,
		  "the recording; appears when it is whole"),
};

static const struct hop_counter counters[] = {
	[C_RECORDS] = { "records", "messages written", HOP_LOG_INFO, 0 },
	[C_BYTES] = { "bytes", "length of the file", HOP_LOG_INFO, 0 },
};

static int
write_all(int fd, struct iovec *iov, int n)
{
	while (n > 0) {
		ssize_t done = writev(fd, iov, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		for (; n > 0 && (size_t)done >= iov->iov_len; n--)
			done -= (ssize_t)(iov++)->iov_len;
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + done;
			iov->iov_len -= (size_t)done;
		}
	}
	return 0;
}

/* The file's header as things stand; at its place, without moving the end. */
static int
write_head(struct file_sink *s, uint32_t state)
{
	s->head.state = state;
	s->head.records = s->records;
	s->head.length = s->length;
	if (pwrite(s->fd, &s->head, sizeof s->head, 0) != (ssize_t)sizeof s->head)
		return errno ? -errno : -EIO;
	return 0;
}

/* The file's header: what flows over the edge, as shape() has settled it. */
static int
begin_head(struct file_sink *s, const struct hop_ctx *ctx)
{
	const struct hop_shape *shape = ctx->host->query(ctx, "shape/1");
	const struct hop_format *f;

	if (!shape)
		return HOP_FAIL(ctx, ENOTSUP, "this host does not tell formats (shape/1)");
	f = shape->in[0];
	memcpy(s->head.magic, RECORD_MAGIC, sizeof s->head.magic);
	s->head.version = RECORD_VERSION;
	s->head.dtype = f->dtype;
	s->head.rank = f->rank;
	memcpy(s->head.dim, f->dim, sizeof s->head.dim);
	s->head.max_bytes = f->max_bytes;
	s->head.rate_hz = f->rate_hz;
	s->length = sizeof s->head;
	return 0;
}

/* The recording takes the place of what is there: only of a file, never of a device or a link. */
static int
check_target(const struct hop_ctx *ctx, const char *path)
{
	struct stat st;
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	if (!*base || !strcmp(base, ".") || !strcmp(base, ".."))
		return HOP_FAIL(ctx, EISDIR, "path: '%s' names no file", path);
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		return HOP_FAIL(ctx, S_ISDIR(st.st_mode) ? EISDIR : EEXIST,
				"path: %s is there and is no regular file", path);
	return 0;
}

static int
file_sink_open(void *state, const struct hop_ctx *ctx)
{
	const struct file_sink_params *p = ctx->params;
	struct file_sink *s = state;
	int len = snprintf(s->tmp, sizeof s->tmp, "%s.tmp", p->path);
	int err = begin_head(s, ctx);

	if (!err)
		err = check_target(ctx, p->path);
	if (err)
		return err;
	if (len < 0 || (size_t)len >= sizeof s->tmp)
		return HOP_FAIL(ctx, ENAMETOOLONG, "path: longer than %d bytes", PATH_SIZE - 5);
	s->fd = open(s->tmp, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (s->fd < 0)
		return HOP_FAIL(ctx, errno, "path: cannot create %s", s->tmp);
	if (flock(s->fd, LOCK_EX | LOCK_NB)) {
		err = errno;
		close(s->fd);
		return HOP_FAIL(ctx, err, "path: %s is being written by another recorder", s->tmp);
	}
	if (ftruncate(s->fd, 0) || lseek(s->fd, (off_t)s->length, SEEK_SET) < 0 ||
	    write_head(s, RECORD_CUT)) {
		err = errno;
		unlink(s->tmp);
		close(s->fd);
		return HOP_FAIL(ctx, err, "path: cannot write %s", s->tmp);
	}
	return 0;
}

static int
write_record(struct file_sink *s, const struct hop_rx *rx)
{
	static const char zeros[RECORD_ALIGN];
	const struct hop_head *h = rx->head;
	uint64_t stride = record_stride(rx->bytes);
	struct record r = {
		.mark = RECORD_MARK,
		.flags = h->flags,
		.bytes = rx->bytes,
		.frame = h->frame,
		.stamp_ns = h->stamp_ns,
		.index = h->index,
		.stream = h->stream,
		.dtype = h->dtype,
		.rank = h->rank,
	};
	struct iovec iov[3] = {
		{ &r, sizeof r },
		{ (void *)(uintptr_t)rx->data, rx->bytes },
		{ (void *)(uintptr_t)zeros, stride - sizeof r - rx->bytes },
	};
	int rc;

	if (s->records == 0)
		s->first_ns = h->born_ns;
	r.born_ns = h->born_ns - s->first_ns;
	r.last_ns = h->last_ns - s->first_ns;
	memcpy(r.dim, h->dim, sizeof r.dim);
	memcpy(r.user, h->user, sizeof r.user);
	rc = write_all(s->fd, iov, 3);
	if (rc)
		return rc;
	s->records++;
	s->length += stride;
	return 0;
}

/* The stream has ended: the recording takes its name. */
static int
finish(struct file_sink *s, const struct hop_ctx *ctx)
{
	const struct file_sink_params *p = ctx->params;
	int rc;

	rc = write_head(s, RECORD_WHOLE);
	if (rc)
		return HOP_FAIL(ctx, -rc, "path: cannot write %s", s->tmp);
	rc = check_target(ctx, p->path);
	if (rc)
		return rc;
	if (rename(s->tmp, p->path))
		return HOP_FAIL(ctx, errno, "path: cannot rename %s to %s", s->tmp, p->path);
	s->renamed = 1;
	return 0;
}

static hop_status
file_sink_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct file_sink *s = state;
	struct hop_in *in = &io->in[0];

	for (uint32_t i = 0; i < in->count; i++) {
		uint64_t before = s->length;
		int rc = write_record(s, &in->msg[i]);

		if (rc) {
			/* Cut back to whole records; if that fails, too, the head says how many. */
			if (ftruncate(s->fd, (off_t)before))
				HOP_LOG(ctx, HOP_LOG_WARN, "%s: a torn record at byte %llu", s->tmp,
					(unsigned long long)before);
			return HOP_FAIL(
				ctx, -rc, "path: cannot write record %llu at byte %llu of %s",
				(unsigned long long)s->records, (unsigned long long)before, s->tmp);
		}
		in->taken = i + 1;
		hop_count(ctx, C_RECORDS, 1);
		hop_count(ctx, C_BYTES, s->length - before);
	}
	if (in->ended && !s->renamed) {
		int rc = finish(s, ctx);

		if (rc)
			return rc;
	}
	return in->count ? HOP_OK : HOP_IDLE;
}

static void
file_sink_close(void *state, const struct hop_ctx *ctx)
{
	const struct file_sink_params *p = ctx->params;
	struct file_sink *s = state;
	char path[PATH_SIZE + 16];

	if (!s->renamed && s->records == 0) {
		unlink(s->tmp);
	} else if (!s->renamed) {
		snprintf(path, sizeof path, "%s.INCOMPLETE", p->path);
		if (write_head(s, RECORD_CUT) || rename(s->tmp, path))
			HOP_LOG(ctx, HOP_LOG_ERROR, "%s: cut after %llu records, left as it is",
				s->tmp, (unsigned long long)s->records);
		else
			HOP_LOG(ctx, HOP_LOG_WARN, "%s: INCOMPLETE, %llu records", path,
				(unsigned long long)s->records);
	}
	close(s->fd);
}

const struct hop_op std_file_sink = {
	.size = sizeof std_file_sink,
	.flags = HOP_F_BLOCKS,
	.name = "std/file_sink",
	.doc = "Write the stream to a recording, whole or marked INCOMPLETE.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct file_sink_params),
	.state_size = sizeof(struct file_sink),
	.open = file_sink_open,
	.process = file_sink_process,
	.close = file_sink_close,
};

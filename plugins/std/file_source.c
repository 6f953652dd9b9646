/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_source.c - std/file_source: play a recording (record.h).
 *
 * open() reads the whole file into memory and checks every record, so playing
 * neither blocks nor meets a bad byte; a recording needs its size in memory.
 * With `format` given shape() is pure and open() compares the file with it;
 * without, shape() reads the 128 bytes of the file's header.
 *
 * Pace: `rate` (born_ns is the due time), `recorded: true` (the distances of
 * the recorded born_ns), or neither: as fast as there is room.  With `loop`
 * above 1 the frames of each repetition continue behind those of the last one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hk/net.h>

#include "record.h"

struct file_source_params {
	const char *path;
	const char *format;
	double rate;
	int64_t loop;
	uint8_t recorded;
	uint8_t incomplete;
};

struct file_source {
	char *file;
	uint64_t length;
	uint64_t records;
	uint64_t frames;   /* one repetition adds this to head.frame */
	int64_t period_ns; /* of one repetition, recorded pace */
	uint64_t at;       /* the next record */
	uint64_t played;   /* over all repetitions */
	uint64_t round;
	int64_t t0_ns;
	struct record_file head;
};

static const struct hop_port ports[] = {
	{ "out", "the recorded messages", HOP_OUT, 0, HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_param params[] = {
	STD_PARAM(PATH, struct file_source_params, path, NULL, NULL, NULL, NULL, "the recording"),
	STD_PARAM(TEXT, struct file_source_params, format, NULL, "", NULL, NULL,
		  "what it holds, as i16x2[1024]; empty: as the file says"),
	STD_PARAM(RATE, struct file_source_params, rate, NULL, "0", "0", "100MHz",
		  "messages per second; 0: as fast as there is room"),
	STD_PARAM(INT, struct file_source_params, loop, "times", "1", "0", NULL,
		  "how often to play it; 0: endlessly"),
	STD_PARAM(BOOL, struct file_source_params, recorded, NULL, "false", NULL, NULL,
		  "play at the recorded pace; not together with rate"),
	STD_PARAM(BOOL, struct file_source_params, incomplete, NULL, "false", NULL, NULL,
		  "play a recording that was cut, as far as it goes"),
};

/* Opens the file and reads and checks its header; the descriptor or a failure. */
static int
open_file(const struct hop_ctx *ctx, struct record_file *head, uint64_t *length)
{
	const struct file_source_params *p = ctx->params;
	int fd = open(p->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	const char *what;
	int rc = 0;

	if (fd < 0)
		return HOP_FAIL(ctx, errno, "path: cannot open %s", p->path);
	if (fstat(fd, &st))
		rc = HOP_FAIL(ctx, errno, "path: cannot examine %s", p->path);
	else if (!S_ISREG(st.st_mode))
		rc = HOP_FAIL(ctx, EINVAL, "path: %s is not a file", p->path);
	else if (st.st_size < (off_t)sizeof *head)
		rc = HOP_FAIL(ctx, EINVAL, "path: %s: %lld bytes are too few for a recording",
			      p->path, (long long)st.st_size);
	else if (pread(fd, head, sizeof *head, 0) != (ssize_t)sizeof *head)
		rc = HOP_FAIL(ctx, EIO, "path: cannot read the header of %s", p->path);
	else if ((what = record_file_check(head)))
		rc = HOP_FAIL(ctx, EINVAL, "path: %s: %s", p->path, what);
	if (rc) {
		close(fd);
		return rc;
	}
	*length = (uint64_t)st.st_size;
	return fd;
}

static int
parse_format(const struct hop_ctx *ctx, const char *text, struct hk_net_format *f)
{
	struct hk_net_error err;

	if (!hk_net_format_parse(text, f, &err))
		return 0;
	return HOP_FAIL(ctx, EINVAL, "format: %s, found '%.*s' at character %u of '%s'", err.what,
			(int)err.len, text + err.at, err.at + 1, text);
}

static int
file_source_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct file_source_params *p = ctx->params;
	struct hop_format *out = shape->out[0];
	struct hk_net_format f;
	struct record_file head = { 0 };
	uint64_t length;
	int fd;

	if (p->rate > 0 && p->recorded)
		return HOP_FAIL(ctx, EINVAL, "recorded: cannot be true when rate is given");
	out->rate_hz = p->rate;
	if (*p->format) {
		int rc = parse_format(ctx, p->format, &f);

		if (rc)
			return rc;
		out->dtype = (struct hop_dtype){ f.code, f.bits, f.lanes };
		out->rank = f.rank;
		memcpy(out->dim, f.dim, sizeof out->dim);
		out->max_bytes = f.bytes;
		return 0;
	}
	fd = open_file(ctx, &head, &length);
	if (fd < 0)
		return fd;
	close(fd);
	out->dtype = head.dtype;
	out->rank = head.rank;
	memcpy(out->dim, head.dim, sizeof out->dim);
	out->max_bytes = head.max_bytes;
	return 0;
}

/* What `format` says must be what the file holds. */
static int
check_format(const struct hop_ctx *ctx, const struct record_file *head)
{
	const struct file_source_params *p = ctx->params;
	struct hk_net_format f;
	int rc;

	if (!*p->format)
		return 0;
	rc = parse_format(ctx, p->format, &f);
	if (rc)
		return rc;
	if (f.code == head->dtype.code && f.bits == head->dtype.bits &&
	    f.lanes == head->dtype.lanes && f.rank == head->rank &&
	    !memcmp(f.dim, head->dim, f.rank * sizeof f.dim[0]) && f.bytes == head->max_bytes)
		return 0;
	return HOP_FAIL(ctx, EINVAL,
			"format: wanted %s, found code %u, %u bits, %u lanes, rank %u, %llu bytes "
			"in %s",
			p->format, head->dtype.code, head->dtype.bits, head->dtype.lanes,
			head->rank, (unsigned long long)head->max_bytes, p->path);
}

/* Every record, once; what playing relies on. */
static int
check_records(struct file_source *s, const struct hop_ctx *ctx)
{
	const struct file_source_params *p = ctx->params;
	uint64_t at = sizeof s->head;
	uint64_t first = UINT64_MAX, last = 0;
	int64_t newest = 0;

	for (; s->file && at < s->length; s->records++) {
		const char *what = record_check(&s->head, s->file, s->length, at);
		struct record r;

		if (what)
			return HOP_FAIL(ctx, EINVAL, "path: %s: record %llu at byte %llu: %s",
					p->path, (unsigned long long)s->records,
					(unsigned long long)at, what);
		memcpy(&r, s->file + at, sizeof r);
		first = r.frame < first ? r.frame : first;
		last = r.frame > last ? r.frame : last;
		newest = r.born_ns > newest ? r.born_ns : newest;
		at += record_stride(r.bytes);
	}
	if (s->records != s->head.records || s->length != s->head.length)
		return HOP_FAIL(ctx, EINVAL,
				"path: %s: wanted %llu records in %llu bytes as its header says, "
				"found %llu in %llu",
				p->path, (unsigned long long)s->head.records,
				(unsigned long long)s->head.length, (unsigned long long)s->records,
				(unsigned long long)s->length);
	s->frames = s->records ? last - first + 1 : 0;
	/* The distance to the first of the next repetition: the mean one. */
	s->period_ns = s->records > 1 ? newest + newest / (int64_t)(s->records - 1) : 0;
	return 0;
}

static int
read_all(const struct hop_ctx *ctx, int fd, char *to, uint64_t length)
{
	const struct file_source_params *p = ctx->params;
	uint64_t at = 0;

	while (at < length) {
		ssize_t n = pread(fd, to + at, length - at, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return HOP_FAIL(ctx, n < 0 ? errno : EIO,
					"path: %s: wanted %llu bytes, the file ended or failed at "
					"%llu",
					p->path, (unsigned long long)length,
					(unsigned long long)at);
		at += (uint64_t)n;
	}
	return 0;
}

static int
file_source_open(void *state, const struct hop_ctx *ctx)
{
	const struct file_source_params *p = ctx->params;
	struct file_source *s = state;
	int fd = open_file(ctx, &s->head, &s->length);
	int rc;

	if (fd < 0)
		return fd;
	rc = check_format(ctx, &s->head);
	if (!rc && s->head.state != RECORD_WHOLE && !p->incomplete)
		rc = HOP_FAIL(ctx, EINVAL,
			      "path: %s: the recording is INCOMPLETE; `incomplete: true` plays it "
			      "as far as it goes",
			      p->path);
	if (!rc) {
		s->file = ctx->host->alloc(ctx, s->length, RECORD_ALIGN, HOP_MEM_HOST);
		rc = s->file ? read_all(ctx, fd, s->file, s->length)
			     : HOP_FAIL(ctx, ENOMEM, "path: no memory for the %llu bytes of %s",
					(unsigned long long)s->length, p->path);
	}
	close(fd);
	if (!rc)
		rc = check_records(s, ctx);
	if (rc && s->file)
		ctx->host->free(ctx, s->file);
	return rc;
}

static int
file_source_start(void *state, const struct hop_ctx *ctx)
{
	struct file_source *s = state;

	(void)ctx;
	s->at = sizeof s->head;
	s->played = 0;
	s->round = 0;
	return 0;
}

/* When the record is due; `now` without a pace. */
static int64_t
due_ns(const struct file_source *s, const struct file_source_params *p, const struct record *r,
       int64_t now_ns)
{
	int64_t due;

	if (p->rate > 0)
		return std_due(s->t0_ns, (double)s->played * (1e9 / p->rate));
	if (p->recorded && !__builtin_mul_overflow((int64_t)s->round, s->period_ns, &due) &&
	    !__builtin_add_overflow(due, s->t0_ns + r->born_ns, &due))
		return due;
	if (p->recorded)
		return INT64_MAX;
	return now_ns;
}

static void
play(struct file_source *s, const struct record *r, const struct hop_tx *tx, int64_t born_ns)
{
	struct hop_head *h = tx->head;

	h->frame = r->frame + s->round * s->frames;
	h->index = r->index;
	h->stream = r->stream;
	h->flags = r->flags;
	h->born_ns = born_ns;
	h->last_ns = born_ns + (r->last_ns - r->born_ns);
	h->stamp_ns = r->stamp_ns;
	h->dtype = r->dtype;
	h->rank = (uint16_t)r->rank;
	memcpy(h->dim, r->dim, sizeof h->dim);
	memcpy(h->user, r->user, sizeof h->user);
	h->bytes = r->bytes;
	memcpy(tx->data, s->file + s->at + sizeof *r, r->bytes);
	s->played++;
	s->at += record_stride(r->bytes);
	if (s->at == s->length) {
		s->at = sizeof s->head;
		s->round++;
	}
}

static bool
is_over(const struct file_source *s, const struct file_source_params *p)
{
	return s->records == 0 || (p->loop > 0 && s->round == (uint64_t)p->loop);
}

static hop_status
file_source_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct file_source_params *p = ctx->params;
	struct file_source *s = state;
	struct hop_out *out = &io->out[0];
	uint32_t n = 0;

	if (io->stopping || out->ended)
		return HOP_DONE;
	if (s->played == 0)
		s->t0_ns = io->now_ns;
	while (n < out->count && !is_over(s, p)) {
		struct record r;
		int64_t born_ns;

		memcpy(&r, s->file + s->at, sizeof r);
		born_ns = due_ns(s, p, &r, io->now_ns);
		if (born_ns > io->now_ns) {
			ctx->host->wake_at(ctx, born_ns);
			break;
		}
		if (r.bytes > out->msg[n].capacity)
			return HOP_FAIL(ctx, EMSGSIZE, "out: %llu bytes do not fit a slot of %llu",
					(unsigned long long)r.bytes,
					(unsigned long long)out->msg[n].capacity);
		play(s, &r, &out->msg[n++], born_ns);
	}
	out->filled = n;
	if (is_over(s, p))
		return HOP_DONE;
	return n ? HOP_OK : HOP_IDLE;
}

static void
file_source_close(void *state, const struct hop_ctx *ctx)
{
	struct file_source *s = state;

	ctx->host->free(ctx, s->file);
}

const struct hop_op std_file_source = {
	.size = sizeof std_file_source,
	.name = "std/file_source",
	.doc = "Play a recording of std/file_sink.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct file_source_params),
	.state_size = sizeof(struct file_source),
	.shape = file_source_shape,
	.open = file_source_open,
	.start = file_source_start,
	.process = file_source_process,
	.close = file_source_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sinks.c - the sinks of libtestops.so.  Those that write a file do it in
 * close(), from memory they got in open(), so that process() stays off the
 * kernel; beyond that room they go on counting.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "testops.h"

static const struct hop_port in_port[] = { TO_PORT(HOP_IN, "in", 0) };

static const struct hop_counter received_counter[] = {
	{ "received", "messages taken", HOP_LOG_INFO, 0 },
};

enum { SEQ_ROOM = 128 * 1024, LINE_ROOM = 16 * 1024 };

struct seq_sink_params {
	const char *file;
	uint8_t lossy;
};

struct seq_sink {
	uint64_t *number;
	uint64_t n;
	uint64_t next;
};

static const struct hop_param seq_sink_table[] = {
	TO_PARAM(PATH, struct seq_sink_params, file, NULL, NULL, NULL,
		 "gets the numbers received, one a line"),
	TO_PARAM(BOOL, struct seq_sink_params, lossy, "false", NULL, NULL, "gaps are no error"),
};

static int
seq_sink_open(void *state, const struct hop_ctx *ctx)
{
	struct seq_sink *s = state;

	s->number = ctx->host->alloc(ctx, SEQ_ROOM * sizeof *s->number, 0, HOP_MEM_HOST);
	return s->number ? 0 : HOP_FAIL(ctx, ENOMEM, "no memory for the numbers");
}

static hop_status
seq_sink_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct seq_sink_params *p = ctx->params;
	struct seq_sink *s = state;
	struct hop_in *in = &io->in[0];

	for (; in->taken < in->count; in->taken++) {
		uint64_t number = to_number(&in->msg[in->taken]);

		if (number != s->next && !(p->lossy && number > s->next))
			return HOP_FAIL(ctx, EPROTO, "wanted number %" PRIu64 ", found %" PRIu64,
					s->next, number);
		if (s->n < SEQ_ROOM)
			s->number[s->n] = number;
		s->n++;
		s->next = number + 1;
		hop_count(ctx, 0, 1);
	}
	return in->taken ? HOP_OK : HOP_IDLE;
}

static void
seq_sink_close(void *state, const struct hop_ctx *ctx)
{
	const struct seq_sink_params *p = ctx->params;
	struct seq_sink *s = state;
	FILE *f = fopen(p->file, "we");

	if (!f) {
		HOP_LOG(ctx, HOP_LOG_ERROR, "cannot write %s", p->file);
	} else {
		for (uint64_t i = 0; i < s->n && i < SEQ_ROOM; i++)
			fprintf(f, "%" PRIu64 "\n", s->number[i]);
		if (s->n > SEQ_ROOM)
			fprintf(f, "and %" PRIu64 " more\n", s->n - SEQ_ROOM);
		fclose(f);
	}
	ctx->host->free(ctx, s->number);
}

const struct hop_op test_seq_sink = {
	.size = sizeof test_seq_sink,
	.name = "test/seq_sink",
	.doc = "Check the order of numbered messages and write the numbers to a file.",
	.ports = HOP_TABLE(in_port),
	.params = HOP_TABLE(seq_sink_table),
	.counters = HOP_TABLE(received_counter),
	.params_size = sizeof(struct seq_sink_params),
	.state_size = sizeof(struct seq_sink),
	.open = seq_sink_open,
	.process = seq_sink_process,
	.close = seq_sink_close,
};

struct line {
	uint64_t frame, bytes, number;
	uint32_t index, stream, flags, reserved;
};

struct head_sink_params {
	const char *file;
};

struct head_sink {
	struct line *line;
	uint64_t n;
};

static const struct hop_param head_sink_table[] = {
	TO_PARAM(PATH, struct head_sink_params, file, NULL, NULL, NULL,
		 "gets one line a message: frame index stream flags bytes number"),
};

static int
head_sink_open(void *state, const struct hop_ctx *ctx)
{
	struct head_sink *s = state;

	s->line = ctx->host->alloc(ctx, LINE_ROOM * sizeof *s->line, 0, HOP_MEM_HOST);
	return s->line ? 0 : HOP_FAIL(ctx, ENOMEM, "no memory for the lines");
}

static hop_status
head_sink_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct head_sink *s = state;
	struct hop_in *in = &io->in[0];

	for (; in->taken < in->count; in->taken++) {
		const struct hop_rx *rx = &in->msg[in->taken];

		if (s->n < LINE_ROOM)
			s->line[s->n] = (struct line){
				.frame = rx->head->frame,
				.bytes = rx->bytes,
				.number = to_number(rx),
				.index = rx->head->index,
				.stream = rx->head->stream,
				.flags = rx->head->flags,
			};
		s->n++;
	}
	hop_count(ctx, 0, in->taken);
	return in->taken ? HOP_OK : HOP_IDLE;
}

static void
head_sink_close(void *state, const struct hop_ctx *ctx)
{
	const struct head_sink_params *p = ctx->params;
	struct head_sink *s = state;
	FILE *f = fopen(p->file, "we");

	if (!f) {
		HOP_LOG(ctx, HOP_LOG_ERROR, "cannot write %s", p->file);
	} else {
		for (uint64_t i = 0; i < s->n && i < LINE_ROOM; i++)
			fprintf(f, "%" PRIu64 " %u %u %u %" PRIu64 " %" PRIu64 "\n",
				s->line[i].frame, s->line[i].index, s->line[i].stream,
				s->line[i].flags, s->line[i].bytes, s->line[i].number);
		if (s->n > LINE_ROOM)
			fprintf(f, "and %" PRIu64 " more\n", s->n - LINE_ROOM);
		fclose(f);
	}
	ctx->host->free(ctx, s->line);
}

const struct hop_op test_head_sink = {
	.size = sizeof test_head_sink,
	.name = "test/head_sink",
	.doc = "Write what each message's head says to a file.",
	.ports = HOP_TABLE(in_port),
	.params = HOP_TABLE(head_sink_table),
	.counters = HOP_TABLE(received_counter),
	.params_size = sizeof(struct head_sink_params),
	.state_size = sizeof(struct head_sink),
	.open = head_sink_open,
	.process = head_sink_process,
	.close = head_sink_close,
};

static hop_status
take_all(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	uint64_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < io->n_in; i++) {
		io->in[i].taken = io->in[i].count;
		n += io->in[i].count;
	}
	hop_count(ctx, 0, n);
	return n ? HOP_OK : HOP_IDLE;
}

static int
f64_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	struct hop_dtype type = shape->in[0]->dtype;

	if (type.code == 2 && type.bits == 64 && type.lanes == 1)
		return 0;
	return HOP_FAIL(ctx, EINVAL, "in: want float64, got code %u, %u bits, %u lanes", type.code,
			type.bits, type.lanes);
}

const struct hop_op test_f64_sink = {
	.size = sizeof test_f64_sink,
	.name = "test/f64_sink",
	.doc = "Accept float64 only.",
	.ports = HOP_TABLE(in_port),
	.counters = HOP_TABLE(received_counter),
	.shape = f64_shape,
	.process = take_all,
};

static const struct hop_port many_port[] = { TO_PORT(HOP_IN, "in", HOP_PORT_MANY | HOP_PORT_ANY) };

const struct hop_op test_many_in = {
	.size = sizeof test_many_in,
	.name = "test/many_in",
	.doc = "Take everything from any number of inputs.",
	.ports = HOP_TABLE(many_port),
	.counters = HOP_TABLE(received_counter),
	.process = take_all,
};

struct done_after_params {
	int64_t n;
};

static const struct hop_param done_after_table[] = {
	TO_PARAM(INT, struct done_after_params, n, "10", "1", NULL, "messages to take"),
};

static hop_status
done_after_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct done_after_params *p = ctx->params;
	uint64_t *seen = state;
	uint64_t left = (uint64_t)p->n - *seen;
	uint32_t n = io->in[0].count < left ? io->in[0].count : (uint32_t)left;

	io->in[0].taken = n;
	*seen += n;
	hop_count(ctx, 0, n);
	if (n == left)
		return HOP_DONE;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op test_done_after = {
	.size = sizeof test_done_after,
	.name = "test/done_after",
	.doc = "Take n messages, then be done.",
	.ports = HOP_TABLE(in_port),
	.params = HOP_TABLE(done_after_table),
	.counters = HOP_TABLE(received_counter),
	.params_size = sizeof(struct done_after_params),
	.state_size = sizeof(uint64_t),
	.process = done_after_process,
};

struct slow_params {
	int64_t work;
};

static const struct hop_param slow_table[] = {
	TO_PARAM(TIME, struct slow_params, work, "1ms", "0", "60s", "busy time per message"),
};

static hop_status
slow_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct slow_params *p = ctx->params;

	io->in[0].count = to_min(io->in[0].count, 1);
	if (io->in[0].count)
		to_busy(p->work);
	return take_all(state, ctx, io);
}

const struct hop_op test_slow = {
	.size = sizeof test_slow,
	.name = "test/slow",
	.doc = "Take one message a call and be busy with it.",
	.ports = HOP_TABLE(in_port),
	.params = HOP_TABLE(slow_table),
	.counters = HOP_TABLE(received_counter),
	.params_size = sizeof(struct slow_params),
	.process = slow_process,
};

enum { HOG_KEEPS = 8 };

struct hog {
	struct hop_rx kept[HOG_KEEPS];
	uint32_t n;
};

static const struct hop_port hog_port[] = {
	{ "in", "test messages", HOP_IN, 0, HOP_MEM_HOST, 1, 0, HOG_KEEPS, 0, 0 },
};

static hop_status
hog_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct hog *s = state;
	struct hop_in *in = &io->in[0];

	for (; in->taken < in->count && s->n < HOG_KEEPS; in->taken++) {
		int rc = ctx->host->keep(ctx, &in->msg[in->taken]);

		if (rc)
			return HOP_FAIL(ctx, -rc, "cannot keep message %u of %d", s->n, HOG_KEEPS);
		s->kept[s->n++] = in->msg[in->taken];
	}
	hop_count(ctx, 0, in->taken);
	return in->taken ? HOP_OK : HOP_IDLE;
}

static void
hog_stop(void *state, const struct hop_ctx *ctx)
{
	struct hog *s = state;

	for (uint32_t i = 0; i < s->n; i++)
		ctx->host->drop(ctx, &s->kept[i]);
	s->n = 0;
}

const struct hop_op test_hog = {
	.size = sizeof test_hog,
	.name = "test/hog",
	.doc = "Keep eight messages until the stop and take no more.",
	.ports = HOP_TABLE(hog_port),
	.counters = HOP_TABLE(received_counter),
	.state_size = sizeof(struct hog),
	.process = hog_process,
	.stop = hog_stop,
};

static hop_status
stall_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	return HOP_IDLE;
}

const struct hop_op test_stall = {
	.size = sizeof test_stall,
	.name = "test/stall",
	.doc = "Never take a message.",
	.ports = HOP_TABLE(in_port),
	.process = stall_process,
};

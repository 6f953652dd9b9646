/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_plugin.c - a plugin's tables with any content.
 *
 * Pointers are valid or NULL, for a wild pointer cannot be checked by anybody; what
 * they point to, the counts, strides and sizes are the input's.  Rows lie in memory of
 * their claimed size where that is believable: reading past it is seen.
 */
#include <stdlib.h>
#include <holorun/op.h>

#include "fuzz.h"
#include "plugin/plugin.h"

enum { MAX_ROWS = 6, MAX_TEXT = 24, MAX_OPS = 3, MAX_BLOCKS = 400 };

static void *block[MAX_BLOCKS];
static int n_blocks;

static void *
get(size_t bytes)
{
	void *p = n_blocks < MAX_BLOCKS ? calloc(1, bytes ? bytes : 1) : NULL;

	if (!p)
		abort();
	block[n_blocks++] = p;
	return p;
}

static const char *
any_text(struct fuzz_input *in)
{
	static const char *const known[] = { "a",     "b-2", "std/copy", "f/x",    "0",
					     "1",     "1.5", "true",     "16 KiB", "2 MHz",
					     "10 ms", "",    "MIT",      "in" };
	uint32_t pick = fuzz_below(in, 20);
	uint32_t n;
	char *text;

	if (pick < sizeof(known) / sizeof(known[0]))
		return known[pick];
	if (pick == 19)
		return NULL;
	n = fuzz_below(in, MAX_TEXT);
	text = get(n + 1);
	for (uint32_t i = 0; i < n; i++)
		text[i] = (char)fuzz_u8(in);
	return text;
}

static uint32_t
any_u32(struct fuzz_input *in)
{
	return fuzz_below(in, 3) ? fuzz_below(in, 6) : (uint32_t)fuzz_number(in, 64);
}

/* Memory for rows whose count and stride may be lies; a larger stride is honest. */
static void *
rows(struct fuzz_input *in, size_t known, uint32_t *n, uint32_t *count, uint32_t *stride)
{
	*n = fuzz_below(in, MAX_ROWS);
	*stride = (uint32_t)known + 4 * (fuzz_below(in, 4) ? 0 : fuzz_below(in, 4));
	*count = *n;
	if (fuzz_below(in, 12) == 0)
		*stride = fuzz_below(in, (uint32_t)known);
	if (fuzz_below(in, 12) == 0)
		*count = 2000 + fuzz_u32(in) % 1000000;
	if (fuzz_below(in, 12) == 0)
		return NULL;
	return get((size_t)*n * (*stride > known ? *stride : known));
}

static void
fill_ports(struct hop_op *op, struct fuzz_input *in)
{
	uint32_t n, count, stride;
	char *at = rows(in, sizeof(struct hop_port), &n, &count, &stride);

	op->ports = (struct hop_ports){ (void *)at, count, stride };
	for (uint32_t i = 0; at && i < n; i++) {
		struct hop_port p = { .name = any_text(in), .doc = any_text(in) };

		p.dir = any_u32(in);
		p.flags = any_u32(in);
		p.mem = any_u32(in);
		p.min_batch = any_u32(in);
		p.max_batch = any_u32(in);
		p.keeps = any_u32(in);
		p.align = any_u32(in);
		p.reserved = fuzz_below(in, 8) == 0;
		memcpy(at + (size_t)i * stride, &p, stride < sizeof(p) ? stride : sizeof(p));
	}
}

static const char *const *
any_choices(struct fuzz_input *in)
{
	uint32_t n = fuzz_below(in, 4);
	const char **list;

	if (n == 3)
		return NULL;
	list = get((n + 1) * sizeof(*list));
	for (uint32_t i = 0; i < n; i++)
		list[i] = any_text(in);
	return list;
}

static void
fill_params(struct hop_op *op, struct fuzz_input *in)
{
	uint32_t n, count, stride;
	char *at = rows(in, sizeof(struct hop_param), &n, &count, &stride);

	op->params = (struct hop_params){ (void *)at, count, stride };
	for (uint32_t i = 0; at && i < n; i++) {
		struct hop_param p = { .name = any_text(in), .doc = any_text(in) };

		p.type = fuzz_below(in, 16);
		p.flags = any_u32(in);
		p.offset = fuzz_below(in, 4) ? 8 * i : any_u32(in);
		p.width = fuzz_below(in, 4) ? 8u >> fuzz_below(in, 4) : any_u32(in);
		p.unit = any_text(in);
		p.def = any_text(in);
		p.min = any_text(in);
		p.max = any_text(in);
		p.choices = fuzz_below(in, 3) ? NULL : any_choices(in);
		memcpy(at + (size_t)i * stride, &p, stride < sizeof(p) ? stride : sizeof(p));
	}
}

static void
fill_others(struct hop_op *op, struct fuzz_input *in)
{
	uint32_t n, count, stride;
	char *at = rows(in, sizeof(struct hop_axis), &n, &count, &stride);

	op->axes = (struct hop_axes){ (void *)at, count, stride };
	for (uint32_t i = 0; at && i < n; i++) {
		struct hop_axis x = { .name = any_text(in), .doc = any_text(in) };

		x.in_port = any_u32(in);
		x.out_port = any_u32(in);
		x.in_dim = any_u32(in);
		x.out_dim = any_u32(in);
		memcpy(at + (size_t)i * stride, &x, stride < sizeof(x) ? stride : sizeof(x));
	}
	at = rows(in, sizeof(struct hop_after), &n, &count, &stride);
	op->afters = (struct hop_afters){ (void *)at, count, stride };
	for (uint32_t i = 0; at && i < n; i++)
		for (uint32_t k = 0; k < stride; k++)
			at[i * stride + k] = (char)fuzz_below(in, 3);
	at = rows(in, sizeof(struct hop_counter), &n, &count, &stride);
	op->counters = (struct hop_counters){ (void *)at, count, stride };
	for (uint32_t i = 0; at && i < n; i++) {
		struct hop_counter c = { .name = any_text(in), .doc = any_text(in) };

		c.level = any_u32(in);
		c.flags = any_u32(in);
		memcpy(at + (size_t)i * stride, &c, stride < sizeof(c) ? stride : sizeof(c));
	}
}

static hop_status
process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	(void)io;
	return HOP_OK;
}

static const struct hop_op *
any_op(struct fuzz_input *in)
{
	struct hop_op *op = get(sizeof(*op));

	op->size = fuzz_below(in, 8) ? sizeof(*op) : any_u32(in);
	if (op->size > sizeof(*op)) /* what lies behind is not ours to invent */
		op->size = sizeof(*op);
	op->flags = fuzz_below(in, 2) ? 0 : any_u32(in);
	op->name = fuzz_below(in, 4) ? "f/x" : any_text(in);
	op->doc = fuzz_below(in, 4) ? "d" : any_text(in);
	op->device = fuzz_below(in, 3);
	op->params_size = fuzz_below(in, 4) ? 64 : any_u32(in);
	op->state_size = any_u32(in);
	op->state_align = any_u32(in);
	op->process = fuzz_below(in, 8) ? process : NULL;
	fill_ports(op, in);
	fill_params(op, in);
	fill_others(op, in);
	return op;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	const struct hop_op *list[MAX_OPS] = { NULL };
	struct hop_plugin p = { .size = sizeof(p), .ops = list };
	struct hr_arena *a = hr_arena_new();

	p.abi_major = fuzz_below(&in, 16) ? HOP_ABI_MAJOR : fuzz_u8(&in);
	p.abi_draft = fuzz_below(&in, 16) ? HOP_ABI_DRAFT : fuzz_u8(&in);
	p.name = any_text(&in);
	p.version = fuzz_below(&in, 8) ? "1" : any_text(&in);
	p.license = fuzz_below(&in, 8) ? "MIT" : any_text(&in);
	p.n_ops = fuzz_below(&in, MAX_OPS + 1);
	for (uint32_t i = 0; i < p.n_ops; i++)
		list[i] = fuzz_below(&in, 16) ? any_op(&in) : NULL;
	if (fuzz_below(&in, 16) == 0)
		p.n_ops = 5000 + fuzz_u32(&in) % 1000000;
	hr_plugin_verify(a, &p);
	hr_arena_free(a);
	while (n_blocks > 0)
		free(block[--n_blocks]);
	return 0;
}

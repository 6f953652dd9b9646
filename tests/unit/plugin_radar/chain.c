/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - see chain.h.  The gather between chirps and frames is a memcpy here. */
#include "chain.h"

struct hop_format
chain_format_chirp(void)
{
	return fh_format(0, 16, 2, 1, (const uint32_t[]){ SAMPLES });
}

struct hop_format
chain_format_frame(void)
{
	return fh_format(5, 64, 1, 2, (const uint32_t[]){ CHIRPS, SAMPLES });
}

struct hop_format
chain_format_power(void)
{
	return fh_format(2, 32, 1, 2, (const uint32_t[]){ SAMPLES, CHIRPS });
}

struct hop_format
chain_format_targets(void)
{
	return fh_format(1, 32, 1, 2, (const uint32_t[]){ 1 + CAPACITY, 3 });
}

char *
chain_scene(const struct fh_plugin *plugin, uint32_t frames)
{
	const struct hop_op *op = fh_op(plugin, "radar/scene");
	char *all = malloc((size_t)frames * CHIRPS * CHIRP_BYTES);
	void *params = fh_params(op);
	struct fh *h;

	assert_non_null(all);
	fh_set_int(op, params, "samples", SAMPLES);
	fh_set_int(op, params, "chirps", CHIRPS);
	fh_set_int(op, params, "frames", frames);
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(h), 0);
	assert_int_equal(fh_run(h, frames * CHIRPS), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), frames * CHIRPS);
	for (uint32_t i = 0; i < frames * CHIRPS; i++)
		memcpy(all + (size_t)i * CHIRP_BYTES, fh_out(h, 0, i)->data, CHIRP_BYTES);
	fh_close(h);
	free(params);
	return all;
}

static struct fh *
open_op(const struct chain *c, const char *name, const struct hop_format *in)
{
	const struct hop_op *op = fh_op(&c->plugin, name);
	void *params = fh_params(op);
	struct fh *h = fh_open(op, params, in, 1);

	assert_string_equal(fh_error_text(h), "");
	assert_int_equal(fh_rc(h), 0);
	free(params);
	return h;
}

void
chain_open(struct chain *c, uint32_t frames, void (*tune)(const struct hop_op *, void *))
{
	struct hop_format chirp = chain_format_chirp(), frame = chain_format_frame();
	const struct hop_op *verify;
	void *params;

	c->plugin = fh_load(PLUGIN_PATH);
	verify = fh_op(&c->plugin, "radar/verify");
	params = fh_params(verify);
	c->range = open_op(c, "radar/range_fft", &chirp);
	fh_window(c->range, HOP_OUT, 0, CHIRPS);
	fh_window(c->range, HOP_IN, 0, CHIRPS);
	c->doppler = open_op(c, "radar/doppler_fft", &frame);
	fh_window(c->doppler, HOP_OUT, 0, 1);
	c->cfar = open_op(c, "radar/cfar", fh_out_format(c->doppler, 0));
	c->cluster = open_op(c, "radar/cluster", fh_out_format(c->cfar, 0));
	fh_set_int(verify, params, "samples", SAMPLES);
	fh_set_int(verify, params, "chirps", CHIRPS);
	fh_set_int(verify, params, "frames", frames);
	if (tune)
		tune(verify, params);
	c->verify = fh_open(verify, params, fh_out_format(c->cluster, 0), 1);
	assert_int_equal(fh_rc(c->verify), 0);
	free(params);
}

void
chain_close(struct chain *c)
{
	fh_close(c->range);
	fh_close(c->doppler);
	fh_close(c->cfar);
	fh_close(c->cluster);
	fh_close(c->verify);
	fh_unload(&c->plugin);
}

/* One message through an op. */
static void
pass(struct fh *from, struct fh *to)
{
	const struct fh_msg *m = fh_out(from, 0, 0);

	fh_in(to, 0, m->head, m->data, m->head->bytes);
	fh_out_clear(from, 0);
	assert_int_equal(fh_step(to), HOP_OK);
}

void
chain_frame(struct chain *c, const struct hop_head *head, const char *chirps)
{
	static char frame[CHIRPS * SAMPLES * 8];
	struct hop_head h = *head;

	for (uint32_t m = 0; m < CHIRPS; m++) {
		h.index = m;
		fh_in(c->range, 0, &h, chirps + (size_t)m * CHIRP_BYTES, CHIRP_BYTES);
	}
	assert_true(fh_run(c->range, CHIRPS) >= 0);
	assert_int_equal(fh_out_count(c->range, 0), CHIRPS);
	for (uint32_t m = 0; m < CHIRPS; m++) {
		const struct fh_msg *x = fh_out(c->range, 0, m);

		assert_int_equal(x->head->frame, head->frame);
		assert_int_equal(x->head->bytes, SAMPLES * 8);
		memcpy(frame + (size_t)x->head->index * SAMPLES * 8, x->data, SAMPLES * 8);
	}
	fh_out_clear(c->range, 0);
	h.index = 0;
	fh_in(c->doppler, 0, &h, frame, sizeof frame);
	assert_int_equal(fh_step(c->doppler), HOP_OK);
	pass(c->doppler, c->cfar);
	pass(c->cfar, c->cluster);
	pass(c->cluster, c->verify);
}

hop_status
chain_end(struct chain *c)
{
	fh_end(c->verify, 0);
	return fh_step(c->verify);
}

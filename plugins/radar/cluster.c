/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - radar/cluster: one detection per target, the strongest of those
 * that touch.  What comes in is checked, since it may come from anywhere.
 */
#include <errno.h>

#include "radar.h"

enum { C_CLUSTERS };

struct cluster {
	struct hk_cluster *cluster;
};

static const struct hop_port ports[] = {
	{ "in", "detections, u32[1 + capacity][3], in row-major order", HOP_IN, 0, HOP_MEM_HOST, 1,
	  0, 0, 0, 0 },
	{ "out", "the strongest of each cluster, in the same form and order", HOP_OUT, 0,
	  HOP_MEM_HOST, 1, 0, 0, 0, 0 },
};

static const struct hop_counter counters[] = {
	[C_CLUSTERS] = { "clusters", "clusters found", HOP_LOG_INFO, 0 },
};

static int
cluster_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct hop_format *in = shape->in[0];
	char found[RADAR_FORMAT_TEXT];

	if (!radar_capacity(in))
		return HOP_FAIL(ctx, EINVAL,
				"in: wanted detections, u32[1 + capacity][3]; found %s",
				radar_text(in, found));
	*shape->out[0] = *in;
	shape->gives[0] = 1;
	return 0;
}

static int
cluster_open(void *state, const struct hop_ctx *ctx)
{
	const struct hop_shape *shape = radar_shape(ctx);
	struct cluster *c = state;
	uint32_t capacity;

	if (!shape)
		return -ENOTSUP;
	capacity = radar_capacity(shape->in[0]);
	c->cluster = radar_alloc(ctx, hk_cluster_bytes(capacity), "the clusters");
	if (!c->cluster)
		return -ENOMEM;
	hk_cluster_init(c->cluster, capacity);
	return 0;
}

static hop_status
cluster_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct cluster *c = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	while (in->taken < in->count && out->filled < out->count) {
		const struct hop_rx *rx = &in->msg[in->taken];
		const struct hop_tx *tx = &out->msg[out->filled];
		const struct hk_detections *found = radar_detections(rx);
		struct hk_detections *kept = tx->data;

		if (!found || hk_cluster_check(c->cluster, found))
			return HOP_FAIL(ctx, EBADMSG,
					"frame %llu: wanted detections in row-major order; found "
					"%llu bytes that are something else",
					(unsigned long long)rx->head->frame,
					(unsigned long long)rx->bytes);
		hk_cluster_keep(c->cluster, found, kept);
		hop_count(ctx, C_CLUSTERS, kept->count);
		hop_derive(tx, rx);
		radar_fill_detections(tx, kept->count);
		in->taken++;
		out->filled++;
	}
	return HOP_OK;
}

static void
cluster_close(void *state, const struct hop_ctx *ctx)
{
	struct cluster *c = state;

	ctx->host->free(ctx, c->cluster);
}

const struct hop_op radar_cluster = {
	.size = sizeof radar_cluster,
	.flags = HOP_F_STATELESS,
	.name = "radar/cluster",
	.doc = "Join detections that touch, over corners and wraps, and keep each one's strongest.",
	.ports = HOP_TABLE(ports),
	.params = HOP_NONE,
	.counters = HOP_TABLE(counters),
	.params_size = 0,
	.state_size = sizeof(struct cluster),
	.shape = cluster_shape,
	.open = cluster_open,
	.process = cluster_process,
	.close = cluster_close,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clustering: union-find over the detections, each joined with its neighbours
 * in its own row and in the next, which are found by bisection.  The work is
 * n log n in detections and does not touch the map.
 */
#include <hk/radar.h>

struct hk_cluster {
	uint32_t capacity;
	uint32_t parent[]; /* capacity; the root of a cluster is its strongest */
};

static uint64_t
place(const struct hk_detections *in, uint32_t row, uint32_t col)
{
	return (uint64_t)row * in->cols + col;
}

size_t
hk_cluster_bytes(uint32_t capacity)
{
	return sizeof(struct hk_cluster) + capacity * sizeof(uint32_t);
}

void
hk_cluster_init(struct hk_cluster *cluster, uint32_t capacity)
{
	cluster->capacity = capacity;
}

int
hk_cluster_check(const struct hk_cluster *cluster, const struct hk_detections *in)
{
	uint64_t last = 0;

	if (in->count > cluster->capacity)
		return -1;
	for (uint32_t i = 0; i < in->count; i++) {
		const struct hk_detection *d = &in->at[i];
		uint64_t here = place(in, d->range, d->doppler);

		if (d->range >= in->rows || d->doppler >= in->cols || (i && here <= last))
			return -1;
		last = here;
	}
	return 0;
}

static uint32_t
root(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The stronger root stays; of equals the earlier. */
static void
join(uint32_t *parent, const struct hk_detections *in, uint32_t a, uint32_t b)
{
	float power_a, power_b;

	a = root(parent, a);
	b = root(parent, b);
	power_a = in->at[a].power;
	power_b = in->at[b].power;
	if (power_a > power_b || (!(power_b > power_a) && a < b))
		parent[b] = a;
	else
		parent[a] = b;
}

/* Joins i with the detection at (row, col), if there is one. */
static void
join_at(uint32_t *parent, const struct hk_detections *in, uint32_t i, uint32_t row, uint32_t col)
{
	uint64_t wanted = place(in, row, col);
	uint32_t lo = 0, hi = in->count;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (place(in, in->at[mid].range, in->at[mid].doppler) < wanted)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < in->count && in->at[lo].range == row && in->at[lo].doppler == col)
		join(parent, in, i, lo);
}

void
hk_cluster_keep(struct hk_cluster *cluster, const struct hk_detections *in,
		struct hk_detections *out)
{
	uint32_t *parent = cluster->parent;
	uint32_t n = in->count, kept = 0;

	for (uint32_t i = 0; i < n; i++)
		parent[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = in->at[i].range, col = in->at[i].doppler;
		uint32_t down = row + 1 < in->rows ? row + 1 : 0;
		uint32_t right = col + 1 < in->cols ? col + 1 : 0;
		uint32_t left = col ? col - 1 : in->cols - 1;

		join_at(parent, in, i, row, right);
		join_at(parent, in, i, down, left);
		join_at(parent, in, i, down, col);
		join_at(parent, in, i, down, right);
	}
	out->rows = in->rows;
	out->cols = in->cols;
	for (uint32_t i = 0; i < n; i++)
		if (parent[i] == i)
			out->at[kept++] = in->at[i];
	out->count = kept;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clustering: union-find over the detections, each joined with its neighbours
 * in its own row and in the next.  Rows are found through an index of row
 * starts, columns by bisection, so the work is n log n in detections and does
 * not touch the map.
 */
#include <string.h>

#include <hk/radar.h>

struct hk_cluster {
	uint32_t rows, cols, capacity;
	uint32_t *row_at; /* rows + 1: first detection of each row */
	uint32_t *parent; /* capacity; the root of a cluster is its strongest */
};

static size_t
padded(size_t bytes)
{
	return (bytes + HK_ALIGN - 1) / HK_ALIGN * HK_ALIGN;
}

size_t
hk_cluster_bytes(size_t rows, uint32_t capacity)
{
	return padded(sizeof(struct hk_cluster)) + padded((rows + 1) * sizeof(uint32_t)) +
	       padded(capacity * sizeof(uint32_t));
}

void
hk_cluster_init(struct hk_cluster *cluster, uint32_t rows, uint32_t cols, uint32_t capacity)
{
	char *at = (char *)cluster + padded(sizeof *cluster);

	*cluster = (struct hk_cluster){ .rows = rows, .cols = cols, .capacity = capacity };
	cluster->row_at = (void *)at;
	cluster->parent = (void *)(at + padded(((size_t)rows + 1) * sizeof(uint32_t)));
}

int
hk_cluster_check(const struct hk_cluster *cluster, const struct hk_detections *in)
{
	uint64_t last = 0;

	if (in->count > cluster->capacity)
		return -1;
	for (uint32_t i = 0; i < in->count; i++) {
		const struct hk_detection *d = &in->at[i];
		uint64_t place = (uint64_t)d->range * cluster->cols + d->doppler;

		if (d->range >= cluster->rows || d->doppler >= cluster->cols ||
		    (i && place <= last))
			return -1;
		last = place;
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
join(struct hk_cluster *c, const struct hk_detections *in, uint32_t a, uint32_t b)
{
	a = root(c->parent, a);
	b = root(c->parent, b);
	if (in->at[b].power > in->at[a].power || (!(in->at[a].power > in->at[b].power) && b < a)) {
		uint32_t swap = a;

		a = b;
		b = swap;
	}
	c->parent[b] = a;
}

/* Joins i with the detection at (row, col), if there is one. */
static void
join_at(struct hk_cluster *c, const struct hk_detections *in, uint32_t i, uint32_t row,
	uint32_t col)
{
	uint32_t lo = c->row_at[row], hi = c->row_at[row + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (in->at[mid].doppler < col)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < c->row_at[row + 1] && in->at[lo].doppler == col)
		join(c, in, i, lo);
}

static void
index_rows(struct hk_cluster *c, const struct hk_detections *in)
{
	uint32_t i = 0;

	for (uint32_t row = 0; row < c->rows; row++) {
		c->row_at[row] = i;
		while (i < in->count && in->at[i].range == row)
			i++;
	}
	c->row_at[c->rows] = in->count;
	for (i = 0; i < in->count; i++)
		c->parent[i] = i;
}

void
hk_cluster_keep(struct hk_cluster *cluster, const struct hk_detections *in,
		struct hk_detections *out)
{
	uint32_t n = in->count, kept = 0;

	index_rows(cluster, in);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = in->at[i].range, col = in->at[i].doppler;
		uint32_t down = row + 1 < cluster->rows ? row + 1 : 0;
		uint32_t right = col + 1 < cluster->cols ? col + 1 : 0;
		uint32_t left = col ? col - 1 : cluster->cols - 1;

		join_at(cluster, in, i, row, right);
		join_at(cluster, in, i, down, left);
		join_at(cluster, in, i, down, col);
		join_at(cluster, in, i, down, right);
	}
	for (uint32_t i = 0; i < n; i++)
		if (cluster->parent[i] == i)
			out->at[kept++] = in->at[i];
	out->count = kept;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * size.c - how long every queue, how large every window, how many slots.
 *
 * Slots of a channel = loans + the largest depth over block and fail readers
 * (they hold the same newest messages) + the sum of the dropping readers'
 * depths + what readers may keep.  A gather is a reader of the pieces' channel
 * and the writer of one more, whose loans are its open frames.
 */
#include "plan/stages.h"

enum {
	DEFAULT_DEPTH = 4,
	DEFAULT_BATCH = 32,
	ONE_AT_A_TIME_BYTES = 64 << 10, /* outputs from this size on loan one slot */
	PIECES_MIN = 32,         /* a gather's piece queue: a frame, at least this many ... */
	PIECES_BYTES = 16 << 20, /* ... but no more than this, */
	PIECES_FLOOR = 4,        /* down to this many */
	GATHER_COUNT_MAX = 1 << 20,
	LEAST_ALIGN = 64,
};

static uint32_t
max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t
min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static const struct hr_port_out *
output_of(const struct hr_planner *p, uint32_t edge)
{
	const struct hr_bound_edge *e = &p->bound->edge[edge];

	return &p->bound->node[e->from].out[e->out];
}

/* ---- readers ------------------------------------------------------------- */

static void
refuse_depth(struct hr_planner *p, uint32_t edge, uint32_t wanted, const char *because)
{
	const struct hr_edge *e = &p->graph->edge[edge];
	const char *origin = "";
	struct hr_span at = e->has_depth ? e->depth_at : e->input.at;

	if (!e->has_depth && e->depth)
		origin = hr_printf(p->arena, " (from defaults.channel at %u:%u)", e->depth_at.line,
				   e->depth_at.col);
	struct hr_diag *d = hr_error(p->diags, at, 262, "%s needs depth >= %u, has %u%s%s",
				     hr_input_name(p->arena, p->bound, edge), wanted, e->depth,
				     origin, because);

	hr_help(d, "write `depth: %u` on this input", wanted);
}

/* The depth of the queue that the node itself sees. */
static uint32_t
choose_depth(struct hr_planner *p, uint32_t edge, uint32_t want)
{
	const struct hr_edge *e = &p->graph->edge[edge];

	if (e->depth == 0)
		return max_u32(max_u32(DEFAULT_DEPTH, want < UINT32_MAX / 2 ? 2 * want : want),
			       e->initial);
	if (e->depth < want)
		refuse_depth(p, edge, want, "");
	else if (e->initial > e->depth)
		refuse_depth(p, edge, e->initial,
			     hr_printf(p->arena, ": `initial` puts %u messages there", e->initial));
	return max_u32(e->depth, max_u32(want, e->initial));
}

static void
check_batch(struct hr_planner *p, uint32_t edge, uint32_t want)
{
	const struct hop_port *port = hr_input_of(p, edge)->port;
	const struct hr_bound_node *n = hr_node_of(p, p->bound->edge[edge].to);

	if (port->max_batch == 0 || port->max_batch >= want)
		return;
	hr_error(p->diags, p->graph->edge[edge].input.at, 263,
		 "%s needs %u messages at once, but op %s takes at most %u (max_batch)",
		 hr_input_name(p->arena, p->bound, edge), want, n->op->name, port->max_batch);
}

static uint32_t
piece_depth(const struct hr_planner *p, uint32_t edge, uint32_t count)
{
	const struct hr_port_out *out = output_of(p, edge);
	uint64_t slice = max_u64(out->format.max_bytes, 1);
	uint32_t fit = (uint32_t)max_u64(PIECES_BYTES / slice, PIECES_FLOOR);
	uint32_t depth = min_u32(max_u32(count, PIECES_MIN), fit);

	return max_u32(depth, out->port->min_batch);
}

/* Returns the count, made sane. */
static uint32_t
check_gather(struct hr_planner *p, uint32_t edge)
{
	const struct hr_edge *e = &p->graph->edge[edge];

	if (e->initial)
		hr_error(p->diags, e->initial_at, 262,
			 "%s: `initial` messages cannot be gathered into a frame",
			 hr_input_name(p->arena, p->bound, edge));
	if (e->gather->count >= 1 && e->gather->count <= GATHER_COUNT_MAX)
		return (uint32_t)e->gather->count;
	hr_error(p->diags, e->gather->at, 269, "%s: gather count is %lld; it can be 1 to %d",
		 hr_input_name(p->arena, p->bound, edge), (long long)e->gather->count,
		 GATHER_COUNT_MAX);
	return 1;
}

/* Fills the edge's numbers; node_depth gets the depth of the queue the node sees. */
static void
size_edge(struct hr_planner *p, uint32_t edge, uint32_t *node_depth)
{
	const struct hr_edge *e = &p->graph->edge[edge];
	const struct hr_port_in *in = hr_input_of(p, edge);
	struct hr_plan_edge *s = &p->plan->edge[edge];
	uint32_t batch = in->port->max_batch ? in->port->max_batch : DEFAULT_BATCH;

	s->want = max_u32(1, max_u32(in->need, in->port->min_batch));
	check_batch(p, edge, s->want);
	*node_depth = choose_depth(p, edge, s->want);
	s->max_in = min_u32(*node_depth, max_u32(s->want, batch));
	if (e->when_full == HR_FULL_DROP_OLDEST) /* showing claims: no more than is wanted */
		s->max_in = s->want;
	s->when_full = e->when_full;
	s->gather_chan = HR_NONE;
	s->depth = *node_depth;
	if (e->gather) {
		s->depth = piece_depth(p, edge, check_gather(p, edge));
		s->why = "copies: gather at the reader";
	}
}

/* A writer that must publish more at once than a blocking queue holds never runs. */
static void
check_writer_batch(struct hr_planner *p, uint32_t edge)
{
	const struct hr_bound_edge *b = &p->bound->edge[edge];
	uint32_t least = output_of(p, edge)->port->min_batch;

	if (p->graph->edge[edge].when_full != HR_FULL_BLOCK || p->plan->edge[edge].depth >= least)
		return;
	if (p->graph->edge[edge].depth == 0) { /* ours to choose */
		p->plan->edge[edge].depth = least;
		return;
	}
	refuse_depth(p, edge, least,
		     hr_printf(p->arena, ": %s publishes %u at once",
			       hr_output_name(p->arena, p->bound, b->from, b->out), least));
}

static void
carry_edge(struct hr_planner *p, uint32_t edge)
{
	const struct hr_plan *plan = p->plan;
	uint32_t from = plan->node[p->bound->edge[edge].from].worker;
	uint32_t to = plan->node[p->bound->edge[edge].to].worker;

	plan->edge[edge].carriage = from == to ? HR_SAME_THREAD
				    : plan->worker[from].process == plan->worker[to].process
					    ? HR_OTHER_THREAD
					    : HR_SHARED_MEMORY;
}

/* ---- channels ------------------------------------------------------------ */

struct pool { /* the terms of the formula */
	uint64_t loans, newest, dropping, keeps;
};

static void
set_slots(struct hr_planner *p, struct hr_plan_chan *c, const struct pool *pool, const char *name)
{
	uint64_t slots = pool->loans + pool->newest + pool->dropping + pool->keeps;

	if (slots > HMQ_MAX_SLOTS) {
		hr_error(p->diags, p->graph->node[c->node].name.at, 269,
			 "the channel of %s would have %llu slots; it can have %u", name,
			 (unsigned long long)slots, HMQ_MAX_SLOTS);
		slots = HMQ_MAX_SLOTS;
	}
	c->slots = (uint32_t)slots;
	c->newest = (uint32_t)pool->newest;
	c->dropping = (uint32_t)pool->dropping;
	c->keeps = (uint32_t)pool->keeps;
}

static void
set_bytes(struct hr_planner *p, struct hr_plan_chan *c, const char *name)
{
	struct hmq_reader_config *reader =
		HR_ARRAY(p->arena, max_u32(c->n_readers, 1), struct hmq_reader_config);
	struct hmq_error err = { 0 };
	struct hmq_config cfg;

	hr_plan_chan_config(p->plan, c->index, reader, &cfg);
	c->bytes = hmq_chan_bytes(&cfg, &err);
	if (c->bytes == 0)
		hr_error(p->diags, p->graph->node[c->node].name.at, 269,
			 "the channel of %s cannot be made: %s", name, err.text);
}

/* Largest out.count: publishing never waits, so it fits into every blocking queue. */
static uint32_t
largest_out(const struct hr_planner *p, const struct hr_plan_chan *c, const struct hr_port_out *out)
{
	uint32_t batch = out->port->max_batch;
	uint32_t least = max_u32(out->port->min_batch, 1);

	if (batch == 0)
		batch = out->format.max_bytes >= ONE_AT_A_TIME_BYTES ? 1 : DEFAULT_BATCH;
	for (uint32_t i = 0; i < c->n_readers; i++)
		if (p->plan->edge[c->edge[i]].when_full == HR_FULL_BLOCK)
			batch = min_u32(batch, c->depth[i]);
	return max_u32(batch, least);
}

static void
add_reader(struct hr_planner *p, struct hr_plan_chan *c, uint32_t i, struct pool *pool)
{
	const struct hr_plan_edge *e = &p->plan->edge[c->edge[i]];
	const struct hr_port_in *in = hr_input_of(p, c->edge[i]);

	bool gathers = p->graph->edge[c->edge[i]].gather != NULL;

	if (e->when_full == HR_FULL_DROP_NEWEST || (gathers && e->when_full == HR_FULL_DROP_OLDEST))
		pool->dropping += c->depth[i];
	else
		pool->newest = max_u64(pool->newest, c->depth[i]);
	if (gathers) /* copies and takes: keeps nothing here */
		return;
	pool->keeps += in->keeps;
	if (e->when_full == HR_FULL_DROP_OLDEST) /* what it was shown is its own */
		pool->keeps += e->want;
	c->align = max_u32(c->align, in->port->align);
}

/* Collect the edges that read an output, in file order; false if there are too many. */
static bool
collect_readers(struct hr_planner *p, struct hr_plan_chan *c, const char *name)
{
	const struct hr_port_out *out = &hr_node_of(p, c->node)->out[c->out];
	uint32_t *edge = HR_ARRAY(p->arena, max_u32(out->n_edges, 1), uint32_t);
	uint32_t *depth = HR_ARRAY(p->arena, max_u32(out->n_edges, 1), uint32_t);
	uint32_t n = 0;

	for (uint32_t e = p->first_out[c->node]; e != HR_NONE; e = p->next_out[e]) {
		if (p->bound->edge[e].out != c->out || n == out->n_edges)
			continue;
		p->plan->edge[e].chan = c->index;
		p->plan->edge[e].reader = n;
		edge[n] = e;
		depth[n++] = p->plan->edge[e].depth;
		c->shared |= p->plan->edge[e].carriage == HR_SHARED_MEMORY;
	}
	c->edge = edge;
	c->depth = depth;
	c->n_readers = n;
	if (n <= HMQ_MAX_READERS)
		return true;
	hr_error(p->diags, p->graph->edge[edge[HMQ_MAX_READERS]].source.at, 269,
		 "%s has %u readers; it can have %u", name, n, HMQ_MAX_READERS);
	return false;
}

static void
size_output(struct hr_planner *p, uint32_t chan, uint32_t node, uint32_t index)
{
	const struct hr_port_out *out = &hr_node_of(p, node)->out[index];
	const char *name = hr_output_name(p->arena, p->bound, node, index);
	struct hr_plan_chan *c = &p->plan->chan[chan];
	struct pool pool = { 0 };

	c->index = chan;
	c->node = node;
	c->out = index;
	c->gathers = HR_NONE;
	c->format = out->format;
	c->payload_bytes = out->format.max_bytes;
	c->align = max_u32(out->port->align, LEAST_ALIGN);
	if (!collect_readers(p, c, name))
		return;
	c->max_out = largest_out(p, c, out);
	pool.loans = c->max_out;
	for (uint32_t i = 0; i < c->n_readers; i++)
		add_reader(p, c, i, &pool);
	set_slots(p, c, &pool, name);
	set_bytes(p, c, name);
}

/* Assembled messages, with room for the validity bitmap behind them. */
static uint64_t
assembled_bytes(const struct hr_planner *p, uint32_t edge)
{
	uint64_t count = (uint64_t)p->graph->edge[edge].gather->count;
	uint64_t slice = output_of(p, edge)->format.max_bytes;
	uint64_t bytes;

	if (count > GATHER_COUNT_MAX || __builtin_mul_overflow(count, slice, &bytes))
		return 1; /* refused already, or by the format */
	if (hr_input_of(p, edge)->port->flags & HOP_PORT_GAPS)
		bytes = (bytes + 7) / 8 * 8 + (count + 63) / 64 * 8;
	return bytes;
}

static void
size_gather(struct hr_planner *p, uint32_t chan, uint32_t edge, uint32_t depth)
{
	const struct hr_port_in *in = hr_input_of(p, edge);
	const struct hr_gather *g = p->graph->edge[edge].gather;
	const char *name = hr_input_name(p->arena, p->bound, edge);
	struct hr_plan_chan *c = &p->plan->chan[chan];
	bool drops = p->plan->edge[edge].when_full == HR_FULL_DROP_OLDEST;
	struct pool pool = { .loans = g->window,
			     .newest = depth,
			     .keeps = in->keeps + (drops ? p->plan->edge[edge].want : 0) };
	uint32_t *list = HR_ARRAY(p->arena, 2, uint32_t);

	list[0] = edge;
	list[1] = depth;
	*c = (struct hr_plan_chan){
		.index = chan,
		.node = p->bound->edge[edge].to,
		.out = HR_NONE,
		.gathers = edge,
		.max_out = g->window,
		.align = max_u32(in->port->align, LEAST_ALIGN),
		.n_readers = 1,
		.edge = &list[0],
		.depth = &list[1],
		.payload_bytes = assembled_bytes(p, edge),
		.format = in->format,
	};
	p->plan->edge[edge].gather_chan = chan;
	set_slots(p, c, &pool, name);
	set_bytes(p, c, name);
}

static uint32_t
count_channels(const struct hr_planner *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->graph->n_nodes; i++)
		n += hr_node_of(p, i)->n_out;
	for (uint32_t e = 0; e < p->graph->n_edges; e++)
		n += p->graph->edge[e].gather != NULL;
	return n;
}

void
hr_size(struct hr_planner *p)
{
	const struct hr_graph *g = p->graph;
	uint32_t *node_depth = HR_ARRAY(p->arena, g->n_edges, uint32_t);
	struct hr_plan *plan = p->plan;
	uint32_t chan = 0;

	plan->edge = HR_ARRAY(p->arena, g->n_edges, struct hr_plan_edge);
	plan->n_chans = count_channels(p);
	plan->chan = HR_ARRAY(p->arena, plan->n_chans, struct hr_plan_chan);
	for (uint32_t e = 0; e < g->n_edges; e++) {
		size_edge(p, e, &node_depth[e]);
		check_writer_batch(p, e);
		carry_edge(p, e);
	}
	for (uint32_t n = 0; n < g->n_nodes; n++) {
		uint32_t n_out = hr_node_of(p, n)->n_out;

		plan->node[n].out_chan = HR_ARRAY(p->arena, n_out, uint32_t);
		for (uint32_t i = 0; i < n_out; i++) {
			plan->node[n].out_chan[i] = chan;
			size_output(p, chan++, n, i);
		}
	}
	for (uint32_t e = 0; e < g->n_edges; e++)
		if (g->edge[e].gather)
			size_gather(p, chan++, e, node_depth[e]);
	for (uint32_t c = 0; c < plan->n_chans; c++)
		plan->memory_bytes += plan->chan[c].bytes;
}

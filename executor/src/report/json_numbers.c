// SPDX-License-Identifier: Apache-2.0
/*
 * json_numbers.c - what a run measured, for result.json.
 */
#include "report/json.h"

struct json {
	const struct hr_plan *p;
	struct hr_page *page;
	const struct hr_numbers *n;
};

static void
add_processes(struct json *j, cJSON *root)
{
	cJSON *list = cJSON_AddArrayToObject(root, "processes");
	double wall = (double)j->n->wall_ns;

	for (uint32_t i = 0; i < j->p->n_processes; i++) {
		const struct hr_page_process *q = hr_page_process(j->page, i);
		cJSON *o;

		if (!j->p->process[i].n_workers)
			continue;
		o = cJSON_CreateObject();
		hr_json_add_text(o, "name", j->p->process[i].name);
		hr_json_add_int(o, "pid", q->pid);
		cJSON_AddNumberToObject(o, "cpu_s", (double)q->cpu_ns / 1e9);
		cJSON_AddNumberToObject(o, "cores", wall > 0 ? (double)q->cpu_ns / wall : 0.0);
		hr_json_add_int(o, "max_rss_bytes", (int64_t)q->max_rss_bytes);
		cJSON_AddItemToArray(list, o);
	}
}

static void
add_workers(struct json *j, cJSON *root)
{
	static const char *const policies[] = { "other", "fifo", "rr" };
	static const char *const waits[] = { "spin", "adaptive", "sleep" };
	cJSON *list = cJSON_AddArrayToObject(root, "workers");

	for (uint32_t i = 0; i < j->p->n_workers; i++) {
		const struct hr_plan_worker *w = &j->p->worker[i];
		const struct hr_page_worker *q = hr_page_worker(j->page, i);
		cJSON *o = cJSON_CreateObject();

		hr_json_add_text(o, "name", w->name);
		hr_json_add_text(o, "process", j->p->process[w->process].name);
		cJSON_AddStringToObject(o, "wait", waits[w->wait]);
		hr_json_add_int(o, "cpu_planned", w->cpu);
		hr_json_add_int(o, "cpu", q->cpu);
		cJSON_AddStringToObject(o, "policy", q->policy < 3 ? policies[q->policy] : "?");
		hr_json_add_int(o, "priority", q->priority);
		hr_json_add_int(o, "tid", q->tid);
		hr_json_add_int(o, "calls", (int64_t)q->calls);
		hr_json_add_int(o, "passes", (int64_t)q->passes);
		hr_json_add_int(o, "sleeps", (int64_t)q->sleeps);
		hr_json_add_int(o, "cpu_ns", (int64_t)q->cpu_ns);
		cJSON_AddItemToArray(list, o);
	}
}

static cJSON *
node_json(const struct hr_node_numbers *n)
{
	static const char *const states[] = { "new", "running", "ended", "failed", "peer_lost" };
	cJSON *o = cJSON_CreateObject(), *counters;
	uint32_t state = n->page->state;

	hr_json_add_text(o, "name", n->name);
	cJSON_AddStringToObject(o, "state", state <= HR_NODE_LOST ? states[state] : "?");
	hr_json_add_int(o, "calls", (int64_t)n->page->calls);
	hr_json_add_int(o, "taken", (int64_t)n->page->taken);
	hr_json_add_int(o, "filled", (int64_t)n->page->filled);
	hr_json_add_int(o, "unread", (int64_t)n->unread);
	cJSON_AddNumberToObject(o, "working_percent", n->work / 10.0);
	cJSON_AddNumberToObject(o, "waiting_in_percent", n->wait_in / 10.0);
	cJSON_AddNumberToObject(o, "waiting_out_percent", n->wait_out / 10.0);
	hr_json_add_int(o, "max_call_ns", (int64_t)n->page->max_call_ns);
	counters = cJSON_AddObjectToObject(o, "counters");
	for (uint32_t c = 0; c < n->bound->op->counters.count; c++)
		hr_json_add_int(counters, hr_counter_at(n->bound->op, c)->name,
				(int64_t)n->counter[c]);
	return o;
}

static void
add_queue(cJSON *o, const struct hmq_edge_stat *s)
{
	hr_json_add_int(o, "sent", (int64_t)s->sent);
	hr_json_add_int(o, "received", (int64_t)s->received);
	hr_json_add_int(o, "lost", (int64_t)s->lost);
	hr_json_add_int(o, "left", (int64_t)s->left);
	hr_json_add_int(o, "abandoned", (int64_t)s->abandoned);
	hr_json_add_int(o, "depth", s->depth);
	hr_json_add_int(o, "max_queued", s->max_queued);
}

static void
add_hist(cJSON *edge, const char *key, const struct hr_hist *h)
{
	cJSON *o = cJSON_AddObjectToObject(edge, key);

	hr_json_add_int(o, "count", (int64_t)h->count);
	if (!h->count)
		return;
	hr_json_add_int(o, "min", (int64_t)h->min_ns);
	cJSON_AddNumberToObject(o, "mean", (double)h->sum_ns / (double)h->count);
	hr_json_add_int(o, "p50", (int64_t)hr_hist_quantile(h, 0.5));
	hr_json_add_int(o, "p90", (int64_t)hr_hist_quantile(h, 0.9));
	hr_json_add_int(o, "p99", (int64_t)hr_hist_quantile(h, 0.99));
	hr_json_add_int(o, "p999", (int64_t)hr_hist_quantile(h, 0.999));
	hr_json_add_int(o, "max", (int64_t)h->max_ns);
	hr_json_add_int(o, "negative", (int64_t)h->negative);
}

static void
add_gather(cJSON *edge, const struct hr_page_gather *g)
{
	const struct {
		const char *key;
		uint64_t value;
	} all[] = {
		{ "received", g->received },
		{ "placed", g->placed },
		{ "duplicate", g->duplicate },
		{ "late", g->late },
		{ "shed", g->shed },
		{ "invalid", g->invalid },
		{ "opened", g->opened },
		{ "complete", g->complete },
		{ "partial", g->partial },
		{ "dropped", g->dropped },
		{ "shed_frames", g->shed_frames },
		{ "published", g->published },
	};
	cJSON *o = cJSON_AddObjectToObject(edge, "gather");

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		hr_json_add_int(o, all[i].key, (int64_t)all[i].value);
}

static cJSON *
edge_json(const struct hr_edge_numbers *e)
{
	static const char *const carriages[] = { "same_thread", "other_thread", "shared_memory" };
	static const char *const fulls[] = { "block", "drop_newest", "fail", "drop_oldest" };
	cJSON *o = cJSON_CreateObject();

	hr_json_add_text(o, "name", e->name);
	cJSON_AddStringToObject(o, "carriage", carriages[e->plan->carriage]);
	cJSON_AddStringToObject(o, "when_full", fulls[e->plan->when_full]);
	cJSON_AddBoolToObject(o, "copies", e->plan->why != NULL);
	if (e->plan->why)
		hr_json_add_text(o, "why", e->plan->why);
	add_queue(o, &e->page->queue);
	cJSON_AddBoolToObject(o, "sampled", e->page->sampled != 0);
	add_hist(o, e->into_sink ? "e2e_ns" : "age_ns", &e->page->age);
	if (e->into_sink)
		add_hist(o, "tail_ns", &e->page->tail);
	if (e->gather) {
		add_gather(o, e->gather);
		add_queue(cJSON_AddObjectToObject(o, "assembled"), &e->page->gathered);
	}
	return o;
}

void
hr_json_numbers(struct hr_arena *a, const struct hr_report *r, cJSON *root)
{
	struct json j = { .p = r->plan, .page = r->outcome->page };
	cJSON *list;

	j.n = hr_numbers_make(a, r->plan, r->outcome);
	cJSON_AddNumberToObject(root, "wall_s", (double)j.n->wall_ns / 1e9);
	cJSON_AddNumberToObject(root, "supervisor_cpu_s",
				(double)r->outcome->supervisor_cpu_ns / 1e9);
	hr_json_add_int(root, "delivered", (int64_t)j.n->delivered);
	hr_json_add_int(root, "lost", (int64_t)j.n->lost);
	hr_json_add_int(root, "frames_lost", (int64_t)j.n->frames_lost);
	add_processes(&j, root);
	add_workers(&j, root);
	list = cJSON_AddArrayToObject(root, "nodes");
	for (uint32_t i = 0; i < j.n->n_nodes; i++)
		cJSON_AddItemToArray(list, node_json(&j.n->node[i]));
	list = cJSON_AddArrayToObject(root, "edges");
	for (uint32_t i = 0; i < j.n->n_edges; i++)
		cJSON_AddItemToArray(list, edge_json(&j.n->edge[i]));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show.c - list, stat, top: what runs, its edges and their counters.
 *
 * Counters are read where they lie; only those of edges inside a process are asked for,
 * and copied by that process beside its work.
 */
#include <dirent.h>
#include <string.h>
#include <sys/socket.h>

#include "catalog.h"
#include "endpoint.h"
#include "tool.h"

#define SETTLE_NS 20000000 /* what a process needs to copy its counters, generously */

/* JSON goes out in pieces: a graph may have thousands of edges. */
static void
flush_json(struct hmq_json *j)
{
	size_t n = j->used < j->size ? j->used : j->size;

	(void)fwrite(j->text, 1, n, stdout);
	j->used = 0;
}

static void
format_word(const struct edge *e, char *out, size_t size)
{
	char dtype[24];
	size_t n;

	hmq_dtype_word(e->dtype, dtype);
	(void)snprintf(out, size, "%s", dtype);
	for (uint32_t i = 0; i < e->rank; i++) {
		n = strlen(out);
		(void)snprintf(out + n, size - n, "%c%u", i ? 'x' : ' ', e->dim[i]);
	}
}

/* ---- list ------------------------------------------------------------------------------- */

static void
edge_json(struct hmq_json *j, const struct edge *e)
{
	char format[120];

	format_word(e, format, sizeof(format));
	hmq_json_open(j, '{');
	hmq_json_key(j, "carriage");
	hmq_json_text(j, e->carriage);
	hmq_json_key(j, "depth");
	hmq_json_uint(j, e->depth);
	hmq_json_key(j, "format");
	hmq_json_text(j, format);
	hmq_json_key(j, "from");
	hmq_json_text(j, e->from);
	hmq_json_key(j, "payload_bytes");
	hmq_json_uint(j, e->payload_bytes);
	hmq_json_key(j, "policy");
	hmq_json_text(j, e->policy);
	hmq_json_key(j, "reader");
	hmq_json_uint(j, e->reader);
	hmq_json_key(j, "segment_bytes");
	hmq_json_uint(j, e->segment_bytes);
	hmq_json_key(j, "slots");
	hmq_json_uint(j, e->slots);
	hmq_json_key(j, "to");
	hmq_json_text(j, e->to);
	hmq_json_close(j, '}');
}

static void
run_head_json(struct hmq_json *j, const struct run *r)
{
	hmq_json_key(j, "graph");
	hmq_json_text(j, r->graph);
	hmq_json_key(j, "pid");
	hmq_json_int(j, r->pid);
}

typedef void each_edge(struct hmq_json *j, const struct run *r, const struct edge *e);

static void
list_edge(struct hmq_json *j, const struct run *r, const struct edge *e)
{
	(void)r;
	edge_json(j, e);
}

static void
runs_json(struct hmq_json *j, const struct run *run, uint32_t n, each_edge *one)
{
	hmq_json_key(j, "runs");
	hmq_json_open(j, '[');
	for (uint32_t i = 0; i < n; i++) {
		hmq_json_open(j, '{');
		hmq_json_key(j, "edges");
		hmq_json_open(j, '[');
		for (uint32_t k = 0; k < run[i].n_edges; k++) {
			one(j, &run[i], &run[i].edge[k]);
			flush_json(j);
		}
		hmq_json_close(j, ']');
		run_head_json(j, &run[i]);
		hmq_json_close(j, '}');
	}
	hmq_json_close(j, ']');
}

/* "live", "dead", or why nobody can tell. */
static const char *
endpoint_state(const char *dir, const char *leaf)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int n = snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", dir, leaf);
	int fd;

	if (n < 0 || (size_t)n >= sizeof(un.sun_path))
		return "unreachable";
	fd = hmq_name_connect(&un);
	if (fd >= 0)
		hmq_fds_close(&fd, 1);
	if (fd == -ECONNREFUSED)
		return "dead";
	return fd == -EACCES ? "another user's" : "live";
}

static void
list_endpoints(const char *dir, struct hmq_json *j)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	char name[HMQ_MAX_NAME + 1];

	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name), s = strlen(HMQ_SUFFIX);

		if (n <= s || n - s > HMQ_MAX_NAME || e->d_name[0] == '.' ||
		    strcmp(e->d_name + n - s, HMQ_SUFFIX) != 0)
			continue;
		memcpy(name, e->d_name, n - s);
		name[n - s] = '\0';
		if (j) {
			hmq_json_open(j, '{');
			hmq_json_key(j, "name");
			hmq_json_text(j, name);
			hmq_json_key(j, "state");
			hmq_json_text(j, endpoint_state(dir, e->d_name));
			hmq_json_close(j, '}');
		} else {
			printf("endpoint %s  %s\n", name, endpoint_state(dir, e->d_name));
		}
	}
	if (d)
		closedir(d);
}

static void
list_table(const struct run *run, uint32_t n)
{
	char format[120];

	for (uint32_t i = 0; i < n; i++) {
		printf("run %lld  %s\n", (long long)run[i].pid, run[i].graph);
		printf("  %3s  %-28s %-28s %-8s %6s %6s %-11s %10s  %s\n", "#", "from", "to",
		       "carriage", "depth", "slots", "policy", "bytes", "format");
		for (uint32_t k = 0; k < run[i].n_edges; k++) {
			const struct edge *e = &run[i].edge[k];

			format_word(e, format, sizeof(format));
			printf("  %3u  %-28s %-28s %-8s %6u %6u %-11s %10llu  %s\n", k, e->from,
			       e->to, e->carriage, e->depth, e->slots, e->policy,
			       (unsigned long long)e->segment_bytes, format);
		}
	}
}

int
tool_list(const struct options *o)
{
	static char text[1 << 16];
	struct hmq_json j;
	struct run *run;
	uint32_t n;
	int rc = runs_find(&run, &n);

	if (rc)
		return rc;
	if (o->is_json) {
		hmq_json_init(&j, text, sizeof(text));
		hmq_json_open(&j, '{');
		hmq_json_key(&j, "endpoints");
		hmq_json_open(&j, '[');
		list_endpoints(o->dir, &j);
		hmq_json_close(&j, ']');
		runs_json(&j, run, n, list_edge);
		hmq_json_close(&j, '}');
		flush_json(&j);
		putchar('\n');
	} else {
		list_table(run, n);
		list_endpoints(o->dir, NULL);
	}
	runs_free(run, n);
	return EXIT_DONE;
}

/* ---- stat ------------------------------------------------------------------------------- */

static void
stat_edge(struct hmq_json *j, const struct run *r, const struct edge *e)
{
	struct hmq_edge_stat s = { 0 };
	/* Nothing to show is shown as zeros. */
	(void)run_stat(r, e, &s);
	const struct {
		const char *key;
		uint64_t v;
	} row[8] = { { "abandoned", s.abandoned },
		     { "depth", e->depth },
		     { "left", s.left },
		     { "lost", s.lost },
		     { "max_queued", s.max_queued },
		     { "queued", s.queued },
		     { "received", s.received },
		     { "sent", s.sent } };

	hmq_json_open(j, '{');
	for (int i = 0; i < 8; i++) {
		if (i == 2) {
			hmq_json_key(j, "from");
			hmq_json_text(j, e->from);
		}
		hmq_json_key(j, row[i].key);
		hmq_json_uint(j, row[i].v);
	}
	hmq_json_key(j, "to");
	hmq_json_text(j, e->to);
	hmq_json_close(j, '}');
}

static void
stat_table(const struct run *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		printf("run %lld  %s\n", (long long)run[i].pid, run[i].graph);
		printf("  %-28s %-28s %12s %12s %8s %8s %9s %9s\n", "from", "to", "sent",
		       "received", "lost", "left", "queued", "most");
		for (uint32_t k = 0; k < run[i].n_edges; k++) {
			const struct edge *e = &run[i].edge[k];
			struct hmq_edge_stat s = { 0 };

			(void)run_stat(&run[i], e, &s);
			s.left += s.abandoned; /* one column: it was not taken */
			printf("  %-28s %-28s %12llu %12llu %8llu %8llu %5u/%-3u %5u/%-3u\n",
			       e->from, e->to, (unsigned long long)s.sent,
			       (unsigned long long)s.received, (unsigned long long)s.lost,
			       (unsigned long long)s.left, s.queued, e->depth, s.max_queued,
			       e->depth);
		}
	}
}

static void
refresh_all(struct run *run, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		run_refresh(&run[i]);
	if (n > 0)
		tool_pause(SETTLE_NS);
}

static void
stat_json(const struct run *run, uint32_t n)
{
	static char text[1 << 16];
	struct hmq_json j;

	hmq_json_init(&j, text, sizeof(text));
	hmq_json_open(&j, '{');
	runs_json(&j, run, n, stat_edge);
	hmq_json_close(&j, '}');
	flush_json(&j);
	putchar('\n');
}

int
tool_stat(const struct options *o)
{
	struct run *run;
	uint32_t n;
	int rc = runs_find(&run, &n);

	if (rc)
		return rc;
	refresh_all(run, n);
	if (o->is_json)
		stat_json(run, n);
	else
		stat_table(run, n);
	runs_free(run, n);
	return EXIT_DONE;
}

/* ---- top -------------------------------------------------------------------------------- */

static void
top_line(const struct run *r, struct edge *e, uint64_t *last, double seconds)
{
	struct hmq_edge_stat s = { 0 };
	double rate;

	if (run_stat(r, e, &s))
		return;
	rate = seconds > 0 ? (double)(s.received - *last) / seconds : 0;
	*last = s.received;
	printf("  %-28s %-28s %12.1f %10.2f %5u/%-4u %8llu\n", e->from, e->to, rate,
	       rate * (double)e->payload_bytes / 1e6, s.queued, e->depth,
	       (unsigned long long)s.lost);
}

static void
top_once(struct run *run, uint32_t n, uint64_t **last, double seconds)
{
	for (uint32_t i = 0; i < n; i++) {
		printf("run %lld  %s\n", (long long)run[i].pid, run[i].graph);
		printf("  %-28s %-28s %12s %10s %10s %8s\n", "from", "to", "messages/s", "MB/s max",
		       "queued", "lost");
		for (uint32_t k = 0; k < run[i].n_edges; k++)
			top_line(&run[i], &run[i].edge[k], &last[i][k], seconds);
	}
	(void)fflush(stdout);
}

int
tool_top(const struct options *o)
{
	struct run *run;
	uint64_t **last;
	uint32_t n;
	int rc = runs_find(&run, &n);
	int64_t before = 0, now;

	if (rc)
		return rc;
	tool_catch_signals();
	last = hmq_alloc(n * sizeof(last[0]) + 1);
	for (uint32_t i = 0; last && i < n && !rc; i++) {
		last[i] = hmq_alloc(run[i].n_edges * sizeof(last[i][0]) + 1);
		rc = last[i] ? 0 : EXIT_MACHINE;
	}
	for (uint64_t k = 0; last && !rc && !tool_stopped(); k++) {
		refresh_all(run, n);
		now = tool_now_ns();
		if (o->is_json)
			stat_json(run, n);
		else
			top_once(run, n, last, before ? (double)(now - before) / 1e9 : 0);
		before = now;
		if (o->count && k + 1 >= o->count)
			break;
		tool_pause(o->interval_ns);
	}
	for (uint32_t i = 0; last && i < n; i++)
		hmq_dealloc(last[i]);
	hmq_dealloc(last);
	runs_free(run, n);
	return rc;
}

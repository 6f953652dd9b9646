/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.c - find the running graphs of this user, and get at their memory, read-only.
 *
 * A run listens on the abstract socket @holorun/<uid>/<pid>; the kernel lists those in
 * /proc/net/unix.  It answers with JSON and with descriptors that were opened read-only
 * for us, so nothing here can disturb it.  What it says is checked before it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "layout.h"
#include "tool.h"

#define MAX_RUNS 256u
#define MAX_FDS 4096u
#define FDS_A_PACKET 128u
#define ANSWER_MS 2000

/* ---- sockets ---------------------------------------------------------------------------- */

static int
connect_to(const char *name)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ANSWER_MS / 1000 };
	size_t n = strlen(name);
	int fd = n + 1 > sizeof(un.sun_path) ? -1
					     : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	/* A stopped supervisor may have its hands full of callers. */
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	memcpy(un.sun_path + 1, name, n);
	if (connect(fd, (struct sockaddr *)&un,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* One packet within two seconds: its bytes, -1 none. */
static ssize_t
receive(int conn, char *text, size_t size, int *fds, uint32_t *n_fds)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS_A_PACKET * sizeof(int))];
	} control;
	struct iovec iov = { text, size - 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct pollfd p = { .fd = conn, .events = POLLIN };
	const struct cmsghdr *c;
	ssize_t n;

	*n_fds = 0;
	if (poll(&p, 1, ANSWER_MS) <= 0)
		return -1;
	n = recvmsg(conn, &msg, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		*n_fds = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), *n_fds * sizeof(int));
	}
	return n;
}

/* ---- the answer ------------------------------------------------------------------------- */

static void
read_edge(struct edge *e, struct value v, uint32_t n_fds)
{
	struct value dim = json_member(v, "dim");

	json_string(json_member(v, "from"), e->from, sizeof(e->from));
	json_string(json_member(v, "to"), e->to, sizeof(e->to));
	json_string(json_member(v, "policy"), e->policy, sizeof(e->policy));
	json_string(json_member(v, "carriage"), e->carriage, sizeof(e->carriage));
	e->segment_bytes = (uint64_t)json_int(json_member(v, "segment_bytes"), 0);
	e->payload_bytes = (uint64_t)json_int(json_member(v, "payload_bytes"), 0);
	e->page_at = (uint64_t)json_int(json_member(v, "page_at"), -1);
	e->valid_at = (uint64_t)json_int(json_member(v, "valid_at"), -1);
	e->slots = (uint32_t)json_int(json_member(v, "slots"), 0);
	e->depth = (uint32_t)json_int(json_member(v, "depth"), 0);
	e->reader = (uint32_t)json_int(json_member(v, "reader"), 0);
	e->fd = (int32_t)json_int(json_member(v, "fd"), -1);
	e->rate_hz = json_number(json_member(v, "rate_hz"), 0);
	e->dtype.code = (uint8_t)json_int(json_member(v, "dtype_code"), 0);
	e->dtype.bits = (uint8_t)json_int(json_member(v, "dtype_bits"), 0);
	e->dtype.lanes = (uint16_t)json_int(json_member(v, "dtype_lanes"), 0);
	while (e->rank < HMQ_MAX_RANK && json_item(dim, e->rank).begin) {
		e->dim[e->rank] = (uint32_t)json_int(json_item(dim, e->rank), 0);
		e->rank++;
	}
	if (e->fd >= (int32_t)n_fds || e->fd < -1)
		e->fd = -1;
}

static void
map_edge(const struct run *r, struct edge *e)
{
	struct stat st;
	void *base;

	if (e->fd < 0 || fstat(r->fd[e->fd], &st) || st.st_size < (off_t)HMQ_PAGE_BYTES)
		return;
	base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, r->fd[e->fd], 0);
	if (base == MAP_FAILED)
		return;
	e->seg = (struct hmq_segment){ .base = base, .bytes = (uint64_t)st.st_size, .fd = -1 };
}

static int
read_text(struct run *r, int fd)
{
	struct stat st;
	const char *text;
	struct value all, edges;
	int rc = -1;

	if (fstat(fd, &st) || st.st_size < 1)
		return -1;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (text == MAP_FAILED)
		return -1;
	if (json_check(text, (size_t)st.st_size))
		goto unmap;
	all = json_all(text, (size_t)st.st_size);
	edges = json_member(all, "edges");
	json_string(json_member(all, "graph"), r->graph, sizeof(r->graph));
	r->pid = json_int(json_member(all, "pid"), 0);
	r->start_ns = json_int(json_member(all, "start_ns"), 0);
	while (json_item(edges, r->n_edges).begin)
		r->n_edges++;
	r->edge = hmq_alloc(r->n_edges * sizeof(r->edge[0]) + 1);
	for (uint32_t i = 0; r->edge && i < r->n_edges; i++)
		read_edge(&r->edge[i], json_item(edges, i), r->n_fds);
	rc = r->edge ? 0 : -1;
unmap:
	munmap((void *)(uintptr_t)text, (size_t)st.st_size);
	return rc;
}

static int
read_fds(struct run *r, uint32_t wanted)
{
	char text[32];
	int fds[FDS_A_PACKET];
	uint32_t n;

	r->fd = hmq_alloc(wanted * sizeof(r->fd[0]) + 1);
	while (r->fd && r->n_fds < wanted) {
		if (receive(r->conn, text, sizeof(text), fds, &n) < 0 || n == 0)
			return -1;
		for (uint32_t i = 0; i < n; i++) {
			if (r->n_fds < wanted)
				r->fd[r->n_fds++] = fds[i];
			else
				close(fds[i]);
		}
	}
	return r->fd ? 0 : -1;
}

static int
ask(struct run *r)
{
	char text[32];
	int fds[FDS_A_PACKET];
	uint32_t n, wanted;
	struct stat st;
	int rc;

	if (send(r->conn, "channels", 8, MSG_NOSIGNAL) != 8 ||
	    receive(r->conn, text, sizeof(text), fds, &n) < 0)
		return -1;
	wanted = strncmp(text, "fds ", 4) == 0 ? (uint32_t)strtoul(text + 4, NULL, 10) : 0;
	rc = n == 1 && wanted >= 1 && wanted <= MAX_FDS ? read_fds(r, wanted) : -1;
	if (!rc)
		rc = read_text(r, fds[0]);
	for (uint32_t i = 0; i < n; i++)
		close(fds[i]);
	if (rc || fstat(r->fd[0], &st))
		return -1;
	r->page_bytes = (uint64_t)st.st_size;
	r->page = mmap(NULL, r->page_bytes, PROT_READ, MAP_SHARED, r->fd[0], 0);
	if (r->page == MAP_FAILED)
		r->page = NULL;
	for (uint32_t i = 0; i < r->n_edges; i++)
		map_edge(r, &r->edge[i]);
	return 0;
}

/* ---- finding ---------------------------------------------------------------------------- */

static void
close_run(struct run *r)
{
	for (uint32_t i = 0; i < r->n_edges && r->edge; i++)
		if (r->edge[i].seg.base)
			munmap(r->edge[i].seg.base, r->edge[i].seg.bytes);
	for (uint32_t i = 0; i < r->n_fds; i++)
		close(r->fd[i]);
	if (r->page)
		munmap((void *)(uintptr_t)r->page, r->page_bytes);
	if (r->conn >= 0)
		close(r->conn);
	hmq_dealloc(r->edge);
	hmq_dealloc(r->fd);
}

static void
try_run(struct run *list, uint32_t *n, const char *name)
{
	struct run *r = &list[*n];

	memset(r, 0, sizeof(*r));
	(void)snprintf(r->socket, sizeof(r->socket), "%s", name);
	r->conn = connect_to(name);
	if (r->conn >= 0 && ask(r) == 0)
		++*n;
	else
		close_run(r);
}

int
runs_find(struct run **out, uint32_t *n)
{
	char line[512], front[40];
	FILE *f = fopen("/proc/net/unix", "re");
	uint32_t listening = 0x10000; /* __SO_ACCEPTCON in the flags column */

	*n = 0;
	*out = hmq_alloc(MAX_RUNS * sizeof(**out));
	if (!f || !*out) {
		if (f)
			(void)fclose(f);
		return tool_fail(EXIT_MACHINE, "the kernel's list of sockets cannot be read: %s",
				 strerrordesc_np(errno));
	}
	(void)snprintf(front, sizeof(front), "@holorun/%u/", (unsigned)geteuid());
	while (*n < MAX_RUNS && fgets(line, sizeof(line), f)) {
		char *at = strstr(line, front), *flags = line;

		for (int column = 0; column < 3 && flags; column++)
			flags = strchr(flags + 1, ' ');
		if (!at || !flags || !(strtoul(flags, NULL, 16) & listening))
			continue;
		at[strcspn(at, "\n")] = '\0';
		try_run(*out, n, at + 1);
	}
	(void)fclose(f);
	return 0;
}

void
runs_free(struct run *run, uint32_t n)
{
	for (uint32_t i = 0; run && i < n; i++)
		close_run(&run[i]);
	hmq_dealloc(run);
}

int
runs_pick(const char *which, struct run **out, uint32_t *n, struct run **one)
{
	int rc = runs_find(out, n);

	*one = NULL;
	for (uint32_t i = 0; i < *n && !rc; i++) {
		struct run *r = &(*out)[i];

		if (which && strtoll(which, NULL, 10) != r->pid && strcmp(which, r->graph) != 0)
			continue;
		if (*one)
			rc = tool_fail(EXIT_USAGE,
				       "several runs fit: say which with --run PID (holomq list)");
		*one = r;
	}
	if (!rc && !*one)
		rc = tool_fail(EXIT_MACHINE,
			       which ? "no run '%s' of this user" : "no run of this user", which);
	if (rc) {
		runs_free(*out, *n);
		*out = NULL;
	}
	return rc;
}

void
run_refresh(struct run *r)
{
	char text[32];
	int fds[FDS_A_PACKET];
	uint32_t n;

	if (send(r->conn, "refresh", 7, MSG_NOSIGNAL) == 7)
		(void)receive(r->conn, text, sizeof(text), fds, &n);
}

int
run_is_over(const struct run *r)
{
	struct pollfd p = { .fd = r->conn, .events = POLLIN };
	char c;

	return poll(&p, 1, 0) > 0 && recv(r->conn, &c, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

int
run_stat(const struct run *r, const struct edge *e, struct hmq_edge_stat *out)
{
	if (e->seg.base)
		return hmq_chan_stat(&e->seg, e->reader, out);
	if (!r->page || r->page_bytes < sizeof(*out) || e->page_at > r->page_bytes - sizeof(*out) ||
	    e->valid_at > r->page_bytes - sizeof(uint32_t))
		return -1;
	/* Copied by the process that owns the queue, word by word: a snapshot, as all of these. */
	memcpy(out, r->page + e->page_at, sizeof(*out));
	return 0;
}

struct edge *
run_edge(struct run *r, const char *name)
{
	char whole[2 * WORD_BYTES + 8], *end;
	unsigned long number = strtoul(name, &end, 10);

	if (*name && !*end)
		return number < r->n_edges ? &r->edge[number] : NULL;
	for (uint32_t i = 0; i < r->n_edges; i++) {
		struct edge *e = &r->edge[i];

		(void)snprintf(whole, sizeof(whole), "%s -> %s", e->from, e->to);
		if (!strcmp(name, e->to) || !strcmp(name, e->from) || !strcmp(name, whole))
			return e;
	}
	return NULL;
}

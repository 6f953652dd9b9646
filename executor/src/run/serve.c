/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - a run answers the tools of its user: which edges, where their memory is.
 *
 * The JSON is made once and handed over as a sealed memfd.  Descriptors are opened
 * again read-only for each caller: a tool cannot write what a run relies on, even if
 * it wants to.  Nothing blocks, at most eight callers are heard at a time.
 */
#include "run/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"

enum { CALLERS = 8, FDS_A_PACKET = 128, NAMES = 10, BACKLOG = 64 };

struct hr_serve {
	struct hr_super *super;
	int listener;
	int epoll;
	int text;
	uint32_t next; /* caller to be replaced when all places are taken */
	int caller[CALLERS];
};

/* ---- what there is -------------------------------------------------------------------------- */

static const char *
carriage_word(enum hr_carriage c)
{
	static const char *const word[] = { "thread", "threads", "shared" };

	return word[c];
}

static const char *
policy_word(enum hr_when_full policy)
{
	static const char *const word[] = { [HR_FULL_BLOCK] = "block",
					    [HR_FULL_DROP_NEWEST] = "drop_newest",
					    [HR_FULL_FAIL] = "fail",
					    [HR_FULL_DROP_OLDEST] = "drop_oldest" };

	return word[policy];
}

static void
add_dtype(cJSON *o, const struct hop_format *f)
{
	cJSON *dim = cJSON_AddArrayToObject(o, "dim");

	for (uint32_t i = 0; i < f->rank && i < HOP_MAX_RANK; i++)
		cJSON_AddItemToArray(dim, cJSON_CreateNumber(f->dim[i]));
	hr_json_add_int(o, "dtype_bits", f->dtype.bits);
	hr_json_add_int(o, "dtype_code", f->dtype.code);
	hr_json_add_int(o, "dtype_lanes", f->dtype.lanes);
	cJSON_AddNumberToObject(o, "rate_hz", f->rate_hz);
}

static void
add_edge(struct hr_super *s, cJSON *list, uint32_t i, int32_t fd)
{
	const struct hr_plan *p = s->plan;
	const struct hr_plan_edge *e = &p->edge[i];
	const struct hr_plan_chan *c = &p->chan[e->chan];
	const struct hr_bound_edge *b = &p->bound->edge[i];
	const char *base = s->wiring.page_seg.base;
	struct hr_page_edge *seen = hr_page_edge(s->page, i);
	cJSON *o = cJSON_CreateObject();

	cJSON_AddItemToArray(list, o);
	hr_json_add_text(o, "carriage", carriage_word(e->carriage));
	hr_json_add_int(o, "depth", c->depth[e->reader]);
	add_dtype(o, &c->format);
	hr_json_add_int(o, "fd", fd);
	hr_json_add_text(o, "from",
			 hr_printf(s->arena, "%s.%s", p->graph->node[b->from].name.text,
				   p->bound->node[b->from].out[b->out].port->name));
	/* Where a process copies the numbers of a queue nobody else can see. */
	hr_json_add_int(o, "page_at", (const char *)&seen->queue - base);
	hr_json_add_int(o, "payload_bytes", (int64_t)c->payload_bytes);
	hr_json_add_text(o, "policy", policy_word(e->when_full));
	hr_json_add_int(o, "reader", e->reader);
	hr_json_add_int(o, "segment_bytes", (int64_t)c->bytes);
	hr_json_add_int(o, "slots", c->slots);
	hr_json_add_text(o, "to",
			 hr_printf(s->arena, "%s.%s", p->graph->node[b->to].name.text,
				   p->graph->edge[i].input.text));
	hr_json_add_int(o, "valid_at", (const char *)&seen->queue_valid - base);
}

/* Descriptor numbers as the answer counts them: the page, then each shared channel. */
static int32_t
number_of(const struct hr_super *s, uint32_t chan)
{
	int32_t n = 1;

	if (s->wiring.chan[chan].fd < 0)
		return -1;
	for (uint32_t i = 0; i < chan; i++)
		n += s->wiring.chan[i].fd >= 0;
	return n;
}

static char *
describe(struct hr_super *s)
{
	cJSON *all = cJSON_CreateObject();
	cJSON *list = cJSON_AddArrayToObject(all, "edges");

	for (uint32_t i = 0; i < s->plan->graph->n_edges; i++)
		add_edge(s, list, i, number_of(s, s->plan->edge[i].chan));
	hr_json_add_text(all, "graph", s->plan->graph->name ? s->plan->graph->name : "");
	hr_json_add_int(all, "holorun", 1);
	hr_json_add_int(all, "pid", getpid());
	hr_json_add_int(all, "start_ns", s->out->start_ns);
	return hr_json_text(s->arena, all, false);
}

static int
memfd_of(const char *text)
{
	size_t n = strlen(text);
	int fd = memfd_create("holorun:edges", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (write(fd, text, n) != (ssize_t)n ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- answers -------------------------------------------------------------------------------- */

static int
send_packet(int to, const char *text, const int *fds, uint32_t n)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(FDS_A_PACKET * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)text, strlen(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	}
	return sendmsg(to, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* The same memory, read-only for good. */
static int
reopen(int fd)
{
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Collects what is sent in one packet. */
struct parcel {
	int to;
	uint32_t n;
	int fd[FDS_A_PACKET];
};

static int
flush(struct parcel *p)
{
	int rc = p->n ? send_packet(p->to, "more", p->fd, p->n) : 0;

	for (uint32_t i = 0; i < p->n; i++)
		close(p->fd[i]);
	p->n = 0;
	return rc;
}

static int
add(struct parcel *p, int fd)
{
	int copy = reopen(fd);

	if (copy < 0)
		return -errno;
	p->fd[p->n++] = copy;
	return p->n == FDS_A_PACKET ? flush(p) : 0;
}

static int
answer_channels(const struct hr_serve *v, int to)
{
	const struct hr_wiring *w = &v->super->wiring;
	struct parcel p = { .to = to };
	char words[32];
	uint32_t n = 1;
	int rc;

	for (uint32_t i = 0; i < w->plan->n_chans; i++)
		n += w->chan[i].fd >= 0;
	snprintf(words, sizeof words, "fds %u", n);
	rc = send_packet(to, words, &v->text, 1);
	if (!rc)
		rc = add(&p, w->page_seg.fd);
	for (uint32_t i = 0; i < w->plan->n_chans && !rc; i++)
		if (w->chan[i].fd >= 0)
			rc = add(&p, w->chan[i].fd);
	return rc ? (flush(&p), rc) : flush(&p);
}

static int
answer_refresh(const struct hr_serve *v, int to)
{
	struct hr_super *s = v->super;

	if (s->opt->in_process) {
		if (s->host_started)
			hr_host_snapshot(&s->host);
	} else {
		hr_store32_relaxed(&s->page->words->snapshot_asked,
				   s->page->words->snapshot_asked + 1);
		hr_spawn_tell(s, HR_TELL_SNAPSHOT);
	}
	return send_packet(to, "ok", NULL, 0);
}

static const struct {
	const char *word;
	int (*answer)(const struct hr_serve *v, int to);
} request[] = {
	{ "channels", answer_channels },
	{ "refresh", answer_refresh },
};

/* ---- callers -------------------------------------------------------------------------------- */

static void
hang_up(struct hr_serve *v, uint32_t at)
{
	if (v->caller[at] >= 0)
		close(v->caller[at]);
	v->caller[at] = -1;
}

static void
hear(struct hr_serve *v, uint32_t at)
{
	char word[16] = "";
	ssize_t n = recv(v->caller[at], word, sizeof word - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	for (size_t i = 0; n > 0 && i < sizeof request / sizeof request[0]; i++)
		if (strcmp(word, request[i].word) == 0 && request[i].answer(v, v->caller[at]) == 0)
			return;
	hang_up(v, at);
}

static void
welcome(struct hr_serve *v, int fd)
{
	struct ucred who = { 0 };
	socklen_t size = sizeof who;
	struct epoll_event e = { .events = EPOLLIN };
	uint32_t at = v->next;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) ||
	    (who.uid != geteuid() && who.uid != 0)) {
		close(fd);
		return;
	}
	for (uint32_t i = 0; i < CALLERS; i++)
		if (v->caller[i] < 0)
			at = i;
	hang_up(v, at);
	v->next = (at + 1) % CALLERS;
	e.data.u32 = at;
	if (epoll_ctl(v->epoll, EPOLL_CTL_ADD, fd, &e))
		close(fd);
	else
		v->caller[at] = fd;
}

void
hr_serve_accept(struct hr_serve *v)
{
	struct epoll_event e[CALLERS + 1];
	int n = epoll_wait(v->epoll, e, CALLERS + 1, 0);

	for (int i = 0; i < n; i++) {
		int fd;

		if (e[i].data.u32 < CALLERS) {
			hear(v, e[i].data.u32);
			continue;
		}
		for (int k = 0; k < BACKLOG; k++) {
			fd = accept4(v->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
			if (fd < 0)
				break;
			welcome(v, fd);
		}
	}
}

/* ---- open and close ------------------------------------------------------------------------- */

static int
listen_somewhere(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	for (int i = 0; i < NAMES && fd >= 0; i++) {
		struct sockaddr_un un = { .sun_family = AF_UNIX };
		int n = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "holorun/%u/%d",
				 (unsigned)geteuid(), (int)getpid());

		if (i > 0)
			n += snprintf(un.sun_path + 1 + n, sizeof un.sun_path - 1 - (size_t)n,
				      ".%d", i);
		if (bind(fd, (struct sockaddr *)&un,
			 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) == 0)
			return fd;
		if (errno != EADDRINUSE)
			break;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

struct hr_serve *
hr_serve_open(struct hr_super *s)
{
	struct hr_serve *v = HR_NEW(s->arena, struct hr_serve);
	struct epoll_event e = { .events = EPOLLIN, .data.u32 = CALLERS };

	v->super = s;
	for (uint32_t i = 0; i < CALLERS; i++)
		v->caller[i] = -1;
	v->text = memfd_of(describe(s));
	v->epoll = epoll_create1(EPOLL_CLOEXEC);
	v->listener = listen_somewhere();
	if (v->text >= 0 && v->epoll >= 0 && v->listener >= 0 &&
	    listen(v->listener, BACKLOG) == 0 &&
	    epoll_ctl(v->epoll, EPOLL_CTL_ADD, v->listener, &e) == 0)
		return v;
	hr_serve_close(v);
	return NULL;
}

int
hr_serve_fd(const struct hr_serve *v)
{
	return v->epoll;
}

void
hr_serve_close(struct hr_serve *v)
{
	if (!v)
		return;
	for (uint32_t i = 0; i < CALLERS; i++)
		hang_up(v, i);
	if (v->listener >= 0)
		close(v->listener);
	if (v->epoll >= 0)
		close(v->epoll);
	if (v->text >= 0)
		close(v->text);
}

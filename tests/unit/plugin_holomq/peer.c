/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - the program outside, in a child process; see peer.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

enum { GO = 100, SAID = 101 }; /* the child's ends */

#define LONG INT64_C(60000000000) /* a watchdog, no expectation */

static int64_t
later(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + LONG;
}

static int
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

void
place_open(struct place *p)
{
	p->n_fds = count_fds();
	snprintf(p->dir, sizeof p->dir, "/tmp/holomq-plugin-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
}

void
place_close(struct place *p)
{
	if (rmdir(p->dir))
		fail_msg("%s is not empty", p->dir);
	assert_int_equal(count_fds(), p->n_fds);
}

struct hmq_contract
peer_contract(void)
{
	return (struct hmq_contract){ .kind = "kind",
				      .dtype = { 1, 8, 1 },
				      .rank = 1,
				      .dim = { 8 },
				      .max_bytes = 8,
				      .depth = 4,
				      .policy = HMQ_BLOCK };
}

/* ---- in the child ------------------------------------------------------------------------ */

struct child {
	const char *dir;
	uint32_t role;
	struct hmq_contract contract;
	struct hmq_endpoint *ep;
	uint64_t next;
	struct hmq_error err;
};

static int
take_name(struct child *c)
{
	const struct hmq_export cfg = { .size = sizeof cfg,
					.role = c->role,
					.flags = HMQ_ENDPOINT_THREAD,
					.dir = c->dir,
					.name = "x",
					.contract = c->contract };

	return hmq_endpoint_export(&c->ep, &cfg, &c->err);
}

static int
attach(struct child *c)
{
	const struct hmq_import cfg = { .size = sizeof cfg,
					.role = c->role,
					.dir = c->dir,
					.name = "x",
					.contract = c->contract };

	return hmq_endpoint_import(&c->ep, &cfg, later(), &c->err);
}

static int
publish(struct child *c)
{
	struct hmq_writer *w = hmq_endpoint_writer(c->ep);
	uint64_t number = c->next++;
	struct hmq_tx tx;

	while (hmq_room(w) == 0 || hmq_loan(w, &tx, 1) == 0)
		if (hmq_endpoint_sleep(c->ep, later()))
			return -1;
	memcpy(tx.data, &number, sizeof number);
	tx.head->bytes = sizeof number;
	tx.head->frame = 100 + number;
	tx.head->index = 7;
	tx.head->stream = 3;
	tx.head->stamp_ns = 5;
	tx.head->born_ns = number ? 1000 + (int64_t)number : 0;
	tx.head->last_ns = number ? 2000 : 0;
	tx.head->dim[0] = number == 1 ? 999 : 8;
	tx.head->user[0] = 42;
	return hmq_publish(w, &tx, 1) == 1 ? 0 : -1;
}

static int
take(struct child *c, int any)
{
	struct hmq_reader *r = hmq_endpoint_reader(c->ep);
	struct hmq_rx rx;
	uint64_t number;
	int right;

	while (hmq_peek(r, 0, &rx, 1) == 0)
		if (hmq_reader_state(r) != HMQ_OPEN || hmq_endpoint_sleep(c->ep, later()))
			return -1;
	memcpy(&number, rx.data, sizeof number);
	right = rx.bytes == 8 && (any || number == c->next) && rx.head->frame == 100 + number &&
		rx.head->index == 7 && rx.head->stream == 3 && rx.head->stamp_ns == 5 &&
		rx.head->born_ns == 11 && rx.head->last_ns == 12 && rx.head->user[0] == 42 &&
		rx.head->dim[0] == 8;
	c->next = number + 1;
	hmq_take(r, &rx, 1);
	return right ? 0 : -1;
}

static int
await_state(struct child *c, uint32_t state)
{
	struct hmq_reader *r = hmq_endpoint_reader(c->ep);

	while (hmq_reader_state(r) == HMQ_OPEN)
		if (hmq_queued(r) || hmq_endpoint_sleep(c->ep, later()))
			return -1;
	return hmq_reader_state(r) == state ? 0 : -1;
}

static int
serve_callers(struct child *c)
{
	struct pollfd p = { .fd = GO, .events = POLLIN };

	while (poll(&p, 1, 1) == 0)
		hmq_endpoint_poll(c->ep);
	return 0;
}

static int
play(struct child *c, char letter)
{
	switch (letter) {
	case 'E':
		return take_name(c);
	case 'I':
		return attach(c);
	case 'w':
		return hmq_endpoint_wait(c->ep, 1, later());
	case 'u':
		return serve_callers(c);
	case 'p':
		return publish(c);
	case 'r':
		return take(c, 0);
	case 'R':
		return take(c, 1);
	case 'e':
		return await_state(c, HMQ_ENDED);
	case 'l':
		return await_state(c, HMQ_LOST);
	case 'x':
		hmq_endpoint_close(c->ep);
		c->ep = NULL;
		return 0;
	case 'k':
		kill(getpid(), SIGKILL);
		return -1;
	default:
		return -1;
	}
}

static void
run(struct child *c, const char *script)
{
	char byte;

	for (int i = 0; script[i]; i++) {
		if (read(GO, &byte, 1) < 0)
			_exit(99);
		if (play(c, script[i])) {
			(void)!write(SAID, "!", 1);
			fprintf(stderr, "peer: letter %d of %s: %s\n", i + 1, script, c->err.text);
			_exit(1 + i);
		}
		if (write(SAID, ".", 1) != 1)
			_exit(98);
	}
	_exit(0);
}

/* ---- in the parent ----------------------------------------------------------------------- */

void
peer_start(struct peer *peer, const struct place *p, uint32_t role,
	   const struct hmq_contract *contract, const char *script)
{
	struct child c = { .dir = p->dir, .role = role, .contract = *contract };
	int go[2], said[2];

	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(said, O_CLOEXEC), 0);
	fflush(NULL);
	peer->pid = fork();
	assert_int_not_equal(peer->pid, -1);
	if (peer->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Nothing of the parent's: its sockets would look alive, its pipes open. */
		if (fcntl(go[0], F_DUPFD, GO) != GO || fcntl(said[1], F_DUPFD, SAID) != SAID)
			_exit(97);
		close_range(3, GO - 1, 0);
		close_range(SAID + 1, ~0u, 0);
		run(&c, script);
	}
	close(go[0]);
	close(said[1]);
	peer->go = go[1];
	peer->said = said[0];
	peer->done = 0;
}

void
peer_go(struct peer *peer)
{
	assert_int_equal(write(peer->go, ".", 1), 1);
}

int
peer_has_done(struct peer *peer)
{
	struct pollfd p = { .fd = peer->said, .events = POLLIN };
	char byte;

	if (poll(&p, 1, 0) <= 0)
		return 0;
	(void)!read(peer->said, &byte, 1);
	peer->done++;
	return 1;
}

void
peer_do(struct peer *peer)
{
	char byte;

	peer_go(peer);
	(void)!read(peer->said, &byte, 1); /* nothing: it died, as it was told */
	peer->done++;
}

int
peer_end(struct peer *peer)
{
	int status;

	close(peer->go);
	assert_int_equal(waitpid(peer->pid, &status, 0), peer->pid);
	close(peer->said);
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

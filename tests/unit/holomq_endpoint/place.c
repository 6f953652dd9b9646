/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - a folder of its own, endpoints in it, and peers in child processes.
 *
 * Everything in the parent asserts; everything in a child exits.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "place.h"

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
	memset(p, 0, sizeof(*p));
	p->n_fds = count_fds();
	snprintf(p->dir, sizeof(p->dir), "/tmp/holomq-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(pipe(p->pipe), 0);
}

void
place_close(struct place *p)
{
	close(p->pipe[0]);
	close(p->pipe[1]);
	if (rmdir(p->dir))
		fail_msg("%s is not empty", p->dir);
	assert_int_equal(count_fds(), p->n_fds);
}

const char *
place_path(const struct place *p, const char *leaf)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", p->dir, leaf);
	return path;
}

static struct hmq_contract
contract(void)
{
	return (struct hmq_contract){ .kind = "number",
				      .dtype = { 1, 64, 1 },
				      .rank = 1,
				      .dim = { 1 },
				      .max_bytes = 8,
				      .depth = 4 };
}

struct hmq_export
place_export(const struct place *p, uint32_t role, uint32_t flags)
{
	return (struct hmq_export){ .size = sizeof(struct hmq_export),
				    .role = role,
				    .flags = flags,
				    .dir = p->dir,
				    .name = "x",
				    .contract = contract() };
}

struct hmq_import
place_import(const struct place *p, uint32_t role)
{
	return (struct hmq_import){ .size = sizeof(struct hmq_import),
				    .role = role,
				    .dir = p->dir,
				    .name = "x",
				    .contract = contract() };
}

int64_t
place_after(int64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec + ns;
}

pid_t
place_fork(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	return pid;
}

int
place_reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

void
place_tell(struct place *p, char what)
{
	CHILD_CHECK(write(p->pipe[1], &what, 1) == 1);
}

char
place_hear(struct place *p)
{
	char c = 0;

	assert_int_equal(read(p->pipe[0], &c, 1), 1);
	return c;
}

int32_t
place_send(struct hmq_writer *w, uint64_t number)
{
	struct hmq_tx tx;
	int32_t rc;

	if (hmq_loan(w, &tx, 1) != 1)
		return -EAGAIN;
	memcpy(tx.data, &number, sizeof(number));
	tx.head->bytes = sizeof(number);
	rc = hmq_publish(w, &tx, 1);
	if (rc < 0)
		hmq_cancel(w, &tx, 1);
	return rc;
}

uint64_t
place_take(struct hmq_reader *r)
{
	struct hmq_rx rx;
	uint64_t number;

	if (hmq_peek(r, 0, &rx, 1) != 1 || rx.bytes != sizeof(number))
		return UINT64_MAX;
	memcpy(&number, rx.data, sizeof(number));
	hmq_take(r, &rx, 1);
	return number;
}

pid_t
place_reader(struct place *p, const struct hmq_import *cfg, uint32_t take, int end)
{
	pid_t pid = place_fork();
	struct hmq_endpoint *ep;
	struct hmq_error err;
	uint64_t number;

	if (pid)
		return pid;
	CHILD_CHECK(hmq_endpoint_import(&ep, cfg, place_after(LONG), &err) == 0);
	place_tell(p, 'j');
	while (take > 0) {
		CHILD_CHECK(hmq_endpoint_sleep(ep, place_after(LONG)) == 0);
		number = place_take(hmq_endpoint_reader(ep));
		if (number == UINT64_MAX)
			continue;
		place_tell(p, (char)number);
		take--;
	}
	if (end == END_CLOSE) {
		hmq_endpoint_close(ep);
		_exit(0);
	}
	if (end == END_DIE)
		kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - the n-th allocation or system call fails, for every n.
 *
 * The linker sends the library's calls through __wrap_*, which count down and then
 * refuse once.  Whatever fails: an error with a sentence, or a failure the library
 * can do without; no descriptor, no live name and no thread is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "place.h"

static int countdown = -1; /* < 0: nothing fails */

static int
fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

#define WRAP(type, name, params, args, failure, code)                                              \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		if (!fails())                                                                      \
			return __real_##name args;                                                 \
		errno = (code);                                                                    \
		return (failure);                                                                  \
	}

typedef void *thread_main(void *);

WRAP(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes), NULL, ENOMEM)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(int, ftruncate, (int fd, off_t bytes), (fd, bytes), -1, ENOSPC)
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes), -1, ENOSPC)
WRAP(int, fcntl, (int fd, int what, long arg), (fd, what, arg), -1, EPERM)
WRAP(void *, mmap, (void *at, size_t bytes, int prot, int flags, int fd, off_t from),
     (at, bytes, prot, flags, fd, from), MAP_FAILED, ENOMEM)
WRAP(int, mprotect, (void *at, size_t bytes, int prot), (at, bytes, prot), -1, ENOMEM)
WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, EMFILE)
WRAP(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1, EACCES)
WRAP(int, listen, (int fd, int n), (fd, n), -1, EOPNOTSUPP)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, EACCES)
WRAP(int, chmod, (const char *path, mode_t mode), (path, mode), -1, EPERM)
WRAP(int, flock, (int fd, int what), (fd, what), -1, ENOLCK)
WRAP(int, open, (const char *path, int flags, int mode), (path, flags, mode), -1, EMFILE)
WRAP(int, epoll_create1, (int flags), (flags), -1, EMFILE)
WRAP(int, epoll_ctl, (int fd, int what, int at, struct epoll_event *e), (fd, what, at, e), -1,
     ENOSPC)
WRAP(int, eventfd, (unsigned n, int flags), (n, flags), -1, EMFILE)
WRAP(int, pthread_create, (pthread_t * t, const pthread_attr_t *a, thread_main *f, void *arg),
     (t, a, f, arg), EAGAIN, EAGAIN)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
WRAP(ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags), -1, ENOSYS)

typedef int attempt(struct place *p, struct hmq_error *err);

static int
try_export(struct place *p, struct hmq_error *err)
{
	struct hmq_export e =
		place_export(p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD | HMQ_ENDPOINT_POLLED);
	struct hmq_endpoint *ep;
	int rc = hmq_endpoint_export(&ep, &e, err);

	hmq_endpoint_close(ep);
	return rc;
}

static int
try_renew(struct place *p, struct hmq_error *err)
{
	struct hmq_export e = place_export(p, HMQ_ROLE_READER, 0);
	struct hmq_endpoint *ep;
	int left = countdown;
	int rc;

	/* Only what renew does may fail: its writer has come and gone. */
	countdown = -1;
	assert_int_equal(hmq_endpoint_export(&ep, &e, NULL), 0);
	pid_t pid = place_fork();
	if (pid == 0) {
		struct hmq_import i = place_import(p, HMQ_ROLE_WRITER);

		CHILD_CHECK(hmq_endpoint_import(&ep, &i, place_after(LONG), NULL) == 0);
		hmq_endpoint_close(ep);
		_exit(0);
	}
	while (hmq_reader_state(hmq_endpoint_reader(ep)) != HMQ_ENDED)
		hmq_endpoint_poll(ep);
	assert_int_equal(place_reap(pid), 0);
	countdown = left;
	rc = hmq_endpoint_renew(ep, err);
	left = countdown;
	countdown = -1;
	if (rc) {
		/* It can be tried again. */
		assert_null(hmq_endpoint_reader(ep));
		assert_int_equal(hmq_endpoint_renew(ep, NULL), 0);
		assert_non_null(hmq_endpoint_reader(ep));
	}
	hmq_endpoint_close(ep);
	countdown = left;
	return rc;
}

static int
import_as(struct place *p, uint32_t role, struct hmq_error *err)
{
	struct hmq_import i = place_import(p, role);
	struct hmq_endpoint *ep;
	int rc;

	i.flags = HMQ_ENDPOINT_POLLED;
	rc = hmq_endpoint_import(&ep, &i, place_after(LONG), err);
	hmq_endpoint_close(ep);
	return rc;
}

static int
try_import(struct place *p, struct hmq_error *err)
{
	return import_as(p, HMQ_ROLE_READER, err);
}

static int
try_catalog(struct place *p, struct hmq_error *err)
{
	struct hmq_export e = place_export(p, HMQ_ROLE_WRITER, 0);
	char path[256];
	int rc;

	snprintf(path, sizeof(path), "%s", place_path(p, "c.json"));
	rc = hmq_catalog_write(path, &e, 1, err);
	unlink(path);
	return rc < 0 ? rc : 0;
}

static int
try_buffer(struct place *p, struct hmq_error *err)
{
	struct hmq_buffer *b = NULL;
	struct hmq_cache *c = NULL;
	int rc = hmq_buffer_create(&b, "b", 64, 2, 0, err);

	(void)p;
	if (!rc)
		rc = hmq_cache_new(&c, err);
	if (!rc)
		rc = hmq_cache_import(c, hmq_buffer_fd(b), err);
	hmq_cache_free(c);
	hmq_buffer_free(b);
	return rc < 0 ? rc : 0;
}

static void
fail_each(struct place *p, attempt *f, int least)
{
	int n, failures = 0;

	for (n = 0;; n++) {
		struct hmq_error err = { 0 };
		int rc, ran_out;

		countdown = n;
		rc = f(p, &err);
		ran_out = countdown >= 0;
		countdown = -1;
		failures += rc < 0;
		assert_int_equal(err.code, rc);
		assert_true(rc == 0 || err.text[0]);
		/* A name that could not be released is a dead one. */
		if (f == try_export)
			hmq_endpoint_clean(p->dir, NULL, NULL, NULL);
		if (ran_out) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(f(p, &err), 0);
	}
	assert_true(failures >= least);
}

static void export(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	fail_each(&p, try_export, 20);
	place_close(&p);
}

static void
renew(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	fail_each(&p, try_renew, 5);
	place_close(&p);
}

static void
import(void **state)
{
	struct place p;
	struct hmq_export e;
	struct hmq_endpoint *ep;
	pid_t pid;

	(void)state;
	place_open(&p);
	pid = place_fork();
	if (pid == 0) {
		e = place_export(&p, HMQ_ROLE_WRITER, HMQ_ENDPOINT_THREAD);
		e.seats = 8;
		CHILD_CHECK(hmq_endpoint_export(&ep, &e, NULL) == 0);
		place_tell(&p, 'e');
		for (;;)
			(void)hmq_endpoint_wait(ep, 8, INT64_MAX);
	}
	place_hear(&p);
	fail_each(&p, try_import, 10);
	kill(pid, SIGKILL);
	place_reap(pid);
	assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 1);
	place_close(&p);
}

static void
catalog_and_buffer(void **state)
{
	struct place p;

	(void)state;
	place_open(&p);
	fail_each(&p, try_catalog, 4);
	fail_each(&p, try_buffer, 7);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(export),
		cmocka_unit_test(renew),
		cmocka_unit_test(import),
		cmocka_unit_test(catalog_and_buffer),
	};

	return cmocka_run_group_tests_name("holomq_endpoint_fault", tests, NULL, NULL);
}

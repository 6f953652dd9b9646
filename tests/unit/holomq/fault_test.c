/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_test.c - the n-th allocation or system call fails, for every n.
 *
 * The linker sends the library's calls through __wrap_*, which count down and then
 * refuse once.  Each [control] function must return an error, leave nothing open,
 * and work when it is called again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

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

WRAP(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes), NULL, ENOMEM)
WRAP(int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)
WRAP(int, ftruncate, (int fd, off_t bytes), (fd, bytes), -1, ENOSPC)
WRAP(int, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes), -1, ENOSPC)
WRAP(int, fcntl, (int fd, int what, long arg), (fd, what, arg), -1, EPERM)
WRAP(void *, mmap, (void *at, size_t bytes, int prot, int flags, int fd, off_t from),
     (at, bytes, prot, flags, fd, from), MAP_FAILED, ENOMEM)
WRAP(int, mprotect, (void *at, size_t bytes, int prot), (at, bytes, prot), -1, ENOMEM)

/* One try: everything a pair of processes would do.  0, or the first error. */
static int
build_and_tear_down(uint32_t flags)
{
	struct hmq_reader_config reader = { 2, HMQ_DROP_OLDEST };
	struct hmq_config cfg = {
		.slots = 4, .payload_bytes = 8, .n_readers = 1, .reader = &reader
	};
	struct hmq_waiter *life;
	struct hmq_segment seg, again = { .fd = -1 }, nest = { .fd = -1 };
	struct hmq_peer peer = { .event_fd = -1 };
	struct hmq_writer *w = NULL;
	struct hmq_reader *r = NULL;
	struct hmq_error err = { 0 };
	int fd, rc;

	rc = hmq_segment_create(&seg, "fault", hmq_chan_bytes(&cfg, &err), flags, &err);
	if (!rc)
		rc = hmq_segment_create(&nest, "nest", 4096, 0, &err);
	if (!rc) {
		life = nest.base;
		hmq_waiter_init(life, HMQ_WAIT_FUTEX);
		peer.life = life;
		rc = hmq_chan_format(&seg, &cfg, &err);
	}
	if (!rc && (flags & HMQ_SEG_SHARED)) {
		fd = dup(seg.fd);
		rc = hmq_segment_map(&again, fd, &err);
		if (rc)
			close(fd);
	}
	if (!rc)
		rc = hmq_reader_open(&r, again.base ? &again : &seg, 0, &peer, &err);
	if (!rc)
		rc = hmq_writer_open(&w, &seg, &rig_no_peer, &err);
	assert_int_equal(err.code, rc);
	assert_true(rc == 0 || strlen(err.text) > 0);
	hmq_reader_free(r);
	hmq_writer_free(w);
	hmq_segment_close(&again);
	hmq_segment_close(&nest);
	hmq_segment_close(&seg);
	return rc;
}

static void
every_failure_is_reported_and_leaves_nothing(uint32_t flags, int least)
{
	int before = rig_count_fds();
	int n;

	for (n = 0;; n++) {
		countdown = n;
		int rc = build_and_tear_down(flags);
		int ran_out = countdown >= 0;

		countdown = -1;
		assert_int_equal(rig_count_fds(), before);
		if (ran_out) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_true(rc < 0);
		assert_int_equal(build_and_tear_down(flags), 0);
	}
	assert_true(n >= least);
}

static void
private_memory(void **state)
{
	(void)state;
	every_failure_is_reported_and_leaves_nothing(0, 7);
}

static void
shared_memory(void **state)
{
	(void)state;
	every_failure_is_reported_and_leaves_nothing(HMQ_SEG_SHARED, 15);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_memory),
		cmocka_unit_test(shared_memory),
	};

	return cmocka_run_group_tests_name("holomq_fault", tests, NULL, NULL);
}

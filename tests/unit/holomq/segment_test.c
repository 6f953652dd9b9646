/* SPDX-License-Identifier: Apache-2.0 */
/* segment_test.c - memory: sizes, seals, what is refused, nothing left open. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static void
private_segment_is_zero_and_whole_pages(void **state)
{
	struct hmq_segment seg;
	struct hmq_error err;

	(void)state;
	assert_int_equal(hmq_segment_create(&seg, "private", 5000, 0, &err), 0);
	assert_int_equal(seg.fd, -1);
	assert_int_equal(seg.bytes, 8192);
	for (uint64_t i = 0; i < seg.bytes; i++)
		assert_int_equal(((uint8_t *)seg.base)[i], 0);
	hmq_segment_close(&seg);
	assert_null(seg.base);
}

static void
shared_segment_cannot_be_resized(void **state)
{
	struct hmq_segment seg;
	struct hmq_error err;

	(void)state;
	assert_int_equal(hmq_segment_create(&seg, "shared", 8192, HMQ_SEG_SHARED, &err), 0);
	assert_int_equal(ftruncate(seg.fd, 4096), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(seg.fd, 16384), -1);
	assert_int_equal(errno, EPERM);
	assert_true(fcntl(seg.fd, F_GETFD) & FD_CLOEXEC);
	hmq_segment_close(&seg);
}

static void
mapping_a_descriptor_shows_the_same_memory(void **state)
{
	struct hmq_segment seg, again;
	struct hmq_error err;
	int before = rig_count_fds();

	(void)state;
	assert_int_equal(hmq_segment_create(&seg, "shared", 8192, HMQ_SEG_SHARED, &err), 0);
	assert_int_equal(hmq_segment_map(&again, dup(seg.fd), &err), 0);
	assert_int_equal(again.bytes, 8192);
	assert_true(again.flags & HMQ_SEG_SHARED);
	((uint8_t *)seg.base)[5000] = 7;
	assert_int_equal(((uint8_t *)again.base)[5000], 7);
	hmq_segment_close(&again);
	hmq_segment_close(&seg);
	assert_int_equal(rig_count_fds(), before);
}

static void
creating_nonsense_is_refused_with_a_sentence(void **state)
{
	struct hmq_segment seg;
	struct hmq_error err;

	(void)state;
	assert_int_equal(hmq_segment_create(&seg, "zero", 0, 0, &err), -EINVAL);
	assert_non_null(strstr(err.text, "zero"));
	assert_int_equal(err.code, -EINVAL);
	assert_int_equal(hmq_segment_create(&seg, "huge", UINT64_MAX, 0, &err), -EINVAL);
	assert_int_equal(hmq_segment_create(&seg, "flag", 4096, 8, &err), -EINVAL);
	assert_int_equal(hmq_segment_create(&seg, "flag", 4096, 8, NULL), -EINVAL);
	assert_null(seg.base);
	hmq_segment_close(&seg); /* of a refused one: harmless */
}

/* In a child whose files cannot grow: should the check be missing, only the child suffers. */
static void
more_memory_than_there_is_is_refused(void **state)
{
	static const uint32_t kinds[] = { 0, HMQ_SEG_SHARED };
	const struct rlimit small = { 1 << 20, 1 << 20 };
	int status;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 2; i++) {
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			struct hmq_segment seg;
			struct hmq_error err;

			signal(SIGXFSZ, SIG_IGN);
			if (setrlimit(RLIMIT_FSIZE, &small))
				_exit(2);
			_exit(hmq_segment_create(&seg, "big", UINT64_C(1) << 60, kinds[i], &err) !=
				      -ENOMEM ||
			      !strstr(err.text, "available"));
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static void
mapping_what_is_not_a_sealed_segment_is_refused(void **state)
{
	struct hmq_segment seg;
	struct hmq_error err;
	int fd;

	(void)state;
	assert_int_equal(hmq_segment_map(&seg, -1, &err), -EBADF);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_true(hmq_segment_map(&seg, fd, &err) < 0);
	close(fd);
	fd = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 8192), 0);
	assert_int_equal(hmq_segment_map(&seg, fd, &err), -EPERM);
	close(fd);
	fd = memfd_create("tiny", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(fd, 100), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	assert_int_equal(hmq_segment_map(&seg, fd, &err), -EBADMSG);
	close(fd);
	assert_null(seg.base);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_segment_is_zero_and_whole_pages),
		cmocka_unit_test(shared_segment_cannot_be_resized),
		cmocka_unit_test(mapping_a_descriptor_shows_the_same_memory),
		cmocka_unit_test(creating_nonsense_is_refused_with_a_sentence),
		cmocka_unit_test(more_memory_than_there_is_is_refused),
		cmocka_unit_test(mapping_what_is_not_a_sealed_segment_is_refused),
	};

	return cmocka_run_group_tests_name("holomq_segment", tests, NULL, NULL);
}

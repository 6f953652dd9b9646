/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child that crashes, hangs, exits or talks: each end is told apart, nothing
 * is printed, no process and no descriptor is left.
 */
#include "support.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/child.h"

static struct hr_arena *a;

static unsigned
open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static struct hr_child_end
run(int limit_ms, void (*body)(void *, struct hr_text *), void *arg)
{
	const unsigned before = open_files();
	struct hr_child_end end;

	assert_int_equal(hr_child_run(a, limit_ms, true, body, arg, &end), 0);
	assert_int_equal(open_files(), before);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return end;
}

static void
talk(void *arg, struct hr_text *out)
{
	hr_text_add(out, "%s", (const char *)arg);
	hr_text_fill(out, 'x', 300000);
}

static void
what_the_body_says_comes_back_whole(void **state)
{
	char text[] = "hello ";
	struct hr_child_end end = run(10000, talk, text);

	(void)state;
	assert_int_equal(end.how, HR_CHILD_CLEAN);
	assert_int_equal(strlen(end.text), 300006);
	assert_memory_equal(end.text, "hello xx", 8);
}

static void
crash(void *arg, struct hr_text *out)
{
	(void)out;
	hr_stage_enter("shape()", "/x/libp.so", "fam/op", "work");
	raise(*(int *)arg);
}

static void
a_signal_is_named_with_what_ran(void **state)
{
	int sig = SIGSEGV;
	struct hr_child_end end = run(10000, crash, &sig);

	(void)state;
	assert_int_equal(end.how, HR_CHILD_SIGNAL);
	assert_int_equal(end.status, SIGSEGV);
	assert_string_equal(end.stage.doing, "shape()");
	assert_string_equal(end.stage.plugin, "/x/libp.so");
	assert_string_equal(end.stage.op, "fam/op");
	assert_string_equal(end.stage.node, "work");
	assert_non_null(strstr(hr_child_how_text(a, &end, 10000), "SIGSEGV"));
	sig = SIGRTMIN;
	end = run(10000, crash, &sig);
	assert_non_null(strstr(hr_child_how_text(a, &end, 10000), "killed by signal"));
}

static void
leave(void *arg, struct hr_text *out)
{
	(void)out;
	_exit(*(int *)arg);
}

static void
an_exit_is_no_clean_end(void **state)
{
	int status = 7;
	struct hr_child_end end = run(10000, leave, &status);

	(void)state;
	assert_int_equal(end.how, HR_CHILD_EXITED);
	assert_non_null(strstr(hr_child_how_text(a, &end, 10000), "exit status 7"));
	status = 0;
	end = run(10000, leave, &status);
	assert_int_equal(end.how, HR_CHILD_EXITED);
}

static void
hang(void *arg, struct hr_text *out)
{
	(void)arg, (void)out;
	for (;;)
		pause();
}

static void
spin(void *arg, struct hr_text *out)
{
	(void)arg, (void)out;
	signal(SIGXCPU, SIG_IGN);
	for (volatile unsigned i = 0;; i++)
		;
}

static void
a_child_that_hangs_is_ended_after_its_time(void **state)
{
	struct hr_child_end end = run(50, hang, NULL);

	(void)state;
	assert_int_equal(end.how, HR_CHILD_TIMEOUT);
	assert_non_null(strstr(hr_child_how_text(a, &end, 50), "did not return in 0.05 s"));
	end = run(50, spin, NULL);
	assert_int_equal(end.how, HR_CHILD_TIMEOUT);
}

static void
print(void *arg, struct hr_text *out)
{
	hr_text_add(out, "%zd %zd", write(1, arg, strlen(arg)), write(2, arg, strlen(arg)));
}

static void
nothing_is_printed(void **state)
{
	char noise[] = "noise";
	int kept[2] = { dup(1), dup(2) };
	int file = memfd_create("printed", 0);
	struct hr_child_end end;

	(void)state;
	dup2(file, 1);
	dup2(file, 2);
	end = run(10000, print, noise);
	dup2(kept[0], 1);
	dup2(kept[1], 2);
	close(kept[0]);
	close(kept[1]);
	assert_string_equal(end.text, "5 5");
	assert_int_equal(lseek(file, 0, SEEK_END), 0);
	close(file);
}

static void
blocked_signals_and_handlers_of_the_parent_are_undone(void **state)
{
	int sig = SIGTERM;
	sigset_t all, old;
	struct hr_child_end end;

	(void)state;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	signal(SIGTERM, SIG_IGN);
	end = run(10000, crash, &sig);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(end.how, HR_CHILD_SIGNAL);
	assert_int_equal(end.status, SIGTERM);
}

/* What the linker puts in place of the system calls of the code under test. */
static int fail_fork, fail_mmap;
pid_t __real_fork(void);
pid_t __wrap_fork(void);
void *__real_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off);

pid_t
__wrap_fork(void)
{
	errno = EAGAIN;
	return fail_fork ? -1 : __real_fork();
}

void *
__wrap_mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
	errno = ENOMEM;
	return fail_mmap ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, off);
}

static void
a_child_that_cannot_be_started_is_an_error(void **state)
{
	const unsigned before = open_files();
	struct hr_child_end end;

	(void)state;
	fail_fork = 1;
	assert_int_equal(hr_child_run(a, 1000, true, leave, NULL, &end), -EAGAIN);
	fail_fork = 0;
	fail_mmap = 1;
	assert_int_equal(hr_child_run(a, 1000, true, leave, NULL, &end), -ENOMEM);
	fail_mmap = 0;
	assert_int_equal(open_files(), before);
}

static void
nothing(void *arg, struct hr_text *out)
{
	(void)arg, (void)out;
}

static void
without_descriptors_only_a_text_is_refused(void **state)
{
	struct rlimit old, none;
	struct hr_child_end end;
	int with, without;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	with = hr_child_run(a, 10000, true, nothing, NULL, &end);
	without = hr_child_run(a, 10000, false, nothing, NULL, &end);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(with, -EMFILE);
	assert_int_equal(without, 0);
	assert_int_equal(end.how, HR_CHILD_CLEAN);
}

static int
begin(void **state)
{
	(void)state;
	a = hr_arena_new();
	return 0;
}

static int
end(void **state)
{
	(void)state;
	hr_arena_free(a);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_the_body_says_comes_back_whole),
		T(a_signal_is_named_with_what_ran),
		T(an_exit_is_no_clean_end),
		T(a_child_that_hangs_is_ended_after_its_time),
		T(nothing_is_printed),
		T(a_child_that_cannot_be_started_is_an_error),
		T(without_descriptors_only_a_text_is_refused),
		T(blocked_signals_and_handlers_of_the_parent_are_undone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

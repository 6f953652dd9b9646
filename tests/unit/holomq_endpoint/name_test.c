/* SPDX-License-Identifier: Apache-2.0 */
/* name_test.c - who may have a name: the living keep it, the dead lose it, whoever asks. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "place.h"

static int export(const struct place *p, const char *name, uint32_t flags, struct hmq_endpoint **ep,
		  struct hmq_error *err)
{
	struct hmq_export e = place_export(p, HMQ_ROLE_WRITER, flags);

	e.name = name;
	return hmq_endpoint_export(ep, &e, err);
}

/* Leaves a socket nobody listens on. */
static void
leave_dead(struct place *p, const char *name)
{
	struct hmq_endpoint *ep;
	pid_t pid = place_fork();

	if (pid == 0) {
		CHILD_CHECK(export(p, name, 0, &ep, NULL) == 0);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(place_reap(pid), 256 + SIGKILL);
}

static int
is_there(const struct place *p, const char *leaf)
{
	struct stat st;

	return lstat(place_path(p, leaf), &st) == 0;
}

static void
names_that_are_no_files_are_refused(void **state)
{
	static const char *const bad[] = { "", ".x", "a/b", "a b", "\xc3\xa9", "a\n" };
	char longest[66], dir[128];
	struct hmq_export e;
	struct hmq_error err;
	struct place p;
	struct hmq_endpoint *ep;

	(void)state;
	place_open(&p);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(export(&p, bad[i], 0, &ep, NULL), -EINVAL);
	assert_int_equal(export(&p, NULL, 0, &ep, NULL), -EINVAL);
	memset(longest, 'n', sizeof(longest));
	longest[65] = 0;
	assert_int_equal(export(&p, longest, 0, &ep, NULL), -EINVAL);
	longest[64] = 0;
	assert_int_equal(export(&p, longest, 0, &ep, NULL), 0);
	hmq_endpoint_close(ep);
	e = place_export(&p, HMQ_ROLE_WRITER, 0);
	e.name = longest;
	snprintf(dir, sizeof(dir), "%s/a-folder-somewhat-deeper-than-a-socket-likes", p.dir);
	e.dir = dir;
	assert_int_equal(hmq_endpoint_export(&ep, &e, &err), -ENAMETOOLONG);
	assert_non_null(strstr(err.text, "a socket's has 107 bytes at most"));
	place_close(&p);
}

static void
the_socket_is_for_its_user_alone_and_goes_with_the_endpoint(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct stat st;

	(void)state;
	place_open(&p);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	assert_int_equal(lstat(place_path(&p, "x.hmq"), &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	hmq_endpoint_close(ep);
	assert_int_equal(export(&p, "x", HMQ_ENDPOINT_ANY_USER, &ep, NULL), 0);
	assert_int_equal(lstat(place_path(&p, "x.hmq"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0666);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_folder_that_is_not_there_is_made_for_its_user_alone(void **state)
{
	struct place p;
	struct hmq_export e;
	struct hmq_endpoint *ep;
	struct stat st;
	char dir[256];

	(void)state;
	place_open(&p);
	snprintf(dir, sizeof(dir), "%s", place_path(&p, "sub"));
	e = place_export(&p, HMQ_ROLE_WRITER, 0);
	e.dir = dir;
	assert_int_equal(hmq_endpoint_export(&ep, &e, NULL), 0);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	hmq_endpoint_close(ep);
	rmdir(dir);
	e.dir = "/nowhere/at/all";
	assert_int_equal(hmq_endpoint_export(&ep, &e, NULL), -ENOENT);
	place_close(&p);
}

static void
a_live_name_is_kept(void **state)
{
	struct place p;
	struct hmq_endpoint *ep, *other;
	struct hmq_error err;
	struct stat before, after;

	(void)state;
	place_open(&p);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	assert_int_equal(lstat(place_path(&p, "x.hmq"), &before), 0);
	assert_int_equal(export(&p, "x", 0, &other, &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, "x.hmq: a live endpoint has this name"));
	assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 0);
	assert_int_equal(lstat(place_path(&p, "x.hmq"), &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_stopped_owner_is_alive(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	pid_t pid;
	int status;

	(void)state;
	place_open(&p);
	pid = place_fork();
	if (pid == 0) {
		CHILD_CHECK(export(&p, "x", HMQ_ENDPOINT_THREAD, &ep, NULL) == 0);
		place_tell(&p, 'e');
		for (;;)
			pause();
	}
	place_hear(&p);
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), -EADDRINUSE);
	kill(pid, SIGKILL);
	place_reap(pid);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_dead_name_is_replaced(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;

	(void)state;
	place_open(&p);
	leave_dead(&p, "x");
	assert_true(is_there(&p, "x.hmq"));
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_file_in_the_way_is_not_touched(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct hmq_error err;
	int fd;

	(void)state;
	place_open(&p);
	fd = open(place_path(&p, "x.hmq"), O_WRONLY | O_CREAT, 0600);
	close(fd);
	assert_int_equal(export(&p, "x", 0, &ep, &err), -EEXIST);
	assert_non_null(strstr(err.text, "is no socket"));
	assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 0);
	assert_int_equal(unlink(place_path(&p, "x.hmq")), 0);
	place_close(&p);
}

static void
note_name(const char *name, void *arg)
{
	strcat(arg, name);
	strcat(arg, " ");
}

static void
clean_removes_the_dead_and_says_which(void **state)
{
	struct place p;
	struct hmq_endpoint *live;
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char said[256] = "";
	int fd, s;

	(void)state;
	place_open(&p);
	assert_int_equal(hmq_endpoint_clean(place_path(&p, "none"), NULL, NULL, NULL), 0);
	leave_dead(&p, "dead");
	assert_int_equal(export(&p, "live", 0, &live, NULL), 0);
	fd = open(place_path(&p, "file.hmq"), O_WRONLY | O_CREAT, 0600);
	close(fd);
	/* What a process killed while it took a name leaves. */
	snprintf(un.sun_path, sizeof(un.sun_path), "%s", place_path(&p, ".y.hmq.tmp"));
	s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
	close(s);
	assert_int_equal(hmq_endpoint_clean(p.dir, note_name, said, NULL), 2);
	assert_non_null(strstr(said, "dead.hmq "));
	assert_non_null(strstr(said, ".y.hmq.tmp "));
	assert_false(is_there(&p, "dead.hmq"));
	assert_true(is_there(&p, "live.hmq"));
	assert_true(is_there(&p, "file.hmq"));
	unlink(place_path(&p, "file.hmq"));
	hmq_endpoint_close(live);
	place_close(&p);
}

static void
closing_leaves_a_successors_name_alone(void **state)
{
	struct place p;
	struct hmq_endpoint *first, *second;

	(void)state;
	place_open(&p);
	assert_int_equal(export(&p, "x", 0, &first, NULL), 0);
	unlink(place_path(&p, "x.hmq")); /* somebody tidied up by hand */
	assert_int_equal(export(&p, "x", 0, &second, NULL), 0);
	hmq_endpoint_close(first);
	assert_true(is_there(&p, "x.hmq"));
	hmq_endpoint_close(second);
	assert_false(is_there(&p, "x.hmq"));
	place_close(&p);
}

static void
of_many_that_start_at_once_exactly_one_gets_a_dead_name(void **state)
{
	enum { RACERS = 8, ROUNDS = 10 };
	struct place p;
	struct hmq_endpoint *ep;
	int go[2], hold[2];
	pid_t pid[RACERS];
	char c;

	(void)state;
	place_open(&p);
	for (int round = 0; round < ROUNDS; round++) {
		int won = 0, lost = 0;

		leave_dead(&p, "x");
		assert_int_equal(pipe(go), 0);
		assert_int_equal(pipe(hold), 0);
		for (int i = 0; i < RACERS; i++) {
			pid[i] = place_fork();
			if (pid[i])
				continue;
			close(go[1]);
			close(hold[1]);
			CHILD_CHECK(read(go[0], &c, 1) == 0);
			int rc = export(&p, "x", 0, &ep, NULL);

			CHILD_CHECK(rc == 0 || rc == -EADDRINUSE);
			place_tell(&p, rc ? 'l' : 'w');
			CHILD_CHECK(read(hold[0], &c, 1) == 0); /* until all have tried */
			if (!rc)
				kill(getpid(), SIGKILL);
			_exit(0);
		}
		close(go[1]);
		for (int i = 0; i < RACERS; i++) {
			c = place_hear(&p);
			won += c == 'w';
			lost += c == 'l';
		}
		close(hold[1]);
		for (int i = 0; i < RACERS; i++)
			place_reap(pid[i]);
		close(go[0]);
		close(hold[0]);
		assert_int_equal(won, 1);
		assert_int_equal(lost, RACERS - 1);
	}
	assert_int_equal(hmq_endpoint_clean(p.dir, NULL, NULL, NULL), 1);
	place_close(&p);
}

static void
a_folder_that_stays_locked_is_a_time_out(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	struct hmq_error err;
	int fd;

	(void)state;
	place_open(&p);
	fd = open(p.dir, O_RDONLY | O_DIRECTORY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(export(&p, "x", 0, &ep, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.text, "locked by another process"));
	close(fd);
	place_close(&p);
}

static void
another_pid_namespace_changes_nothing(void **state)
{
	struct place p;
	struct hmq_endpoint *ep;
	pid_t pid, inner;
	int rc;

	(void)state;
	place_open(&p);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_endpoint *mine;

		if (unshare(CLONE_NEWPID))
			_exit(77);
		inner = fork();
		if (inner == 0) { /* pid 1 over there */
			CHILD_CHECK(export(&p, "x", 0, &mine, NULL) == -EADDRINUSE);
			CHILD_CHECK(export(&p, "y", 0, &mine, NULL) == 0);
			kill(getpid(), SIGKILL); /* pid 1 does not obey itself */
			_exit(0);
		}
		_exit(place_reap(inner) & 255);
	}
	rc = place_reap(pid);
	hmq_endpoint_close(ep);
	if (rc == 0) {
		/* y was left by the other namespace: dead here as there. */
		assert_int_equal(export(&p, "y", 0, &ep, NULL), 0);
		hmq_endpoint_close(ep);
	}
	place_close(&p);
	if (rc == 77)
		skip();
	assert_int_equal(rc, 0);
}

#define NOBODY 65534

static void
another_users_name_and_folder_are_refused(void **state)
{
	struct place p;
	struct hmq_endpoint *ep, *mine;
	struct hmq_error err;
	pid_t pid;
	int rc;

	(void)state;
	if (geteuid() != 0)
		skip();
	place_open(&p);
	assert_int_equal(export(&p, "x", 0, &ep, NULL), 0);
	assert_int_equal(chmod(p.dir, 01777), 0);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_import i = place_import(&p, HMQ_ROLE_READER);

		CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
		CHILD_CHECK(export(&p, "x", 0, &mine, &err) == -EACCES);
		CHILD_CHECK(strstr(err.text, "another user's"));
		CHILD_CHECK(hmq_endpoint_import(&mine, &i, place_after(LONG), &err) == -EACCES);
		CHILD_CHECK(hmq_endpoint_clean(p.dir, NULL, NULL, NULL) == 0);
		_exit(0);
	}
	rc = place_reap(pid);
	assert_int_equal(rc, 0);
	assert_true(is_there(&p, "x.hmq"));
	hmq_endpoint_close(ep);

	assert_int_equal(chmod(p.dir, 0777), 0); /* without the sticky bit anybody could rename */
	assert_int_equal(export(&p, "x", 0, &ep, &err), -EPERM);
	assert_non_null(strstr(err.text, "written by everybody"));
	assert_int_equal(chmod(p.dir, 0700), 0);
	assert_int_equal(chown(p.dir, NOBODY, NOBODY), 0);
	assert_int_equal(export(&p, "x", 0, &ep, &err), -EPERM);
	assert_non_null(strstr(err.text, "belongs to user 65534"));
	place_close(&p);
}

static void
any_user_may_come_where_that_is_allowed(void **state)
{
	struct place p;
	struct hmq_endpoint *ep, *mine;
	struct hmq_endpoint_stat st;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	place_open(&p);
	assert_int_equal(export(&p, "x", HMQ_ENDPOINT_ANY_USER, &ep, NULL), 0);
	assert_int_equal(chmod(p.dir, 0755), 0);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_import i = place_import(&p, HMQ_ROLE_READER);

		CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
		/* The exporter is root, whom everybody trusts. */
		CHILD_CHECK(hmq_endpoint_import(&mine, &i, place_after(LONG), NULL) == 0);
		CHILD_CHECK(hmq_endpoint_sleep(mine, place_after(LONG)) == 0);
		CHILD_CHECK(place_take(hmq_endpoint_reader(mine)) == 5);
		hmq_endpoint_close(mine);
		_exit(0);
	}
	assert_int_equal(hmq_endpoint_wait(ep, 1, place_after(LONG)), 0);
	assert_int_equal(place_send(hmq_endpoint_writer(ep), 5), 1);
	assert_int_equal(place_reap(pid), 0);
	hmq_endpoint_numbers(ep, &st);
	assert_int_equal(st.attached, 1);
	hmq_endpoint_close(ep);
	place_close(&p);
}

static void
a_stranger_is_refused_by_his_user_though_the_mode_would_let_him(void **state)
{
	struct place p;
	struct hmq_endpoint *ep, *mine;
	struct hmq_endpoint_stat st;
	struct hmq_error err;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	place_open(&p);
	assert_int_equal(export(&p, "x", HMQ_ENDPOINT_THREAD, &ep, NULL), 0);
	assert_int_equal(chmod(place_path(&p, "x.hmq"), 0666), 0);
	assert_int_equal(chmod(p.dir, 0755), 0);
	pid = place_fork();
	if (pid == 0) {
		struct hmq_import i = place_import(&p, HMQ_ROLE_READER);

		CHILD_CHECK(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
		CHILD_CHECK(hmq_endpoint_import(&mine, &i, place_after(LONG), &err) == -EACCES);
		CHILD_CHECK(strstr(err.text, "is of user 65534"));
		_exit(0);
	}
	assert_int_equal(place_reap(pid), 0);
	hmq_endpoint_numbers(ep, &st);
	assert_int_equal(st.refused, 1);
	hmq_endpoint_close(ep);
	place_close(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_are_no_files_are_refused),
		cmocka_unit_test(the_socket_is_for_its_user_alone_and_goes_with_the_endpoint),
		cmocka_unit_test(a_folder_that_is_not_there_is_made_for_its_user_alone),
		cmocka_unit_test(a_live_name_is_kept),
		cmocka_unit_test(a_stopped_owner_is_alive),
		cmocka_unit_test(a_dead_name_is_replaced),
		cmocka_unit_test(a_file_in_the_way_is_not_touched),
		cmocka_unit_test(clean_removes_the_dead_and_says_which),
		cmocka_unit_test(closing_leaves_a_successors_name_alone),
		cmocka_unit_test(of_many_that_start_at_once_exactly_one_gets_a_dead_name),
		cmocka_unit_test(a_folder_that_stays_locked_is_a_time_out),
		cmocka_unit_test(another_pid_namespace_changes_nothing),
		cmocka_unit_test(another_users_name_and_folder_are_refused),
		cmocka_unit_test(any_user_may_come_where_that_is_allowed),
		cmocka_unit_test(a_stranger_is_refused_by_his_user_though_the_mode_would_let_him),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

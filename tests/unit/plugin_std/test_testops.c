/* SPDX-License-Identifier: Apache-2.0 */
/* test_testops.c - the test plugins: what graphs in tests rely on is so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_host.h"
#include "param_put.h"

static struct fh_plugin plugin;
static const struct hop_format format = { .size = sizeof(struct hop_format),
					  .dtype = { 1, 8, 1 },
					  .max_bytes = 64 };

static _Alignas(8) char params[PUT_ROOM];

static const struct hop_op *
op_of(const char *name)
{
	const struct hop_op *op = fh_op(&plugin, name);

	put_defaults(op, params);
	return op;
}

static struct fh *
open_op(const char *name)
{
	const struct hop_format in[2] = { format, format };
	const struct hop_op *op = op_of(name);
	uint32_t n_in = 0;

	for (uint32_t i = 0; i < op->ports.count; i++)
		n_in += op->ports.at[i].dir == HOP_IN;
	return fh_open(op, params, in, n_in);
}

static void
feed(struct fh *h, uint32_t port, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		fh_in(h, port, &(struct hop_head){ .frame = i }, &i, sizeof i);
}

static uint64_t
number(const struct fh *h, uint32_t port, uint32_t i)
{
	uint64_t n;

	memcpy(&n, fh_out(h, port, i)->data, sizeof n);
	return n;
}

static void
a_source_numbers_its_messages_and_refuses_a_size_below_one(void **state)
{
	const struct hop_op *op = op_of("test/seq_source");
	struct fh *h;

	(void)state;
	put_int(op, params, "count", 40);
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_run(h, 9), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 40);
	assert_int_equal(number(h, 0, 39), 39);
	fh_close(h);
	put_int(op, params, "size", 0);
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(h), -EINVAL);
	assert_memory_equal(fh_error_text(h), "size: ", 6);
	fh_close(h);
}

static void
a_script_makes_pieces(void **state)
{
	const struct hop_op *op = op_of("test/pieces");
	struct fh *h;

	(void)state;
	put_text(op, params, "script", " 0/1 0/0/7  5/3");
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_run(h, 9), HOP_DONE);
	assert_int_equal(fh_out_count(h, 0), 3);
	assert_int_equal(fh_out(h, 0, 1)->head->stream, 7);
	assert_int_equal(fh_out(h, 0, 2)->head->frame, 5);
	assert_int_equal(fh_out(h, 0, 2)->head->index, 3);
	assert_int_equal(number(h, 0, 2), (uint64_t)5 << 32 | 3);
	fh_close(h);
	put_text(op, params, "script", "0/1 x");
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_step(h), -EINVAL);
	fh_close(h);
}

static void
passers_split_join_and_collect(void **state)
{
	struct fh *h = open_op("test/two_out");

	(void)state;
	feed(h, 0, 0, 5);
	fh_run(h, 9);
	assert_int_equal(fh_out_count(h, 0), 3);
	assert_int_equal(fh_out_count(h, 1), 2);
	assert_int_equal(number(h, 1, 1), 3);
	fh_close(h);

	h = open_op("test/join2");
	feed(h, 0, 0, 5);
	feed(h, 1, 0, 3);
	fh_end(h, 0);
	fh_end(h, 1);
	fh_run(h, 9);
	assert_int_equal(fh_counter(h, "pairs"), 3);
	assert_int_equal(fh_counter(h, "singles"), 2);
	assert_int_equal(fh_out_count(h, 0), 5);
	fh_close(h);

	h = open_op("test/need5");
	assert_int_equal(fh_port_need(h, 0), 5);
	feed(h, 0, 0, 12);
	fh_end(h, 0);
	fh_run(h, 9);
	assert_int_equal(fh_out_count(h, 0), 2);
	assert_int_equal(fh_in_left(h, 0), 0);
	fh_close(h);
}

static void
a_sink_writes_the_numbers_and_refuses_a_gap(void **state)
{
	const struct hop_op *op = op_of("test/seq_sink");
	char file[] = "/tmp/holorun-testops-XXXXXX", text[16] = "";
	int fd = mkstemp(file);
	struct fh *h;

	(void)state;
	put_text(op, params, "file", file);
	h = fh_open(op, params, &format, 1);
	feed(h, 0, 0, 3);
	fh_step(h);
	feed(h, 0, 4, 1);
	assert_int_equal(fh_step(h), -EPROTO);
	assert_string_equal(fh_error_text(h), "wanted number 3, found 4");
	fh_close(h);
	assert_int_equal(read(fd, text, sizeof text - 1), 6);
	assert_string_equal(text, "0\n1\n2\n");
	close(fd);
	unlink(file);
}

static void
a_hog_keeps_eight(void **state)
{
	struct fh *h = open_op("test/hog");

	(void)state;
	feed(h, 0, 0, 10);
	fh_run(h, 9);
	assert_int_equal(fh_kept(h), 8);
	assert_int_equal(fh_in_left(h, 0), 2);
	fh_close(h);
}

static void
faults_fail_where_told(void **state)
{
	struct fh *h = open_op("test/fail_open");

	(void)state;
	assert_int_equal(fh_rc(h), -EIO);
	assert_string_equal(fh_error_text(h), "as told");
	fh_close(h);
	h = open_op("test/fail_at");
	feed(h, 0, 0, 20);
	assert_int_equal(fh_run(h, 9), -EIO);
	fh_close(h);
	h = open_op("test/done_after");
	feed(h, 0, 0, 20);
	assert_int_equal(fh_step(h), HOP_DONE);
	assert_int_equal(fh_in_left(h, 0), 10);
	fh_close(h);
}

/* In a child, which it ends. */
static void
a_crash_is_a_real_one(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		struct fh *h;

		close(2);
		signal(SIGSEGV, SIG_DFL); /* cmocka catches it */
		h = open_op("test/crash");
		feed(h, 0, 0, 600);
		fh_run(h, 100);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
}

static void
parameters_arrive_as_given(void **state)
{
	static const double reals[] = { 1, 2.5 };
	const struct hop_reals list = { reals, 2 };
	static const char wanted[] = "text=\npath=some/where\nreal=1.5\nrate=2000\ninteger=7\n"
				     "time=10000000\nsize=4096\nchoice=blue\nflag=true\n"
				     "reals=1,2.5\n";
	const struct hop_op *op = fh_op(&plugin, "test/param_all");
	char file[] = "/tmp/holorun-testops-XXXXXX", text[256] = "";
	int fd = mkstemp(file);
	struct fh *h;

	(void)state;
	memset(params, 0, sizeof params);
	put_text(op, params, "file", file);
	put_text(op, params, "text", "");
	put_text(op, params, "path", "some/where");
	put_real(op, params, "real", 1.5);
	put_real(op, params, "rate", 2000);
	put_int(op, params, "integer", 7);
	put_int(op, params, "time", 10000000);
	put_int(op, params, "size", 4096);
	put(op, params, "reals", &list, sizeof list);
	put(op, params, "choice", &(int32_t){ 2 }, sizeof(int32_t));
	put_bool(op, params, "flag", 1);
	h = fh_open(op, params, NULL, 0);
	assert_int_equal(fh_rc(h), 0);
	fh_close(h);
	assert_true(read(fd, text, sizeof text - 1) > 0);
	assert_string_equal(text, wanted);
	close(fd);
	unlink(file);
}

static void
broken_plugins_are_broken_as_told(void **state)
{
	static const struct {
		const char *file, *what;
	} broken[] = {
		{ "libundefined.so", "holo_no_such_function" },
		{ "libmissing_dep.so", "libholodep_gone.so" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
		char path[512];

		snprintf(path, sizeof path, "%s/%s", TEST_PLUGINS, broken[i].file);
		assert_null(dlopen(path, RTLD_NOW | RTLD_LOCAL));
		assert_non_null(strstr(dlerror(), broken[i].what));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_numbers_its_messages_and_refuses_a_size_below_one),
		cmocka_unit_test(a_script_makes_pieces),
		cmocka_unit_test(passers_split_join_and_collect),
		cmocka_unit_test(a_sink_writes_the_numbers_and_refuses_a_gap),
		cmocka_unit_test(a_hog_keeps_eight),
		cmocka_unit_test(faults_fail_where_told),
		cmocka_unit_test(a_crash_is_a_real_one),
		cmocka_unit_test(parameters_arrive_as_given),
		cmocka_unit_test(broken_plugins_are_broken_as_told),
	};
	int rc;

	plugin = fh_load(TEST_PLUGINS "/libtestops.so");
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	fh_unload(&plugin);
	return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holorun.c - start holorun, wait for it, read what it says.
 *
 * A run that outlasts HB_PATIENCE_S is killed and has failed; the children of
 * holorun die with it.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "graph.h"

extern char **environ;

/* A whole file in memory of the heap, with a 0 behind it. */
static char *
contents(int fd)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		return NULL;
	text = calloc(1, (size_t)st.st_size + 1);
	n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	if (n < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static pid_t
start(const char *const *argv, int out, int err)
{
	posix_spawn_file_actions_t fa;
	char *copy[HB_MAX_ARGS];
	pid_t pid = -1;
	int n = 0, rc;

	/* posix_spawn changes nothing, though its prototype does not say so. */
	for (; argv[n] && n < HB_MAX_ARGS - 1; n++)
		copy[n] = (char *)(uintptr_t)argv[n];
	copy[n] = NULL;
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&fa, out, 1);
	posix_spawn_file_actions_adddup2(&fa, err, 2);
	rc = posix_spawn(&pid, argv[0], &fa, NULL, copy, environ);
	posix_spawn_file_actions_destroy(&fa);
	errno = rc;
	return rc ? -1 : pid;
}

static int
wait_for(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int status = 0, n;

	do
		n = poll(&p, 1, HB_PATIENCE_S * 1000);
	while (n < 0 && errno == EINTR);
	close(p.fd);
	if (n != 1)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static double
number(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

static double
p50_at_sink(const cJSON *root)
{
	const cJSON *edge;

	cJSON_ArrayForEach(edge, cJSON_GetObjectItemCaseSensitive(root, "edges"))
	{
		const cJSON *e2e = cJSON_GetObjectItemCaseSensitive(edge, "e2e_ns");

		if (e2e)
			return number(e2e, "p50");
	}
	return -1;
}

/* What the JSON says; false and *why when the run does not count. */
static bool
read_run(const char *text, uint32_t messages, struct hb_run *out, double *why)
{
	cJSON *root = cJSON_Parse(text);
	const cJSON *workers = cJSON_GetObjectItemCaseSensitive(root, "workers");
	bool ok = root && workers;

	if (ok) {
		out->p50_ns = p50_at_sink(root);
		out->delivered = number(root, "delivered");
		out->worker_ns = cJSON_GetArraySize(workers) == 1
					 ? number(cJSON_GetArrayItem(workers, 0), "cpu_ns")
					 : 0;
		ok = out->p50_ns >= 0 && out->worker_ns >= 0;
	}
	if (!ok)
		*why = hb_fail("holorun's JSON has no figures");
	else if (out->delivered != (double)messages || number(root, "lost") != 0)
		*why = hb_fail("%.0f of %u messages arrived, %.0f lost", out->delivered, messages,
			       number(root, "lost"));
	ok = ok && out->delivered == (double)messages && number(root, "lost") == 0;
	cJSON_Delete(root);
	return ok;
}

/* The first line that says something. */
static const char *
first_line(char *text)
{
	text += strspn(text, "\n");
	text[strcspn(text, "\n")] = 0;
	return text;
}

static bool
run_into(const char *const *argv, int out, int err, char **text, double *why)
{
	pid_t pid = start(argv, out, err);
	int status, is_exit;

	if (pid < 0) {
		*why = hb_fail("%s: %s", argv[0], strerror(errno));
		return false;
	}
	status = wait_for(pid);
	*text = contents(status ? err : out);
	if (!*text)
		return false;
	is_exit = WIFEXITED(status);
	if (status)
		*why = hb_fail("holorun %s %d: %s", is_exit ? "exited with" : "got signal",
			       is_exit ? WEXITSTATUS(status) : WTERMSIG(status), first_line(*text));
	return status == 0;
}

bool
hb_holorun(const struct hb_env *env, const char *file, const char *const *args, uint32_t messages,
	   struct hb_run *out, double *why)
{
	const char *argv[HB_MAX_ARGS] = { env->holorun };
	char path[4096], *text = NULL;
	int n = 1, out_fd, err_fd;
	bool ok;

	if (access(env->holorun, X_OK)) {
		*why = hb_skip("%s is not there", env->holorun);
		return false;
	}
	snprintf(path, sizeof path, "%s/%s", env->graphs, file);
	argv[n++] = path;
	for (; *args && n < HB_MAX_ARGS - 6; args++)
		argv[n++] = *args;
	argv[n++] = "--plugin-path";
	argv[n++] = env->plugins;
	argv[n++] = "--quiet";
	argv[n++] = "--format";
	argv[n++] = "json";
	argv[n] = NULL;
	out_fd = memfd_create("stdout", MFD_CLOEXEC);
	err_fd = memfd_create("stderr", MFD_CLOEXEC);
	*why = hb_fail("no room for what holorun says");
	ok = out_fd >= 0 && err_fd >= 0 && run_into(argv, out_fd, err_fd, &text, why) &&
	     read_run(text, messages, out, why);
	free(text);
	close(out_fd);
	close(err_fd);
	return ok;
}

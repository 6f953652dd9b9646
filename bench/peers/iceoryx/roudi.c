/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roudi.c - iceoryx's daemon, for as long as a row is measured.
 *
 * One pool of small chunks, no monitoring, so that it does nothing while messages
 * pass.  It dies with the caller.  Ended by SIGTERM it should remove its memory and
 * locks, but aborts when a client that it knew is gone; then that is done here, and
 * so is what clients leave.  One that runs already is left alone: then there is no
 * row.
 */
#include "iceoryx.h"

#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_MS = 10000, END_STEP_MS = 20, END_STEPS = 250 };

static const char config[] = "[general]\nversion = 1\n\n[[segment]]\n\n[[segment.mempool]]\n"
			     "size = 128\ncount = 512\n";
static const char ready[] = "ready for clients";

static pid_t pid;
static int out = -1;
static bool is_ours; /* it got as far as to have the memory */

static bool
write_config(char *path)
{
	int fd = mkstemp(path);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, config, sizeof config - 1) == (ssize_t)sizeof config - 1;
	close(fd);
	return ok;
}

static _Noreturn void
become_roudi(const char *path, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execl(HB_ROUDI, HB_ROUDI, "-c", path, "-m", "off", "-l", "off", (char *)NULL);
	_exit(127);
}

/* Read what it says until it is ready; false when it ends or takes too long. */
static bool
await_ready(void)
{
	struct pollfd p = { .fd = out, .events = POLLIN };
	char text[4096] = "";
	size_t n = 0;

	while (n < sizeof text - 1 && poll(&p, 1, READY_MS) == 1) {
		ssize_t got = read(out, text + n, sizeof text - 1 - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
		text[n] = 0;
		if (strstr(text, ready))
			return true;
	}
	return false;
}

const char *
hb_roudi_start(void)
{
	char path[] = "/tmp/holorun-bench-roudi-XXXXXX";
	int ends[2];

	if (!write_config(path) || pipe(ends))
		return "no file for iox-roudi's settings";
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_roudi(path, ends[1]);
	close(ends[1]);
	out = ends[0];
	is_ours = pid > 0 && await_ready();
	unlink(path);
	if (is_ours)
		return NULL;
	hb_roudi_stop();
	return "iox-roudi does not start; does another one run?";
}

/* True when it has cleaned up. */
static bool
end(void)
{
	int status;

	kill(pid, SIGTERM);
	for (int i = 0; i < END_STEPS; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status == 0;
		poll(NULL, 0, END_STEP_MS);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return false;
}

static void
remove_memory(void)
{
	const struct group *g = getgrgid(getegid());

	shm_unlink("/iceoryx_mgmt");
	if (g)
		shm_unlink(g->gr_name);
	unlink("/tmp/roudi");
	unlink("/tmp/roudi.lock");
	unlink("/tmp/iox-unique-roudi.lock");
}

void
hb_roudi_stop(void)
{
	if (pid > 0 && is_ours && !end())
		remove_memory();
	else if (pid > 0)
		end();
	pid = 0;
	close(out);
	out = -1;
	unlink("/tmp/" HB_IOX_SENDER);
	unlink("/tmp/" HB_IOX_SENDER ".lock");
	unlink("/tmp/" HB_IOX_RECEIVER);
	unlink("/tmp/" HB_IOX_RECEIVER ".lock");
}

// SPDX-License-Identifier: Apache-2.0
/*
 * main.c - the program holorun: a child of a run, or one command.
 *
 * A child is told apart first, since it shares nothing with a command.  A closed
 * pipe is an error of write(2) here, not a signal, so that a reader that goes
 * away (head) never takes a run with it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/cli.h"

static const char *
environment(const char *name)
{
	return getenv(name);
}

/* A closed standard stream would lend its number to the next thing opened, and whatever is printed
 * would be written there.  The wrong direction on purpose: using it is an error, as it was. */
static void
fill_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

int
main(int argc, char **argv)
{
	fill_standard_streams();
	(void)signal(SIGXFSZ, SIG_IGN); /* a file limit is an error of write(2) too */
	if (hr_is_child(argc, argv))
		return hr_child_main(argc, argv, environment);
	(void)signal(SIGPIPE, SIG_IGN);
	return hr_cli_main(argc, argv, environment);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * main.c - the program holorun: a child of a run, or one command.
 *
 * A child is told apart first, since it shares nothing with a command.  A closed
 * pipe is an error of write(2) here, not a signal, so that a reader that goes
 * away (head) never takes a run with it.
 */
#include <signal.h>
#include <stdlib.h>

#include "cli/cli.h"

static const char *
environment(const char *name)
{
	return getenv(name);
}

int
main(int argc, char **argv)
{
	if (hr_is_child(argc, argv))
		return hr_child_main(argc, argv, environment);
	(void)signal(SIGPIPE, SIG_IGN);
	return hr_cli_main(argc, argv, environment);
}

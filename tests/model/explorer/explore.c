/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explore.c - explores the scenarios named on the command line, or all of them.
 *
 * Prints a row each and, where a bug was found, the execution that shows it.  Exits
 * with 1 at the first bug, and when a scenario has no whole execution: it would prove
 * nothing.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "scenarios.h"

static const struct xp_scenario *const scenario[] = {
	&scenario_spsc,
	&scenario_cells,
	&scenario_slots,
	&scenario_batch,
	&scenario_any_order,
	&scenario_fanout,
	&scenario_one_slot,
	&scenario_drop_newest,
	&scenario_reopen,
	&scenario_reopen_cells,
	&scenario_sleep,
	&scenario_sleep_writer,
	&scenario_sleep_both,
	&scenario_event_fd,
	&scenario_sleep_end,
	&scenario_sleep_close,
	&scenario_sleep_fanout,
	&scenario_end,
	&scenario_writer_dies,
	&scenario_writer_dies_open,
	&scenario_close,
	&scenario_close_fanout,
	&scenario_reader_dies,
	&scenario_reader_dies_late,
	&scenario_reader_dies_fanout,
	&scenario_oldest,
	&scenario_oldest_batch,
	&scenario_oldest_writer_dies,
	&scenario_oldest_reader_dies,
	&scenario_oldest_close,
	&scenario_rejoin,
	&scenario_rejoin_alive,
	&scenario_rejoin_close,
	&scenario_rejoin_oldest,
	&scenario_rejoin_fanout,
};

enum { N_SCENARIOS = sizeof(scenario) / sizeof(scenario[0]) };

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int
explore(const struct xp_scenario *s)
{
	double from = seconds();
	struct xp_result r = xp_explore(s, XP_REDUCED);
	int is_bad = r.bug || r.whole == 0;

	printf("%-4s %-20s %8llu executions (%llu whole, %llu dropped, %llu repeated), "
	       "%llu steps, %.2f s: %s\n",
	       is_bad ? "BAD" : "", s->name, (unsigned long long)r.executions,
	       (unsigned long long)r.whole, (unsigned long long)r.dropped,
	       (unsigned long long)r.repeated, (unsigned long long)r.steps, seconds() - from,
	       r.bug          ? r.bug
	       : r.whole == 0 ? "no whole execution"
			      : "no fault");
	if (r.bug)
		xp_print_trace();
	fflush(stdout);
	return is_bad;
}

static const struct xp_scenario *
find(const char *name)
{
	for (int i = 0; i < N_SCENARIOS; i++)
		if (!strcmp(scenario[i]->name, name))
			return scenario[i];
	return NULL;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const struct xp_scenario *s = find(argv[i]);

		if (!s) {
			fprintf(stderr, "no scenario '%s'\n", argv[i]);
			return 2;
		}
		if (explore(s))
			return 1;
	}
	for (int i = 0; argc == 1 && i < N_SCENARIOS; i++)
		if (explore(scenario[i]))
			return 1;
	return 0;
}

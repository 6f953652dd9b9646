/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - the program holomq: commands and options as tables.
 *
 * Results go to stdout and nothing else does.  It is a program, not part of the
 * library: it may print, read the environment and end.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "atomic.h"
#include "tool.h"

static const struct {
	const char *name;
	command *run;
	uint32_t least, most; /* words after it */
	const char *words;
	const char *about;
} commands[] = {
	{ "list", tool_list, 0, 0, "", "runs with their edges, and exported endpoints" },
	{ "stat", tool_stat, 0, 0, "", "the counters of every edge, once" },
	{ "top", tool_top, 0, 0, "", "rates of every edge, again and again" },
	{ "echo", tool_echo, 1, 1, "EDGE", "print the messages of an edge" },
	{ "record", tool_record, 2, 2, "EDGE FILE", "copy the messages of an edge to a file" },
	{ "replay", tool_replay, 2, 2, "FILE NAME", "export a recording as endpoint NAME" },
	{ "clean", tool_clean, 0, 0, "", "remove sockets of dead endpoints" },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* ---- what every command needs ----------------------------------------------------------- */

int
tool_fail(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("holomq: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

int64_t
tool_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void
tool_pause(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	if (ns > 0)
		nanosleep(&ts, NULL);
}

static uint32_t stopped;

static void
on_signal(int sig)
{
	(void)sig;
	/* relaxed: a lock-free word on its own, which is all a handler may touch */
	hmq_store_relaxed_u32(&stopped, 1);
}

void
tool_catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

int
tool_stopped(void)
{
	return hmq_load_relaxed_u32(&stopped) != 0; /* relaxed: see above */
}

/* ---- options ---------------------------------------------------------------------------- */

static int
usage(FILE *to, int code)
{
	fputs("usage: holomq COMMAND [OPTION ...]\n\n", to);
	for (size_t i = 0; i < N_COMMANDS; i++)
		(void)fprintf(to, "  %-7s%-11s %s\n", commands[i].name, commands[i].words,
			      commands[i].about);
	fputs("\n"
	      "  --format table|json   --run PID|GRAPH   --dir DIR\n"
	      "  --count N   --duration TIME   --interval TIME   --wait TIME\n"
	      "  --bytes N   --spin   --deny drops   --speed recorded|full\n"
	      "\n"
	      "TIME is a number with ns, us, ms, s or min.  See holomq(1).\n",
	      to);
	return code;
}

static int
parse_count(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || end == text || *end || *text == '-' ? -1 : 0;
}

static int
parse_time(const char *text, int64_t *out)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "min", 60e9 } };
	char *end;
	double v = strtod(text, &end);

	if (end == text || !(v >= 0))
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].unit) == 0 && v * units[i].ns < 9e18) {
			*out = (int64_t)(v * units[i].ns);
			return 0;
		}
	return -1;
}

static int
one_of(const char *text, const char *off, const char *on, int *out)
{
	*out = strcmp(text, on) == 0;
	return *out || (off && strcmp(text, off) == 0) ? 0 : -1;
}

/* An option with a value: 0, or -1 when the value is wrong, 1 when it is none of these. */
static int
set_value(struct options *o, const char *name, const char *value)
{
	if (!strcmp(name, "--format"))
		return one_of(value, "table", "json", &o->is_json);
	if (!strcmp(name, "--speed"))
		return one_of(value, "recorded", "full", &o->full_speed);
	if (!strcmp(name, "--deny"))
		return one_of(value, NULL, "drops", &o->deny_drops);
	if (!strcmp(name, "--count"))
		return parse_count(value, &o->count);
	if (!strcmp(name, "--bytes"))
		return parse_count(value, &o->bytes);
	if (!strcmp(name, "--duration"))
		return parse_time(value, &o->duration_ns);
	if (!strcmp(name, "--interval"))
		return parse_time(value, &o->interval_ns);
	if (!strcmp(name, "--wait"))
		return parse_time(value, &o->wait_ns);
	if (!strcmp(name, "--run"))
		return o->run = value, 0;
	if (!strcmp(name, "--dir"))
		return o->dir = value, 0;
	return 1;
}

static int
parse(struct options *o, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		int rc;

		if (!strcmp(argv[i], "--spin")) {
			o->spin = 1;
			continue;
		}
		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			if (o->n_words == 4)
				return tool_fail(EXIT_USAGE, "too many words: '%s'", argv[i]);
			o->word[o->n_words++] = argv[i];
			continue;
		}
		rc = set_value(o, argv[i], i + 1 < argc ? argv[i + 1] : "");
		if (rc > 0)
			return tool_fail(EXIT_USAGE, "unknown option '%s'", argv[i]);
		if (i + 1 >= argc)
			return tool_fail(EXIT_USAGE, "%s needs a value", argv[i]);
		if (rc < 0)
			return tool_fail(EXIT_USAGE, "%s: '%s' is not what it takes (holomq help)",
					 argv[i], argv[i + 1]);
		i++;
	}
	return 0;
}

/* Where endpoints are, unless --dir says otherwise. */
static const char *
usual_dir(void)
{
	static char dir[4096];
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (runtime && *runtime)
		(void)snprintf(dir, sizeof(dir), "%s/holomq", runtime);
	else
		(void)snprintf(dir, sizeof(dir), "/tmp/holomq-%u", (unsigned)geteuid());
	return dir;
}

int
main(int argc, char **argv)
{
	struct options o = { .dir = usual_dir(),
			     .interval_ns = 1000000000,
			     .wait_ns = INT64_C(10000000000),
			     .bytes = 32 };
	const char *name = argc > 1 ? argv[1] : "";
	int rc;

	if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
		return usage(stdout, EXIT_DONE);
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(name, commands[i].name) != 0)
			continue;
		rc = parse(&o, argc, argv);
		if (rc)
			return rc;
		if (o.n_words < commands[i].least || o.n_words > commands[i].most)
			return tool_fail(EXIT_USAGE, "usage: holomq %s %s", name,
					 commands[i].words);
		rc = commands[i].run(&o);
		if (fflush(stdout) && !rc)
			rc = tool_fail(EXIT_FAILED, "stdout: %s", strerrordesc_np(errno));
		return rc;
	}
	if (*name)
		tool_fail(EXIT_USAGE, "no command '%s'", name);
	return usage(stderr, EXIT_USAGE);
}

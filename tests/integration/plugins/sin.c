/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sin.c - inject/sin: passes messages on and, at message `at`, does once what
 * no process() may do.  The real-time guard must catch each of them.
 * inject/late: passes messages on, but its open and start take their time, so
 * that processes come up in any order.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "inject.h"

static const char *const deeds[] = { "none",  "malloc", "free", "mutex", "nanosleep",
				     "write", "printf", "open", "mmap",  NULL };

enum deed { NONE, MALLOC, FREE, MUTEX, NANOSLEEP, WRITE, PRINTF, OPEN, MMAP };

struct sin_params {
	int32_t deed;
	int32_t reserved;
	int64_t at;
};

struct sinner {
	int64_t n;
	void *block; /* what `free` frees */
	void *more;  /* what `malloc` got */
	pthread_mutex_t mutex;
};

static const struct hop_port ports[] = {
	INJECT_PORT("in", HOP_IN, 0, 0),
	INJECT_PORT("out", HOP_OUT, 0, 0),
};

static const struct hop_param sin_params[] = {
	{ "deed", "what to do", HOP_P_CHOICE, 0, (uint32_t)offsetof(struct sin_params, deed), 4,
	  NULL, "none", NULL, NULL, deeds },
	INJECT_PARAM(INT, struct sin_params, at, "10", "1", NULL, "at which message"),
};

static void
sin_once(struct sinner *s, int32_t deed)
{
	const struct timespec t = { 0, 1000 };
	void *volatile p; /* a compiler drops a malloc whose result nobody looks at */
	int fd;

	switch (deed) {
	case MALLOC:
		p = malloc(100);
		s->more = p;
		break;
	case FREE:
		free(s->block);
		s->block = NULL;
		break;
	case MUTEX:
		pthread_mutex_lock(&s->mutex);
		pthread_mutex_unlock(&s->mutex);
		break;
	case NANOSLEEP:
		nanosleep(&t, NULL);
		break;
	case WRITE:
		if (write(STDERR_FILENO, "sin\n", 4) < 0)
			s->n--;
		break;
	case PRINTF:
		fprintf(stderr, "sin %lld\n", (long long)s->n);
		break;
	case OPEN:
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			close(fd);
		break;
	case MMAP:
		p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		munmap(p, 4096);
		break;
	default:
		break;
	}
}

static int
sin_open(void *state, const struct hop_ctx *ctx)
{
	struct sinner *s = state;

	(void)ctx;
	pthread_mutex_init(&s->mutex, NULL);
	s->block = malloc(8);
	return 0;
}

static void
sin_close(void *state, const struct hop_ctx *ctx)
{
	struct sinner *s = state;

	(void)ctx;
	free(s->block);
	free(s->more);
	pthread_mutex_destroy(&s->mutex);
}

static uint32_t
pass_on(struct hop_io *io)
{
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];
	uint32_t n = in->count < out->count ? in->count : out->count;

	for (uint32_t i = 0; i < n; i++)
		inject_copy(&out->msg[i], &in->msg[i]);
	in->taken = n;
	out->filled = n;
	return n;
}

static hop_status
sin_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct sin_params *p = ctx->params;
	struct sinner *s = state;
	uint32_t n = pass_on(io);

	if (s->n < p->at && s->n + n >= p->at)
		sin_once(s, p->deed);
	s->n += n;
	return n ? HOP_OK : HOP_IDLE;
}

const struct hop_op inject_sin = {
	.size = sizeof inject_sin,
	.name = "inject/sin",
	.doc = "Pass on, and do once what must not be done.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(sin_params),
	.params_size = sizeof(struct sin_params),
	.state_size = sizeof(struct sinner),
	.shape = inject_shape_same,
	.open = sin_open,
	.process = sin_process,
	.close = sin_close,
};

struct late_params {
	int64_t open;
	int64_t start;
};

static const struct hop_param late_params[] = {
	INJECT_PARAM(TIME, struct late_params, open, "0", "0", "60s", "how long open takes"),
	INJECT_PARAM(TIME, struct late_params, start, "0", "0", "60s", "how long start takes"),
};

static int
take_time(int64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	while (ns && nanosleep(&t, &t) && errno == EINTR)
		;
	return 0;
}

static int
late_open(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	return take_time(((const struct late_params *)ctx->params)->open);
}

static int
late_start(void *state, const struct hop_ctx *ctx)
{
	(void)state;
	return take_time(((const struct late_params *)ctx->params)->start);
}

static hop_status
late_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	(void)state;
	(void)ctx;
	return pass_on(io) ? HOP_OK : HOP_IDLE;
}

const struct hop_op inject_late = {
	.size = sizeof inject_late,
	.name = "inject/late",
	.doc = "Pass on; slow to open and to start.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(late_params),
	.params_size = sizeof(struct late_params),
	.shape = inject_shape_same,
	.open = late_open,
	.start = late_start,
	.process = late_process,
};

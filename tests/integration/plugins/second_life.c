/* SPDX-License-Identifier: Apache-2.0 */
/*
 * second_life.c - inject/second_life: hands messages on, but when its process is
 * started again it fails or hangs in open(); or leaves with exit code 0 in the
 * middle.  The file `flag` tells one life from the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "inject.h"

enum { FAIL, HANG, EXIT };

static const char *const deeds[] = { "fail", "hang", "exit", NULL };

struct second_life_params {
	const char *flag;
	int32_t what;
};

struct second_life {
	int64_t n;
};

static const struct hop_port ports[] = {
	INJECT_PORT("in", HOP_IN, 0, 0),
	INJECT_PORT("out", HOP_OUT, 0, 0),
};

static const struct hop_param params[] = {
	INJECT_PARAM(TEXT, struct second_life_params, flag, NULL, NULL, NULL,
		     "absolute path of a file to create in the first life"),
	{ "what", "in the second", HOP_P_CHOICE, 0,
	  (uint32_t)offsetof(struct second_life_params, what), sizeof(int32_t), NULL, "fail", NULL,
	  NULL, deeds },
};

static int
second_life_open(void *state, const struct hop_ctx *ctx)
{
	const struct second_life_params *p = ctx->params;
	int fd;

	(void)state;
	if (p->what == EXIT)
		return 0;
	fd = open(p->flag, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	while (p->what == HANG)
		pause();
	return HOP_FAIL(ctx, EBUSY, "not a second time");
}

static hop_status
second_life_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	const struct second_life_params *p = ctx->params;
	struct second_life *s = state;
	struct hop_in *in = &io->in[0];
	struct hop_out *out = &io->out[0];

	for (; in->taken < in->count && out->filled < out->count; s->n++) {
		if (p->what == EXIT && s->n == 100)
			_exit(0);
		inject_copy(&out->msg[out->filled++], &in->msg[in->taken++]);
	}
	return in->taken ? HOP_OK : HOP_IDLE;
}

const struct hop_op inject_second_life = {
	.size = sizeof inject_second_life,
	.name = "inject/second_life",
	.doc = "Hand messages on, but not in a second life.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.params_size = sizeof(struct second_life_params),
	.state_size = sizeof(struct second_life),
	.shape = inject_shape_same,
	.open = second_life_open,
	.process = second_life_process,
};

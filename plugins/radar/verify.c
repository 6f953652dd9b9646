/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - radar/verify: a sink that knows what radar/scene sent and fails
 * the graph if it was not found.
 *
 * Every frame number must come exactly once, complete, and show every target
 * within `tolerance` bins on both axes at the power the scene gives there: a
 * chirp lost, repeated or out of place changes that power even where it does
 * not move a target.  The verdict falls when the input ends, and names the
 * first thing that was wrong; false alarms are counted and are no failure.
 */
#include <errno.h>
#include <stdio.h>

#include "frames.h"
#include "listing.h"
#include "truth.h"

enum { DETECTIONS_PER_FRAME = 16 }; /* room in the file, on average */
enum { TEXT_SIZE = 200 };

enum {
	C_FRAMES,
	C_FOUND,
	C_MISSED,
	C_FALSE_ALARMS,
	C_WRONG_POWER,
	C_DUPLICATE,
	C_MISSING,
	C_UNEXPECTED,
	C_FLAGGED,
	C_MALFORMED,
	C_UNLISTED,
};

struct verify_params {
	int64_t samples, chirps, distinct, seed, frames, tolerance;
	double power_tolerance;
	const char *file;
	int32_t window;
	uint8_t strict;
};

enum wrong { NOTHING, MALFORMED, DUPLICATE, UNEXPECTED, FLAGGED, MISSED, WRONG_POWER, MISSING };

struct problem { /* the first thing that was wrong */
	enum wrong what;
	uint32_t target; /* from 1 */
	uint64_t frame;
	float power;
};

struct verify {
	struct truth truth;
	struct listing listing;
	struct problem first;
	uint64_t seen_of[HK_SCENE_TARGETS]; /* frames in which each target was found */
	uint64_t wrong;                     /* problems in all */
	uint32_t judged;
	struct frames frames;
};

static const struct hop_port ports[] = {
	{ "in", "detections, one per target: u32[1 + capacity][3]", HOP_IN, 0, HOP_MEM_HOST, 1, 0,
	  0, 0, 0 },
};

#define VERIFY_INT(member, unit, def, min, max, doc)                                               \
	RADAR_PARAM(INT, struct verify_params, member, unit, def, min, max, NULL, doc)

static const struct hop_param params[] = {
	VERIFY_INT(samples, "samples", "1024", "8", "65536", "as radar/scene has it"),
	VERIFY_INT(chirps, "chirps", "128", "1", "8192", "as radar/scene has it"),
	VERIFY_INT(distinct, "frames", "20", "1", "4096", "as radar/scene has it"),
	VERIFY_INT(seed, NULL, "1", "0", NULL, "as radar/scene has it"),
	VERIFY_INT(frames, "frames", "0", "0", "1000000000000",
		   "frames that must come, 0 to this less one; 0: as many as come, from 0 on"),
	VERIFY_INT(tolerance, "bins", "2", "0", "64",
		   "how far a target may lie from the truth, on each axis"),
	RADAR_PARAM(REAL, struct verify_params, power_tolerance, NULL, "0.001", "0", "1e6", NULL,
		    "how far a target's power may be from the scene's, relative; 0: not compared"),
	RADAR_PARAM(PATH, struct verify_params, file, NULL, "", NULL, NULL, NULL,
		    "write all detections to this file as text; needs frames; empty: none"),
	RADAR_PARAM(CHOICE, struct verify_params, window, NULL, "hann", NULL, NULL, radar_windows,
		    "of the receiver's FFTs, for the power"),
	RADAR_PARAM(BOOL, struct verify_params, strict, NULL, "true", NULL, NULL, NULL,
		    "fail the graph; else only warn and count"),
};

static const struct hop_counter counters[] = {
	[C_FRAMES] = { "frames", "frames that came", HOP_LOG_INFO, 0 },
	[C_FOUND] = { "found", "targets found, of three in each frame", HOP_LOG_INFO, 0 },
	[C_MISSED] = { "missed", "targets not found", HOP_LOG_WARN, 0 },
	[C_FALSE_ALARMS] = { "false_alarms", "detections where no target is", HOP_LOG_INFO, 0 },
	[C_WRONG_POWER] = { "wrong_power", "targets found at another power than the scene gives",
			    HOP_LOG_WARN, 0 },
	[C_DUPLICATE] = { "duplicate_frames", "frames that came again", HOP_LOG_WARN, 0 },
	[C_MISSING] = { "missing_frames", "frames that never came", HOP_LOG_WARN, 0 },
	[C_UNEXPECTED] = { "unexpected_frames", "frame numbers that cannot be", HOP_LOG_WARN, 0 },
	[C_FLAGGED] = { "flagged_frames", "frames flagged incomplete or bad", HOP_LOG_WARN, 0 },
	[C_MALFORMED] = { "malformed", "messages that hold no detections of such a frame",
			  HOP_LOG_WARN, 0 },
	[C_UNLISTED] = { "unlisted", "detections the file had no room for", HOP_LOG_WARN, 0 },
};

static const uint32_t counter_of[] = {
	[MALFORMED] = C_MALFORMED, [DUPLICATE] = C_DUPLICATE, [UNEXPECTED] = C_UNEXPECTED,
	[FLAGGED] = C_FLAGGED,     [MISSED] = C_MISSED,       [WRONG_POWER] = C_WRONG_POWER,
	[MISSING] = C_MISSING,
};

static int
has_file(const struct verify_params *p)
{
	return p->file && p->file[0];
}

static int
verify_shape(const struct hop_ctx *ctx, struct hop_shape *shape)
{
	const struct verify_params *p = ctx->params;
	char found[RADAR_FORMAT_TEXT];

	if (!radar_capacity(shape->in[0]))
		return HOP_FAIL(ctx, EINVAL,
				"in: wanted detections, u32[1 + capacity][3]; found %s",
				radar_text(shape->in[0], found));
	if (has_file(p) && !p->frames)
		return HOP_FAIL(ctx, EINVAL, "file: its size must be known: give frames as well");
	return 0;
}

static int
verify_open(void *state, const struct hop_ctx *ctx)
{
	const struct verify_params *p = ctx->params;
	struct verify *v = state;
	struct hk_scene scene = {
		.samples = (uint32_t)p->samples,
		.chirps = (uint32_t)p->chirps,
		.distinct = (uint32_t)p->distinct,
		.seed = (uint64_t)p->seed,
	};
	int rc = truth_open(&v->truth, ctx, &scene, (enum hk_window)p->window,
			    (uint32_t)p->tolerance);

	if (rc)
		return rc;
	v->frames.expected = (uint64_t)p->frames;
	if (!has_file(p))
		return 0;
	rc = listing_open(&v->listing, ctx, p->file, (uint64_t)p->frames * DETECTIONS_PER_FRAME);
	if (rc)
		truth_close(&v->truth, ctx);
	return rc;
}

/* ---- one frame ------------------------------------------------------------ */

static void
note(struct verify *v, const struct hop_ctx *ctx, struct problem problem, uint64_t n)
{
	if (!v->first.what)
		v->first = problem;
	v->wrong += n;
	hop_count(ctx, counter_of[problem.what], n);
}

/* The strongest detection within reach of a target; NULL if there is none. */
static const struct hk_detection *
find(const struct verify *v, const struct hk_detections *d, const struct hk_expected *target,
     uint32_t reach)
{
	const struct hk_detection *best = NULL;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct hk_detection *x = &d->at[i];

		if (hk_circular(x->range, target->range, v->truth.scene.samples) > reach ||
		    hk_circular(x->doppler, target->doppler, v->truth.scene.chirps) > reach)
			continue;
		if (!best || x->power > best->power)
			best = x;
	}
	return best;
}

static int
is_near(float found, float wanted, double tolerance)
{
	double off = (double)found - (double)wanted;

	return (off < 0 ? -off : off) <= tolerance * (double)wanted;
}

static void
check_targets(struct verify *v, const struct hop_ctx *ctx, uint64_t frame,
	      const struct hk_detections *d)
{
	const struct verify_params *p = ctx->params;
	const struct hk_expected *wanted = truth_of(&v->truth, frame);

	for (uint32_t k = 0; k < HK_SCENE_TARGETS; k++) {
		const struct hk_detection *x = find(v, d, &wanted[k], (uint32_t)p->tolerance);
		struct problem problem = { MISSED, k + 1, frame, 0.0f };

		if (!x) {
			note(v, ctx, problem, 1);
			continue;
		}
		v->seen_of[k]++;
		hop_count(ctx, C_FOUND, 1);
		if (p->power_tolerance > 0.0 &&
		    !is_near(x->power, wanted[k].power, p->power_tolerance)) {
			problem.what = WRONG_POWER;
			problem.power = x->power;
			note(v, ctx, problem, 1);
		}
	}
}

static void
count_false_alarms(const struct verify *v, const struct hop_ctx *ctx, uint64_t frame,
		   const struct hk_detections *d)
{
	const struct verify_params *p = ctx->params;
	const struct hk_expected *wanted = truth_of(&v->truth, frame);
	const struct hk_scene *s = &v->truth.scene;
	uint32_t reach = (uint32_t)p->tolerance;

	for (uint32_t i = 0; i < d->count; i++) {
		int known = 0;

		for (int k = 0; k < HK_SCENE_TARGETS; k++)
			known |=
				hk_circular(d->at[i].range, wanted[k].range, s->samples) <= reach &&
				hk_circular(d->at[i].doppler, wanted[k].doppler, s->chirps) <=
					reach;
		hop_count(ctx, C_FALSE_ALARMS, !known);
	}
}

static int
is_of_scene(const struct verify *v, const struct hk_detections *d)
{
	const struct hk_scene *s = &v->truth.scene;

	if (!d || d->rows != s->samples || d->cols != s->chirps)
		return 0;
	for (uint32_t i = 0; i < d->count; i++)
		if (d->at[i].range >= d->rows || d->at[i].doppler >= d->cols)
			return 0;
	return 1;
}

static void
check_frame(struct verify *v, const struct hop_ctx *ctx, const struct hop_rx *rx)
{
	const struct hk_detections *d = radar_detections(rx);
	struct problem problem = { NOTHING, 0, rx->head->frame, 0.0f };
	uint64_t lost = v->listing.lost;

	hop_count(ctx, C_FRAMES, 1);
	switch (frames_see(&v->frames, problem.frame)) {
	case FRAMES_AGAIN:
		problem.what = DUPLICATE;
		note(v, ctx, problem, 1);
		return;
	case FRAMES_BEYOND:
		problem.what = UNEXPECTED;
		note(v, ctx, problem, 1);
		return;
	case FRAMES_NEW:
		break;
	}
	if (!is_of_scene(v, d)) {
		problem.what = MALFORMED;
		note(v, ctx, problem, 1);
		return;
	}
	if (rx->head->flags & (HOP_MSG_GAP | HOP_MSG_BAD)) {
		problem.what = FLAGGED;
		note(v, ctx, problem, 1);
	}
	check_targets(v, ctx, problem.frame, d);
	count_false_alarms(v, ctx, problem.frame, d);
	listing_add(&v->listing, problem.frame, d);
	hop_count(ctx, C_UNLISTED, v->listing.lost - lost);
}

/* ---- the verdict ----------------------------------------------------------- */

static void
describe(const struct verify *v, const struct verify_params *p, char text[TEXT_SIZE])
{
	const struct problem *w = &v->first;
	const struct hk_expected *target = truth_of(&v->truth, w->frame);
	unsigned long long frame = w->frame;

	target += w->target ? w->target - 1 : 0;
	switch (w->what) {
	case MALFORMED:
		snprintf(text, TEXT_SIZE, "frame %llu holds no detections of a %lld x %lld map",
			 frame, (long long)p->samples, (long long)p->chirps);
		break;
	case DUPLICATE:
		snprintf(text, TEXT_SIZE, "frame %llu came twice", frame);
		break;
	case UNEXPECTED:
		snprintf(text, TEXT_SIZE, "frame %llu came, which cannot be: %llu were %s", frame,
			 (unsigned long long)(p->frames ? (uint64_t)p->frames : v->frames.high),
			 p->frames ? "expected" : "seen");
		break;
	case FLAGGED:
		snprintf(text, TEXT_SIZE, "frame %llu is incomplete", frame);
		break;
	case MISSED:
		snprintf(text, TEXT_SIZE,
			 "frame %llu: target %u was not found within %lld bins of range %u, "
			 "doppler %u",
			 frame, w->target, (long long)p->tolerance, target->range, target->doppler);
		break;
	case WRONG_POWER:
		snprintf(text, TEXT_SIZE,
			 "frame %llu: target %u has power %.6g, the scene gives %.6g: a chirp is "
			 "lost, repeated or out of place",
			 frame, w->target, (double)w->power, (double)target->power);
		break;
	default:
		snprintf(text, TEXT_SIZE, "frame %llu never came", frame);
		break;
	}
}

static hop_status
judge(struct verify *v, const struct hop_ctx *ctx)
{
	const struct verify_params *p = ctx->params;
	uint64_t frames = ctx->counters[C_FRAMES];
	char text[TEXT_SIZE];

	v->judged = 1;
	frames_end(&v->frames);
	if (v->frames.missing)
		note(v, ctx, (struct problem){ MISSING, 0, v->frames.first_missing, 0.0f },
		     v->frames.missing);
	for (uint32_t k = 0; k < HK_SCENE_TARGETS; k++)
		HOP_LOG(ctx, HOP_LOG_INFO, "target %u: found in %llu of %llu frames", k + 1,
			(unsigned long long)v->seen_of[k], (unsigned long long)frames);
	if (!v->wrong)
		return HOP_DONE;
	describe(v, p, text);
	if (p->strict)
		return HOP_FAIL(ctx, EBADMSG, "%s (the first of %llu in %llu frames)", text,
				(unsigned long long)v->wrong, (unsigned long long)frames);
	HOP_LOG(ctx, HOP_LOG_WARN, "%s (the first of %llu in %llu frames)", text,
		(unsigned long long)v->wrong, (unsigned long long)frames);
	return HOP_DONE;
}

static hop_status
verify_process(void *state, const struct hop_ctx *ctx, struct hop_io *io)
{
	struct verify *v = state;
	struct hop_in *in = &io->in[0];

	while (in->taken < in->count)
		check_frame(v, ctx, &in->msg[in->taken++]);
	if (!in->ended)
		return HOP_OK;
	if (io->stopping)
		v->frames.expected = 0; /* cut short from outside: as many as came */
	return v->judged ? HOP_DONE : judge(v, ctx);
}

static void
verify_close(void *state, const struct hop_ctx *ctx)
{
	const struct verify_params *p = ctx->params;
	struct verify *v = state;

	listing_close(&v->listing, ctx, p->file);
	truth_close(&v->truth, ctx);
}

const struct hop_op radar_verify = {
	.size = sizeof radar_verify,
	.name = "radar/verify",
	.doc = "Fail unless every frame of radar/scene came once and shows every target.",
	.ports = HOP_TABLE(ports),
	.params = HOP_TABLE(params),
	.counters = HOP_TABLE(counters),
	.params_size = sizeof(struct verify_params),
	.state_size = sizeof(struct verify),
	.shape = verify_shape,
	.open = verify_open,
	.process = verify_process,
	.close = verify_close,
};

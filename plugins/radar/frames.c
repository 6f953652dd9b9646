/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c - a sliding bitmap of frame numbers.  See frames.h. */
#include "frames.h"

static void
miss(struct frames *f, uint64_t frame, uint64_t n)
{
	if (!f->missing)
		f->first_missing = frame;
	f->missing += n;
}

static void
settle_lowest(struct frames *f)
{
	uint64_t *word = &f->seen[f->low % FRAMES_WINDOW / 64];
	uint64_t bit = UINT64_C(1) << f->low % 64;

	if (!(*word & bit))
		miss(f, f->low, 1);
	*word &= ~bit;
	f->low++;
}

enum frames_verdict
frames_see(struct frames *f, uint64_t frame)
{
	uint64_t *word = &f->seen[frame % FRAMES_WINDOW / 64];
	uint64_t bit = UINT64_C(1) << frame % 64;

	if (frame < f->low)
		return FRAMES_AGAIN;
	if ((f->expected && frame >= f->expected) ||
	    (frame >= f->high && frame - f->high >= FRAMES_WINDOW))
		return FRAMES_BEYOND;
	while (frame - f->low >= FRAMES_WINDOW)
		settle_lowest(f);
	if (*word & bit)
		return FRAMES_AGAIN;
	*word |= bit;
	if (frame >= f->high)
		f->high = frame + 1;
	return FRAMES_NEW;
}

void
frames_end(struct frames *f)
{
	while (f->low < f->high)
		settle_lowest(f);
	if (f->expected > f->high) {
		miss(f, f->high, f->expected - f->high);
		f->low = f->high = f->expected;
	}
}

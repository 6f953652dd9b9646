/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - lines from any thread of a child to its supervisor, without waiting.
 *
 * A bounded ring of fixed entries in the run page.  A writer claims an entry by
 * compare-and-swap on the tail, fills it and publishes it by its turn; a full
 * ring drops the line and counts it.  One reader, the supervisor.  Lock-free
 * for writers, wait-free for the reader.
 *
 * An entry's turn is its position: 2 * lap while free, 2 * lap + 1 when written.
 */
#include <stdio.h>
#include <string.h>

#include "run/inst.h"

void
hr_log_put(struct hr_page_log *log, uint32_t node, int32_t level, const char *text)
{
	for (;;) {
		uint32_t tail = hr_load32_relaxed(&log->tail); /* the swap below decides */
		struct hr_page_log_entry *e = &log->entry[tail % HR_LOG_ENTRIES];
		uint32_t lap = tail / HR_LOG_ENTRIES;
		/* L1: sees that the reader is done with the entry; pairs with L3 */
		uint32_t turn = hr_load32_acquire(&e->turn);

		if ((int32_t)(turn - 2 * lap) < 0) {
			hr_add_shared(&log->full, 1);
			return;
		}
		if (turn != 2 * lap || !hr_cas32(&log->tail, tail, tail + 1))
			continue;
		e->node = node;
		e->level = level;
		snprintf(e->text, sizeof e->text, "%s", text);
		/* L2: publishes the text; pairs with L4 */
		hr_store32_release(&e->turn, 2 * lap + 1);
		return;
	}
}

bool
hr_log_take(struct hr_page_log *log, struct hr_page_log_entry *out)
{
	uint32_t head = log->head;
	struct hr_page_log_entry *e = &log->entry[head % HR_LOG_ENTRIES];
	uint32_t lap = head / HR_LOG_ENTRIES;

	/* L4: sees the text; pairs with L2 */
	if (hr_load32_acquire(&e->turn) != 2 * lap + 1)
		return false;
	memcpy(out, e, sizeof *out);
	out->text[HR_LOG_TEXT - 1] = 0; /* a child is not trusted to end its text */
	log->head = head + 1;
	/* L3: the entry is free for the next lap; pairs with L1 */
	hr_store32_release(&e->turn, 2 * lap + 2);
	return true;
}

void
hr_log_start_over(struct hr_page_log *log)
{
	hr_add_shared(&log->full, log->tail - log->head);
	for (uint32_t i = 0; i < HR_LOG_ENTRIES; i++)
		log->entry[i].turn = 0;
	log->head = log->tail = 0;
}

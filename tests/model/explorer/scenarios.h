/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenarios.h - the list of what is explored.
 */
#ifndef XP_SCENARIOS_H
#define XP_SCENARIOS_H

#include "explorer.h"

/* scenario_flow.c */
extern const struct xp_scenario scenario_spsc, scenario_cells, scenario_slots, scenario_batch,
	scenario_any_order, scenario_fanout, scenario_one_slot, scenario_drop_newest,
	scenario_reopen, scenario_reopen_cells;
/* scenario_wait.c */
extern const struct xp_scenario scenario_sleep, scenario_sleep_writer, scenario_sleep_both,
	scenario_event_fd, scenario_sleep_end, scenario_sleep_close, scenario_sleep_fanout;
/* scenario_end.c */
extern const struct xp_scenario scenario_end, scenario_writer_dies, scenario_writer_dies_open,
	scenario_close, scenario_close_fanout, scenario_reader_dies, scenario_reader_dies_late,
	scenario_reader_dies_fanout;
/* scenario_oldest.c */
extern const struct xp_scenario scenario_oldest, scenario_oldest_batch, scenario_oldest_writer_dies,
	scenario_oldest_reader_dies, scenario_oldest_close;
/* scenario_rejoin.c */
extern const struct xp_scenario scenario_rejoin, scenario_rejoin_alive, scenario_rejoin_close,
	scenario_rejoin_oldest, scenario_rejoin_fanout;

#endif /* XP_SCENARIOS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/* iceoryx.h - the rows of iceoryx, and the daemon that they need. */
#ifndef HB_ICEORYX_H
#define HB_ICEORYX_H

#include "micro.h"

double hb_iceoryx_spin(const struct hb_env *env, int arg);  /* polls */
double hb_iceoryx_sleep(const struct hb_env *env, int arg); /* wait set */
double hb_iceoryx_saturated(const struct hb_env *env, int arg);

/* Start the daemon with memory pools of our own; NULL, or why it does not run. */
const char *hb_roudi_start(void);
/* End it by its pid, remove what it and its clients may have left. */
void hb_roudi_stop(void);

/* Names of the two clients; no other program has them. */
#define HB_IOX_SENDER "holorun-bench-sender"
#define HB_IOX_RECEIVER "holorun-bench-receiver"

#endif

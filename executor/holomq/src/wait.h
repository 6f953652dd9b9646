/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - a note on waking inside the library.
 *
 * hmq_wake, which is public, does nothing for a peer without a waiter; the paths
 * per message test for that themselves and save the call.
 */
#ifndef HMQ_WAIT_H
#define HMQ_WAIT_H

#include "layout.h"

static inline void
hmq_wake_if_any(const struct hmq_peer *peer)
{
	if (peer->waiter)
		hmq_wake(peer);
}

#endif /* HMQ_WAIT_H */

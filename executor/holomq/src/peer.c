/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.c - the record of a worker, and its life.
 *
 * A living worker holds a robust, process-shared mutex.  When its thread ends by
 * whatever means, the kernel replaces the owner in the lock word by OWNER_DIED:
 * peers read that one word and never lock.  Not a time-out and not a pid, which may
 * be slow or reused.  A worker that never began its life is not dead.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>

#include "atomic.h"
#include "layout.h"

/* The lock word is glibc's business; these pin what hmq_life_is_dead relies on. */
_Static_assert(offsetof(pthread_mutex_t, __data.__lock) == 0, "lock word comes first");
_Static_assert(sizeof(((pthread_mutex_t *)0)->__data.__lock) == 4, "it is a futex word");
_Static_assert(sizeof(pthread_mutex_t) <= HMQ_BLOCK_BYTES, "fits its block");
_Static_assert(FUTEX_OWNER_DIED == 0x40000000, "kernel ABI");

void
hmq_waiter_init(struct hmq_waiter *w, uint32_t kind)
{
	pthread_mutexattr_t attr;

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	/* None of these can fail with these constants. */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&w->life.mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

int
hmq_life_begin(struct hmq_waiter *w)
{
	int rc = pthread_mutex_trylock(&w->life.mutex);

	if (rc == EOWNERDEAD) /* a new life in the place of a dead one */
		rc = pthread_mutex_consistent(&w->life.mutex);
	return -rc;
}

void
hmq_life_end(struct hmq_waiter *w)
{
	pthread_mutex_unlock(&w->life.mutex);
}

int
hmq_life_is_dead(const struct hmq_waiter *w)
{
	const uint32_t *word = (const uint32_t *)(const void *)&w->life.mutex;

	/* A8: sees all the dead thread stored; pairs with R8, which is the kernel's: it marks the
	 * word with a full barrier after the thread's last instruction */
	return (hmq_load_acquire_u32(word) & FUTEX_OWNER_DIED) != 0;
}

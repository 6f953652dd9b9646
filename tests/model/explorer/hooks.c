/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.c - the functions that -fsanitize=thread calls, and the few of libc that wait.
 *
 * The compilers insert a call for every access; the sanitizer's library is not linked,
 * these are.  Accesses outside of the arena (stacks, the scenario's own counters) are
 * carried out and otherwise ignored.  futex, eventfd writes, the robust mutex and the
 * allocator are replaced at link time (--wrap); memset and friends by name, so that
 * they are seen as accesses.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

/* What the compilers declare nowhere. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static bool
is_explored(const void *p)
{
	return xp_current() >= 0 && xp_is_watched(p);
}

/* ---- plain accesses --------------------------------------------------------------------- */

static void
plain(const void *p, size_t size, bool writes)
{
	if (is_explored(p))
		xp_plain(xp_current(), p, size, writes);
}

#define PLAIN(bytes)                                                                               \
	void __tsan_read##bytes(void *p)                                                           \
	{                                                                                          \
		plain(p, bytes, false);                                                            \
	}                                                                                          \
	void __tsan_write##bytes(void *p)                                                          \
	{                                                                                          \
		plain(p, bytes, true);                                                             \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define UNALIGNED(bytes)                                                                           \
	void __tsan_unaligned_read##bytes(void *p)                                                 \
	{                                                                                          \
		plain(p, bytes, false);                                                            \
	}                                                                                          \
	void __tsan_unaligned_write##bytes(void *p)                                                \
	{                                                                                          \
		plain(p, bytes, true);                                                             \
	}

UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

void
__tsan_read_range(void *p, unsigned long size)
{
	plain(p, size, false);
}

void
__tsan_write_range(void *p, unsigned long size)
{
	plain(p, size, true);
}

void
__tsan_init(void)
{
}

void
__tsan_func_entry(void *pc)
{
	(void)pc;
}

void
__tsan_func_exit(void)
{
}

/* The instrumented code calls these: see the -D of its compilation. */
void *
xp_memset(void *p, int c, size_t n)
{
	plain(p, n, true);
	return memset(p, c, n);
}

void *
xp_memcpy(void *to, const void *from, size_t n)
{
	plain(from, n, false);
	plain(to, n, true);
	return memcpy(to, from, n);
}

void *
xp_memmove(void *to, const void *from, size_t n)
{
	plain(from, n, false);
	plain(to, n, true);
	return memmove(to, from, n);
}

/* ---- atomic accesses -------------------------------------------------------------------- */

static uint64_t
atomic(void *p, unsigned size, struct xp_access a)
{
	if (!is_explored(p))
		return xp_direct(&a, p, size);
	a.word = xp_word(p, size);
	return xp_visible(&a);
}

#define RMW(bits, type, name, what)                                                                \
	type __tsan_atomic##bits##_##name(type *p, type v, int order)                              \
	{                                                                                          \
		return (type)atomic(p, sizeof(type),                                               \
				    (struct xp_access){ .kind = what,                              \
							.operand = (uint64_t)v,                    \
							.order = order });                         \
	}

#define CAS(bits, type, strength)                                                                  \
	int __tsan_atomic##bits##_compare_exchange_##strength(type *p, type *expected, type v,     \
							      int order, int fail_order)           \
	{                                                                                          \
		uint64_t was = *expected;                                                          \
		uint64_t is = atomic(p, sizeof(type),                                              \
				     (struct xp_access){ .kind = XP_CAS,                           \
							 .operand = v,                             \
							 .expected = was,                          \
							 .order = order,                           \
							 .fail_order = fail_order });              \
		*expected = (type)is;                                                              \
		return is == was;                                                                  \
	}

#define ATOMIC(bits, type)                                                                         \
	type __tsan_atomic##bits##_load(const type *p, int order)                                  \
	{                                                                                          \
		return (type)atomic((void *)(uintptr_t)p, sizeof(type),                            \
				    (struct xp_access){ .kind = XP_LOAD,                           \
							.order = order,                            \
							.pc = __builtin_return_address(0) });      \
	}                                                                                          \
	void __tsan_atomic##bits##_store(type *p, type v, int order)                               \
	{                                                                                          \
		atomic(p, sizeof(type),                                                            \
		       (struct xp_access){ .kind = XP_STORE, .operand = v, .order = order });      \
	}                                                                                          \
	RMW(bits, type, fetch_add, XP_ADD)                                                         \
	RMW(bits, type, fetch_sub, XP_SUB)                                                         \
	RMW(bits, type, fetch_and, XP_AND)                                                         \
	RMW(bits, type, fetch_or, XP_OR)                                                           \
	RMW(bits, type, fetch_xor, XP_XOR)                                                         \
	RMW(bits, type, fetch_nand, XP_NAND)                                                       \
	RMW(bits, type, exchange, XP_EXCHANGE)                                                     \
	CAS(bits, type, strong)                                                                    \
	CAS(bits, type, weak)                                                                      \
	type __tsan_atomic##bits##_compare_exchange_val(type *p, type expected, type v, int order, \
							int fail_order)                            \
	{                                                                                          \
		return (type)atomic(p, sizeof(type),                                               \
				    (struct xp_access){ .kind = XP_CAS,                            \
							.operand = v,                              \
							.expected = expected,                      \
							.order = order,                            \
							.fail_order = fail_order });               \
	}

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void
__tsan_atomic_thread_fence(int order)
{
	(void)order;
	xp_bug("a stand-alone fence: not explored, and not seen by ThreadSanitizer");
}

void
__tsan_atomic_signal_fence(int order)
{
	(void)order;
}

/* ---- libc ------------------------------------------------------------------------------- */

long __real_syscall(long number, ...);
ssize_t __real_write(int fd, const void *data, size_t n);
void *__real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *p);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_consistent(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);

static struct {
	int fd;
	uint64_t *counter;
} event[XP_MAX_THREADS];

static int n_events;

void
xp_event_fd(int fd, uint64_t *counter)
{
	for (int i = 0; i < n_events; i++)
		if (event[i].fd == fd) {
			event[i].counter = counter;
			return;
		}
	if (n_events == XP_MAX_THREADS)
		abort();
	event[n_events].fd = fd;
	event[n_events++].counter = counter;
}

static uint64_t *
counter_of(int fd)
{
	for (int i = 0; i < n_events; i++)
		if (event[i].fd == fd)
			return event[i].counter;
	return NULL;
}

void
xp_event_wait(int fd)
{
	uint64_t *counter = counter_of(fd);
	struct xp_access a = { .kind = XP_TAKE, .word = xp_word(counter, 8) };

	while (xp_visible(&a) == 0)
		;
}

ssize_t
__wrap_write(int fd, const void *data, size_t n)
{
	uint64_t *counter = xp_current() >= 0 ? counter_of(fd) : NULL;
	uint64_t v;

	if (!counter)
		return __real_write(fd, data, n);
	memcpy(&v, data, sizeof(v));
	/* The counter and the sleeper are the kernel's: one step each, ordering nothing. */
	atomic(counter, 8, (struct xp_access){ .kind = XP_ADD, .operand = v });
	atomic(counter, 8, (struct xp_access){ .kind = XP_WAKE });
	return (ssize_t)n;
}

static long
futex(uint32_t *word, int op, uint32_t value)
{
	struct xp_access a = { .word = xp_word(word, sizeof(*word)), .operand = value };

	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		a.kind = XP_SLEEP;
		if (xp_visible(&a) == value)
			return 0;
		errno = EAGAIN;
		return -1;
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		a.kind = XP_WAKE;
		xp_visible(&a);
		return 0;
	default:
		xp_bug("a futex operation the explorer does not know");
		return -1;
	}
}

long
__wrap_syscall(long number, ...)
{
	va_list ap;
	long arg[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_futex && xp_current() >= 0)
		return futex((uint32_t *)(uintptr_t)arg[0], (int)arg[1], (uint32_t)arg[2]);
	return __real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* The library's handles: of one thread each. */
void *
__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return xp_alloc_private(bytes, align);
}

void
__wrap_free(void *p)
{
	if (!xp_is_watched(p))
		__real_free(p);
}

/* A life is a word with an owner; the kernel's list of robust mutexes is the explorer's xp_mortal.
 */
int
__wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!xp_is_watched(mutex))
		return __real_pthread_mutex_trylock(mutex);
	struct xp_access a = { .kind = XP_CAS,
			       .operand = (uint64_t)(100 + xp_current()),
			       .order = __ATOMIC_ACQUIRE };
	uint64_t was = atomic(mutex, 4, a);

	if (was == 0)
		return 0;
	if (!(was & FUTEX_OWNER_DIED))
		return EBUSY;
	a.expected = was;
	return atomic(mutex, 4, a) == was ? EOWNERDEAD : EBUSY;
}

int
__wrap_pthread_mutex_consistent(pthread_mutex_t *mutex)
{
	return xp_is_watched(mutex) ? 0 : __real_pthread_mutex_consistent(mutex);
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!xp_is_watched(mutex))
		return __real_pthread_mutex_unlock(mutex);
	atomic(mutex, 4, (struct xp_access){ .kind = XP_EXCHANGE, .order = __ATOMIC_RELEASE });
	return 0;
}

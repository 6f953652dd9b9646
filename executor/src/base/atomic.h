/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.h - the only way the executor touches a word that another thread or
 * process may touch at the same time.
 *
 * Every access names its order.  Words are plain uint32_t/uint64_t in shared
 * structs; nothing here is seq_cst and there are no stand-alone fences.
 */
#ifndef HR_ATOMIC_H
#define HR_ATOMIC_H

#include <stdint.h>

/* Counters with one writer: a reader elsewhere sees a whole value, nothing is ordered by it. */
static inline uint64_t
hr_load_relaxed(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void
hr_store_relaxed(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* Only the writer calls this: no read-modify-write is needed. */
static inline void
hr_add_single(uint64_t *p, uint64_t n)
{
	__atomic_store_n(p, *p + n, __ATOMIC_RELAXED);
}

static inline uint32_t
hr_load32_relaxed(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void
hr_store32_relaxed(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline uint32_t
hr_load32_acquire(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void
hr_store32_release(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* 1 if *p was `want` and is now `v`; acquire and release. */
static inline int
hr_cas32(uint32_t *p, uint32_t want, uint32_t v)
{
	return __atomic_compare_exchange_n(p, &want, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* A statistic with many writers. */
static inline void
hr_add_shared(uint64_t *p, uint64_t n)
{
	__atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline void *
hr_load_ptr_acquire(void *const *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void
hr_store_ptr_release(void **p, void *v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* What was there; acquire and release. */
static inline void *
hr_swap_ptr(void **p, void *v)
{
	return __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL);
}

/* Tell the core that this is a spin. */
#if defined(__x86_64__)
static inline void
hr_cpu_relax(void)
{
	__builtin_ia32_pause();
}
#else
static inline void
hr_cpu_relax(void)
{
	__asm__ __volatile__("yield" ::: "memory");
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.h - every atomic access of the library goes through these functions.
 *
 * The order is part of the name, so that a reader of the call sees it.  Words are
 * plain fixed-width integers in layout.h: shared memory has no C11 atomic types,
 * whose layout is the compiler's business.  There is no seq_cst and no fence.
 */
#ifndef HMQ_ATOMIC_H
#define HMQ_ATOMIC_H

#include <stdint.h>

/* NOLINTBEGIN(readability-non-const-parameter): the check does not see that the builtins write. */

static inline uint8_t
hmq_load_acquire_u8(const uint8_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void
hmq_store_release_u8(uint8_t *p, uint8_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline void
hmq_store_relaxed_u8(uint8_t *p, uint8_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline uint32_t
hmq_load_relaxed_u32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint32_t
hmq_load_acquire_u32(const uint32_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void
hmq_store_relaxed_u32(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline void
hmq_store_release_u32(uint32_t *p, uint32_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

static inline uint64_t
hmq_load_relaxed_u64(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline uint64_t
hmq_load_acquire_u64(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

static inline void
hmq_store_relaxed_u64(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

static inline void
hmq_store_release_u64(uint64_t *p, uint64_t v)
{
	__atomic_store_n(p, v, __ATOMIC_RELEASE);
}

/* Each of these returns the value before. */
static inline uint32_t
hmq_add_release_u32(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_add(p, v, __ATOMIC_RELEASE);
}

static inline uint32_t
hmq_or_acquire_u32(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_or(p, v, __ATOMIC_ACQUIRE);
}

static inline uint32_t
hmq_and_relaxed_u32(uint32_t *p, uint32_t v)
{
	return __atomic_fetch_and(p, v, __ATOMIC_RELAXED);
}

/* Compare and swap: 1 when *p held *expected and is now `to`; else 0 and *expected is what it held.
 */
static inline int
hmq_cas_acquire_u64(uint64_t *p, uint64_t *expected, uint64_t to)
{
	return __atomic_compare_exchange_n(p, expected, to, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

static inline int
hmq_cas_acquire_u32(uint32_t *p, uint32_t *expected, uint32_t to)
{
	return __atomic_compare_exchange_n(p, expected, to, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);
}

static inline int
hmq_cas_release_u64(uint64_t *p, uint64_t *expected, uint64_t to)
{
	return __atomic_compare_exchange_n(p, expected, to, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* NOLINTEND(readability-non-const-parameter) */

/* Not an access: ask for the line at p as its writer.  The builtin alone asks as a reader, unless
 * the whole program is built for CPUs that all know better. */
static inline void
hmq_prefetch_write(const void *p)
{
#if defined(__x86_64__)
	__asm__("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

#endif /* HMQ_ATOMIC_H */

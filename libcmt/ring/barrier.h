/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only place with atomic operations on rings.
 *
 * The kernel writes the rings during reads.  An acquire load sees all stores of the
 * writer before the release store that it reads from.  A load barrier orders the loads
 * before it and after it.
 *
 * 64-bit loads must be one access in 32-bit programs, too: a head that is loaded in two
 * halves can seem to jump.  i586 and later have such a load (fild, movq).  cmpxchg8b
 * must not be used, because it writes, and the rings are mapped read-only.  Hence the
 * assertion: if the type were not lock-free, the compiler would call libatomic, which
 * does not promise this.
 */
#ifndef LIBCMT_BARRIER_H
#define LIBCMT_BARRIER_H

#include <stdint.h>

_Static_assert(__GCC_ATOMIC_LLONG_LOCK_FREE == 2,
	       "64-bit loads must be single accesses");

static inline uint64_t cmt_load_acquire64(const void *p)
{
	return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
}

static inline uint32_t cmt_load_acquire32(const void *p)
{
	return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
}

static inline void cmt_store_release64(void *p, uint64_t value)
{
	__atomic_store_n((uint64_t *)p, value, __ATOMIC_RELEASE);
}

static inline void cmt_load_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/*
 * A function that loads from slots which the kernel may be overwriting.  The race is
 * intended: head, loaded again after the copy, shows which records to drop.
 * ThreadSanitizer does not know this rule, and so does not check these loads.
 */
#define CMT_RACES	__attribute__((no_sanitize("thread")))

#endif

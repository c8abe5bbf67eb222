/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only place with atomic operations.
 *
 * The kernel writes the rings while we read them.  An acquire load sees all
 * that the writer stored before the release store that it reads from.  A load
 * barrier keeps loads before it from being done after loads behind it.
 *
 * 64-bit loads must be one access in 32-bit programs, too: a head torn in two
 * looks like a jump.  i586 and later have one (fild, movq); what must never be
 * used is cmpxchg8b, which writes, and the rings are mapped read-only.  Hence
 * the assertion: were the type not lock-free, the compiler would call
 * libatomic, which makes no such promise.
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

static inline void cmt_load_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

/*
 * A function that loads from slots which the kernel may be overwriting.  The race is meant:
 * head, loaded again behind it, tells what to drop.  ThreadSanitizer, which knows data by
 * its accesses and not by that rule, does not look at these loads.
 */
#define CMT_RACES	__attribute__((no_sanitize("thread")))

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

typedef struct {
	s64 counter;
} atomic64_t;

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}

static inline void atomic_inc(atomic_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic64_add(s64 value, atomic64_t *v)
{
	__atomic_fetch_add(&v->counter, value, __ATOMIC_RELAXED);
}

static inline s64 atomic64_xchg(atomic64_t *v, s64 value)
{
	return __atomic_exchange_n(&v->counter, value, __ATOMIC_SEQ_CST);
}

#define try_cmpxchg(p, old, new)					\
	__atomic_compare_exchange_n(p, old, new, 0, __ATOMIC_SEQ_CST,	\
				    __ATOMIC_RELAXED)

#define xchg(p, value)	__atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)

#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) found_ = (old);				\
									\
	__atomic_compare_exchange_n(p, &found_, new, 0, __ATOMIC_SEQ_CST, \
				    __ATOMIC_SEQ_CST);			\
	found_;								\
})

#define smp_mb__before_atomic()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_mb__after_atomic()	__atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Helpers for any room: it uses no other one. */
#ifndef LIBCMT_BASE_H
#define LIBCMT_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* L3 domains.  Their ids are arbitrary, but few; a stream with more of them is corrupt. */
#define CMT_DOMAINS_MAX	64

/* Not inlined: the caller's usual path saves no registers for this function. */
#define CMT_APART __attribute__((noinline))

/* Is @a before @b?  Modulo 2^64: correct while they are less than 2^63 apart. */
static inline bool cmt_ts_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

#define CMT_SZ_MAX	4096U	/* larger than any public structure */

/*
 * Public structures that programs fill in or provide begin with size_t sz, the size
 * at the build of the program.  Alignment makes sizes multiples of it.
 */
static inline bool cmt_sz_possible(size_t sz)
{
	return sz >= sizeof(sz) && sz <= CMT_SZ_MAX && sz % sizeof(sz) == 0;
}

/*
 * Copy the options @from, of which a program set sz, to @opts, which has @known
 * bytes.  An older program has fewer members: the missing members are 0, which
 * selects the default.  A newer program may have more members, if all of them are 0.
 * @from NULL: all members are 0.
 */
static inline int cmt_opts_copy(void *opts, size_t known, const void *from)
{
	const unsigned char *bytes = from;
	size_t sz;

	if (!from) {
		memset(opts, 0, known);
		return 0;
	}
	memcpy(&sz, from, sizeof(sz));
	if (!cmt_sz_possible(sz))
		return -EINVAL;
	for (size_t i = known; i < sz; i++) {
		if (bytes[i])
			return -EINVAL;
	}
	memset(opts, 0, known);
	memcpy(opts, from, sz < known ? sz : known);
	return 0;
}

/*
 * Copy @from, which has @known bytes, to @out, of which a program set sz.  An older
 * program gets the members that it knows.  A newer program gets 0 in the other
 * members.  sz does not change.
 */
static inline int cmt_out_copy(void *out, const void *from, size_t known)
{
	size_t sz, n;

	memcpy(&sz, out, sizeof(sz));
	if (!cmt_sz_possible(sz))
		return -EINVAL;
	n = sz < known ? sz : known;
	memset(out, 0, sz);
	memcpy(out, from, n);
	memcpy(out, &sz, sizeof(sz));
	return 0;
}

/*
 * Copy @n bytes of @from and a NUL to @to, which has @size bytes.  A byte that is
 * not printable ASCII becomes '?', because names are written to terminals.
 */
void cmt_printable(char *to, size_t size, const char *from, size_t n);
/* All of a text that ends with a NUL.  @from NULL: "". */
void cmt_text(char *to, size_t size, const char *from);

/*
 * Let the array at *@array have room for @n elements of @size bytes; now it has *@room.
 * Returns 0 or -ENOMEM.
 */
int cmt_array_reserve(void *array, uint32_t *room, uint32_t n, size_t size);
int cmt_grow_more(void *array, uint32_t *room, size_t size);

/* Make room for one more element in an array of @nr.  Returns 0 or -ENOMEM. */
static inline int cmt_grow(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	return nr < *room ? 0 : cmt_grow_more(array, room, size);
}

static inline uint64_t cmt_clock_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	/* the clocks of the library do not fail; of another one the time would be 0 */
	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The clock of all records. */
static inline uint64_t cmt_now_ns(void)
{
	return cmt_clock_ns(CLOCK_MONOTONIC);
}

#endif

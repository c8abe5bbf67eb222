/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the library's parts share and nobody else sees. */
#ifndef LIBCMT_INTERNAL_H
#define LIBCMT_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmt/device.h>

struct cmt_reader;

struct cmt_device {
	int fd;
	struct cmt_info info;
	struct cmt_reader *reader;	/* the one there may be */
};

/* Is @a before @b?  Modulo 2^64: right while they are less than 2^63 apart. */
static inline bool cmt_ts_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/*
 * Copy a caller's options of any size over @opts, which has @known bytes.
 * What the caller knows and we do not must be zero.
 */
static inline int cmt_opts_copy(void *opts, size_t known, const void *from,
				size_t sz)
{
	const unsigned char *bytes = from;

	if (sz < known)
		return -EINVAL;
	for (size_t i = known; i < sz; i++) {
		if (bytes[i])
			return -EINVAL;
	}
	memcpy(opts, from, known);
	return 0;
}

/*
 * Can this record be?  record.c says what is checked.  Records of types that
 * this library does not know pass when their CPU can be.
 */
bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids);
/* As above, and can it be in the ring of @cpu? */
bool cmt_record_possible_in_ring(const struct cmt_record *record, uint32_t cpu,
				 uint32_t nr_rmids);

/*
 * @n bytes of @from into @to, which has @size, and NUL: names go to terminals,
 * so what is not printable ASCII becomes '?'.
 */
void cmt_printable(char *to, size_t size, const char *from, size_t n);

struct cmt_slots;

/* Tell the slots who owns what, when @late records had come too late. */
int cmt_slots_sync(struct cmt_slots *slots, const struct cmt_snapshot *snapshot,
		   uint64_t late);
/* Has that been done since there were @late of them? */
bool cmt_slots_synced(const struct cmt_slots *slots, uint64_t late);

/* @info: could a module have said that? */
bool cmt_info_possible(const struct cmt_info *info);

#endif

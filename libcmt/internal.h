/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Private to the library: what its parts share. */
#ifndef LIBCMT_INTERNAL_H
#define LIBCMT_INTERNAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <cmt/device.h>

struct cmt_container;
struct cmt_reader;
struct resctrl;

/*
 * @fd and @info are constant from cmt_device_open() to cmt_device_close(), and
 * @cannot_count is atomic, so that threads share a device without a lock.
 */
struct cmt_device {
	int fd;
	struct resctrl *resctrl;	/* what answers; NULL: the module */
	union {
		struct cmt_info info;
		char info_room[CMT_INFO_ROOM];
	};
	struct cmt_reader *reader;	/* the one there may be */
	bool cannot_count;		/* the module has said so */
};

/* Kept out of the caller, whose usual path then saves no registers for it. */
#define CMT_APART __attribute__((noinline))

/* Is @a before @b?  Modulo 2^64: right while they are less than 2^63 apart. */
static inline bool cmt_ts_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

#define CMT_SZ_MAX	4096U	/* more than any public structure will have */

/*
 * Public structures that programs fill in or provide begin with size_t sz, the
 * size that the program was built with.  Alignment makes sizes multiples.
 */
static inline bool cmt_sz_possible(size_t sz)
{
	return sz >= sizeof(sz) && sz <= CMT_SZ_MAX && sz % sizeof(sz) == 0;
}

/*
 * Copy the options @from, of which a program set sz, to @opts, which has @known
 * bytes.  An older program has fewer members: the others are 0, which asks for the
 * default.  A newer program may have more members, if all of them are 0.  @from
 * NULL: all are 0.
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
 * Copy @from, which has @known bytes, to @out, of which a program set sz.  An
 * older program gets what it knows; to a newer program the other members are 0.
 * sz stays as it is.
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
 * Can this record be?  record.c says what is checked.  Records of types that
 * this library does not know pass when their CPU can be.
 */
bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids);

/*
 * @n bytes of @from into @to, which has @size, and NUL: names go to terminals,
 * so what is not printable ASCII becomes '?'.
 */
void cmt_printable(char *to, size_t size, const char *from, size_t n);

/* The name, and all else, of a group of resctrl: CMT_RESCTRL_GROUP is in its id. */
void cmt_name_group(const char *path, struct cmt_container *container);

/* Mark the name of a container whose flags have CMT_CONTAINER_OVERHEAD. */
void cmt_name_overhead(struct cmt_container *container);

/* Are the @n bytes of @id an id, as runtimes give containers? */
bool cmt_is_id(const char *id, size_t n);

/* A snapshot with room for @room records, or NULL. */
struct cmt_snapshot *cmt_snapshot_alloc(uint32_t room);

/* Are the records what a module can have said, and all of @type? */
bool cmt_snapshot_possible(const struct cmt_snapshot *snapshot, uint16_t type,
			   const struct cmt_info *info);

/* Returns 0 or -errno. */
int cmt_device_ioctl(const struct cmt_device *dev, unsigned long command, void *arg);

/*
 * Ask for @arg, a structure that begins with its size, of which this program
 * knows @size bytes and every module of this major version at least @least.
 */
int cmt_device_ask(const struct cmt_device *dev, unsigned long command, void *arg,
		   uint32_t least, uint32_t size);

/* What the module says of itself now. */
int cmt_device_info_now(const struct cmt_device *dev, struct cmt_info *info);

/* @info: could a module have said that? */
bool cmt_info_possible(const struct cmt_info *info);

#endif

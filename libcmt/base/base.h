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
 * @cannot_count is atomic.  So threads share a device without a lock.
 */
struct cmt_device {
	int fd;
	/* the functions of another kind of device; NULL: the module */
	struct resctrl *resctrl;
	union {
		struct cmt_info info;
		char info_room[CMT_INFO_ROOM];
	};
	/* the only reader that the device can have */
	struct cmt_reader *reader;
	bool cannot_count;		/* the module has answered so */
};

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
 * Is this record possible?  record/record.c has the checks.  A record of an unknown type
 * passes if its CPU is possible.
 */
bool cmt_record_possible(const struct cmt_record *record, uint32_t nr_cpus,
			 uint32_t nr_rmids);

/*
 * Copy @n bytes of @from and a NUL to @to, which has @size bytes.  A byte that is
 * not printable ASCII becomes '?', because names are written to terminals.
 */
void cmt_printable(char *to, size_t size, const char *from, size_t n);

/* Set the name, and all else, of a resctrl group: its id has CMT_RESCTRL_GROUP. */
void cmt_name_group(const char *path, struct cmt_container *container);

/* Mark the name of a container whose flags have CMT_CONTAINER_OVERHEAD. */
void cmt_name_overhead(struct cmt_container *container);

/* Are the @n bytes of @id a container id, as runtimes make them? */
bool cmt_is_id(const char *id, size_t n);

/* Allocate a snapshot with room for @room records.  NULL: no memory. */
struct cmt_snapshot *cmt_snapshot_alloc(uint32_t room);

/* Are all records of @type, and possible answers of the module? */
bool cmt_snapshot_possible(const struct cmt_snapshot *snapshot, uint16_t type,
			   const struct cmt_info *info);

/* Returns 0 or -errno. */
int cmt_device_ioctl(const struct cmt_device *dev, unsigned long command, void *arg);

/*
 * Call the ioctl with @arg, a structure that begins with its size.  This program
 * knows @size bytes of it, and every module of this major version at least @least.
 */
int cmt_device_ask(const struct cmt_device *dev, unsigned long command, void *arg,
		   uint32_t least, uint32_t size);

/* Read the module's current cmt_info. */
int cmt_device_info_now(const struct cmt_device *dev, struct cmt_info *info);

/* Is @info a possible answer of a module? */
bool cmt_info_possible(const struct cmt_info *info);

#endif

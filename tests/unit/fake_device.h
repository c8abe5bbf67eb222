/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A /dev/cmt of our own, behind open(), ioctl(), poll(), mmap() and
 * clock_gettime() by the linker's --wrap.  Its rings are in a memfd, so that
 * they are mapped as those of the device are.
 */
#ifndef TEST_FAKE_DEVICE_H
#define TEST_FAKE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/cmt.h"

#define FAKE_PATH "/dev/cmt"
#define FAKE_PATH_MAX 128	/* of a cgroup */

struct fake {
	struct cmt_info info;
	struct cmt_stats stats;
	struct cmt_record existing[4096];
	uint32_t nr_existing;
	struct cmt_record pending[256];
	uint32_t nr_pending;
	uint32_t more_pending;	/* per cent, after each question */
	uint64_t as_of;		/* of snapshots; 0: now */
	char patterns[CMT_PATTERNS_MAX + 64];
	uint32_t bad_at;	/* fail for the text's sake, if not 0 */
	struct cmt_attach attach;	/* the last one asked for */
	unsigned long attach_command;
	uint32_t stats_size;	/* that the module says it wrote; 0: all */
	uint32_t more;		/* bytes that a newer module knows */
	struct cmt_record readings[64];	/* of READ, whatever it asks for */
	uint32_t nr_readings;
	struct cmt_read read;		/* the last one asked for */
	bool old;		/* the module does not know SET_COUNTERS and what came
				 * later
				 */
	uint32_t counters;	/* asked for */
	uint32_t values;	/* the last ones asked for; 0: none were */
	struct cmt_uncore uncore;	/* what GET_UNCORE says */
	uint32_t uncounted;	/* what this processor cannot count */
	uint32_t path_lies;	/* bytes more than a path has */
	uint32_t interval_ns;
	uint32_t watermark;
	uint64_t now;		/* CLOCK_MONOTONIC; 0: the real one */
	void (*on_clock)(void);	/* called before each reading of it, if not NULL */
	int open_errno;		/* fail with it, if not 0 */
	int ioctl_errno;
	int mmap_fails_at;	/* the n-th mapping from 1; 0: none */
	int mmap_errno;		/* with this; 0: ENOMEM */
	int nr_maps;
	bool populate;		/* pages are mapped at once */
	bool level;		/* poll() reports what read() has not taken */
	uint64_t read_at[1024];	/* heads at the last read() */
	int nr_reads;		/* read() calls */
	int nr_snapshots;	/* CMT_IOC_GET_RMIDS */
	int read_errno;
	int poll_errno;
	short poll_revents;
	void (*on_poll)(void);	/* called by each poll(), if not NULL */
	/* is there such a cgroup?  NULL: there is one, 7001 */
	bool (*path_of)(uint64_t cgroup_id, char path[FAKE_PATH_MAX]);
	int open_flags;		/* of the last open */
	uint32_t nr_rings;
	int fd;			/* the memfd; the library's is a dup */
};

extern struct fake fake;

/* Forget all, and make rings. */
void fake_setup(uint32_t nr_cpus, uint32_t records);
void fake_teardown(void);
/* The ring of @cpu, writable. */
void *fake_ring(uint32_t cpu);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A /dev/cmt of our own, behind open(), ioctl(), poll(), mmap() and
 * clock_gettime() by the linker's --wrap.  Its rings are in a memfd, so that
 * they are mapped as those of the device are.
 */
#ifndef TEST_FAKE_DEVICE_H
#define TEST_FAKE_DEVICE_H

#include <stdint.h>

#include "uapi/cmt.h"

#define FAKE_PATH "/dev/cmt"

struct fake {
	struct cmt_info info;
	struct cmt_stats stats;
	struct cmt_record existing[8];
	uint32_t nr_existing;
	struct cmt_record waiting[256];
	uint32_t nr_waiting;
	uint32_t more_waiting;	/* per cent, after each question */
	uint64_t as_of;
	char patterns[CMT_PATTERNS_MAX + 64];
	uint32_t bad_at;	/* fail for the text's sake, if not 0 */
	struct cmt_attach attach;	/* the last one asked for */
	unsigned long attach_command;
	uint32_t interval_ns;
	uint32_t watermark;
	uint64_t now;		/* CLOCK_MONOTONIC; 0: the real one */
	int open_errno;		/* fail with it, if not 0 */
	int ioctl_errno;
	int mmap_fails_at;	/* the n-th mapping from 1; 0: none */
	int nr_maps;
	int poll_errno;
	short poll_revents;
	void (*on_poll)(void);	/* called by each poll(), if not NULL */
	int open_flags;		/* of the last open */
	int fd;			/* the memfd; the library's is a dup */
};

extern struct fake fake;

/* Forget all, and make rings. */
void fake_setup(uint32_t nr_cpus, uint32_t records);
void fake_teardown(void);
/* The ring of @cpu, writable. */
void *fake_ring(uint32_t cpu);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* An open descriptor of /dev/cmt, and its calls. */
#ifndef CMT_FILE_H
#define CMT_FILE_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/types.h>

#include "cmt.h"
#include "sample/sample.h"

struct cmt_waiter;

/* The private_data of the descriptor */
struct cmt_file {
	struct cmt_waiter *waiter;
	struct cmt_want want;	/* begun: it has mapped a ring, or read on demand */
	bool ticks;		/* cmt_sampler_want_ticks(): it has mapped a ring */
	bool channels;		/* cmt_sampler_want_channels() */
	bool waits;		/* cmt_waits_want() */
	u32 counters;		/* cmt_perf_want() */
	u32 nr_holds;		/* register.c, as holds */
	struct list_head holds;
};

/* device.c.  @counters: as of struct cmt_counters */
void cmt_file_set_counters(struct cmt_file *file, u32 counters);
/* @values: as of struct cmt_values, checked */
void cmt_file_set_values(struct cmt_file *file, u32 values);
/* Its values are read from now on. */
void cmt_file_begin_reading(struct cmt_file *file);
/* @records is in range. */
void cmt_file_set_watermark(struct cmt_file *file, u32 records);

/* ioctl.c */
long cmt_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
/* As CMT_IOC_GET_STATS, without size. */
void cmt_stats_fill(struct cmt_stats *stats);
/* Had whoever opened the file CAP_PERFMON or CAP_SYS_ADMIN, over the machine? */
bool cmt_was_perfmon_capable(const struct file *file);

/*
 * register.c: the registrations of a descriptor.  Errors as CMT_IOC_REGISTER and
 * _UNREGISTER; the caller has checked kind and options.  Process context, as cmt_hold().
 */
int cmt_register(struct cmt_file *file, struct cmt_attach *arg);
int cmt_unregister(struct cmt_file *file, const struct cmt_attach *arg);
/* The descriptor is being closed. */
void cmt_unregister_all(struct cmt_file *file);

#endif

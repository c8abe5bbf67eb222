/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the rings of a device to the chunks of a recording. */
#ifndef TOOLS_CAPTURE_H
#define TOOLS_CAPTURE_H

#include <stdbool.h>

#include <cmt/cmt.h>
#include <cmt/recording.h>

struct capture {
	struct cmt_device *dev;
	struct cmt_reader *reader;
	struct cmt_containers *names;
	struct cmt_recorder *recorder;
	struct cmt_record *records;	/* room for a batch */
	char *cgroups;		/* where cgroup v2 is mounted; NULL: found by the library */
	uint64_t late;		/* the number of records at the last snapshot */
	bool resync;		/* a new snapshot is necessary */
	uint64_t newest_ns;	/* the time of the last record */
	uint64_t looked_ns;
	uint64_t flushed_ns;
};

struct capture_opts {
	const char *program;	/* its name is in the recording */
	const char *root;	/* the host's, for names and cgroups; NULL: this machine's */
	uint32_t counters;	/* as of struct config; 0: keep the present ones */
	cmt_recorder_fn write;
	void *ctx;
	uint32_t flags;		/* CMT_RECORDER_* */
};

/* @dev must outlive it.  Returns 0 or -errno; capture_close() in any case. */
int capture_open(struct capture *capture, struct cmt_device *dev,
		 const struct capture_opts *opts);
void capture_close(struct capture *capture);

/* Read no more: the device may be closed, and the recorder stays. */
void capture_stop(struct capture *capture);

/* Begin a file, with the owners.  Returns as cmt_recorder_begin(). */
int capture_begin(struct capture *capture);

/*
 * Record the available records, for a bounded time, and once a second the state that is
 * in no record.  Returns 1: there are more, 0, or -errno of cmt_reader_read() or the
 * result of the write function.  Records without memory are counted, and are no error.
 */
int capture_pump(struct capture *capture);

/* Likewise until all available records are recorded, for a longer time. */
int capture_pump_all(struct capture *capture);

/* Record the state that is in no record now.  Returns as capture_pump(). */
int capture_look(struct capture *capture);

/* How long to wait for the device at most before capture_pump(). */
uint64_t capture_wait_ns(const struct capture *capture);

struct capture_counts {
	struct cmt_recorder_counts recorder;
	struct cmt_reader_counts reader;
};

void capture_counts(const struct capture *capture, struct capture_counts *counts);

#endif

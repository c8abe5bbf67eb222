/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of verdicts of libcmt's culprit engine, by victim and suspect, and slowdowns */
#ifndef EXPORTER_CULPRITS_H
#define EXPORTER_CULPRITS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "pairs.h"
#include "slowdowns.h"

#define CULPRIT_KINDS	(CMT_CULPRIT_STOLEN + 1)

/* Begins as zeroes, but for pairs.window_ns. */
struct culprits {
	struct cmt_culprit *engine;	/* NULL: not requested, or no device */
	bool emulated;
	/* [1]: of a model */
	uint64_t kinds[2][CULPRIT_KINDS];
	uint64_t others[2][CULPRIT_KINDS];	/* of pairs that there was no room for */
	struct pairs pairs;	/* verdicts */
	struct slowdowns slowdowns;	/* now */
	uint64_t not_followed;	/* of the engines before */
	uint64_t looked_ns;
};

/*
 * @peak_bytes: as of cmt_culprit_opts.  Returns 0 or -ENOMEM.  Counts of an earlier
 * device are kept.
 */
int culprits_open(struct culprits *culprits, const struct cmt_info *info,
		  uint64_t peak_bytes);
/* Counts stay, until culprits_free(). */
void culprits_close(struct culprits *culprits);
void culprits_free(struct culprits *culprits);

/*
 * @frame: of 1 ms, by container; @containers: names of owners that are in no row any
 * more.
 */
void culprits_add(struct culprits *culprits, const struct cmt_usage_frame *frame,
		  struct cmt_containers *containers);

/*
 * About once a second, read the CPU files of the containers in the rows of @frame,
 * which has all rows, and how much slower containers are.  @root: of the host's file system, NULL: this machine's.
 */
void culprits_look(struct culprits *culprits, const struct cmt_usage_frame *frame,
		   struct cmt_containers *containers, const char *root);

struct cmt_culprit_counts culprits_counts(const struct culprits *culprits);

#endif

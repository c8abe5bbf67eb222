/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory channels and all RMIDs, slot by slot.  Each channel is a member of the model,
 * and so are the sums: of all channels, where each one is known, and of all RMIDs.  The
 * bandwidth of a slot comes with a later reading, so sums of RMIDs are kept until the
 * blocks of their slots are complete.
 */
#ifndef REPORT_SUMS_H
#define REPORT_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include <cmt/cmt.h>

#include "point.h"

struct model;

#define SUMS_SLOTS 8192U	/* that sums are kept of; a power of two */
#define SUMS_COARSE 64U	/* slots: twice the ticks from one reading to the next */

struct sum {
	double rate;
	bool unknown;		/* of some RMID, or of all */
	bool rmid_0;		/* it is among them */
};

/* All 0: no channel has been seen. */
struct sums {
	struct sum *at;	/* SUMS_SLOTS, by the slot modulo that; or NULL */
	uint64_t done;		/* slots before this one are in the pyramid */
	uint32_t channels, rmids;	/* numbers of the members that are sums */
	uint32_t nr_channels;
};

void sums_free(struct sums *sums);

/*
 * The traffic of a row in @nr slots from @slot on, each as @point.  @rmid_0: the row is
 * RMID 0's.
 */
void sums_add_rmid(struct sums *sums, uint64_t slot, uint64_t nr,
		     const struct point *point, bool rmid_0);

/* Not everything is known of the slots from @slot to before @end. */
void sums_blank(struct sums *sums, uint64_t slot, uint64_t end);

/* The channels of a frame.  Returns 0 or -errno. */
int sums_add_channels(struct model *model, const struct cmt_usage_frame *frame,
			uint64_t slot);

/*
 * Put the sums of slots before @end, to which all RMIDs were added.  Returns 0 or
 * -errno.
 */
int sums_flush(struct model *model, uint64_t end);

#endif

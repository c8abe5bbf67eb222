/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording, for what reads one in place of a device. */
#ifndef LIBCMT_RECORDING_H
#define LIBCMT_RECORDING_H

#include <cmt/recording.h>

/* A state that was read, and the structures that it points to. */
struct rec_state {
	struct cmt_recording_state state;
	struct cmt_stats stats;
	struct cmt_uncore uncore;
	struct cmt_reader_counts reader;
	struct cmt_snapshot *pending;
	struct cmt_culprit_cpu *cpus;
};

/*
 * Move the state of the last item, which was CMT_RECORDING_STATE, to @to: zero, or as
 * left by this function.
 */
void cmt_recording_move_state(struct cmt_recording *recording, struct rec_state *to);

void rec_state_free(struct rec_state *state);

/* Note that a usage reads the recording.  Returns 0 or -EBUSY: another one does. */
int cmt_recording_hold(struct cmt_recording *recording);
void cmt_recording_drop(struct cmt_recording *recording);

/* The time of the last cmt_recording_seek(); 0: there was none. */
uint64_t cmt_recording_sought(const struct cmt_recording *recording);

#endif

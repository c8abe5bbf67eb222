/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of a flight recorder, at readings of their own. */
#ifndef TOOLS_TRIGGER_H
#define TOOLS_TRIGGER_H

#include "record.h"
#include "watch/watch.h"

#define TRIGGER_WHY 256

struct trigger {
	struct cmt_device *dev;	/* NULL: there is no rule */
	struct watch watch;	/* of the rules culprit and slower */
	bool watching;
	bool coarse;	/* the sampling interval is too long for these, which was said */
	struct slowers *slowers;	/* NULL: there is no rule slower */
	struct cmt_device *usage_dev;
	struct cmt_usage *usage;	/* of the others; NULL: there is none */
	uint64_t named_ns;
	struct rule rules[RULES];
	uint32_t nr_rules;
	uint64_t fired[RULES];	/* times; the caller sets it to 0 */
	char why[TRIGGER_WHY];		/* why the last one fired */
	/* of the last trigger_pump(): */
	bool more;	/* there was no time for all records */
	int err;	/* -errno: not all was checked; 0: none */
};

/*
 * Open the devices, each of which has one reader.  Returns 0 or -errno; call
 * trigger_close() in any case.
 */
int trigger_device(struct trigger *trigger, const struct record_config *config);

/*
 * Begin to read.  Returns 0 or -errno; -ENOTSUP: a rule never holds on this machine, which
 * a message says.
 */
int trigger_open(struct trigger *trigger, const struct record_config *config);
void trigger_close(struct trigger *trigger);

/*
 * Process the available records, for a bounded time: the recorder waits for it, and its
 * rings do not.  Returns why a rule fired, or NULL: none did.
 */
const char *trigger_pump(struct trigger *trigger);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
#include "waits.h"

#include <string.h>

#include "labels.h"

#define SMALL_PART	100	/* of an interval: smaller parts have no series */
#define VICTIM_PARTS	8	/* with series, of an interval */

static void add_party(struct labels *labels, const char *prefix,
		      const struct cmt_usage_frame *frame, uint32_t row)
{
	if (row == CMT_USAGE_WAIT_UNKNOWN)
		labels_add(labels, prefix, LABEL_UNKNOWN, strlen(LABEL_UNKNOWN));
	else
		labels_of_party(labels, prefix, cmt_usage_row_at(frame, row));
}

/* Returns whether the part is in the sum of its pair. */
static bool add_part(struct waits *waits, const struct cmt_usage_frame *frame,
		     const struct cmt_usage_wait_part *part, bool emulated)
{
	struct labels labels = { .len = 0 };

	if (part->ns < (frame->end_ns - frame->start_ns) / SMALL_PART)
		return false;
	add_party(&labels, "victim", frame, part->row);
	add_party(&labels, "runner", frame, part->by);
	labels_emulated(&labels, emulated);
	return !pairs_add(&waits->pairs, labels.text, part->ns, frame->end_ns);
}

/* Parts come by victim, the largest first. */
void waits_add(struct waits *waits, const struct cmt_usage_frame *frame, bool emulated)
{
	uint32_t i, victim = CMT_USAGE_WAIT_UNKNOWN, nth = 0;

	pairs_forget(&waits->pairs, frame->end_ns);
	for (i = 0; i < frame->nr_waits; i++) {
		const struct cmt_usage_wait_part *part = cmt_usage_wait_part_at(frame, i);

		nth = part->row == victim ? nth + 1 : 0;
		victim = part->row;
		if (nth >= VICTIM_PARTS || !add_part(waits, frame, part, emulated))
			waits->others_ns[emulated] += part->ns;
	}
}

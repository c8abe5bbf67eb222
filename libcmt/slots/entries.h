/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The readings of the open slots, and the last reading of each RMID before them.
 *
 * Entries are in a pool.  For each L3 domain seen so far, each open slot has a table
 * from RMID to the newest entry of that RMID, and a bitmap of the RMIDs in it: a sample
 * finds its entry at once.
 *
 * An RMID that did not run is not sampled in every slot.  So the entry with the last
 * sample of each RMID in each domain outlives its slot: a slot without a sample of a
 * live owner hands out that entry, with its age.  A table by RMID and domain points to
 * these entries; a slot that is retired updates the table, and is handed out from it
 * without holes.
 *
 * An entry gets its owner with its first sample.  The tracker lists the RMIDs whose
 * owner may have changed since; only these are looked up again.
 */
#ifndef LIBCMT_ENTRIES_H
#define LIBCMT_ENTRIES_H

#include <cmt/slots.h>

#include "base/base.h"
#include "tracker.h"

struct cmt_entries;

/*
 * @tracker: has @nr_rmids, and outlives the entries.  @slots: open slots at once.
 * @generations_max: of one RMID in one slot.  Returns 0 or -ENOMEM.
 */
int cmt_entries_new(struct cmt_entries **entries, struct cmt_tracker *tracker,
		    uint32_t nr_rmids, uint32_t slots, uint32_t generations_max);
void cmt_entries_free(struct cmt_entries *entries);

/*
 * Add a possible SAMPLE to the slot number @slot.  Returns 0, or -ENOMEM; or 1:
 * domains or generations exceed their limit, the sample is impossible.
 */
int cmt_entries_add(struct cmt_entries *entries, uint32_t slot,
		    const struct cmt_record *record);

/*
 * Of @n possible records, add the first ones to slot number @slot: SAMPLEs with a
 * time from @begin on and less than @span later, up to the first unusual record.
 * Returns their number.  The caller must classify the next record.
 */
uint32_t cmt_entries_add_run(struct cmt_entries *entries, uint32_t slot,
			     const struct cmt_record *records, uint32_t n,
			     uint64_t begin, uint64_t span);

/*
 * Close the slot number @slot, which ends before @end, and point *@out to its
 * entries.  The entries are valid until the next call.  Returns their number.
 */
uint32_t cmt_entries_emit(struct cmt_entries *entries, uint32_t slot,
			  uint64_t end,
			  const struct cmt_slot_entry *const **out);

/*
 * A bitmap of RMIDs, of the last cmt_entries_emit(): their owners may have changed, or there
 * are several generations.  Each reading of another RMID has an entry of its own, and an
 * entry without a reading is that of the call before.
 */
const uint64_t *cmt_entries_news(const struct cmt_entries *entries);

/*
 * The indices of the entries with a reading in the last cmt_entries_emit(), in any order.
 * The other entries are those of the call before, at the same indices; only their age
 * may have changed.  NULL: entries came, went, or changed their owner.
 */
const uint32_t *cmt_entries_read(const struct cmt_entries *entries, uint32_t *nr);

#endif

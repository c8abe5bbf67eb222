/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The readings of the open slots, and the last one of each RMID before them.
 *
 * Entries are in a pool.  For each L3 domain seen so far, each open slot has a
 * table from RMID to the newest entry of that RMID, and a bitmap of the RMIDs in
 * it: a sample finds its entry at once.
 *
 * An RMID that did not run is not sampled in every slot.  So the entry with the
 * last sample of each RMID in each domain outlives its slot: a slot without a
 * sample of an owner that is alive hands that one out, as old as it is.  A table
 * by RMID and domain points to these entries; when a slot is retired, it takes over
 * those of the slot, and is handed out without its holes.
 *
 * An entry gets its owner with its first sample.  The tracker says of which RMIDs
 * the owner may have become another one since; only these are looked up again.
 */
#ifndef LIBCMT_ENTRIES_H
#define LIBCMT_ENTRIES_H

#include <cmt/slots.h>

#include "internal.h"
#include "tracker.h"

struct cmt_entries;

/*
 * @tracker: of @nr_rmids; outlives the entries
 * @slots: how many are open at once
 * @generations_max: of one RMID in one slot
 * Returns 0 or -ENOMEM.
 */
int cmt_entries_new(struct cmt_entries **entries, struct cmt_tracker *tracker,
		    uint32_t nr_rmids, uint32_t slots, uint32_t generations_max);
void cmt_entries_free(struct cmt_entries *entries);

/*
 * Add a SAMPLE that can be to the slot number @slot.  Returns 0; 1: there are too
 * many domains or generations, the sample cannot be; or -ENOMEM.
 */
int cmt_entries_add(struct cmt_entries *entries, uint32_t slot,
		    const struct cmt_record *record);

/*
 * Of @n records that can be, add the first ones to the slot number @slot: SAMPLEs
 * with a time from @begin on, by less than @span later, as long as nothing is out of
 * the ordinary.  Returns how many; the next one, if there is one, is to be looked
 * at for what it is.
 */
uint32_t cmt_entries_add_run(struct cmt_entries *entries, uint32_t slot,
			     const struct cmt_record *records, uint32_t n,
			     uint64_t begin, uint64_t span);

/*
 * Close the slot number @slot, which ends before @end, and point *@out to its
 * entries, which are valid until the next call.  Returns how many there are.
 */
uint32_t cmt_entries_emit(struct cmt_entries *entries, uint32_t slot,
			  uint64_t end,
			  const struct cmt_slot_entry *const **out);

/*
 * Of the last cmt_entries_emit(): a bitmap of RMIDs.  Of another RMID the same entries
 * were handed out as by the one before, and nothing in them or of their owners is
 * another.
 */
const uint64_t *cmt_entries_news(const struct cmt_entries *entries);

#endif

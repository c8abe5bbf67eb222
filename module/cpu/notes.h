/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the next sample of an RMID in a domain says beside its values.  Any CPU makes a note;
 * the CPU that writes the sample clears it.  Ticks look at the bits only while there may be
 * one: notes are counted, and it is known how many of them have no bit any more.
 */
#ifndef CMT_NOTES_H
#define CMT_NOTES_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* Of a domain, with a bit for each RMID */
struct cmt_notes {
	unsigned long *overwritten;	/* CMT_F_PQR_OVERWRITTEN */
	unsigned long *inherited;	/* all that the RMID holds is residue */
	atomic_t made;			/* number of notes */
	u32 done;			/* none of the first @done notes has a bit any more */
	bool exist;
};

/* Called before the first CPU of a domain comes up.  NULL: no memory. */
struct cmt_notes *cmt_notes_new(u32 domain);
void cmt_notes_free(void);

/* May there be a bit?  A CPU knows of its own notes.  Any context, as all that follow. */
static __always_inline bool cmt_notes_any(const struct cmt_notes *notes)
{
	return (u32)atomic_read(&notes->made) != READ_ONCE(notes->done);
}

/* Before bits are looked at and cleared; returns @made for cmt_notes_end(). */
u32 cmt_notes_begin(const struct cmt_notes *notes);
void cmt_notes_end(struct cmt_notes *notes, u32 made);

/* Some work of the owner of @rmid in @domain counted under another RMID. */
void cmt_note_overwritten(u32 domain, u32 rmid);

/* The RMID has a new owner, or belongs to a group: the notes were of earlier owners. */
void cmt_notes_drop(u32 rmid);

/*
 * The RMID of a resctrl group counts for one owner from now on: what it holds, in all domains,
 * may be of others.
 */
void cmt_note_inherited(u32 rmid);

#endif

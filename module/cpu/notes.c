// SPDX-License-Identifier: GPL-2.0
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/slab.h>

#include "hw/hw.h"
#include "notes.h"

/* By domain index, from 0 on */
static struct cmt_notes notes[CMT_MAX_DOMAINS];

struct cmt_notes *cmt_notes_new(u32 domain)
{
	struct cmt_notes *n = &notes[domain];

	/* an earlier try found no memory for the rest of the domain */
	if (n->exist)
		return n;
	n->inherited = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	n->overwritten = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	if (!n->inherited || !n->overwritten) {
		bitmap_free(n->inherited);
		bitmap_free(n->overwritten);
		*n = (struct cmt_notes) { };
		return NULL;
	}
	/* pairs with notes_of() */
	smp_store_release(&n->exist, true);
	return n;
}

void cmt_notes_free(void)
{
	u32 i;

	for (i = 0; i < CMT_MAX_DOMAINS; i++) {
		bitmap_free(notes[i].inherited);
		bitmap_free(notes[i].overwritten);
	}
}

/* NULL: there is no such domain, and none above. */
static struct cmt_notes *notes_of(u32 domain)
{
	/* pairs with cmt_notes_new() */
	return domain < CMT_MAX_DOMAINS && smp_load_acquire(&notes[domain].exist) ?
	       &notes[domain] : NULL;
}

u32 cmt_notes_begin(const struct cmt_notes *n)
{
	u32 made = (u32)atomic_read(&n->made);

	/* the number, then the bits: pairs with note_make() */
	smp_rmb();
	return made;
}

void cmt_notes_end(struct cmt_notes *n, u32 made)
{
	if (made != READ_ONCE(n->done) &&
	    bitmap_empty(n->overwritten, cmt_caps.rmid_room) &&
	    bitmap_empty(n->inherited, cmt_caps.rmid_room))
		WRITE_ONCE(n->done, made);
}

static void note_make(struct cmt_notes *n, unsigned long *bits, u32 rmid)
{
	set_bit(rmid, bits);
	/* the bit, then the number: pairs with cmt_notes_begin() */
	smp_mb__before_atomic();
	atomic_inc(&n->made);
}

/* A tick clears the bit when it reads @rmid: of an RMID that no tick reads there is none. */
void cmt_note_overwritten(u32 domain, u32 rmid)
{
	if (rmid < cmt_caps.nr_rmids)
		note_make(&notes[domain], notes[domain].overwritten, rmid);
}

void cmt_note_inherited(u32 rmid)
{
	struct cmt_notes *n;
	u32 i;

	for (i = 0; (n = notes_of(i)); i++)
		note_make(n, n->inherited, rmid);
}

static void note_drop(unsigned long *bits, u32 rmid)
{
	if (test_bit(rmid, bits))
		clear_bit(rmid, bits);
}

void cmt_notes_drop(u32 rmid)
{
	struct cmt_notes *n;
	u32 i;

	for (i = 0; (n = notes_of(i)); i++) {
		note_drop(n->overwritten, rmid);
		note_drop(n->inherited, rmid);
	}
}

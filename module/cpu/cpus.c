// SPDX-License-Identifier: GPL-2.0
/* The state of the CPUs, and what they note of RMIDs for later samples. */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "cpu.h"
#include "hw/hw.h"

DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);

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

/* A tick clears the bit when it reads @rmid: of an RMID that no tick reads there is none. */
void cmt_note_overwritten(u32 domain, u32 rmid)
{
	if (rmid >= cmt_caps.nr_rmids)
		return;
	set_bit(rmid, notes[domain].overwritten);
	WRITE_ONCE(notes[domain].any, true);
}

void cmt_note_inherited(u32 rmid)
{
	struct cmt_notes *n;
	u32 i;

	for (i = 0; (n = notes_of(i)); i++) {
		set_bit(rmid, n->inherited);
		WRITE_ONCE(n->any, true);
	}
}

void cmt_overwritten_end(u32 rmid)
{
	struct cmt_notes *n;
	u32 i;

	for (i = 0; (n = notes_of(i)); i++)
		if (test_bit(rmid, n->overwritten))
			clear_bit(rmid, n->overwritten);
}

void cmt_cpus_stats(struct cmt_stats *stats)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		const struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

		stats->cpus_unread += READ_ONCE(c->unread);
		stats->cpus_foreign += !!READ_ONCE(c->default_rmid);
		stats->switches += READ_ONCE(c->switches);
		stats->pqr_writes += READ_ONCE(c->pqr_writes);
		stats->pqr_overwritten += READ_ONCE(c->pqr_overwritten);
	}
}

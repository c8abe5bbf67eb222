// SPDX-License-Identifier: GPL-2.0
/*
 * The L3 domains, and the counters of each RMID in them.  Who accesses a counter has
 * claimed it (burst.h).
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "owner/owner.h"
#include "sampler.h"

/* After an allocation, occupancy in another domain is residue for this time. */
#define RESIDUE_WINDOW_NS	2000000ULL

static struct cmt_domain *domains[CMT_MAX_DOMAINS];	/* by index, from 0 on */
static u32 nr_domains;

/* Domains are added from 0 on, and never go. */
u32 cmt_sampler_domains(void)
{
	/* pairs with cmt_sampler_add_domain() */
	return smp_load_acquire(&nr_domains);
}

struct cmt_domain *cmt_sampler_domain(u32 index)
{
	return READ_ONCE(domains[index]);
}

void cmt_domain_account(struct cmt_domain *domain, struct cmt_counter *counter,
			const struct cmt_raws *raws, u32 events,
			struct cmt_record *slot)
{
	u32 rmid = counter - domain->counters;

	/* in the first reading of the occupancy after the note, in a tick or on demand */
	if (test_bit(rmid, domain->notes->inherited) &&
	    cmt_counter_set_residue(counter, raws, events, &cmt_caps))
		clear_bit(rmid, domain->notes->inherited);
	/*
	 * The owner was allocated in another domain.  Its traffic here is not
	 * known.  Shortly after the allocation the occupancy counts as residue;
	 * later the lines may be the owner's.
	 */
	if (cmt_counter_is_new(counter) && rmid &&
	    slot->ts - cmt_table_since(rmid) <= RESIDUE_WINDOW_NS)
		cmt_counter_set_residue(counter, raws, events, &cmt_caps);
	cmt_counter_sample(counter, raws, events, &cmt_caps, slot);
	if (slot->flags & CMT_F_REBASED)
		domain->demands[rmid].base++;
}

static bool is_read_since(const struct cmt_record *last, u64 since)
{
	return last->type == CMT_REC_SAMPLE && last->ts >= since;
}

/* But for a reading on demand since @since, which stays the base. */
static bool domain_lose_base(u32 domain, u32 rmid, u64 since, void (*change)(u32, u32))
{
	struct cmt_domain *d = domains[domain];
	struct cmt_counter *counter = &d->counters[rmid];
	struct cmt_record *last = &d->demands[rmid].last;
	unsigned long flags;
	u32 seen;
	bool claimed;

	local_irq_save(flags);
	claimed = cmt_claim_any(counter, &seen);
	if (claimed) {
		if (!is_read_since(last, since)) {
			cmt_counter_lose_base(counter);
			last->type = CMT_REC_PAD;
			seen = cmt_mark(ktime_get_ns()) - 2;
		}
		if (change)
			change(domain, rmid);
		cmt_claim_release(counter, seen);
	}
	local_irq_restore(flags);
	return claimed;
}

/* False: a reading on demand has the counter, for some microseconds. */
bool cmt_domain_lose_base(u32 domain, u32 rmid, void (*change)(u32, u32))
{
	return domain_lose_base(domain, rmid, U64_MAX, change);
}

bool cmt_domain_lose_bases(u32 domain)
{
	u32 rmid;

	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++)
		if (!cmt_domain_lose_base(domain, rmid, NULL))
			return false;
	return true;
}

void cmt_domains_lose_base(u64 since)
{
	u32 domain, rmid;

	if (!cmt_backend_samples())
		return;
	for (domain = 0; domain < cmt_sampler_domains(); domain++) {
		for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++)
			while (!domain_lose_base(domain, rmid, since, NULL))
				cpu_relax();
		cond_resched();
	}
}

bool cmt_domain_begin(struct cmt_domain *domain, u32 rmid, u32 generation)
{
	struct cmt_counter *counter = &domain->counters[rmid];
	u32 events = READ_ONCE(cmt_wanted_events), seen;
	struct cmt_raws raws;

	if (!cmt_claim_any(counter, &seen))
		return false;
	domain->demands[rmid].owed = false;
	cmt_backend->read(rmid, events, &raws);
	cmt_counter_begin(counter, rmid, generation, &cmt_caps);
	cmt_counter_set_residue(counter, &raws, events, &cmt_caps);
	cmt_counter_set_base(counter, &raws, events, &cmt_caps);
	cmt_claim_release(counter, cmt_mark(ktime_get_ns()) - 2);
	return true;
}

static int domain_add_counters(struct cmt_domain *d)
{
	u32 seen = cmt_mark(ktime_get_ns()) - 2;
	u32 rmid;

	d->counters = vzalloc(array_size(cmt_caps.nr_rmids,
					 sizeof(*d->counters)));
	d->demands = vzalloc(array_size(cmt_caps.nr_rmids,
					sizeof(*d->demands)));
	if (!d->counters || !d->demands)
		return -ENOMEM;
	for (rmid = 0; rmid < cmt_caps.nr_rmids; rmid++) {
		cmt_counter_reset(&d->counters[rmid]);
		d->counters[rmid].seen = seen;
	}
	return 0;
}

static int domain_alloc(struct cmt_domain *d, u32 domain)
{
	d->forwarded = bitmap_zalloc(cmt_caps.rmid_room, GFP_KERNEL);
	d->notes = cmt_notes_new(domain);
	if (!d->forwarded || !d->notes)
		return -ENOMEM;
	raw_spin_lock_init(&d->calls.lock);
	return cmt_backend_samples() ? domain_add_counters(d) : 0;
}

static void domain_free(struct cmt_domain *d)
{
	bitmap_free(d->forwarded);
	vfree(d->counters);
	vfree(d->demands);
	kfree(d);
}

int cmt_sampler_add_domain(u32 domain, u32 id)
{
	struct cmt_domain *d = kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->id = id;
	if (domain_alloc(d, domain)) {
		domain_free(d);
		return -ENOMEM;
	}
	WRITE_ONCE(domains[domain], d);
	/* pairs with cmt_sampler_domains(): the domain, then the number */
	smp_store_release(&nr_domains, domain + 1);
	return 0;
}

void cmt_domains_exit(void)
{
	while (nr_domains)
		domain_free(domains[--nr_domains]);
	cmt_notes_free();
}

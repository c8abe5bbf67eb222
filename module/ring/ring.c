// SPDX-License-Identifier: GPL-2.0
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "hw/hw.h"
#include "ring.h"
#include "size.h"

/* The size of a ring is for this interval, or a shorter one at load. */
#define INTERVAL_DEFAULT_NS	1000000

DEFINE_PER_CPU(struct cmt_ring, cmt_rings);
u32 cmt_readers;
u64 cmt_instance;
u32 cmt_ring_records, cmt_ring_records_least;

static bool sizes_known;	/* to programs: no ring becomes smaller */
static u32 rings_small;

static DEFINE_PER_CPU(u32, domain_ids);	/* at load, of CPUs that were online */

static u64 data_bytes(u32 records)
{
	return PAGE_ALIGN((u64)records * sizeof(struct cmt_record));
}

u64 cmt_ring_bytes(void)
{
	return cmt_size_bytes(cmt_ring_records);
}

u32 cmt_ring_cap(unsigned int cpu, u32 interval_ns)
{
	return cmt_size_cap(per_cpu(cmt_rings, cpu).mask + 1, interval_ns);
}

u64 cmt_rings_hold_ns(u32 interval_ns)
{
	u64 hold = U64_MAX;
	u32 records;

	for (records = cmt_ring_records_least; records <= cmt_ring_records;
	     records *= 2)
		hold = min(hold, cmt_size_hold_ns(records, interval_ns));
	return hold;
}

struct page *cmt_ring_page(u32 cpu, unsigned long pgoff)
{
	const struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);
	/* pairs with cmt_ring_set_state(): slots are there when it says so */
	u32 state = smp_load_acquire(&ring->header->state);
	u64 offset = (u64)pgoff << PAGE_SHIFT;

	if (offset < CMT_RING_DATA_OFFSET)
		return virt_to_page(ring->header);
	offset -= CMT_RING_DATA_OFFSET;
	if (state == CMT_RING_ABSENT || offset >= data_bytes(ring->mask + 1))
		return NULL;
	return vmalloc_to_page((u8 *)ring->slots + offset);
}

void cmt_emit(const struct cmt_record *record)
{
	struct cmt_ring *ring = this_cpu_ptr(&cmt_rings);

	lockdep_assert_irqs_disabled();
	if (unlikely(!ring->slots)) {
		WRITE_ONCE(ring->header->unwritten, ring->header->unwritten + 1);
		return;
	}
	cmt_ring_write(ring, record);
	cmt_waiters_check(ring->head);
}

static void emit_state(unsigned int cpu, u16 type)
{
	struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);
	struct cmt_record record = {
		.ts = ktime_get_ns(),
		.type = type,
		.flags = cmt_caps.record_flags,
		.domain = ring->domain_id,
	};

	cmt_ring_write(ring, &record);
	cmt_waiters_check_cpu(cpu, ring->head);
}

/* With half as many slots and so on, where memory lacks and no program knows the ring. */
static void *slots_new(struct cmt_ring *ring, unsigned int cpu)
{
	u32 wanted = ring->mask + 1, records = wanted;
	void *slots;

	for (;;) {
		slots = vzalloc_node(data_bytes(records), cpu_to_node(cpu));
		if (slots || sizes_known || records == CMT_RING_RECORDS_MIN)
			break;
		records /= 2;
	}
	if (slots && records != wanted) {
		cmt_ring_init(ring, ring->header, cpu, records, cmt_instance);
		cmt_ring_records_least = min(cmt_ring_records_least, records);
		rings_small++;
	}
	return slots;
}

void cmt_rings_sizes_are_known(void)
{
	sizes_known = true;
	if (rings_small)
		pr_warn("no memory for the rings of %u CPUs: theirs are smaller, of %u records at least\n",
			rings_small, cmt_ring_records_least);
}

int cmt_ring_prepare(unsigned int cpu)
{
	struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);
	void *slots = ring->slots;
	unsigned long flags;

	if (!slots)
		slots = slots_new(ring, cpu);
	if (!slots)
		return -ENOMEM;
	/* on the CPU itself, so that its records wait */
	local_irq_save(flags);
	ring->slots = slots;
	/* in this order: a reader that sees no ring here misses no record yet */
	cmt_ring_set_quiet(cpu, true);
	emit_state(cpu, CMT_REC_CPU_ONLINE);
	local_irq_restore(flags);
	return 0;
}

void cmt_ring_dead(unsigned int cpu)
{
	struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);

	if (!ring->slots)
		return;
	emit_state(cpu, CMT_REC_CPU_OFFLINE);
	cmt_ring_set_state(ring, CMT_RING_OFFLINE);
}

void cmt_ring_set_quiet(unsigned int cpu, bool quiet)
{
	struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);

	if (ring->slots)
		cmt_ring_set_state(ring, quiet ? CMT_RING_QUIET :
						 CMT_RING_ONLINE);
}

static void note_domain(void *unused)
{
	this_cpu_write(domain_ids,
		       cmt_topology_domain_id(cmt_caps.nodes_per_l3));
}

/*
 * The number of CPUs that share the readings in the domain of @cpu, which is online;
 * 0: @cpu does not read.  Where one CPU reads for all, it is the first one.
 */
static u32 readers_with(unsigned int cpu)
{
	u32 domain = per_cpu(domain_ids, cpu), n = 0;
	unsigned int other;

	if (cmt_is_excluded(cpu))
		return 0;
	for_each_online_cpu(other) {
		if (cmt_is_excluded(other) ||
		    per_cpu(domain_ids, other) != domain)
			continue;
		if (cmt_caps.shared_evtsel)
			return other == cpu;
		n++;
	}
	return n;
}

static int ring_init(unsigned int cpu, u32 records)
{
	struct cmt_ring_header *header = (void *)get_zeroed_page(GFP_KERNEL);

	if (!header)
		return -ENOMEM;
	cmt_ring_init(&per_cpu(cmt_rings, cpu), header, cpu, records,
		      cmt_instance);
	return 0;
}

/* A CPU that is not online may become the only reader of its domain. */
static u32 records_wanted(unsigned int cpu, u32 interval_ns)
{
	u32 readers = cpu_online(cpu) ? readers_with(cpu) : 1;

	return cmt_size_records(cmt_caps.nr_rmids,
				cmt_backend_samples() ? readers : 0, interval_ns);
}

int cmt_rings_init(u32 records, u32 interval_ns)
{
	unsigned int cpu;
	u32 wanted;
	int ret;

	interval_ns = min_t(u32, interval_ns, INTERVAL_DEFAULT_NS);
	cmt_instance = get_random_u64();
	cmt_ring_records = 0;
	cmt_ring_records_least = U32_MAX;
	sizes_known = false;
	rings_small = 0;
	on_each_cpu(note_domain, NULL, true);
	for_each_possible_cpu(cpu) {
		wanted = records ?: records_wanted(cpu, interval_ns);
		cmt_ring_records = max(cmt_ring_records, wanted);
		cmt_ring_records_least = min(cmt_ring_records_least, wanted);
		ret = ring_init(cpu, wanted);
		if (ret) {
			cmt_rings_exit();
			return ret;
		}
	}
	return 0;
}

void cmt_rings_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct cmt_ring *ring = &per_cpu(cmt_rings, cpu);

		vfree(ring->slots);
		free_page((unsigned long)ring->header);
	}
}

void cmt_rings_stats(struct cmt_stats *stats)
{
	unsigned int cpu;

	stats->readers = READ_ONCE(cmt_readers);
	stats->rings_small = rings_small;
	for_each_possible_cpu(cpu) {
		const struct cmt_ring_header *header = per_cpu(cmt_rings, cpu).header;
		u32 state = READ_ONCE(header->state);

		stats->cpus_online += state == CMT_RING_ONLINE ||
				      state == CMT_RING_QUIET;
		stats->records += READ_ONCE(header->head);
	}
}

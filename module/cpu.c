// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU's ring is made before the CPU comes online for the first time and
 * stays until the module goes, so that a reader's mapping and what it has not
 * read yet survive the CPU.  Who calls what when a CPU comes and goes is
 * hotplug.c's.
 */
#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "cmt.h"

DEFINE_PER_CPU(struct cmt_cpu, cmt_cpus);

u64 cmt_instance;
static u32 ring_records;

/* By domain: whose next sample is to say that some of it counts elsewhere. */
static unsigned long overwritten[CMT_MAX_DOMAINS][BITS_TO_LONGS(CMT_MAX_RMIDS)];

u32 cmt_ring_records(void)
{
	return ring_records;
}

u64 cmt_ring_bytes(void)
{
	return CMT_RING_DATA_OFFSET +
	       PAGE_ALIGN((u64)ring_records * sizeof(struct cmt_record));
}

struct page *cmt_ring_page(u32 cpu, unsigned long pgoff)
{
	const struct cmt_ring *ring = &per_cpu(cmt_cpus, cpu).ring;
	/* pairs with cmt_ring_set_state(): slots are there when it says so */
	u32 state = smp_load_acquire(&ring->header->state);
	u64 offset = (u64)pgoff << PAGE_SHIFT;

	if (offset < CMT_RING_DATA_OFFSET)
		return virt_to_page(ring->header);
	if (state == CMT_RING_ABSENT || offset >= cmt_ring_bytes())
		return NULL;
	return vmalloc_to_page((u8 *)ring->slots + offset - CMT_RING_DATA_OFFSET);
}

u32 cmt_cpu_domain_id(void)
{
	return this_cpu_read(cmt_cpus.domain_id);
}

void cmt_emit(const struct cmt_record *record)
{
	lockdep_assert_irqs_disabled();
	cmt_ring_write(this_cpu_ptr(&cmt_cpus.ring), record);
}

static void cpu_account(struct cmt_cpu *cpu, struct task_struct *task)
{
	if (cmt_backend->account)
		cmt_backend->account(task, cpu->rmid);
}

static void cpu_set_rmid(struct cmt_cpu *cpu, u32 rmid)
{
	cpu->rmid = rmid;
	cpu->pqr_writes++;
	cmt_backend->set_rmid(rmid);
}

/* What cpu->own does counts elsewhere, or has so since we looked last. */
static void cpu_overwritten(struct cmt_cpu *cpu)
{
	cpu->pqr_overwritten++;
	cpu->overwritten = true;
	set_bit(cpu->own, overwritten[cpu->domain]);
}

bool cmt_cpu_was_overwritten(const struct cmt_cpu *cpu, u32 rmid)
{
	unsigned long *rmids = overwritten[cpu->domain];

	return test_bit(rmid, rmids) && test_and_clear_bit(rmid, rmids);
}

/* The RMID for @task, which comes or is here. */
static u32 cpu_rmid_of(struct cmt_cpu *cpu, struct task_struct *task)
{
	u32 own = cmt_table_rmid(task);
	u32 rmid = cmt_resctrl_rmid(task, own);

	/* the CPU's is not resctrl's to write: tasks go to other CPUs */
	if (own == CMT_RMID_NONE && cpu->owner)
		own = cmt_table_cpu_rmid(cpu);
	if (rmid == CMT_RMID_NONE)
		rmid = own;
	cpu->own = own;
	if (unlikely(rmid != own) && own != CMT_RMID_NONE)
		cpu_overwritten(cpu);
	return rmid;
}

void cmt_cpu_switch(struct task_struct *prev, struct task_struct *next)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	u32 rmid;

	if (unlikely(!cpu->up))
		return;
	cpu->switches++;
	rmid = cpu_rmid_of(cpu, next);
	if (rmid == cpu->rmid)
		return;
	cpu_account(cpu, prev);
	cpu_set_rmid(cpu, rmid);
}

void cmt_cpu_refresh(void)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	u32 rmid;

	lockdep_assert_irqs_disabled();
	if (!cpu->up)
		return;
	cpu_account(cpu, current);
	rmid = cpu_rmid_of(cpu, current);
	if (rmid != cpu->rmid)
		cpu_set_rmid(cpu, rmid);
}

/* Did another agent change the RMID?  Then take it back. */
static void cpu_check_rmid(struct cmt_cpu *cpu)
{
	u32 found = CMT_RMID_NONE;

	if (!cmt_backend->get_rmid(&found) && found == cpu->rmid)
		return;
	cpu_overwritten(cpu);
	/* or resctrl wrote what a task has from us of the owner it had before */
	if (!cmt_table_settling())
		cmt_foreign_seen(found);
	cmt_backend->set_rmid(cpu->rmid);
}

bool cmt_cpu_check(void)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);
	bool overwritten;

	lockdep_assert_irqs_disabled();
	cpu_check_rmid(cpu);
	cmt_cpu_refresh();
	overwritten = cpu->overwritten;
	cpu->overwritten = false;
	return overwritten;
}

void cmt_cpu_tick_begin(void)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	lockdep_assert_irqs_disabled();
	if (cpu->rmid != CMT_RMID_NONE)
		cmt_backend->set_rmid(CMT_RMID_NONE);
}

void cmt_cpu_tick_end(void)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	if (cpu->rmid != CMT_RMID_NONE)
		cmt_backend->set_rmid(cpu->rmid);
}

static void cpu_refresh_ipi(void *unused)
{
	cmt_cpu_refresh();
}

void cmt_cpus_refresh(void)
{
	on_each_cpu(cpu_refresh_ipi, NULL, true);
}

static void cpu_reset_ipi(void *unused)
{
	struct cmt_cpu *cpu = this_cpu_ptr(&cmt_cpus);

	if (cpu->up)
		cmt_backend->set_rmid(cpu->rmid);
}

void cmt_cpus_reset(void)
{
	on_each_cpu(cpu_reset_ipi, NULL, true);
}

static void emit_state(unsigned int cpu, u16 type)
{
	struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);
	struct cmt_record record = {
		.ts = ktime_get_ns(),
		.type = type,
		.flags = cmt_caps.record_flags,
		.domain = c->domain_id,
	};

	cmt_ring_write(&c->ring, &record);
}

int cmt_cpu_prepare(unsigned int cpu)
{
	struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);
	void *slots;

	if (!c->ring.slots) {
		slots = vzalloc_node(cmt_ring_bytes() - CMT_RING_DATA_OFFSET,
				     cpu_to_node(cpu));
		if (!slots)
			return -ENOMEM;
		cmt_ring_open(&c->ring, slots);
	}
	/* in this order: who sees no ring here misses no record yet */
	cmt_ring_set_state(&c->ring, CMT_RING_ONLINE);
	emit_state(cpu, CMT_REC_CPU_ONLINE);
	return 0;
}

int cmt_cpu_dead(unsigned int cpu)
{
	emit_state(cpu, CMT_REC_CPU_OFFLINE);
	cmt_ring_set_state(&per_cpu(cmt_cpus, cpu).ring, CMT_RING_OFFLINE);
	return 0;
}

void cmt_cpu_up(u32 domain, u32 domain_id)
{
	struct cmt_cpu *c = this_cpu_ptr(&cmt_cpus);
	unsigned long flags;

	local_irq_save(flags);
	c->domain_id = domain_id;
	c->domain = domain;
	c->rmid = CMT_RMID_NONE;
	c->own = CMT_RMID_NONE;
	c->overwritten = false;
	c->cursor = 0;
	cmt_backend->cpu_up(domain);
	c->up = true;
	cmt_cpu_refresh();
	local_irq_restore(flags);
}

void cmt_cpu_down(void)
{
	struct cmt_cpu *c = this_cpu_ptr(&cmt_cpus);
	unsigned long flags;

	local_irq_save(flags);
	c->up = false;
	cmt_backend->cpu_down();
	c->rmid = CMT_RMID_NONE;
	local_irq_restore(flags);
}

static void cpu_wake(struct irq_work *work)
{
	wake_up_all(&cmt_pollers);
}

/*
 * Room for a quarter of a second: an RMID in each share and a few lifecycle
 * records every default interval.
 */
static u32 ring_records_auto(void)
{
	u32 per_tick = DIV_ROUND_UP(cmt_caps.nr_rmids, num_online_cpus()) + 4;

	return clamp_t(u32, roundup_pow_of_two(per_tick * 256), 4096,
		       CMT_RING_RECORDS_MAX);
}

static int cmt_cpu_init(unsigned int cpu)
{
	struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);
	struct cmt_ring_header *header;

	header = (void *)get_zeroed_page(GFP_KERNEL);
	if (!header)
		return -ENOMEM;
	cmt_ring_init(&c->ring, header, cpu, ring_records, cmt_instance);
	c->wake_at = U64_MAX;
	init_irq_work(&c->wake, cpu_wake);
	return 0;
}

void cmt_cpus_exit(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct cmt_cpu *c = &per_cpu(cmt_cpus, cpu);

		irq_work_sync(&c->wake);
		vfree(c->ring.slots);
		free_page((unsigned long)c->ring.header);
	}
}

int cmt_cpus_init(u32 records)
{
	unsigned int cpu;
	int ret;

	cmt_instance = get_random_u64();
	ring_records = records ?: ring_records_auto();
	for_each_possible_cpu(cpu) {
		ret = cmt_cpu_init(cpu);
		if (ret) {
			cmt_cpus_exit();
			return ret;
		}
	}
	return 0;
}

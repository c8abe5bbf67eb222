// SPDX-License-Identifier: GPL-2.0
/*
 * The emulated backend: a model of one shared cache per L3 domain, for tests
 * and demonstrations.  Its readings carry CMT_F_EMULATED.  They are plausible,
 * reproducible in kind, and not measured.
 *
 * The model
 * =========
 *
 * - A process touches CMT_MODEL_FILL_BYTES_PER_NS bytes of its resident set in
 *   every nanosecond it runs, and all of the set in turn.
 * - The touched bytes fill the cache under the RMID of the process, until the RMID
 *   holds min(resident set, cache size).  An RMID shared by several processes has
 *   the resident set of the process that ran last.
 * - When the owners of a cache hold more than its size, all shrink in proportion to
 *   their occupancy.  Owners that always touch more than they hold end with shares
 *   like their running times.
 * - The lines of a freed RMID stay in the cache until others evict them.
 * - Memory traffic is the filled bytes plus, for a set larger than the cache, that
 *   share of the bytes touched afterwards which cannot be cached.  All of it is
 *   local.  Nothing is written back.
 * - RMID 0 (idle, kernel threads, unmonitored) fills nothing.
 *
 * The model is not a simulation: it has no accesses, no sets or ways, no sharing of
 * pages between processes and no prefetch.  A process that sweeps its memory and one
 * that computes in registers have the same values.
 *
 * Accounting
 * ==========
 *
 * The switch path adds running time to arrays of its own CPU and takes no lock.  A
 * burst first folds the arrays of all CPUs of the domain into the model of the domain.
 * CPUs tick at the same instants, so the first CPU folds for all, and all CPUs that are
 * on time read one state, whose sum is within the cache.
 *
 * Nothing is lost or overflows without readers.  The reading at the allocation of an
 * RMID folds, too, so the time of the former owner in this domain is not charged to
 * the new owner.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include "backend.h"
#include "burst.h"
#include "model.h"
#include "uapi/cmt.h"

/* Half of the shortest interval: readings closer than this read one state. */
#define EMULATED_FOLD_NS		50000
#define EMULATED_COUNTER_BITS		32
#define EMULATED_EVENTS			(CMT_F_OCCUPANCY | CMT_MBM_EVENTS)
#define EMULATED_DEFAULT_CACHE_BYTES	SZ_32M	/* where CPUID gives no size */
#define EMULATED_MIN_CACHE_KIB		1024
#define EMULATED_MAX_CACHE_KIB		((uint)(CMT_MODEL_MAX_CACHE_BYTES >> 10))

static uint emulated_rmids = 256;
module_param(emulated_rmids, uint, 0444);
MODULE_PARM_DESC(emulated_rmids,
		 "RMIDs of the emulated backend, RMID 0 included: 2..4096 (default 256)");

static uint emulated_cache_kib;
module_param(emulated_cache_kib, uint, 0444);
MODULE_PARM_DESC(emulated_cache_kib,
		 "cache size of the emulated backend in KiB: 1024..1048576, or 0 for that of the machine's L3 (default 0)");

struct emulated_domain {
	raw_spinlock_t lock;	/* protects model and its owners; a leaf */
	u64 folded_at;		/* CLOCK_MONOTONIC ns; written under the lock */
	struct cmt_model model;
};

/* The CPU adds to it; the CPU that folds takes from it. */
struct emulated_pending {
	atomic64_t ns;		/* ran on this CPU since the last fold */
	u64 rss_bytes;		/* when it last ran here */
};

struct emulated_cpu {
	struct emulated_domain *domain;		/* NULL: never up */
	struct emulated_pending *pending;	/* by RMID */
	unsigned long *touched;			/* RMIDs with pending time */
	u64 accounted_until;			/* local_clock(); own CPU only */
};

static DEFINE_PER_CPU(struct emulated_cpu, emulated_cpus);

/* Constant after init(). */
static struct emulated_domain *emulated_domains;
static u32 emulated_nr_domains;

static void emulated_exit(void)
{
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct emulated_cpu *ec = per_cpu_ptr(&emulated_cpus, cpu);

		kvfree(ec->pending);
		kfree(ec->touched);
		memset(ec, 0, sizeof(*ec));
	}
	for (i = 0; i < emulated_nr_domains; i++)
		kvfree(emulated_domains[i].model.owners);
	kfree(emulated_domains);
	emulated_domains = NULL;
	emulated_nr_domains = 0;
}

static int emulated_alloc_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct emulated_cpu *ec = per_cpu_ptr(&emulated_cpus, cpu);

		ec->pending = kvcalloc(emulated_rmids,
				       sizeof(*ec->pending), GFP_KERNEL);
		ec->touched = kcalloc(BITS_TO_LONGS(emulated_rmids),
				      sizeof(*ec->touched), GFP_KERNEL);
		if (!ec->pending || !ec->touched)
			return -ENOMEM;
	}
	return 0;
}

/* Allocated at load: a CPU that comes up finds its domain and cannot allocate. */
static int emulated_alloc_domains(u64 cache_bytes)
{
	u32 nr = min_t(u32, num_possible_cpus(), CMT_MAX_DOMAINS);
	u32 i;

	emulated_domains = kcalloc(nr, sizeof(*emulated_domains), GFP_KERNEL);
	if (!emulated_domains)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct emulated_domain *domain = &emulated_domains[i];
		struct cmt_model_owner *owners;

		owners = kvcalloc(emulated_rmids, sizeof(*owners),
				  GFP_KERNEL);
		if (!owners)
			return -ENOMEM;
		raw_spin_lock_init(&domain->lock);
		cmt_model_init(&domain->model, owners, emulated_rmids,
			       cache_bytes);
		emulated_nr_domains = i + 1;
	}
	return 0;
}

static int emulated_check_params(void)
{
	if (emulated_rmids < 2 || emulated_rmids > CMT_MAX_RMIDS) {
		pr_err("emulated_rmids=%u is not in 2..%u\n", emulated_rmids,
		       CMT_MAX_RMIDS);
		return -EINVAL;
	}
	if (emulated_cache_kib &&
	    (emulated_cache_kib < EMULATED_MIN_CACHE_KIB ||
	     emulated_cache_kib > EMULATED_MAX_CACHE_KIB)) {
		pr_err("emulated_cache_kib=%u is neither 0 nor in %u..%u\n",
		       emulated_cache_kib, EMULATED_MIN_CACHE_KIB,
		       EMULATED_MAX_CACHE_KIB);
		return -EINVAL;
	}
	return 0;
}

static u64 emulated_cache_bytes(void)
{
	u64 bytes;

	if (emulated_cache_kib)
		return (u64)emulated_cache_kib << 10;
	bytes = cmt_topology_l3_bytes();
	if (!bytes)
		return EMULATED_DEFAULT_CACHE_BYTES;
	return min_t(u64, bytes, CMT_MODEL_MAX_CACHE_BYTES);
}

/* Never -ENODEV.  Keeps a reason that is already in *caps. */
static int emulated_init(struct cmt_backend_caps *caps)
{
	u64 cache_bytes = emulated_cache_bytes();
	int err;

	err = emulated_check_params();
	if (err)
		return err;

	err = emulated_alloc_domains(cache_bytes);
	if (!err)
		err = emulated_alloc_cpus();
	if (err) {
		emulated_exit();
		return err;
	}

	caps->backend = CMT_BACKEND_EMULATED;
	caps->vendor = cmt_topology_vendor();
	caps->record_flags = CMT_F_EMULATED;
	caps->nr_rmids = emulated_rmids;
	caps->rmid_room = emulated_rmids;
	caps->events = EMULATED_EVENTS;
	caps->upscale_bytes = CMT_MODEL_LINE_BYTES;
	caps->nodes_per_l3 = 1;
	caps->counter_bits = EMULATED_COUNTER_BITS;
	caps->data_mask = GENMASK_ULL(61, 0);
	caps->mbm_reason = "";
	caps->mbm_correct_above = U32_MAX;
	caps->mbm_correct_factor = 1U << 20;
	caps->shared_evtsel = false;
	caps->l3_bytes = cache_bytes;
	if (!caps->reason[0])
		strscpy(caps->reason, "a model of a shared cache",
			sizeof(caps->reason));
	return 0;
}

/*
 * Fold the running times of a CPU into the model.  emulated_account() adds the time
 * before it sets the bit; here the bit is cleared before the time is taken.  So time
 * that is added in between is found in this call or in the next one.
 */
static void emulated_fold_cpu(struct cmt_model *model, struct emulated_cpu *ec)
{
	unsigned long rmid;

	for_each_set_bit(rmid, ec->touched, emulated_rmids) {
		struct emulated_pending *pending = &ec->pending[rmid];

		clear_bit(rmid, ec->touched);
		/* pairs with the one in emulated_account() */
		smp_mb__after_atomic();
		cmt_model_run(model, rmid, atomic64_xchg(&pending->ns, 0),
			      READ_ONCE(pending->rss_bytes));
	}
}

/* Another CPU may have folded after @now, while this CPU waited for the lock. */
static bool emulated_is_folded(const struct emulated_domain *domain, u64 now)
{
	s64 age = now - READ_ONCE(domain->folded_at);

	return age < EMULATED_FOLD_NS;
}

static void emulated_fold(struct emulated_domain *domain)
{
	u64 now = ktime_get_mono_fast_ns();
	int cpu;

	if (emulated_is_folded(domain, now))
		return;

	raw_spin_lock(&domain->lock);
	if (!emulated_is_folded(domain, now)) {
		for_each_possible_cpu(cpu) {
			struct emulated_cpu *ec = per_cpu_ptr(&emulated_cpus,
							      cpu);

			if (READ_ONCE(ec->domain) == domain)
				emulated_fold_cpu(&domain->model, ec);
		}
		cmt_model_evict(&domain->model);
		WRITE_ONCE(domain->folded_at, now);
	}
	raw_spin_unlock(&domain->lock);
}

static void emulated_cpu_up(u32 domain)
{
	struct emulated_cpu *ec = this_cpu_ptr(&emulated_cpus);

	lockdep_assert_irqs_disabled();

	if (WARN_ON_ONCE(domain >= emulated_nr_domains))
		domain = 0;
	WRITE_ONCE(ec->domain, &emulated_domains[domain]);
	ec->accounted_until = local_clock();
}

/*
 * @task is current, or this CPU is switching away from it.  Only the task changes its
 * mm pointer, with interrupts off (exec_mmap, exit_mm), so the mm read here is alive.
 */
static void emulated_account(struct task_struct *task, u32 rmid)
{
	struct emulated_cpu *ec = this_cpu_ptr(&emulated_cpus);
	struct emulated_pending *pending;
	u64 now = local_clock();
	u64 ns = now - ec->accounted_until;

	lockdep_assert_irqs_disabled();

	ec->accounted_until = now;
	if (rmid == CMT_RMID_NONE || rmid >= emulated_rmids || !task->mm)
		return;

	pending = &ec->pending[rmid];
	WRITE_ONCE(pending->rss_bytes, (u64)get_mm_rss(task->mm) << PAGE_SHIFT);
	atomic64_add(ns, &pending->ns);
	/* time before bit: pairs with the one in emulated_fold_cpu() */
	smp_mb__after_atomic();
	if (!test_bit(rmid, ec->touched))
		set_bit(rmid, ec->touched);
}

/* All events: one that was not asked for costs nothing, and is not used. */
static __always_inline void emulated_burst_read(void *context, u32 rmid,
						struct cmt_raws *raws)
{
	struct emulated_domain *domain = context;
	struct cmt_model_owner owner;

	raw_spin_lock(&domain->lock);
	owner = domain->model.owners[rmid];
	raw_spin_unlock(&domain->lock);

	raws->occupancy = owner.occupancy_bytes / CMT_MODEL_LINE_BYTES;
	raws->total = owner.traffic_bytes / CMT_MODEL_LINE_BYTES &
		      GENMASK_ULL(EMULATED_COUNTER_BITS - 1, 0);
	raws->local = raws->total;
}

static int emulated_sample(struct cmt_burst *burst)
{
	struct emulated_domain *domain = this_cpu_ptr(&emulated_cpus)->domain;

	lockdep_assert_irqs_disabled();

	emulated_fold(domain);
	cmt_burst_run(burst, emulated_burst_read, domain);
	burst->flawed = burst->events != EMULATED_EVENTS;
	return 0;
}

static void emulated_read(u32 rmid, u32 events, struct cmt_raws *raws)
{
	struct emulated_domain *domain = this_cpu_ptr(&emulated_cpus)->domain;

	lockdep_assert_irqs_disabled();

	emulated_fold(domain);
	emulated_burst_read(domain, rmid, raws);
}

const struct cmt_backend cmt_emulated_backend = {
	.init		= emulated_init,
	.exit		= emulated_exit,
	.cpu_up		= emulated_cpu_up,
	.account	= emulated_account,
	.sample		= emulated_sample,
	.read		= emulated_read,
};

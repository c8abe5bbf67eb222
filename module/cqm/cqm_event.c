// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an event: it is bound to its source, runs when the value has been known
 * once, and is released.
 *
 * One work item reads all sources while there are events.  When perf reads an event on
 * its CPU, the source is also read there.
 *
 * perf destroys an event under locks inside which cqm_mutex must not be taken, so the
 * work item releases the hold of the event.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "internal.h"

/* The least time between readings in switches, and the longest wait for an RMID */
#define END_NS		1000000
#define RMID_WAIT_MS	100

/* CPU events that may be events of a cgroup; protected by cqm_lock */
static LIST_HEAD(unsettled);
static LIST_HEAD(gone);		/* protected by cqm_lock */

/* the work item is due in a jiffy; protected by cqm_mutex */
static bool soon;

/* events whose value has never been known; protected by cqm_lock */
static LIST_HEAD(unmeasured);
/* CPUs where such an event, or one that inherited it, was refused since the last retry */
static struct cpumask refused_on;
static bool retry_is_due;	/* the value of such an event is known now; cqm_lock */

static void cqm_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(refresh_work, cqm_work);

static void work_now(struct irq_work *unused);
/* hard: on PREEMPT_RT a real-time task may keep a CPU from other irq_works */
static struct irq_work settle_irq = IRQ_WORK_INIT_HARD(work_now);

static void work_later(void)
{
	queue_delayed_work(system_dfl_wq, &refresh_work,
			   msecs_to_jiffies(CMT_CQM_REFRESH_MS));
}

/* For a new CPU event, which perf has yet to complete. */
static void work_soon(void)
{
	lockdep_assert_held(&cqm_mutex);
	if (!soon)
		mod_delayed_work(system_dfl_wq, &refresh_work, 1);
	soon = true;
}

static void work_now(struct irq_work *unused)
{
	mod_delayed_work(system_dfl_wq, &refresh_work, 0);
}

static bool event_is_of_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

/* Is the value of the event known now, or was it known once? */
static bool event_measure(struct cqm_event *e)
{
	const struct cqm_set *set = e->set;

	lockdep_assert_held(&cqm_lock);
	if (!e->measured && e->settled &&
	    set->source->known & CMT_F_OCCUPANCY << set->value) {
		WRITE_ONCE(e->measured, true);
		list_del_init(&e->unmeasured);
		smp_mb();	/* pairs with cqm_event_may_run() */
		retry_is_due |= READ_ONCE(e->refused);
	}
	return e->measured;
}

/*
 * The event runs from now on.  perf's tools multiply a count by the enabled over the
 * running time: an estimate of traffic.  Occupancy is no sum over time, and needs none.
 */
static void event_run(struct cqm_event *e)
{
	struct perf_event *event = e->event;

	if (!e->ran && e->refused && event->attr.config - 1 == CQM_OCCUPANCY)
		event->total_time_running = event->total_time_enabled;
	WRITE_ONCE(e->ran, true);
}

static void note_refused(struct cqm_event *e)
{
	WRITE_ONCE(e->refused, true);
	cpumask_set_cpu(smp_processor_id(), &refused_on);
}

/* Without the lock.  Either this call or event_measure() finds what the other has set. */
bool cqm_event_may_run(struct cqm_event *e)
{
	if (READ_ONCE(e->measured))
		return true;
	note_refused(e);
	smp_mb();	/* pairs with event_measure() */
	return READ_ONCE(e->measured);
}

static int begin_unlocked(struct cqm_event *e)
{
	if (!cqm_event_may_run(e))
		return -EBUSY;
	event_run(e);
	return 0;
}

/* The event of a cgroup is bound at once, and perf then tries again. */
static int begin_refuse(struct cqm_event *e)
{
	note_refused(e);
	if (!list_empty(&e->unsettled))
		irq_work_queue(&settle_irq);
	return -EBUSY;
}

/*
 * perf calls these.  A switch must not wait, and this CPU may already hold the lock,
 * under a probe of BPF: the lock is only tried.
 */
int cqm_event_begin(struct cqm_event *e)
{
	int ret = 0;

	if (in_nmi() || !raw_spin_trylock(&cqm_lock))
		return begin_unlocked(e);
	if (!event_is_of_cgroup(e->event))
		e->settled = true;
	if (!event_measure(e)) {
		ret = begin_refuse(e);
		goto unlock;
	}
	event_run(e);
	cqm_set_begin(e);
unlock:
	raw_spin_unlock(&cqm_lock);
	return ret;
}

/*
 * Traffic goes to the event that is being read: a client that reads its events one
 * after the other gets all traffic.
 */
void cqm_event_update(struct cqm_event *e)
{
	struct cqm_set *set;

	if (in_nmi() || !raw_spin_trylock(&cqm_lock))
		return;
	set = e->set;
	cqm_source_read_here(set->source);
	if (set->value != CQM_OCCUPANCY && e->settled)
		set->reporter = e;
	cqm_set_update(set);
	raw_spin_unlock(&cqm_lock);
}

/* This may be the last call for the event: a disabled event is not read again. */
void cqm_event_end(struct cqm_event *e)
{
	if (in_nmi() || !raw_spin_trylock(&cqm_lock))
		return;
	if (local_clock() - e->set->source->read_ns >= END_NS) {
		cqm_source_read_here(e->set->source);
		cqm_set_update(e->set);
	}
	raw_spin_unlock(&cqm_lock);
}

static int bind(struct cqm_event *e, const struct cmt_hold *hold, u32 domain,
		u64 since, enum cqm_value value)
{
	unsigned long flags;
	struct cqm_set *set;

	mutex_lock(&cqm_mutex);
	set = cqm_set_get(hold, domain, since, task_tgid(current), value);
	if (set) {
		raw_spin_lock_irqsave(&cqm_lock, flags);
		if (!hold)
			list_add_tail(&e->unsettled, &unsettled);
		list_add_tail(&e->unmeasured, &unmeasured);
		cqm_set_add(set, e);
		event_measure(e);
		cqm_set_update(set);
		raw_spin_unlock_irqrestore(&cqm_lock, flags);
	}
	if (set && !hold)
		work_soon();
	mutex_unlock(&cqm_mutex);
	if (!set)
		return -ENOMEM;
	work_later();
	return 0;
}

/* RMIDs may be in limbo.  Without an RMID the event would count nothing. */
static int wait_for_rmid(const struct cmt_hold *hold)
{
	unsigned long end = jiffies + msecs_to_jiffies(RMID_WAIT_MS);
	u32 rmid, generation;
	int ret;

	for (;;) {
		ret = cmt_hold_rmid(hold, &rmid, &generation);
		if (ret != -EAGAIN)
			return ret == -ENOENT ? -ESRCH : ret;
		if (time_after(jiffies, end))
			return -EBUSY;
		if (msleep_interruptible(2))
			return -EINTR;
	}
}

int cqm_bind_task(struct cqm_event *e, enum cqm_value value, bool inherit)
{
	u64 since = ktime_get_ns();
	int ret = cmt_hold_task(&e->hold, e->event->hw.target,
				inherit ? CMT_ATTACH_CHILDREN : 0);

	if (ret)
		return ret;
	e->holds = true;
	e->settled = true;
	ret = wait_for_rmid(&e->hold) ?:
	      bind(e, &e->hold, CQM_ALL_DOMAINS, since, value);
	if (ret)
		cmt_unhold(&e->hold);
	return ret;
}

int cqm_bind_cpu(struct cqm_event *e, enum cqm_value value)
{
	const struct cmt_cpu *cpu = &per_cpu(cmt_cpus, e->event->cpu);

	if (!READ_ONCE(cpu->up))
		return -ENODEV;
	return bind(e, NULL, cpu->domain, ktime_get_ns(), value);
}

void cqm_unbind(struct cqm_event *e)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_del_init(&e->unsettled);
	list_del_init(&e->unmeasured);
	cqm_set_end(e);
	e->event = NULL;
	list_add_tail(&e->list, &gone);
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	work_later();
}

/* The work item */

/*
 * The event's cgroup, which perf sets before the event is in a context.  0: no cgroup of
 * version 2.
 */
static u64 cgroup_id_of(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	struct perf_cgroup *cgrp = READ_ONCE(event->cgrp);

	if (cgrp && cgrp->css.cgroup->root == &cgrp_dfl_root)
		return cgroup_id(cgrp->css.cgroup);
#endif
	return 0;
}

/*
 * The next CPU event that has become an event of a cgroup, or NULL.  An event with a
 * reference keeps its cgroup in memory while interrupts are off.
 */
static struct cqm_event *settle_next(u64 *cgroup, u32 *domain)
{
	struct cqm_event *e, *n, *found = NULL;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	list_for_each_entry_safe(e, n, &unsettled, unsettled) {
		/* perf sets ctx last, when the event is complete */
		if (!smp_load_acquire(&e->event->ctx) ||
		    !atomic_long_read(&e->event->refcount))
			continue;
		list_del_init(&e->unsettled);
		if (!event_is_of_cgroup(e->event)) {
			e->settled = true;
			continue;
		}
		*cgroup = cgroup_id_of(e->event);
		*domain = per_cpu(cmt_cpus, e->event->cpu).domain;
		found = e;
		break;
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return found;
}

/* Move the event from the set of a CPU to the set of the cgroup, which may be gone. */
static void bind_cgroup(struct cqm_event *e, u64 cgroup, u32 domain)
{
	struct cqm_set *set, *before = e->set;
	u64 since = ktime_get_ns();
	unsigned long flags;

	if (!cgroup || cmt_hold(&e->hold, CMT_OWNER_CGROUP, cgroup))
		return;
	e->holds = true;
	set = cqm_set_get(&e->hold, domain, since, before->client, before->value);
	if (!set)
		return;
	raw_spin_lock_irqsave(&cqm_lock, flags);
	if (e->event) {
		cqm_set_remove(e);
		e->settled = true;
		cqm_set_add(set, e);
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	cqm_set_put(e->set == set ? before : set);
}

/* Take one event of @todo.  If its value is known now, perf may run it.  False: none is left. */
static bool unmeasured_check(struct list_head *todo)
{
	struct cqm_event *e;
	unsigned long flags;

	raw_spin_lock_irqsave(&cqm_lock, flags);
	e = list_first_entry_or_null(todo, struct cqm_event, unmeasured);
	if (e) {
		list_move_tail(&e->unmeasured, &unmeasured);
		event_measure(e);
	}
	raw_spin_unlock_irqrestore(&cqm_lock, flags);
	return e;
}

/*
 * The CPUs on which perf tries again.  Where events are refused whose values are still not
 * known, that attempt notes the CPU again.
 */
static void retry_take(struct cpumask *cpus)
{
	bool due;
	int cpu;

	raw_spin_lock_irq(&cqm_lock);
	due = retry_is_due;
	retry_is_due = false;
	raw_spin_unlock_irq(&cqm_lock);
	if (!due)
		return;
	for_each_cpu(cpu, &refused_on)
		if (cpumask_test_and_clear_cpu(cpu, &refused_on))
			cpumask_set_cpu(cpu, cpus);
}

static void unmeasured_check_all(void)
{
	LIST_HEAD(todo);

	raw_spin_lock_irq(&cqm_lock);
	list_splice_init(&unmeasured, &todo);
	raw_spin_unlock_irq(&cqm_lock);
	while (unmeasured_check(&todo))
		;
}

/* All at once: the end of a hold may look at all processes. */
static void gone_release(void)
{
	struct cqm_event *e, *next;
	LIST_HEAD(events);
	LIST_HEAD(holds);

	raw_spin_lock_irq(&cqm_lock);
	list_splice_init(&gone, &events);
	raw_spin_unlock_irq(&cqm_lock);
	list_for_each_entry(e, &events, list) {
		cqm_set_put(e->set);
		if (e->holds)
			list_add(&e->hold.list, &holds);
	}
	cmt_unhold_all(&holds);
	list_for_each_entry_safe(e, next, &events, list)
		kfree(e);
}

static void cqm_work(struct work_struct *work)
{
	static struct cpumask retry;	/* the work item runs once at a time */
	struct cqm_source *source;
	struct cqm_event *e;
	u64 cgroup;
	u32 domain;

	cpumask_clear(&retry);
	mutex_lock(&cqm_mutex);
	soon = false;
	gone_release();
	while ((e = settle_next(&cgroup, &domain)))
		bind_cgroup(e, cgroup, domain);
	cqm_sources_read(NULL);
	list_for_each_entry(source, &cqm_sources, list)
		cqm_source_update(source);
	unmeasured_check_all();
	retry_take(&retry);
	if (!list_empty(&unsettled))
		work_soon();
	else if (!list_empty(&cqm_sources))
		work_later();
	mutex_unlock(&cqm_mutex);
	cqm_retry(&retry);
}

/* Release the events that were closed last. */
void cqm_events_exit(void)
{
	irq_work_sync(&settle_irq);
	flush_delayed_work(&refresh_work);
	cancel_delayed_work_sync(&refresh_work);
}

// SPDX-License-Identifier: GPL-2.0
/* The interface to perf: the events in sysfs, and the callbacks of the PMU. */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "compat.h"
#include "cqm.h"
#include "hw/hw.h"
#include "internal.h"

static bool intel_cqm;
module_param(intel_cqm, bool, 0444);
MODULE_PARM_DESC(intel_cqm, "register the perf PMU intel_cqm, too, for events of tasks (default 0)");

static struct pmu intel_cqm_pmu;

/*
 * Without a newline, because libvirt accepts no number with one.  perf shows the unit,
 * so the unit marks the values of the emulated backend.
 */
static ssize_t text_show(struct device *dev, struct device_attribute *attr,
			 char *page)
{
	struct perf_pmu_events_attr *event =
		container_of(attr, struct perf_pmu_events_attr, attr);
	bool model = cmt_caps.backend == CMT_BACKEND_EMULATED;

	return scnprintf(page, PAGE_SIZE, "%s%s", event->event_str,
			 model && strstr(attr->attr.name, ".unit") ?
			 " EMULATED" : "");
}

#define TEXT(file, text) (&((struct perf_pmu_events_attr[]) { {		\
	.attr = {							\
		.attr = { .name = file, .mode = 0444 },			\
		.show = text_show,					\
	},								\
	.event_str = text,						\
} })[0].attr.attr)

/*
 * In the order of enum cqm_value; .unit is for the value times .scale.  There is no
 * .per-pkg: perf would take the first CPU of a package, and any of them may report.
 */
static struct attribute *event_attrs[] = {
	TEXT("llc_occupancy", "event=0x01"),
	TEXT("llc_occupancy.scale", "1"),
	TEXT("llc_occupancy.unit", "Bytes"),
	TEXT("llc_occupancy.snapshot", "1"),
	TEXT("total_bytes", "event=0x02"),
	TEXT("total_bytes.scale", "1e-6"),
	TEXT("total_bytes.unit", "MB"),
	TEXT("local_bytes", "event=0x03"),
	TEXT("local_bytes.scale", "1e-6"),
	TEXT("local_bytes.unit", "MB"),
	NULL
};

static u32 event_flag(const char *name)
{
	if (name[0] == 't')
		return CMT_F_MBM_TOTAL;
	return strstarts(name, "local") ? CMT_F_MBM_LOCAL : CMT_F_OCCUPANCY;
}

static umode_t event_is_visible(struct kobject *kobj, struct attribute *attr,
				int n)
{
	return cmt_caps.events & event_flag(attr->name) ? attr->mode : 0;
}

static const struct attribute_group events_group = {
	.name = "events",
	.attrs = event_attrs,
	.is_visible = event_is_visible,
};

static struct attribute *format_attrs[] = {
	TEXT("event", "config:0-7"),
	NULL
};

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
};

static const struct attribute_group *attr_groups[] = {
	&events_group,
	&format_group,
	NULL
};

/*
 * The counters of an RMID have no overflow interrupt.  They count a process in all
 * modes and on all CPUs.  The event of a process goes on when a thread's event is removed,
 * at the thread's exit or at an exec.
 */
static bool event_is_possible(const struct perf_event_attr *attr)
{
	if (!attr->config || attr->config > CQM_NR_VALUES)
		return false;
	/* fewer than cmt_caps.events while another agent has the counters */
	if (!(cmt_backend_events() & CMT_F_OCCUPANCY << (attr->config - 1)))
		return false;
	return !attr->config1 && !attr->config2 && !cmt_perf_more_config(attr) &&
	       !attr->sample_period && !attr->freq && !attr->inherit_stat &&
	       !attr->remove_on_exec;
}

static void cqm_event_destroy(struct perf_event *event)
{
	cqm_unbind(event->pmu_private);
}

/*
 * An event that counts nothing, of the kernel's own PMU.  Its begin schedules the other
 * software events of its context again.
 */
static int dummy_make(struct task_struct *task, int cpu, bool disabled)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = disabled,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, task, NULL, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

/*
 * The task may outlive the module.  So the software context of the task, which can
 * refer to a PMU, is made by the kernel's own PMU.
 */
static int context_make(struct task_struct *task)
{
	return CMT_PERF_CONTEXT_HAS_PMU ? dummy_make(task, -1, true) : 0;
}

/*
 * A CPU that is offline, or has no memory, runs the events when they are next scheduled
 * there.
 */
void cqm_retry(const struct cpumask *cpus)
{
	int cpu;

	if (CMT_PERF_RETRIES)
		return;
	for_each_cpu(cpu, cpus)
		dummy_make(NULL, cpu, false);
}

static int cqm_event_new(struct perf_event *event)
{
	enum cqm_value value = event->attr.config - 1;
	bool task = event->attach_state & PERF_ATTACH_TASK;
	int ret = task ? context_make(event->hw.target) : 0;
	struct cqm_event *e;

	if (ret)
		return ret;
	e = kzalloc(sizeof(*e), GFP_KERNEL);
	if (!e)
		return -ENOMEM;
	e->event = event;
	INIT_LIST_HEAD(&e->unsettled);
	INIT_LIST_HEAD(&e->unmeasured);
	if (task)
		ret = cqm_bind_task(e, value, event->attr.inherit &&
				    !event->attr.inherit_thread);
	else
		ret = cqm_bind_cpu(e, value);
	if (ret) {
		kfree(e);
		return ret;
	}
	event->pmu_private = e;
	event->destroy = cqm_event_destroy;
	return 0;
}

/*
 * A client of intel_cqm takes the event of a CPU for what this CPU causes, which is not
 * known while RMIDs follow processes (docs/decisions/0040).  The event of a cgroup looks
 * the same here: perf adds the cgroup after this call.
 *
 * Events need the rights of CMT_IOC_ATTACH, because they change the owner of a process.
 * An inherited event counts nothing: its task shares the RMID of the first event.  An
 * error of an inherited event would let fork() fail, and what can be counted changes, so
 * nothing is checked again.
 *
 * A pinned event that is refused once has an error for good, and that of a cgroup is refused
 * before it is bound.
 */
static int cqm_event_init(struct perf_event *event)
{
	bool task = event->attach_state & PERF_ATTACH_TASK;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->parent)
		return 0;
	if (!event_is_possible(&event->attr) ||
	    event_has_any_exclude_flag(event) || (task && event->cpu >= 0) ||
	    (!task && event->attr.pinned))
		return -EINVAL;
	if (!task && event->pmu == &intel_cqm_pmu)
		return -EOPNOTSUPP;
	if (!perfmon_capable())
		return -EACCES;
	return cqm_event_new(event);
}

/*
 * A failure leaves the event inactive: perf does not count time as running, and its tools
 * show no value.
 */
static int cqm_add(struct perf_event *event, int flags)
{
	if (event->pmu_private)
		return cqm_event_begin(event->pmu_private);
	/* an inherited event keeps the event that it was inherited from */
	if (event->parent && !cqm_event_may_run(event->parent->pmu_private))
		return -EBUSY;
	return 0;
}

static void cqm_del(struct perf_event *event, int flags)
{
	if (event->pmu_private)
		cqm_event_end(event->pmu_private);
}

/* perf calls these two for events that sample. */
static void cqm_start(struct perf_event *event, int flags)
{
}

static void cqm_stop(struct perf_event *event, int flags)
{
}

static void cqm_read(struct perf_event *event)
{
	if (event->pmu_private)
		cqm_event_update(event->pmu_private);
}

/* A software context: events of tasks are possible, and all run at once. */
#define CQM_PMU {						\
	.module = THIS_MODULE,					\
	.task_ctx_nr = perf_sw_context,				\
	.capabilities = PERF_PMU_CAP_NO_INTERRUPT,		\
	.attr_groups = attr_groups,				\
	.event_init = cqm_event_init,				\
	.add = cqm_add,						\
	.del = cqm_del,						\
	.start = cqm_start,					\
	.stop = cqm_stop,					\
	.read = cqm_read,					\
}

static struct pmu cmt_pmu = CQM_PMU;
static struct pmu intel_cqm_pmu = CQM_PMU;
static bool has_cmt, has_intel_cqm;

/* Returns whether perf has the PMU. */
static bool __init pmu_register(struct pmu *pmu, const char *name)
{
	int ret = perf_pmu_register(pmu, name, -1);

	if (ret)
		pr_warn("perf PMU %s: error %d: perf has no such events\n",
			name, ret);
	return !ret;
}

static void pmu_unregister(struct pmu *pmu)
{
	cmt_pmu_cancel_timers(pmu);
	perf_pmu_unregister(pmu);
}

int __init cmt_cqm_init(void)
{
	if (!cmt_backend_samples())
		return 0;
	has_cmt = pmu_register(&cmt_pmu, "cmt");
	has_intel_cqm = intel_cqm && pmu_register(&intel_cqm_pmu, "intel_cqm");
	return 0;
}

void cmt_cqm_exit(void)
{
	if (has_cmt)
		pmu_unregister(&cmt_pmu);
	if (has_intel_cqm)
		pmu_unregister(&intel_cqm_pmu);
	cqm_events_exit();
}

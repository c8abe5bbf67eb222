// SPDX-License-Identifier: GPL-2.0
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "cmt.h"
#include "compat.h"
#include "rmid.h"
#include "version.h"

DECLARE_WAIT_QUEUE_HEAD(cmt_pollers);

/* One open descriptor. */
struct cmt_file {
	struct mutex lock;	/* all below */
	bool reading;		/* has mapped a ring: counts as a reader */
	u32 watermark;
	u64 seen[];		/* by CPU: head when poll() last reported POLLIN */
};

static u64 ring_head(unsigned int cpu)
{
	return READ_ONCE(per_cpu(cmt_cpus, cpu).ring.header->head);
}

static int cmt_open(struct inode *inode, struct file *file)
{
	struct cmt_file *f;
	unsigned int cpu;

	f = kvzalloc(struct_size(f, seen, nr_cpu_ids), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	mutex_init(&f->lock);
	f->watermark = 1;
	for_each_possible_cpu(cpu)
		f->seen[cpu] = ring_head(cpu);
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int cmt_release(struct inode *inode, struct file *file)
{
	struct cmt_file *f = file->private_data;

	if (f->reading)
		cmt_sampler_put();
	mutex_destroy(&f->lock);
	kvfree(f);
	return 0;
}

/*
 * Rings are mapped page by page, on demand: the slots of a CPU that has never
 * been online do not exist yet, and come when it does.
 */
static vm_fault_t cmt_fault(struct vm_fault *vmf)
{
	unsigned long cpu = (unsigned long)vmf->vma->vm_private_data;
	unsigned long first = vmf->vma->vm_pgoff;
	struct page *page = cmt_ring_page(cpu, vmf->pgoff - first);

	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct cmt_vm_ops = {
	.fault = cmt_fault,
};

static int cmt_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct cmt_file *f = file->private_data;
	unsigned long pages = cmt_ring_bytes() >> PAGE_SHIFT;
	unsigned long cpu = vma->vm_pgoff / pages;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if (vma_pages(vma) != pages || vma->vm_pgoff % pages ||
	    cpu >= nr_cpu_ids)
		return -EINVAL;
	if (!cpu_possible(cpu))
		return -ENXIO;

	cmt_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_private_data = (void *)cpu;
	vma->vm_ops = &cmt_vm_ops;

	mutex_lock(&f->lock);
	if (!f->reading)
		cmt_sampler_get();
	f->reading = true;
	mutex_unlock(&f->lock);
	return 0;
}

/*
 * Arm a ring for a poller: its next tick that finds head at @at or past it
 * wakes all pollers.  Each looks for itself and arms again.
 */
static void poll_arm(struct cmt_cpu *cpu, u64 at)
{
	u64 old = READ_ONCE(cpu->wake_at);

	while (at < old && !try_cmpxchg(&cpu->wake_at, &old, at))
		;
}

static bool poll_ready(struct cmt_file *f)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (ring_head(cpu) - f->seen[cpu] >= f->watermark)
			return true;
	return false;
}

static __poll_t cmt_poll(struct file *file, poll_table *wait)
{
	struct cmt_file *f = file->private_data;
	unsigned int cpu;
	bool ready;

	poll_wait(file, &cmt_pollers, wait);

	mutex_lock(&f->lock);
	for_each_possible_cpu(cpu)
		poll_arm(&per_cpu(cmt_cpus, cpu), f->seen[cpu] + f->watermark);
	/* pairs with wake_pollers() in sampler.c: wake_at first, then head */
	smp_mb();
	ready = poll_ready(f);
	if (ready)
		for_each_possible_cpu(cpu)
			f->seen[cpu] = ring_head(cpu);
	mutex_unlock(&f->lock);
	return ready ? EPOLLIN | EPOLLRDNORM : 0;
}

static long ioctl_get_info(struct cmt_file *f, void __user *uarg)
{
	struct cmt_info info;
	int ret = cmt_arg_get(&info, sizeof(info), uarg);

	if (ret)
		return ret;
	info = (struct cmt_info) {
		.abi_version = CMT_ABI_VERSION,
		.backend = cmt_caps.backend,
		.vendor = cmt_caps.vendor,
		.scope = cmt_scope(),
		.instance = cmt_instance,
		.nr_cpus = nr_cpu_ids,
		.nr_rmids = cmt_caps.nr_rmids,
		.rmids_usable = cmt_caps.nr_rmids - 1,
		.events = cmt_caps.events,
		.upscale_bytes = cmt_caps.upscale_bytes,
		.counter_bits = cmt_caps.counter_bits,
		.ring_records = cmt_ring_records(),
		.interval_ns = cmt_sampler_interval(),
		.interval_min_ns = CMT_INTERVAL_MIN_NS,
		.interval_max_ns = CMT_INTERVAL_MAX_NS,
		.ring_bytes = cmt_ring_bytes(),
		.limbo_ns = CMT_LIMBO_NS,
		.l3_bytes = cmt_caps.l3_bytes,
	};
	strscpy(info.module_version, CMT_VERSION, sizeof(info.module_version));
	strscpy(info.reason, cmt_caps.reason, sizeof(info.reason));
	return cmt_arg_put(uarg, &info, sizeof(info));
}

static void stats_add_cpu(struct cmt_stats *stats, const struct cmt_cpu *cpu)
{
	stats->cpus_online += READ_ONCE(cpu->ring.header->state) ==
			      CMT_RING_ONLINE;
	stats->records += READ_ONCE(cpu->ring.header->head);
	stats->ticks += READ_ONCE(cpu->ticks);
	stats->missed += READ_ONCE(cpu->missed);
	stats->deferred += READ_ONCE(cpu->deferred);
	stats->samples += READ_ONCE(cpu->samples);
	stats->switches += READ_ONCE(cpu->switches);
	stats->pqr_writes += READ_ONCE(cpu->pqr_writes);
	stats->pqr_overwritten += READ_ONCE(cpu->pqr_overwritten);
	stats->read_errors += READ_ONCE(cpu->read_errors);
	stats->read_unavailable += READ_ONCE(cpu->read_unavailable);
	stats->busy_ns += READ_ONCE(cpu->busy_ns);
}

void cmt_stats_fill(struct cmt_stats *stats)
{
	unsigned int cpu;

	memset(stats, 0, sizeof(*stats));
	cmt_owners_stats(stats);
	stats->readers = cmt_sampler_readers();
	for_each_possible_cpu(cpu)
		stats_add_cpu(stats, &per_cpu(cmt_cpus, cpu));
}

static long ioctl_get_stats(struct cmt_file *f, void __user *uarg)
{
	struct cmt_stats stats;
	int ret = cmt_arg_get(&stats, sizeof(stats), uarg);

	if (ret)
		return ret;
	cmt_stats_fill(&stats);
	return cmt_arg_put(uarg, &stats, sizeof(stats));
}

static long ioctl_get_rmids(struct cmt_file *f, void __user *uarg)
{
	struct cmt_record *records;
	struct cmt_rmids rmids;
	u32 count;
	int ret = cmt_arg_get(&rmids, sizeof(rmids), uarg);

	if (ret)
		return ret;
	if (rmids.reserved)
		return -EINVAL;

	records = kvcalloc(cmt_caps.nr_rmids, sizeof(*records), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	count = cmt_owners_snapshot(records, &rmids.as_of);
	if (count > rmids.count)
		ret = -ENOSPC;
	else if (copy_to_user(u64_to_user_ptr(rmids.records), records,
			      count * sizeof(*records)))
		ret = -EFAULT;
	kvfree(records);
	if (ret == -EFAULT)
		return ret;

	rmids.count = count;
	return cmt_arg_put(uarg, &rmids, sizeof(rmids)) ?: ret;
}

static long ioctl_set_interval(struct file *file, void __user *uarg)
{
	struct cmt_interval arg;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	ret = ret ?: cmt_may_control(file);
	if (ret)
		return ret;
	if (arg.reserved || arg.interval_ns < CMT_INTERVAL_MIN_NS ||
	    arg.interval_ns > CMT_INTERVAL_MAX_NS)
		return -EINVAL;
	cmt_sampler_set_interval(arg.interval_ns);
	return 0;
}

static long ioctl_set_watermark(struct cmt_file *f, void __user *uarg)
{
	struct cmt_watermark arg;
	int ret = cmt_arg_get(&arg, sizeof(arg), uarg);

	if (ret)
		return ret;
	if (arg.reserved || !arg.records ||
	    arg.records > cmt_ring_records() / 2)
		return -EINVAL;
	mutex_lock(&f->lock);
	f->watermark = arg.records;
	mutex_unlock(&f->lock);
	return 0;
}

/* The commands, their arguments and their errors are in uapi/cmt.h. */
static long cmt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct cmt_file *f = file->private_data;
	void __user *uarg = (void __user *)arg;

	switch (cmd) {
	case CMT_IOC_GET_INFO:
		return ioctl_get_info(f, uarg);
	case CMT_IOC_GET_STATS:
		return ioctl_get_stats(f, uarg);
	case CMT_IOC_GET_RMIDS:
		return ioctl_get_rmids(f, uarg);
	case CMT_IOC_SET_INTERVAL:
		return ioctl_set_interval(file, uarg);
	case CMT_IOC_SET_WATERMARK:
		return ioctl_set_watermark(f, uarg);
	case CMT_IOC_SET_SCOPE:
		return cmt_ioctl_set_scope(file, uarg);
	case CMT_IOC_GET_PATTERNS:
		return cmt_ioctl_get_patterns(uarg);
	case CMT_IOC_ATTACH:
		return cmt_ioctl_attach(file, uarg);
	case CMT_IOC_DETACH:
		return cmt_ioctl_detach(file, uarg);
	case CMT_IOC_GET_WAITING:
		return cmt_ioctl_get_waiting(uarg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations cmt_fops = {
	.owner = THIS_MODULE,
	.open = cmt_open,
	.release = cmt_release,
	.mmap = cmt_mmap,
	.poll = cmt_poll,
	.unlocked_ioctl = cmt_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice cmt_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "cmt",
	.fops = &cmt_fops,
	.mode = 0640,
};

int cmt_chardev_init(void)
{
	return misc_register(&cmt_misc);
}

void cmt_chardev_exit(void)
{
	misc_deregister(&cmt_misc);
}

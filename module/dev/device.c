// SPDX-License-Identifier: GPL-2.0
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "compat.h"
#include "cpu/cpu.h"
#include "dev.h"
#include "file.h"
#include "ring/ring.h"
#include "sample/sample.h"
#include "scope/scope.h"

static int cmt_open(struct inode *inode, struct file *file)
{
	struct cmt_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	INIT_LIST_HEAD(&f->holds);
	f->want.values = CMT_VALUES_ALL;
	f->waiter = cmt_waiter_new();
	if (!f->waiter) {
		kfree(f);
		return -ENOMEM;
	}
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int cmt_release(struct inode *inode, struct file *file)
{
	struct cmt_file *f = file->private_data;

	cmt_unregister_all(f);
	if (f->ticks)
		cmt_sampler_want_ticks(&f->ticks, false);
	cmt_want_end(&f->want);
	cmt_file_set_counters(f, 0);
	cmt_waiter_free(f->waiter);
	kfree(f);
	return 0;
}

void cmt_file_set_values(struct cmt_file *file, u32 values)
{
	cmt_want_values(&file->want, values);
}

void cmt_file_begin_reading(struct cmt_file *file)
{
	cmt_want_begin(&file->want);
}

static unsigned long ring_pages(void)
{
	return cmt_ring_bytes() >> PAGE_SHIFT;
}

/*
 * Rings are mapped page by page, on demand: the slots of a CPU that has never
 * been online do not exist.  vmf->pgoff is the offset of the page in the file, also
 * after a part of the mapping was unmapped or moved.
 */
static vm_fault_t cmt_fault(struct vm_fault *vmf)
{
	unsigned long cpu = vmf->pgoff / ring_pages();
	struct page *page;

	/* cmt_mmap() refuses such an offset, and no mapping grows */
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return VM_FAULT_SIGBUS;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	page = cmt_ring_page(cpu, vmf->pgoff % ring_pages());
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
	unsigned long cpu = vma->vm_pgoff / ring_pages();

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if (vma_pages(vma) != ring_pages() || vma->vm_pgoff % ring_pages() ||
	    cpu >= nr_cpu_ids)
		return -EINVAL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -ENXIO;

	cmt_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_ops = &cmt_vm_ops;

	cmt_file_begin_reading(f);
	cmt_sampler_want_ticks(&f->ticks, true);
	return 0;
}

static struct cmt_waiter *waiter_of(const struct file *file)
{
	const struct cmt_file *f = file->private_data;

	return f->waiter;
}

static __poll_t cmt_poll(struct file *file, poll_table *wait)
{
	struct cmt_waiter *waiter = waiter_of(file);

	poll_wait(file, &waiter->queue, wait);
	return cmt_waiter_poll(waiter) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Sleep until the waiter is due or a signal is pending. */
static int read_wait(struct cmt_waiter *waiter, u64 *records)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);
	int ret = 0;

	add_wait_queue(&waiter->queue, &wait);
	while (!(*records = cmt_waiter_take(waiter))) {
		if (signal_pending(current)) {
			ret = -ERESTARTSYS;
			break;
		}
		if (!cmt_waiter_poll(waiter))
			wait_woken(&wait, TASK_INTERRUPTIBLE,
				   MAX_SCHEDULE_TIMEOUT);
	}
	remove_wait_queue(&waiter->queue, &wait);
	return ret;
}

static ssize_t cmt_read(struct file *file, char __user *ubuf, size_t bytes,
			loff_t *pos)
{
	struct cmt_waiter *waiter = waiter_of(file);
	u64 records;
	int ret = 0;

	if (bytes < sizeof(records))
		return -EINVAL;
	records = cmt_waiter_take(waiter);
	if (!records && file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	if (!records)
		ret = read_wait(waiter, &records);
	if (ret)
		return ret;
	/* edge-triggered epoll calls poll() only after it was woken */
	cmt_waiter_changed(waiter);
	return copy_to_user(ubuf, &records, sizeof(records)) ? -EFAULT :
	       sizeof(records);
}

void cmt_file_set_watermark(struct cmt_file *file, u32 records)
{
	WRITE_ONCE(file->waiter->watermark, records);
	cmt_waiter_changed(file->waiter);
}

void cmt_file_set_counters(struct cmt_file *file, u32 counters)
{
	bool channels = counters & CMT_F_CHANNEL;
	bool waits = counters & CMT_F_WAITED;

	counters &= CMT_PERF_WANTS;
	if (waits || READ_ONCE(file->waits))
		cmt_waits_want(&file->waits, waits);
	if (counters || READ_ONCE(file->counters))
		cmt_perf_want(&file->counters, counters);
	if (channels || READ_ONCE(file->channels))
		cmt_sampler_want_channels(&file->channels, channels);
}

static const struct file_operations cmt_fops = {
	.owner = THIS_MODULE,
	.open = cmt_open,
	.release = cmt_release,
	.mmap = cmt_mmap,
	.read = cmt_read,
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

int cmt_device_init(void)
{
	cmt_waiters_init();
	return misc_register(&cmt_misc);
}

void cmt_device_exit(void)
{
	misc_deregister(&cmt_misc);
	cmt_waiters_stop();
}

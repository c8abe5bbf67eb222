// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "cpu/cpu.h"
#include "file.h"
#include "hw/hw.h"
#include "owner/owner.h"
#include "ring/ring.h"
#include "sample/sample.h"
#include "scope/scope.h"
#include "uncore/uncore.h"
#include "version.h"

/* The first members of every argument. */
struct arg_head {
	u32 size;	/* size in the caller's program, until arg_put() */
	u32 flags;
};

/*
 * Copy in an argument of at least @least bytes.  Bytes up to @ksize that the caller lacks
 * are 0.  Bytes beyond @ksize must be 0.
 */
static int arg_get(void *arg, size_t ksize, size_t least,
		   const void __user *uarg)
{
	struct arg_head *head = arg;
	u32 usize;
	int ret;

	if (get_user(usize, (const u32 __user *)uarg))
		return -EFAULT;
	if (usize < least || usize > PAGE_SIZE)
		return -EINVAL;
	ret = copy_struct_from_user(arg, ksize, uarg, usize);
	if (ret)
		return ret == -E2BIG ? -EINVAL : ret;
	/* another thread may have changed size between the two copies */
	head->size = usize;
	return head->flags ? -EINVAL : 0;
}

/* Copy out the members that both the caller and the module know. */
static int arg_put(void __user *uarg, void *arg, size_t ksize)
{
	struct arg_head *head = arg;

	head->size = min_t(size_t, head->size, ksize);
	return copy_to_user(uarg, arg, head->size) ? -EFAULT : 0;
}

/* May the opener of @file change the settings of all readers? */
static int may_control(const struct file *file)
{
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	return perfmon_capable() ? 0 : -EPERM;
}

static void info_fill(struct cmt_info *info)
{
	u32 interval_ns = READ_ONCE(cmt_settings.interval_ns);

	*info = (struct cmt_info) {
		.size = info->size,
		.abi_version = CMT_ABI_VERSION,
		.backend = cmt_caps.backend,
		.vendor = cmt_caps.vendor,
		.scope = cmt_scope(),
		.instance = cmt_instance,
		.nr_cpus = nr_cpu_ids,
		.nr_rmids = cmt_caps.nr_rmids,
		.rmids_usable = cmt_caps.nr_rmids - 1,
		.events = cmt_backend_events(),
		.upscale_bytes = cmt_caps.upscale_bytes,
		.counter_bits = cmt_caps.counter_bits,
		.ring_records = cmt_ring_records,
		.interval_ns = interval_ns,
		.interval_min_ns = CMT_INTERVAL_MIN_NS,
		.interval_max_ns = CMT_INTERVAL_MAX_NS,
		.ring_bytes = cmt_ring_bytes(),
		.limbo_ns = CMT_LIMBO_NS,
		.l3_bytes = cmt_caps.l3_bytes,
		.ring_hold_ns = cmt_rings_hold_ns(interval_ns),
		.budget_ns = cmt_sampler_budget_ns(),
		.idle_ticks = CMT_TURN_TICKS,
		.resctrl = READ_ONCE(cmt_settings.resctrl),
		.resctrl_mounted = READ_ONCE(cmt_settings.resctrl_mounted),
	};
	strscpy(info->module_version, CMT_VERSION, sizeof(info->module_version));
	strscpy(info->reason, cmt_caps.reason, sizeof(info->reason));
	strscpy(info->mbm_reason, cmt_backend_mbm_reason(), sizeof(info->mbm_reason));
	info->counters = cmt_perf_counted(info->perf_reason);
	info->assignable = cmt_abmc_info();
	info->plza = cmt_plza_info();
	info->evtsel = cmt_sampler_evtsel();
	strscpy(info->wait_reason, CMT_WAIT_REASON, sizeof(info->wait_reason));
}

static long ioctl_get_info(void __user *uarg)
{
	struct cmt_info info;
	int ret = arg_get(&info, sizeof(info), CMT_INFO_SIZE, uarg);

	if (ret)
		return ret;
	info_fill(&info);
	return arg_put(uarg, &info, sizeof(info));
}

void cmt_stats_fill(struct cmt_stats *stats)
{
	*stats = (struct cmt_stats) { .size = stats->size };
	cmt_owners_stats(stats);
	cmt_cpus_stats(stats);
	cmt_sampler_stats(stats);
	cmt_rings_stats(stats);
}

static long ioctl_get_stats(void __user *uarg)
{
	struct cmt_stats stats;
	int ret = arg_get(&stats, sizeof(stats), CMT_STATS_SIZE, uarg);

	if (ret)
		return ret;
	cmt_stats_fill(&stats);
	return arg_put(uarg, &stats, sizeof(stats));
}

/* Copy @bytes to a user's buffer that has @room, or -ENOSPC. */
static int buffer_put(u64 to, u64 room, const void *from, u64 bytes)
{
	if (bytes > room)
		return -ENOSPC;
	return copy_to_user(u64_to_user_ptr(to), from, bytes) ? -EFAULT : 0;
}

/* @ret: the result of buffer_put().  @arg has the required room. */
static long sized_put(void __user *uarg, void *arg, size_t ksize, long ret)
{
	return ret == -EFAULT ? ret : arg_put(uarg, arg, ksize) ?: ret;
}

/* The number of records, which may be more than @room, or -errno. */
static int rmids_get(struct cmt_record *records, u32 room, bool pending,
		     u64 *as_of)
{
	return pending ? cmt_pending_snapshot(records, room, as_of) :
			 cmt_owners_snapshot(records, as_of);
}

/* -ENOSPC also if owners became pending between the count and the copy. */
static long ioctl_get_rmids(void __user *uarg, bool pending)
{
	struct cmt_record *records;
	struct cmt_rmids arg;
	int count;
	u32 room;
	long ret = arg_get(&arg, sizeof(arg), CMT_RMIDS_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.reserved)
		return -EINVAL;
	room = pending ? min(arg.count, cmt_owners_pending() + 256) :
			 cmt_caps.nr_rmids;
	records = kvcalloc(room + 1, sizeof(*records), GFP_KERNEL);
	if (!records)
		return -ENOMEM;
	room = min(room, arg.count);
	count = rmids_get(records, room, pending, &arg.as_of);
	if (count < 0) {
		kvfree(records);
		return count;
	}
	arg.count = count;
	ret = buffer_put(arg.records, room * sizeof(*records), records,
			 arg.count * sizeof(*records));
	kvfree(records);
	return sized_put(uarg, &arg, sizeof(arg), ret);
}

static long ioctl_set_interval(const struct file *file, void __user *uarg)
{
	struct cmt_interval arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_INTERVAL_SIZE, uarg);

	ret = ret ?: may_control(file);
	if (ret)
		return ret;
	if (arg.reserved || arg.interval_ns < CMT_INTERVAL_MIN_NS ||
	    arg.interval_ns > CMT_INTERVAL_MAX_NS)
		return -EINVAL;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (ret)
		return ret;
	cmt_sampler_set_interval(arg.interval_ns);
	return 0;
}

static long ioctl_set_watermark(struct file *file, void __user *uarg)
{
	struct cmt_watermark arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_WATERMARK_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.reserved || !arg.records || arg.records > cmt_ring_records_least / 2)
		return -EINVAL;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (!ret)
		cmt_file_set_watermark(file->private_data, arg.records);
	return ret;
}

/* A program drops its capabilities when it has opened the device. */
bool cmt_was_perfmon_capable(const struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
	       file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN);
}

static long ioctl_set_counters(struct file *file, void __user *uarg)
{
	struct cmt_counters arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_COUNTERS_SIZE, uarg);
	bool first;

	if (ret)
		return ret;
	first = arg.counters & CMT_F_COUNTERS_FIRST;
	if (arg.reserved || arg.counters & ~(CMT_PERF_WANTS | CMT_F_CHANNEL) ||
	    (first && !(arg.counters & CMT_PERF_EVENTS)))
		return -EINVAL;
	if (first && !cmt_was_perfmon_capable(file))
		return -EPERM;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (ret)
		return ret;
	cmt_file_set_counters(file->private_data, arg.counters);
	return 0;
}

static long ioctl_set_values(struct file *file, void __user *uarg)
{
	struct cmt_values arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_VALUES_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.reserved || !arg.values || arg.values & ~CMT_VALUES_ALL)
		return -EINVAL;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (!ret)
		cmt_file_set_values(file->private_data, arg.values);
	return ret;
}

/* The patterns of the argument; NULL: the patterns do not change. */
static struct cmt_pattern_set *patterns_get(struct cmt_scope *arg)
{
	struct cmt_pattern_set *set;
	char *text;
	int ret;

	if (!arg->patterns_bytes)
		return NULL;
	if (arg->patterns_bytes > CMT_PATTERNS_MAX) {
		arg->bad_at = CMT_PATTERNS_MAX;
		return ERR_PTR(-EINVAL);
	}
	text = memdup_user(u64_to_user_ptr(arg->patterns), arg->patterns_bytes);
	if (IS_ERR(text))
		return ERR_CAST(text);
	set = kvmalloc(sizeof(*set), GFP_KERNEL);
	ret = set ? cmt_pattern_parse(set, text, arg->patterns_bytes,
				      &arg->bad_at) : -ENOMEM;
	kfree(text);
	if (!ret)
		return set;
	kvfree(set);
	return ERR_PTR(ret);
}

static int scope_change(struct cmt_scope *arg, void __user *uarg)
{
	struct cmt_pattern_set *set;
	int ret;

	if (arg->scope < CMT_SCOPE_PROCESS || arg->scope > CMT_SCOPE_MANUAL ||
	    arg->reserved)
		return -EINVAL;
	set = patterns_get(arg);
	if (IS_ERR(set))
		return PTR_ERR(set);
	/* before the change: a command that fails changes nothing */
	ret = arg_put(uarg, arg, sizeof(*arg));
	if (ret)
		kvfree(set);
	else
		cmt_scope_set(arg->scope, set);
	return ret;
}

static long ioctl_set_scope(const struct file *file, void __user *uarg)
{
	struct cmt_scope arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_SCOPE_SIZE, uarg);

	ret = ret ?: may_control(file);
	if (ret)
		return ret;
	arg.bad_at = U32_MAX;
	ret = scope_change(&arg, uarg);
	if (ret != -EINVAL)
		return ret;
	return arg_put(uarg, &arg, sizeof(arg)) ?: ret;
}

static long ioctl_get_patterns(void __user *uarg)
{
	struct cmt_patterns arg;
	char *text;
	u32 bytes;
	long ret = arg_get(&arg, sizeof(arg), CMT_PATTERNS_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.reserved)
		return -EINVAL;
	text = kvmalloc(CMT_PATTERNS_MAX, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	bytes = cmt_containers_patterns(text);
	ret = buffer_put(arg.text, arg.bytes, text, bytes);
	kvfree(text);
	arg.bytes = bytes;
	return sized_put(uarg, &arg, sizeof(arg), ret);
}

/* @options: options that are allowed for a process. */
static int attach_get(struct cmt_attach *arg, const struct file *file,
		      u32 options, const void __user *uarg)
{
	int ret = arg_get(arg, sizeof(*arg), CMT_ATTACH_SIZE, uarg);

	ret = ret ?: may_control(file);
	if (ret)
		return ret;
	if (arg->kind < CMT_OWNER_PROCESS || arg->kind > CMT_OWNER_CPU)
		return -EINVAL;
	if (arg->options & ~(arg->kind == CMT_OWNER_PROCESS ? options : 0))
		return -EINVAL;
	if (arg->kind == CMT_OWNER_CPU && arg->id < nr_cpu_ids)
		arg->id = array_index_nospec(arg->id, nr_cpu_ids);
	return 0;
}

static long ioctl_attach(const struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = attach_get(&arg, file, CMT_ATTACH_CHILDREN, uarg);

	/* before the change: a command that fails changes nothing */
	ret = ret ?: arg_put(uarg, &arg, sizeof(arg));
	ret = ret ?: cmt_attach(&arg);
	if (ret)
		return ret;
	return arg_put(uarg, &arg, sizeof(arg));
}

static long ioctl_detach(const struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = attach_get(&arg, file, 0, uarg);

	ret = ret ?: arg_put(uarg, &arg, sizeof(arg));
	return ret ?: cmt_detach(&arg);
}

/* If the answer cannot be copied out, the registration is undone. */
static long ioctl_register(const struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = attach_get(&arg, file, CMT_ATTACH_CHILDREN, uarg);

	ret = ret ?: cmt_register(file->private_data, &arg);
	if (ret)
		return ret;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (ret)
		cmt_unregister(file->private_data, &arg);
	return ret;
}

static long ioctl_unregister(const struct file *file, void __user *uarg)
{
	struct cmt_attach arg;
	int ret = attach_get(&arg, file, 0, uarg);

	ret = ret ?: arg_put(uarg, &arg, sizeof(arg));
	return ret ?: cmt_unregister(file->private_data, &arg);
}

/* @room: number of records.  arg->count becomes the number of existing records. */
static long read_now(struct cmt_read *arg, struct cmt_record *records, u32 room)
{
	arg->as_of = ktime_get_ns();
	if (!arg->kind)
		return cmt_demand_all(records, room, &arg->count);
	return cmt_owner_read(arg->kind, arg->id, records, room, &arg->count);
}

/* With -ENOSPC, arg->count is the required room; other errors write nothing. */
static long ioctl_read(struct file *file, void __user *uarg)
{
	struct cmt_record *records;
	struct cmt_read arg;
	u32 room;
	long ret = arg_get(&arg, sizeof(arg), CMT_READ_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.kind > CMT_OWNER_CPU || (!arg.kind && arg.id))
		return -EINVAL;
	room = min(arg.count, cmt_demand_room(!arg.kind));
	records = kvcalloc(room + 1, sizeof(*records), GFP_KERNEL_ACCOUNT);
	if (!records)
		return -ENOMEM;
	cmt_file_begin_reading(file->private_data);
	ret = read_now(&arg, records, room);
	if (!ret)
		ret = buffer_put(arg.records, room * sizeof(*records), records,
				 arg.count * sizeof(*records));
	kvfree(records);
	if (ret && ret != -ENOSPC)
		return ret;
	return sized_put(uarg, &arg, sizeof(arg), ret);
}

static long ioctl_get_uncore(void __user *uarg)
{
	struct cmt_uncore arg;
	struct cmt_box *boxes;
	u32 room;
	long ret = arg_get(&arg, sizeof(arg), CMT_UNCORE_SIZE, uarg);

	if (ret)
		return ret;
	room = min(arg.count, cmt_pmon_count());
	boxes = kvcalloc(room + 1, sizeof(*boxes), GFP_KERNEL_ACCOUNT);
	if (!boxes)
		return -ENOMEM;
	cmt_pmon_get(&arg, boxes, room);
	cmt_channels_get(&arg);
	ret = buffer_put(arg.boxes, room * sizeof(*boxes), boxes,
			 arg.count * sizeof(*boxes));
	kvfree(boxes);
	return sized_put(uarg, &arg, sizeof(arg), ret);
}

static long ioctl_set_resctrl(const struct file *file, void __user *uarg)
{
	struct cmt_resctrl arg;
	int ret = arg_get(&arg, sizeof(arg), CMT_RESCTRL_SIZE, uarg);

	ret = ret ?: may_control(file);
	if (ret)
		return ret;
	if (arg.reserved || (arg.mode != CMT_RESCTRL_RESPECT &&
			     arg.mode != CMT_RESCTRL_TAKE))
		return -EINVAL;
	ret = arg_put(uarg, &arg, sizeof(arg));
	if (!ret)
		cmt_resctrl_set_mode(arg.mode);
	return ret;
}

/* With one byte more than PATH_MAX a truncated path is longer than PATH_MAX. */
#define PATH_ROOM	(PATH_MAX + 1)

/* @path has PATH_ROOM bytes.  Returns the length with the terminator, or -errno. */
static int path_of_cgroup(u64 id, char *path)
{
	/* fails for a cgroup outside the caller's namespace */
	struct cgroup *cgroup = cgroup_get_from_id(id);
	int length = -ENOENT;

	if (IS_ERR(cgroup))
		return -ENOENT;
	/* a removed cgroup stays while a page or a zombie refers to the cgroup */
	if (READ_ONCE(cgroup->self.flags) & CSS_ONLINE)
		length = cgroup_path(cgroup, path, PATH_ROOM);
	cgroup_put(cgroup);
	/* by kernel: the complete length, the truncated length, or E2BIG */
	if (length == -E2BIG || length >= PATH_MAX)
		return -ENAMETOOLONG;
	return length < 0 ? -ENOENT : length + 1;
}

static long cgroup_path_put(struct cmt_cgroup_path *arg, char *path,
			    void __user *uarg)
{
	int bytes = path_of_cgroup(arg->cgroup_id, path);
	long ret;

	if (bytes < 0)
		return bytes;
	ret = buffer_put(arg->path, arg->bytes, path, bytes);
	arg->bytes = bytes;
	return sized_put(uarg, arg, sizeof(*arg), ret);
}

static long ioctl_path_of_cgroup(void __user *uarg)
{
	struct cmt_cgroup_path arg;
	char *path;
	long ret = arg_get(&arg, sizeof(arg), CMT_CGROUP_PATH_SIZE, uarg);

	if (ret)
		return ret;
	if (arg.reserved)
		return -EINVAL;
	path = kmalloc(PATH_ROOM, GFP_KERNEL);
	if (!path)
		return -ENOMEM;
	ret = cgroup_path_put(&arg, path, uarg);
	kfree(path);
	return ret;
}

long cmt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *uarg = (void __user *)arg;

	switch (cmd) {
	case CMT_IOC_GET_INFO:
		return ioctl_get_info(uarg);
	case CMT_IOC_GET_STATS:
		return ioctl_get_stats(uarg);
	case CMT_IOC_GET_RMIDS:
		return ioctl_get_rmids(uarg, false);
	case CMT_IOC_GET_PENDING:
		return ioctl_get_rmids(uarg, true);
	case CMT_IOC_SET_INTERVAL:
		return ioctl_set_interval(file, uarg);
	case CMT_IOC_SET_WATERMARK:
		return ioctl_set_watermark(file, uarg);
	case CMT_IOC_SET_SCOPE:
		return ioctl_set_scope(file, uarg);
	case CMT_IOC_GET_PATTERNS:
		return ioctl_get_patterns(uarg);
	case CMT_IOC_ATTACH:
		return ioctl_attach(file, uarg);
	case CMT_IOC_DETACH:
		return ioctl_detach(file, uarg);
	case CMT_IOC_SET_RESCTRL:
		return ioctl_set_resctrl(file, uarg);
	case CMT_IOC_PATH_OF_CGROUP:
		return ioctl_path_of_cgroup(uarg);
	case CMT_IOC_SET_COUNTERS:
		return ioctl_set_counters(file, uarg);
	case CMT_IOC_REGISTER:
		return ioctl_register(file, uarg);
	case CMT_IOC_UNREGISTER:
		return ioctl_unregister(file, uarg);
	case CMT_IOC_READ:
		return ioctl_read(file, uarg);
	case CMT_IOC_GET_UNCORE:
		return ioctl_get_uncore(uarg);
	case CMT_IOC_SET_VALUES:
		return ioctl_set_values(file, uarg);
	default:
		return -ENOTTY;
	}
}

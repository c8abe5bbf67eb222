// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device.h"

#include <fcntl.h>
#include <stdlib.h>

#include "module.h"

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Reject values that would lead computations of the library astray. */
bool cmt_info_possible(const struct cmt_info *info)
{
	uint64_t ring = CMT_RING_DATA_OFFSET +
			(uint64_t)info->ring_records * sizeof(struct cmt_record);

	return info->nr_cpus >= 1 && info->nr_cpus <= 65536 &&
	       info->nr_rmids >= 2 && info->nr_rmids <= 65536 &&
	       info->rmids_usable < info->nr_rmids &&
	       info->ring_records >= 2 && info->ring_records <= 1U << 22 &&
	       power_of_two(info->ring_records) &&
	       info->ring_bytes >= ring && info->ring_bytes <= 1U << 30 &&
	       info->interval_min_ns >= 1 &&
	       info->interval_min_ns <= info->interval_max_ns;
}

void cmt_info_texts(struct cmt_info *info)
{
	cmt_text(info->module_version, sizeof(info->module_version), info->module_version);
	cmt_text(info->reason, sizeof(info->reason), info->reason);
	cmt_text(info->mbm_reason, sizeof(info->mbm_reason), info->mbm_reason);
	cmt_text(info->perf_reason, sizeof(info->perf_reason), info->perf_reason);
	cmt_text(info->wait_reason, sizeof(info->wait_reason), info->wait_reason);
}

int cmt_device_ioctl(const struct cmt_device *dev, unsigned long command, void *arg)
{
	return dev->ops->call(dev, command, arg);
}

/*
 * Call the ioctl with @arg, a structure that begins with its size.  This program
 * knows @size bytes of it, and every module of this major version at least @least.
 * An older module writes fewer bytes than requested: unknown fields are 0.
 */
static int ask(const struct cmt_device *dev, unsigned long command, void *arg,
	       uint32_t least, uint32_t size)
{
	uint32_t written;
	int err;

	memset(arg, 0, size);
	memcpy(arg, &size, sizeof(size));
	err = cmt_device_ioctl(dev, command, arg);
	memcpy(&written, arg, sizeof(written));
	if (err)
		return err;
	if (written < least || written > size)
		return -EPROTO;
	return 0;
}

/* A module of another major version may answer in another size. */
#define ABI_KNOWN	(offsetof(struct cmt_info, abi_version) + sizeof(uint32_t))

/* @size: bytes of room at @info, sizeof(*info) or more */
static int get_info(const struct cmt_device *dev, struct cmt_info *info, uint32_t size)
{
	int err = ask(dev, CMT_IOC_GET_INFO, info, ABI_KNOWN, size);

	if (err)
		return err;
	if (info->abi_version >> 16 != CMT_ABI_MAJOR)
		return -EPROTONOSUPPORT;
	if (info->size < CMT_INFO_SIZE || !cmt_info_possible(info))
		return -EPROTO;
	cmt_info_texts(info);
	return 0;
}

int cmt_device_open(struct cmt_device **dev, const char *path,
		    unsigned int flags)
{
	struct cmt_device *d;
	int err;

	if (flags & ~CMT_OPEN_CONTROL)
		return -EINVAL;
	err = cmt_module_open(&d, path, flags & CMT_OPEN_CONTROL ? O_RDWR : O_RDONLY);
	if (err)
		return err;
	err = get_info(d, &d->info, sizeof(d->info_room));
	if (err)
		cmt_device_close(d);
	else
		*dev = d;
	return err;
}

void cmt_device_close(struct cmt_device *dev)
{
	if (dev)
		dev->ops->close(dev);
}

int cmt_device_abi(const char *path, uint32_t *abi)
{
	struct cmt_device *dev;
	struct cmt_info info;
	int err = cmt_module_open(&dev, path, O_RDONLY);

	if (err)
		return err;
	err = ask(dev, CMT_IOC_GET_INFO, &info, ABI_KNOWN, sizeof(info));
	cmt_device_close(dev);
	if (!err)
		*abi = info.abi_version;
	return err;
}

int cmt_device_fd(const struct cmt_device *dev)
{
	return dev->fd;
}

bool cmt_device_has_reader(const struct cmt_device *dev)
{
	return dev->reader;
}

int cmt_device_info_now(const struct cmt_device *dev, struct cmt_info *info)
{
	return get_info(dev, info, sizeof(*info));
}

const struct cmt_info *cmt_device_info(const struct cmt_device *dev)
{
	return &dev->info;
}

int cmt_device_stats(const struct cmt_device *dev, struct cmt_stats *stats)
{
	uint32_t size = stats->size;

	/* of a caller that is older or newer than this library */
	if (size < CMT_STATS_SIZE)
		return -EINVAL;
	return ask(dev, CMT_IOC_GET_STATS, stats, CMT_STATS_SIZE, size);
}

int cmt_device_interval(const struct cmt_device *dev, uint32_t *interval_ns)
{
	struct cmt_info info;
	int err = cmt_device_info_now(dev, &info);

	if (!err)
		*interval_ns = info.interval_ns;
	return err;
}

int cmt_device_set_interval(struct cmt_device *dev, uint32_t interval_ns)
{
	struct cmt_interval interval = {
		.size = sizeof(interval),
		.interval_ns = interval_ns,
	};

	return cmt_device_ioctl(dev, CMT_IOC_SET_INTERVAL, &interval);
}

int cmt_device_scope(const struct cmt_device *dev, uint32_t *scope)
{
	struct cmt_info info;
	int err = cmt_device_info_now(dev, &info);

	if (!err)
		*scope = info.scope;
	return err;
}

/*
 * An empty text would mean "unchanged" to the module, and for a text that is too long
 * the module reports only that.
 */
static int check_patterns(const char *patterns, uint32_t *bad_at)
{
	size_t bytes = strlen(patterns);

	if (bytes && bytes <= CMT_PATTERNS_MAX)
		return 0;
	*bad_at = bytes ? CMT_PATTERNS_MAX : 0;
	return -EINVAL;
}

int cmt_device_set_scope(struct cmt_device *dev, uint32_t scope,
			 const char *patterns, uint32_t *bad_at)
{
	struct cmt_scope arg = { .size = sizeof(arg), .scope = scope };
	int err = 0;

	arg.bad_at = UINT32_MAX;
	if (patterns)
		err = check_patterns(patterns, &arg.bad_at);
	if (!err) {
		arg.patterns = (uintptr_t)patterns;
		arg.patterns_bytes = patterns ? (uint32_t)strlen(patterns) : 0;
		err = cmt_device_ioctl(dev, CMT_IOC_SET_SCOPE, &arg);
	}
	if (bad_at)
		*bad_at = arg.bad_at;
	return err;
}

/* Each separator may become a line's end, and one more ends the last line. */
int cmt_device_patterns(const struct cmt_device *dev, char **patterns)
{
	struct cmt_patterns arg = {
		.size = sizeof(arg),
		.bytes = CMT_PATTERNS_MAX + 1,
	};
	char *text = calloc(1, CMT_PATTERNS_MAX + 2);
	int err;

	if (!text)
		return -ENOMEM;
	arg.text = (uintptr_t)text;
	err = cmt_device_ioctl(dev, CMT_IOC_GET_PATTERNS, &arg);
	if (err == -ENOSPC || (!err && arg.bytes > CMT_PATTERNS_MAX + 1))
		err = -EPROTO;
	if (err) {
		free(text);
		return err;
	}
	text[arg.bytes] = '\0';
	*patterns = text;
	return 0;
}

/* CMT_IOC_ATTACH or _REGISTER */
static int make_owner(const struct cmt_device *dev, unsigned long command,
		      uint32_t kind, uint64_t id, uint32_t options,
		      struct cmt_attached *attached)
{
	struct cmt_attach arg = {
		.size = sizeof(arg),
		.kind = kind,
		.options = options,
		.id = id,
	};
	struct cmt_attached known = { .sz = sizeof(known) };
	int err;

	if (attached && !cmt_sz_possible(attached->sz))
		return -EINVAL;
	err = cmt_device_ioctl(dev, command, &arg);
	if (err || !attached)
		return err;
	known.rmid = arg.rmid;
	known.generation = arg.generation;
	return cmt_out_copy(attached, &known, sizeof(known));
}

int cmt_device_attach(struct cmt_device *dev, uint32_t kind, uint64_t id,
		      uint32_t options, struct cmt_attached *attached)
{
	return make_owner(dev, CMT_IOC_ATTACH, kind, id, options, attached);
}

int cmt_device_detach(struct cmt_device *dev, uint32_t kind, uint64_t id)
{
	struct cmt_attach arg = { .size = sizeof(arg), .kind = kind, .id = id };

	return cmt_device_ioctl(dev, CMT_IOC_DETACH, &arg);
}

int cmt_register(struct cmt_device *dev, uint32_t kind, uint64_t id,
		 uint32_t options, struct cmt_attached *registered)
{
	return make_owner(dev, CMT_IOC_REGISTER, kind, id, options, registered);
}

int cmt_unregister(struct cmt_device *dev, uint32_t kind, uint64_t id)
{
	struct cmt_attach arg = { .size = sizeof(arg), .kind = kind, .id = id };

	return cmt_device_ioctl(dev, CMT_IOC_UNREGISTER, &arg);
}

int cmt_device_resctrl(const struct cmt_device *dev, uint32_t *mode,
		       bool *mounted)
{
	struct cmt_info info;
	int err = cmt_device_info_now(dev, &info);

	if (err)
		return err;
	*mode = info.resctrl;
	if (mounted)
		*mounted = info.resctrl_mounted;
	return 0;
}

int cmt_device_set_resctrl(struct cmt_device *dev, uint32_t mode)
{
	struct cmt_resctrl arg = { .size = sizeof(arg), .mode = mode };

	return cmt_device_ioctl(dev, CMT_IOC_SET_RESCTRL, &arg);
}

_Static_assert(sizeof(((struct cmt_info *)0)->perf_reason) == CMT_REASON_LEN,
	       "a reason fits");

int cmt_device_counters(const struct cmt_device *dev, uint32_t *counters,
			char *reason)
{
	static const char OLD[CMT_REASON_LEN] = "the module is older and cannot count";
	bool old = __atomic_load_n(&dev->cannot_count, __ATOMIC_RELAXED);
	struct cmt_info info;
	int err = cmt_device_info_now(dev, &info);

	if (err)
		return err;
	*counters = info.counters;
	if (reason)
		memcpy(reason, old ? OLD : info.perf_reason,
		       CMT_REASON_LEN);
	return 0;
}

int cmt_device_set_counters(struct cmt_device *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };
	int err = cmt_device_ioctl(dev, CMT_IOC_SET_COUNTERS, &arg);

	if (err == -ENOTTY)
		__atomic_store_n(&dev->cannot_count, true, __ATOMIC_RELAXED);
	return err;
}

int cmt_device_set_values(struct cmt_device *dev, uint32_t values)
{
	struct cmt_values arg = { .size = sizeof(arg), .values = values };

	return cmt_device_ioctl(dev, CMT_IOC_SET_VALUES, &arg);
}

int cmt_device_cgroup_path(const struct cmt_device *dev, uint64_t cgroup_id,
			   char *path, size_t size)
{
	struct cmt_cgroup_path arg = {
		.size = sizeof(arg),
		.cgroup_id = cgroup_id,
		.path = (uintptr_t)path,
		.bytes = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
	};
	uint32_t room = arg.bytes;
	int err = cmt_device_ioctl(dev, CMT_IOC_PATH_OF_CGROUP, &arg);

	if (err)
		return err;
	if (!arg.bytes || arg.bytes > room || path[arg.bytes - 1])
		return -EPROTO;
	return 0;
}

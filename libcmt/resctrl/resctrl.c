// SPDX-License-Identifier: LGPL-2.1-or-later
/* resctrl opened as a device, and its answers to the calls of a device. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

#define SUPER_MAGIC	0x7655821	/* RDTGROUP_SUPER_MAGIC */
#define INTERVAL_NS	100000000U
#define SCAN_NS		1000000000ULL
#define SCAN_MIN_NS	1000000ULL
#define SCAN_MAX_NS	60000000000ULL
#define GROUPS_LEAST	256U
#define GROUPS_MOST	4096U
#define FILES_MOST	8192U
#define RING_LEAST	1024U
#define RING_MOST	(1U << 18)
#define RING_HOLD_NS	3000000000ULL

static int check_opts(struct cmt_resctrl_opts *o, const struct cmt_resctrl_opts *from)
{
	int err = cmt_opts_copy(o, sizeof(*o), from);

	if (err)
		return err;
	if (!o->interval_ns)
		o->interval_ns = INTERVAL_NS;
	if (!o->scan_ns)
		o->scan_ns = SCAN_NS;
	return o->interval_ns < CMT_RESCTRL_INTERVAL_MIN_NS ||
	       o->interval_ns > CMT_RESCTRL_INTERVAL_MAX_NS ||
	       o->scan_ns < SCAN_MIN_NS || o->scan_ns > SCAN_MAX_NS ? -EINVAL : 0;
}

int cmt_resctrl_text(int dir, const char *path, char *text, size_t size)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;
	int err;

	if (fd < 0)
		return -errno;
	n = pread(fd, text, size - 1, 0);
	err = n < 0 ? -errno : 0;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return err;
}

/* Returns the directory or -errno.  A path that was given is taken as it is. */
static int open_root(const char *root)
{
	int fd = open(root ? root : CMT_RESCTRL_PATH, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (root || (!fstatfs(fd, &fs) && fs.f_type == SUPER_MAGIC))
		return fd;
	close(fd);
	return -ENOENT;
}

/* A line for each event that the kernel reads. */
static int find_events(struct resctrl *r)
{
	char text[1024], *save, *line;
	int err = cmt_resctrl_text(r->root, "info/L3_MON/mon_features", text, sizeof(text));

	if (err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
			if (!strcmp(line, cmt_resctrl_files[v]))
				r->info.events |= cmt_resctrl_flags[v];
	if (!(r->info.events & (CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)))
		strcpy(r->info.mbm_reason, "resctrl has no bandwidth events here");
	return r->info.events ? 0 : -EOPNOTSUPP;
}

/* Room for as many groups as the kernel may make; of MPAM the file may say 1. */
static void find_rmids(struct resctrl *r)
{
	char text[32];
	uint64_t nr = 0;

	if (cmt_resctrl_text(r->root, "info/L3_MON/num_rmids", text, sizeof(text)) ||
	    cmt_resctrl_parse(text, strlen(text), &nr))
		nr = 0;
	r->info.nr_rmids = nr < GROUPS_LEAST ? GROUPS_LEAST :
			   nr > GROUPS_MOST ? GROUPS_MOST : (uint32_t)nr;
	r->info.rmids_usable = r->info.nr_rmids - 1;
}

/* "36864K" */
static uint64_t find_l3_bytes(void)
{
	char text[32], *end;
	uint64_t kib;

	if (cmt_resctrl_text(AT_FDCWD, "/sys/devices/system/cpu/cpu0/cache/index3/size", text,
		      sizeof(text)))
		return 0;
	kib = strtoull(text, &end, 10);
	return *end == 'K' && kib < UINT64_MAX / 1024 ? kib * 1024 : 0;
}

/* At least four times the records of one reading of all groups */
static uint32_t ring_records(const struct resctrl *r)
{
	uint64_t wanted = 4ULL * r->info.nr_rmids * (r->nr_domains + 1);
	uint32_t records = RING_LEAST;

	while (records < wanted && records < RING_MOST)
		records *= 2;
	return records;
}

static void fill_info(struct resctrl *r, const struct cmt_resctrl_opts *o)
{
	struct cmt_info *info = &r->info;

	info->size = sizeof(*info);
	info->abi_version = CMT_ABI_VERSION;
	info->backend = CMT_BACKEND_RESCTRL;
	info->nr_cpus = 1;
	info->upscale_bytes = 1;
	info->counter_bits = 64;
	info->interval_ns = (uint32_t)o->interval_ns;
	info->interval_min_ns = info->interval_ns;
	info->interval_max_ns = info->interval_ns;
	info->l3_bytes = o->l3_bytes;
	if (!info->l3_bytes && !o->root)
		info->l3_bytes = find_l3_bytes();
	info->ring_hold_ns = RING_HOLD_NS;
	info->idle_ticks = 1;
	info->resctrl = CMT_RESCTRL_RESPECT;
	info->resctrl_mounted = 1;
	strcpy(info->reason, "groups of resctrl, without the cmt module");
	strcpy(info->perf_reason, "resctrl has no counters of the processor");
	strcpy(info->wait_reason, "resctrl does not account what tasks wait for a CPU");
	if (getrandom(&info->instance, sizeof(info->instance), GRND_NONBLOCK) < 0)
		info->instance = cmt_resctrl_stamp(r);
}

/* Half of the program's descriptors are left to the program. */
static void find_limit(struct resctrl *r)
{
	struct rlimit limit;

	r->files_max = FILES_MOST;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 2 < FILES_MOST)
		r->files_max = (uint32_t)(limit.rlim_cur / 2);
}

static int open_groups(struct resctrl *r)
{
	r->groups = calloc(r->info.nr_rmids, sizeof(*r->groups));
	r->order = calloc(r->info.nr_rmids, sizeof(*r->order));
	r->next_order = calloc(r->info.nr_rmids, sizeof(*r->next_order));
	r->next = 1;
	return r->groups && r->order && r->next_order ? 0 : -ENOMEM;
}

/* Domains are known before the ring, and the ring is there before the first record. */
static int resctrl_fill(struct resctrl *r, const struct cmt_resctrl_opts *o)
{
	int err;

	r->scan_ns = o->scan_ns;
	find_limit(r);
	err = find_events(r);
	if (err)
		return err;
	find_rmids(r);
	fill_info(r, o);
	err = open_groups(r);
	if (!err)
		err = cmt_resctrl_scan_domains(r);
	if (err)
		return err == -ENODEV ? -EOPNOTSUPP : err;
	r->info.ring_records = ring_records(r);
	r->info.ring_bytes = CMT_RING_DATA_OFFSET +
			     (uint64_t)r->info.ring_records * sizeof(struct cmt_record);
	err = cmt_resctrl_ring_new(r);
	if (!err)
		err = cmt_resctrl_scan(r);
	r->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return err || r->timer >= 0 ? err : -errno;
}

/*
 * The timer wakes poll(2); the clock decides whether a reading is due.  Returns 0 or
 * -errno.
 */
static int set_timer(const struct resctrl *r, uint64_t first_ns, uint64_t interval_ns)
{
	const struct itimerspec spec = {
		.it_value = { (time_t)(first_ns / 1000000000),
			      (long)(first_ns % 1000000000) },
		.it_interval = { (time_t)(interval_ns / 1000000000),
				 (long)(interval_ns % 1000000000) },
	};

	return timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

static struct resctrl *resctrl_of(const struct cmt_device *dev)
{
	return (struct resctrl *)dev;
}

/* The ring is the device's, and is there already. */
static int resctrl_map(const struct cmt_device *dev, uint32_t cpu, const void **ring)
{
	struct resctrl *r = resctrl_of(dev);
	int err;

	(void)cpu;
	pthread_mutex_lock(&r->lock);
	r->due_ns = cmt_resctrl_stamp(r);
	r->scan_due_ns = r->due_ns;
	err = set_timer(r, r->due_ns, r->info.interval_ns);
	r->reading = !err;
	r->stats.readers = !err;
	pthread_mutex_unlock(&r->lock);
	*ring = r->image;
	return err;
}

static void resctrl_unmap(const struct cmt_device *dev, const void *ring)
{
	struct resctrl *r = resctrl_of(dev);

	(void)ring;
	pthread_mutex_lock(&r->lock);
	r->reading = false;
	r->stats.readers = 0;
	/* a timer that goes on only wakes poll(2) without need */
	set_timer(r, 0, 0);
	pthread_mutex_unlock(&r->lock);
}

static void put_tick(struct resctrl *r, uint64_t begin)
{
	struct cmt_record record = {
		.type = CMT_REC_TICK, .domain = r->domains[0],
		.interval_ns = r->info.interval_ns,
	};

	r->stats.ticks++;
	r->stats.busy_ns += cmt_resctrl_stamp(r) - begin;
	record.tick.missed = r->stats.missed;
	record.tick.busy_ns = r->stats.busy_ns;
	record.tick.read = r->nr_order;
	cmt_resctrl_put(r, &record);
}

/* The next due time, at a multiple of the interval from the first reading */
static uint64_t advance(uint64_t *due_ns, uint64_t now, uint64_t interval_ns)
{
	uint64_t missed = (now - *due_ns) / interval_ns;

	*due_ns += (missed + 1) * interval_ns;
	return missed;
}

static int read_groups(struct resctrl *r, uint64_t now)
{
	int err = 0;

	r->stats.missed += advance(&r->due_ns, now, r->info.interval_ns);
	if (!cmt_ts_before(now, r->scan_due_ns)) {
		advance(&r->scan_due_ns, now, r->scan_ns);
		err = cmt_resctrl_scan(r);
	}
	if (err != -ENODEV && err != -ENOMEM)
		err = cmt_resctrl_read(r);
	if (err != -ENODEV && err != -ENOMEM)
		err = 0;
	put_tick(r, now);
	r->gone |= err == -ENODEV;
	return err;
}

static int resctrl_pump(const struct cmt_device *dev)
{
	struct resctrl *r = resctrl_of(dev);
	uint64_t now;
	int err = 0;

	pthread_mutex_lock(&r->lock);
	now = cmt_resctrl_stamp(r);
	if (r->gone)
		err = -ENODEV;
	else if (r->reading && !cmt_ts_before(now, r->due_ns))
		err = read_groups(r, now);
	pthread_mutex_unlock(&r->lock);
	return err;
}

/* As the module: no more than the size that the caller's structure begins with. */
static int put(void *arg, const void *from, uint32_t known)
{
	uint32_t size;

	memcpy(&size, arg, sizeof(size));
	if (size > known)
		size = known;
	memcpy(arg, from, size);
	memcpy(arg, &size, sizeof(size));
	return 0;
}

static int get_stats(struct resctrl *r, void *arg)
{
	struct cmt_stats *stats = &r->stats;

	stats->cpus_online = 1;
	stats->rmids_free = r->info.rmids_usable - stats->rmids_active;
	return put(arg, stats, sizeof(*stats));
}

/* As the module: oldest first. */
static int cmp_since(const void *pa, const void *pb)
{
	const struct cmt_record *a = pa, *b = pb;

	return a->ts < b->ts ? -1 : a->ts > b->ts;
}

static int get_rmids(struct resctrl *r, struct cmt_rmids *arg)
{
	struct cmt_record *records = (struct cmt_record *)(uintptr_t)arg->records;
	uint32_t room = arg->count;

	arg->count = 0;
	for (uint32_t i = 1; i < r->info.nr_rmids; i++) {
		if (!r->groups[i].used)
			continue;
		if (arg->count < room) {
			cmt_resctrl_owner_record(r, i, &records[arg->count]);
			records[arg->count].type = CMT_REC_EXISTING;
		}
		arg->count++;
	}
	if (arg->count > room)
		return -ENOSPC;
	qsort(records, arg->count, sizeof(*records), cmp_since);
	arg->as_of = cmt_resctrl_stamp(r);
	return 0;
}

static int get_pending(struct resctrl *r, struct cmt_rmids *arg)
{
	arg->count = 0;
	arg->as_of = cmt_resctrl_stamp(r);
	return 0;
}

static int get_path(const struct resctrl *r, struct cmt_cgroup_path *arg)
{
	for (uint32_t i = 0; i < r->info.nr_rmids; i++) {
		const struct resctrl_group *group = &r->groups[i];

		if (!group->used || (CMT_RESCTRL_GROUP | group->ino) != arg->cgroup_id)
			continue;
		if (strlen(group->name) >= arg->bytes)
			return -ENOSPC;
		strcpy((char *)(uintptr_t)arg->path, group->name);
		arg->bytes = (uint32_t)strlen(group->name) + 1;
		return 0;
	}
	return -ENOENT;
}

#define NO_CHANNELS	"resctrl does not count memory channels"

static int get_uncore(void *arg)
{
	static const struct cmt_uncore none = {
		.reason = NO_CHANNELS, .channels_reason = NO_CHANNELS,
	};

	return put(arg, &none, sizeof(none));
}

#define COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | \
			 CMT_F_LLC_REFERENCES)

/* resctrl has no counters, which is no error; what the module refuses is one. */
static int set_counters(uint32_t counters)
{
	bool first = counters & CMT_F_COUNTERS_FIRST;

	counters &= ~(CMT_F_WAITED | CMT_F_COUNTERS_FIRST | CMT_F_CHANNEL);
	return counters & ~COUNTERS || (first && !counters) ? -EINVAL : 0;
}

/* A sample may have more than what is asked for. */
static int set_values(uint32_t values)
{
	const uint32_t all = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;

	return !values || values & ~all ? -EINVAL : 0;
}

static int answer(struct resctrl *r, unsigned long command, void *arg)
{
	switch (command) {
	case CMT_IOC_GET_INFO:
		return put(arg, &r->info, sizeof(r->info));
	case CMT_IOC_GET_STATS:
		return get_stats(r, arg);
	case CMT_IOC_GET_RMIDS:
		return get_rmids(r, arg);
	case CMT_IOC_GET_PENDING:
		return get_pending(r, arg);
	case CMT_IOC_PATH_OF_CGROUP:
		return get_path(r, arg);
	case CMT_IOC_GET_UNCORE:
		return get_uncore(arg);
	case CMT_IOC_SET_COUNTERS:
		return set_counters(((struct cmt_counters *)arg)->counters);
	case CMT_IOC_SET_VALUES:
		return set_values(((struct cmt_values *)arg)->values);
	case CMT_IOC_SET_WATERMARK:	/* the timer wakes readers */
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int resctrl_call(const struct cmt_device *dev, unsigned long command, void *arg)
{
	struct resctrl *r = resctrl_of(dev);
	int ret;

	pthread_mutex_lock(&r->lock);
	ret = answer(r, command, arg);
	pthread_mutex_unlock(&r->lock);
	return ret;
}

static void resctrl_close(struct cmt_device *dev)
{
	struct resctrl *r = resctrl_of(dev);

	cmt_resctrl_groups_free(r);
	free(r->image);
	if (r->timer >= 0)
		close(r->timer);
	if (r->root >= 0)
		close(r->root);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static const struct cmt_device_ops resctrl_ops = {
	.call = resctrl_call,
	.map = resctrl_map,
	.unmap = resctrl_unmap,
	.pump = resctrl_pump,
	.close = resctrl_close,
};

int cmt_resctrl_open(struct cmt_device **dev, const struct cmt_resctrl_opts *opts)
{
	struct cmt_resctrl_opts o;
	struct resctrl *r;
	int err = check_opts(&o, opts);

	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	r->timer = -1;
	r->root = open_root(o.root);
	err = r->root < 0 ? r->root : resctrl_fill(r, &o);
	r->device.ops = &resctrl_ops;
	r->device.fd = r->timer;
	r->device.info = r->info;
	if (err)
		cmt_device_close(&r->device);
	else
		*dev = &r->device;
	return err;
}

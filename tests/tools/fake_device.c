// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device made up for testing the tools: the library's device and reader,
 * with the library's own slots, tracker and containers behind them.
 *
 * RMID 1 ("web") holds 4 MiB and moves exactly 1 MB/s; RMID 2 has a name that
 * would turn a terminal red, holds 1 MiB and moves nothing; every reading of
 * RMID 3 ("broken") fails.  Words in CMT_FAKE change that: "hardware" (not
 * emulated), "lost" (the counts say so), "gone" (the device goes away),
 * "caps" (say on standard error which capabilities the first read of the device, or who
 * opens a recording, has),
 * "denied" (nothing may be changed), "old" (a module that knows no scopes),
 * "churn" (ever more owners are pending), "refuse" (no mode is good), "nombm"
 * (there is no MBM), "idle" (RMIDs but 1 are read once in 32 ms), "groups"
 * (RMID 2 is resctrl's), "perf" (owners run all the time, RMID 1 with an IPC of 2 and
 * 4 misses in 1,000 instructions), "waits" (the same; RMID 1 waits for the CPU for a quarter
 * of the time, and RMID 2 for a half and is out of its quota), "unaccounted" (the kernel does not
 * account it), "nopmu" (there are no counters), "slow" (the module
 * says that it samples once a second), "sparse" (a tick each 20 ms), "changes" (the same in
 * the first 2 s), "timens" (a time namespace), "software" (RMIDs
 * are only numbers: nothing is read), "uncore" (there are boxes outside the cores),
 * "channels" (one memory channel reads 2 MB/s and writes 1 MB/s, another one reads
 * 500 kB/s), "taken" (another program takes the second one).
 *
 * "forbidden": the first read makes the calls of forbidden.h, and says how they end.
 *
 * "past": the rings hold a minute.  "overrun": the rings are full, and a reader that waits for
 * signals before it has read them loses 7 records each time.  "endless": they are full of one
 * millisecond, whatever is read.  "order": on standard error, once, that a reader feeds
 * slots before another one has read all.  "held": records can be read 100 ms after their time.
 * "torn": nothing can be read.
 *
 * "sockets": there is a second L3 domain, in which RMID 1 holds half as much as in the first,
 * RMID 2 six times as much, and RMID 3 nothing.
 *
 * "wave": RMID 1 holds 4 MiB in one second, and 1 MiB in the next one.
 *
 * "stream": after half a second RMID 2 streams, and takes what RMID 1 holds; with "perf" it
 * misses all the time.  "busy": it
 * moves 4 GiB/s then, holds what it held, and RMID 1 moves 100 MiB/s rather than 200.
 *
 * "beside": RMID 2 is that of a group of resctrl with CPU 3, which counts a part of what RMID 1
 * does; with "none" it counts all.  "unmounted": resctrl is not, so that the RMID is that of a
 * program.  "sole": all members of its group are RMID 1's owner.
 *
 * "container", "cpu" and "manual" are scopes.  In container scope 1 and 2 are
 * cgroups, CMT_FAKE_CGROUP the directory of the first, and 3 is the overflow
 * RMID, where two are pending, one with such a name; in cpu scope 1 is CPU 0.  Version 2 of
 * cgroups is mounted at CMT_FAKE_MOUNT, but for the words "v1", "hybrid" and
 * "nocgroup".
 *
 * CMT_FAKE_NAMES is a file of names, each of which ends with a zero byte: each is a cgroup's
 * that has an RMID, and the name of its first process.
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cgroups.h"
#include "forbidden.h"

#define MS 1000000ULL
#define SPARSE_MS 20
#define NR_RMIDS 4		/* and RMID 0 is one of them */
#define NAMES_MAX 512U
#define NAMED_CGROUP (1ULL << 61)	/* and the number of the name */
#define RESIDUE (64U << 10)	/* of RMID 1 */

struct cmt_device {
	struct cmt_info info;
	int pipe[2];
	struct cmt_reader *reader;
	uint32_t interval_ns;
	uint32_t scope;
	uint32_t resctrl;
	uint32_t counters;
	char patterns[CMT_PATTERNS_MAX + 1];
	unsigned int flags;
};

struct cmt_reader {
	struct cmt_device *dev;
	uint64_t next_ms;
	uint64_t first_ms;
	unsigned int step;	/* of the records of one millisecond */
	unsigned int reads;
	bool synced;
	uint64_t lost;
};

static struct cmt_reader *unread;	/* the last read has left records in its rings */

static int fake(const char *word)
{
	const char *words = getenv("CMT_FAKE");

	return words && strstr(words, word);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

/* "changes": for the first two seconds, as "sparse" */
static int is_sparse(void)
{
	static uint64_t first_ns;

	if (!first_ns)
		first_ns = now_ns();
	return fake("sparse") || (fake("changes") && now_ns() - first_ns < 2000 * MS);
}

static uint32_t sampling_ns(void)
{
	return fake("slow") ? 1000 * MS : is_sparse() ? SPARSE_MS * MS : MS;
}

static uint32_t tick_ms(void)
{
	return fake("endless") ? 0 : is_sparse() ? SPARSE_MS : 1;
}

/* Those of CMT_FAKE_NAMES. */
static struct {
	const char *all[NAMES_MAX];
	uint32_t nr;
} given;

__attribute__((constructor)) static void read_names(void)
{
	static char text[NAMES_MAX * 256], *at = text;
	const char *path = getenv("CMT_FAKE_NAMES");
	FILE *file = path ? fopen(path, "re") : NULL;
	size_t size;

	if (!file)
		return;
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	for (; at < text + size && given.nr < NAMES_MAX; at += strlen(at) + 1)
		given.all[given.nr++] = at;
}

static uint32_t fake_scope(void)
{
	return fake("container") ? CMT_SCOPE_CONTAINER :
	       fake("cpu") ? CMT_SCOPE_CPU :
	       fake("manual") ? CMT_SCOPE_MANUAL : CMT_SCOPE_PROCESS;
}

void __wrap_cgroup_find(struct cgroup_mount *mount);

void __wrap_cgroup_find(struct cgroup_mount *mount)
{
	const char *path = getenv("CMT_FAKE_MOUNT");

	*mount = (struct cgroup_mount){
		.mode = fake("hybrid") ? CGROUPS_HYBRID :
			fake("v1") ? CGROUPS_V1 :
			fake("nocgroup") ? CGROUPS_NONE : CGROUPS_V2,
	};
	if (mount->mode == CGROUPS_V2 || mount->mode == CGROUPS_HYBRID)
		snprintf(mount->path, sizeof(mount->path), "%s",
			 path ? path : "/sys/fs/cgroup");
}

int cmt_device_open(struct cmt_device **result, const char *path,
		    unsigned int flags)
{
	struct cmt_device *dev = calloc(1, sizeof(*dev));

	(void)path;
	if (!dev)
		return -ENOMEM;
	if (pipe2(dev->pipe, O_CLOEXEC)) {
		free(dev);
		return -errno;
	}
	dev->info = (struct cmt_info){
		.size = sizeof(dev->info),
		.abi_version = CMT_ABI_VERSION,
		.backend = fake("hardware") ? CMT_BACKEND_HARDWARE :
			   fake("software") ? CMT_BACKEND_SOFTWARE :
					      CMT_BACKEND_EMULATED,
		.vendor = CMT_VENDOR_INTEL, .scope = fake_scope(),
		.nr_cpus = 1, .nr_rmids = NR_RMIDS, .rmids_usable = 3,
		.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
		.ring_records = 4096, .ring_bytes = 4096 * 64 + CMT_RING_DATA_OFFSET,
		.interval_ns = sampling_ns(),
		.interval_min_ns = 100000, .interval_max_ns = 1000 * MS,
		.l3_bytes = 16 << 20, .limbo_ns = 2 * MS,
		.ring_hold_ns = 250 * MS, .budget_ns = 20000, .idle_ticks = 32,
		.resctrl = CMT_RESCTRL_RESPECT, .resctrl_mounted = !fake("unmounted"),
		.module_version = "0.0.0", .reason = "made up \033[31m",
	};
	dev->interval_ns = dev->info.interval_ns;
	dev->scope = dev->info.scope;
	dev->resctrl = dev->info.resctrl;
	if (fake("nombm")) {
		dev->info.events = CMT_F_OCCUPANCY;
		strcpy(dev->info.mbm_reason, "counters are \033[31massigned");
	}
	if (fake("unaccounted"))
		strcpy(dev->info.wait_reason, "the kernel has \033[31mno CONFIG_SCHED_INFO");
	if (given.nr) {
		dev->info.scope = CMT_SCOPE_CONTAINER;
		dev->info.nr_rmids = given.nr + 1;
		dev->info.rmids_usable = given.nr;
	}
	if (fake("abmc"))
		dev->info.assignable = CMT_ASSIGNABLE_ON | 64 | 20 << 10 |
				       6 << 20;
	if (fake("software")) {
		dev->info.events = 0;
		strcpy(dev->info.mbm_reason, dev->info.reason);
	}
	strcpy(dev->patterns, "docker-<id>.scope\n!x\n");
	dev->flags = flags;
	*result = dev;
	return 0;
}

void cmt_device_close(struct cmt_device *dev)
{
	close(dev->pipe[0]);
	close(dev->pipe[1]);
	free(dev);
}

int cmt_device_abi(const char *path, uint32_t *abi)
{
	(void)path;
	*abi = CMT_ABI_VERSION;
	return 0;
}

int cmt_device_fd(const struct cmt_device *dev)
{
	return dev->pipe[0];
}

bool cmt_device_has_reader(const struct cmt_device *dev)
{
	return dev->reader;
}

const struct cmt_info *cmt_device_info(const struct cmt_device *dev)
{
	return &dev->info;
}

int cmt_device_stats(const struct cmt_device *dev, struct cmt_stats *stats)
{
	(void)dev;
	*stats = (struct cmt_stats){
		.size = sizeof(*stats), .rmids_active = 3, .pending = 2,
		.rmids_foreign = fake("beside") ? 1 : 0,
		.cpus_foreign = fake("beside") ? 1 : 0,
		.rings_small = fake("smallrings") ? 3 : 0,
	};
	return 0;
}

static uint64_t fake_cgroup(uint32_t rmid)
{
	const char *path = getenv("CMT_FAKE_CGROUP");
	struct stat st;

	return rmid == 1 && path && !stat(path, &st) ? st.st_ino :
						       1ULL << 60 | rmid;
}

static void set_owner(struct cmt_record *record, uint32_t rmid,
		      uint32_t flags, const char *comm)
{
	*record = (struct cmt_record){
		.ts = MS, .type = CMT_REC_EXISTING, .rmid = rmid,
		.flags = flags, .generation = 1,
	};
	if (!flags || flags == CMT_F_ATTACHED)
		record->tgid = 1000 + rmid;
	if (flags & CMT_F_OWNER_CPU)
		record->owner_cpu = rmid - 1;
	else if (!(flags & (CMT_F_OWNER_OVERFLOW | CMT_F_OWNER_RESCTRL)))
		record->owner.cgroup_id = fake_cgroup(rmid);
	snprintf(record->owner.comm, CMT_COMM_LEN, "%s", comm);
	/* nothing read the others when they began */
	if (rmid == 1) {
		record->flags |= CMT_F_RESIDUAL;
		record->owner.residual_bytes = RESIDUE;
	}
}

static void set_group(struct cmt_record *record)
{
	set_owner(record, 2, CMT_F_OWNER_RESCTRL | CMT_F_OWNER_CPU, "resctrl");
	record->owner_cpu = 3;
}

static void set_sole(struct cmt_record *record, const struct cmt_record *owner)
{
	*record = *owner;
	record->rmid = 2;
	record->flags |= CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE;
}

static int named_owners(struct cmt_snapshot **result)
{
	int ret = cmt_snapshot_new(result, now_ns(), NULL, given.nr);

	for (uint32_t i = 0; !ret && i < given.nr; i++) {
		struct cmt_record *record = cmt_snapshot_at(*result, i);

		set_owner(record, i + 1, CMT_F_OWNER_CGROUP, given.all[i]);
		record->owner.cgroup_id = NAMED_CGROUP | i;
	}
	return ret;
}

int cmt_device_snapshot(const struct cmt_device *dev,
			struct cmt_snapshot **result)
{
	struct cmt_record records[3] = { 0 };

	if (given.nr)
		return named_owners(result);
	if (dev->scope == CMT_SCOPE_PROCESS) {
		set_owner(&records[0], 1, 0, "web");
		set_owner(&records[1], 2, 0, "\033[31mred");
		set_owner(&records[2], 3, 0, "broken");
	} else if (dev->scope == CMT_SCOPE_CPU) {
		set_owner(&records[0], 1, CMT_F_OWNER_CPU, "");
		set_owner(&records[1], 2, CMT_F_ATTACHED, "\033[31mred");
		set_owner(&records[2], 3, CMT_F_OWNER_OVERFLOW, "");
	} else {
		set_owner(&records[0], 1, CMT_F_OWNER_CGROUP, "web");
		set_owner(&records[1], 2, CMT_F_OWNER_CGROUP | CMT_F_ATTACHED,
			  "\033[31mred");
		set_owner(&records[2], 3, CMT_F_OWNER_OVERFLOW, "");
	}
	if (fake("groups"))
		set_owner(&records[1], 2, CMT_F_OWNER_RESCTRL, "");
	if (fake("beside"))
		set_group(&records[1]);
	if (fake("sole"))
		set_sole(&records[1], &records[0]);
	return cmt_snapshot_new(result, now_ns(), records, 3);
}

int cmt_device_pending(const struct cmt_device *dev,
		       struct cmt_snapshot **result)
{
	struct cmt_record records[2] = { 0 };
	uint32_t i, count = 0;

	if (fake("old") || fake("churn"))
		return fake("old") ? -ENOTTY : -EAGAIN;
	if (dev->scope == CMT_SCOPE_CONTAINER) {
		count = 2;
		set_owner(&records[0], 3, CMT_F_OWNER_CGROUP,
			  "waits\033]0;");
		set_owner(&records[1], 3,
			  CMT_F_OWNER_CGROUP | CMT_F_ATTACHED, "db");
		records[0].owner.cgroup_id++;
	}
	for (i = 0; i < count; i++) {
		records[i].type = CMT_REC_ALLOC_FAIL;
		records[i].owner.why = CMT_WHY_NO_RMID;
	}
	return cmt_snapshot_new(result, now_ns(), records, count);
}

/* As the kernel's: whether it may be changed, and who may. */
static int may_change(const struct cmt_device *dev)
{
	if (!(dev->flags & CMT_OPEN_CONTROL))
		return -EBADF;
	return fake("old") ? -ENOTTY : fake("denied") ? -EPERM : 0;
}

int cmt_device_scope(const struct cmt_device *dev, uint32_t *scope)
{
	*scope = dev->scope;
	return 0;
}

/* "ix>" is what this module does not like. */
int cmt_device_set_scope(struct cmt_device *dev, uint32_t scope,
			 const char *patterns, uint32_t *bad_at)
{
	const char *bad = patterns ? strstr(patterns, "ix>") : NULL;
	int err = may_change(dev);

	*bad_at = UINT32_MAX;
	if (err)
		return err;
	if (patterns && (bad || !*patterns)) {
		*bad_at = bad ? (uint32_t)(bad - patterns) : 0;
		return -EINVAL;
	}
	dev->scope = scope;
	if (patterns)
		snprintf(dev->patterns, sizeof(dev->patterns), "%s\n",
			 patterns);
	return 0;
}

int cmt_device_patterns(const struct cmt_device *dev, char **patterns)
{
	if (fake("old"))
		return -ENOTTY;
	*patterns = strdup(dev->patterns);
	return *patterns ? 0 : -ENOMEM;
}

/* "uncore": a box of each kind, and one that was refused; else there is none. */
int cmt_device_uncore(const struct cmt_device *dev, struct cmt_uncore *uncore,
		      struct cmt_box **boxes)
{
	static const struct cmt_box all[] = {
		{ 0, 0, 3, CMT_BOX_MSR, 4, 48, 2, 8, 1, 0, 0x2030 },
		{ 0, 6, 7, CMT_BOX_MMIO, 4, 48, 64, 8, 92, 0, 0xc8c2a800 },
		{ 1, 8, 0, CMT_BOX_PCI, 4, 48, 56, 8, 4, 0, 0x17e09318 },
	};

	(void)dev;
	if (uncore->size != sizeof(*uncore))
		return -EINVAL;
	*uncore = (struct cmt_uncore) {
		.size = sizeof(*uncore), .reason = "made up \033[31m",
	};
	*boxes = calloc(1, sizeof(all));
	if (!*boxes)
		return -ENOMEM;
	if (!fake("uncore") && !fake("channels"))
		return 0;
	memcpy(*boxes, all, sizeof(all));
	uncore->count = 3;
	uncore->sockets = 2;
	uncore->refused = 1;
	uncore->reason[0] = '\0';
	uncore->channels = fake("channels") && !fake("taken") ? 2 : 1;
	if (uncore->channels == 1)
		strcpy(uncore->channels_reason, fake("taken") ?
		       "made \033[31mup" : "made up");
	return 0;
}

int cmt_device_resctrl(const struct cmt_device *dev, uint32_t *mode,
		       bool *mounted)
{
	*mode = dev->resctrl;
	*mounted = dev->info.resctrl_mounted;
	return 0;
}

int cmt_device_set_resctrl(struct cmt_device *dev, uint32_t mode)
{
	int err = may_change(dev);

	if (!err)
		err = fake("refuse") ? -EINVAL : 0;
	if (!err)
		dev->resctrl = mode;
	return err;
}

/* By some reader: a record has it for all of them. */
static uint32_t counters_asked;

int cmt_device_set_counters(struct cmt_device *dev, uint32_t counters)
{
	dev->counters = counters;
	counters_asked |= counters;
	return 0;
}

int cmt_device_set_values(struct cmt_device *dev, uint32_t values)
{
	(void)dev;
	(void)values;
	return 0;
}

int cmt_device_counters(const struct cmt_device *dev, uint32_t *counters,
			char *reason)
{
	uint32_t pmu = dev->counters & ~(CMT_F_CHANNEL | CMT_F_WAITED);

	*counters = (pmu & (fake("nopmu") ? CMT_F_CYCLES : UINT32_MAX)) |
		    (dev->counters & CMT_F_WAITED & (fake("unaccounted") ? 0 : UINT32_MAX));
	snprintf(reason, CMT_REASON_LEN, "%s", fake("nopmu") && pmu ?
		 "another program \033[31mhas them" : fake("unaccounted") && dev->counters ?
		 dev->info.wait_reason : "");
	return 0;
}

/* What happens to each process id; 2 is pending, and others get RMID 1. */
static const struct {
	uint64_t pid;
	int attach, detach;
} fates[] = {
	{ 3, -ESRCH, -ESRCH }, { 4, -EEXIST, -ENOENT }, { 5, -ENOSPC, 0 },
	{ 6, -EINVAL, 0 },
};

static int fate(const struct cmt_device *dev, uint32_t kind, uint64_t id,
		int attach)
{
	int err = may_change(dev);
	size_t i;

	if (err)
		return err;
	if (kind == CMT_OWNER_CPU)
		return id < dev->info.nr_cpus ? 0 : attach ? -ENXIO : -ENOENT;
	if (kind == CMT_OWNER_CGROUP)
		return id == fake_cgroup(1) ? 0 : -ENOENT;
	for (i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		if (fates[i].pid == id)
			return attach ? fates[i].attach : fates[i].detach;
	return 0;
}

int cmt_device_attach(struct cmt_device *dev, uint32_t kind, uint64_t id,
		      uint32_t options, struct cmt_attached *attached)
{
	attached->rmid = id == 2 ? 3 : 1;
	attached->generation = options & CMT_ATTACH_CHILDREN ? 99 : 1;
	return fate(dev, kind, id, 1);
}

int cmt_device_detach(struct cmt_device *dev, uint32_t kind, uint64_t id)
{
	return fate(dev, kind, id, 0);
}

/* The cgroups are none of this machine's. */
int cmt_device_cgroup_path(const struct cmt_device *dev, uint64_t cgroup_id,
			   char *path, size_t size)
{
	uint64_t i = cgroup_id & ~NAMED_CGROUP;

	(void)dev;
	if (!(cgroup_id & NAMED_CGROUP) || i >= given.nr)
		return -ENOENT;
	snprintf(path, size, "/user.slice/user-1000.slice/%s", given.all[i]);
	return 0;
}

int cmt_device_interval(const struct cmt_device *dev, uint32_t *interval_ns)
{
	*interval_ns = dev->interval_ns;
	return 0;
}

int cmt_device_set_interval(struct cmt_device *dev, uint32_t interval_ns)
{
	if (!(dev->flags & CMT_OPEN_CONTROL))
		return -EBADF;
	if (interval_ns < dev->info.interval_min_ns ||
	    interval_ns > dev->info.interval_max_ns)
		return -EINVAL;
	dev->interval_ns = interval_ns;
	return 0;
}

int cmt_reader_new(struct cmt_reader **result, struct cmt_device *dev,
		   const struct cmt_reader_opts *opts)
{
	struct cmt_reader *reader;

	(void)opts;
	if (fake("timens"))
		return -EXDEV;
	if (dev->reader)
		return -EBUSY;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->dev = dev;
	dev->reader = reader;
	reader->next_ms = now_ns() / MS - (fake("past") ? 60000 : 0);
	reader->first_ms = reader->next_ms;
	*result = reader;
	return 0;
}

void cmt_reader_free(struct cmt_reader *reader)
{
	if (reader)
		reader->dev->reader = NULL;
	unread = NULL;
	free(reader);
}

static void say_caps(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Cap", 3) || !strncmp(line, "NoNew", 5) ||
		    !strncmp(line, "Seccomp:", 8))
			fputs(line, stderr);
	if (status)
		fclose(status);
}

int __real_cmt_recording_open(struct cmt_recording **recording, const char *path);
int __wrap_cmt_recording_open(struct cmt_recording **recording, const char *path);
int __real_cmt_recording_open_fd(struct cmt_recording **recording, int fd);
int __wrap_cmt_recording_open_fd(struct cmt_recording **recording, int fd);

int __wrap_cmt_recording_open(struct cmt_recording **recording, const char *path)
{
	if (fake("caps"))
		say_caps();
	return __real_cmt_recording_open(recording, path);
}

int __wrap_cmt_recording_open_fd(struct cmt_recording **recording, int fd)
{
	if (fake("caps"))
		say_caps();
	return __real_cmt_recording_open_fd(recording, fd);
}

/* "stream": what RMIDs 1 and 2 hold and have moved by then. */
static void make_stream(const struct cmt_reader *reader,
			struct cmt_record *record)
{
	uint64_t ms = reader->next_ms - reader->first_ms;
	uint64_t late = ms > 500 ? ms - 500 : 0;
	uint64_t taken = (late < 6 ? late : 6) * (512 << 10);

	if (record->rmid == 1) {
		record->sample.occupancy_bytes -= taken;
		record->sample.mbm_total_bytes += late * (700 << 10);
	} else if (record->rmid == 2) {
		record->sample.occupancy_bytes = (64 << 10) + taken;
		record->sample.mbm_total_bytes = late * (2500 << 10);
	}
}

static void make_busy(const struct cmt_reader *reader, struct cmt_record *record)
{
	uint64_t ms = reader->next_ms - reader->first_ms;
	uint64_t late = ms > 500 ? ms - 500 : 0;

	if (record->rmid == 1)
		record->sample.mbm_total_bytes = (2 * reader->next_ms - late) *
						 (100 << 10);
	else if (record->rmid == 2)
		record->sample.mbm_total_bytes = late * (4 << 20);
}

/* Nothing moves there. */
static void make_second(struct cmt_record *record)
{
	uint64_t held = record->sample.occupancy_bytes;

	record->sample.occupancy_bytes = record->rmid == 1 ? held / 2 :
					 record->rmid == 2 ? 6 * held : 0;
	record->sample.mbm_total_bytes = record->sample.mbm_local_bytes = 0;
}

static void make_beside(struct cmt_record *record)
{
	record->flags |= CMT_F_PQR_OVERWRITTEN;
	if (fake("none"))
		memset(&record->sample, 0, sizeof(record->sample));
}

static uint32_t not_accounted(void)
{
	return fake("waits") && !fake("unaccounted") ? 0 : CMT_F_WAITED;
}

static unsigned int sample_steps(void)
{
	return fake("sockets") ? 2 * NR_RMIDS : NR_RMIDS;
}

/* Each owner has a quarter of the CPU, and the idle task another one. */
static void make_perf(struct cmt_reader *reader, struct cmt_record *record)
{
	record->type = CMT_REC_PERF;
	record->rmid = reader->step - sample_steps() - 1;
	record->generation = record->rmid ? 1 : 0;
	record->ran_ns = MS / 4;
	record->flags |= counters_asked & ~(CMT_F_CHANNEL | not_accounted());
	record->perf.cycles = 500000;
	record->perf.instructions = record->rmid == 1 ? 1000000 : 500000;
	record->perf.llc_misses = record->rmid == 1 ? 4000 :
				  record->rmid == 2 && fake("stream") ? 9900 : 0;
	record->perf.llc_references = 10000;
	if (!(record->flags & CMT_F_WAITED))
		return;
	record->perf.waited_ns = record->rmid == 1 ? MS / 4 : record->rmid == 2 ? MS / 2 : 0;
	record->flags |= record->rmid == 2 ? CMT_F_WAIT_QUOTA : 0;
}

static unsigned int perf_steps(void)
{
	return (fake("perf") || fake("waits")) && counters_asked & ~CMT_F_CHANNEL ?
	       NR_RMIDS : 0;
}

static unsigned int channel_steps(const struct cmt_reader *reader)
{
	return fake("channels") && reader->dev->counters & CMT_F_CHANNEL ? 2 : 0;
}

static void make_channel(const struct cmt_reader *reader,
			 struct cmt_record *record, uint32_t number)
{
	uint64_t ms = reader->next_ms;

	record->type = CMT_REC_CHANNEL;
	record->flags = CMT_F_CHANNEL;
	record->domain = number;
	record->channel = number ? 4000000000U : 3;
	if (number && fake("taken"))
		record->flags = CMT_F_UNAVAILABLE;
	else if (number)
		record->channels.read_bytes = 500 * ms;
	else
		record->channels.read_bytes = 2000 * ms;
	if (number)
		return;
	record->channels.written_bytes = 1000 * ms;
	record->flags |= CMT_F_CHANNEL_IDLE;
	record->channels.idle_cycles = 750 * ms;
	record->channels.busy_cycles = 250 * ms;
}

/*
 * Step 0 is the tick, 1..4 are the samples of RMIDs 0..3, 5..8 what they counted, and
 * after these are the channels.
 */
static void make(struct cmt_reader *reader, struct cmt_record *record)
{
	uint32_t emulated = fake("hardware") || fake("software") ? 0 :
								 CMT_F_EMULATED;

	*record = (struct cmt_record){
		.ts = reader->next_ms * MS, .type = CMT_REC_SAMPLE,
		.flags = emulated,
	};
	if (reader->step == 0) {
		record->type = CMT_REC_TICK;
		record->rmid = 1;
		record->generation = 1;
		record->interval_ns = sampling_ns();
		return;
	}
	if (reader->step > sample_steps() + perf_steps()) {
		make_channel(reader, record, reader->step - sample_steps() - 1 -
			     perf_steps());
		return;
	}
	if (reader->step > sample_steps()) {
		make_perf(reader, record);
		return;
	}
	record->rmid = (reader->step - 1) % NR_RMIDS;
	record->domain = (reader->step - 1) / NR_RMIDS;
	record->generation = record->rmid ? 1 : 0;
	if (record->rmid == 3 && fake_scope() == CMT_SCOPE_PROCESS) {
		record->flags |= CMT_F_ERROR;
		return;
	}
	record->flags |= CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	if (record->rmid == 1) {
		record->flags |= CMT_F_RESIDUAL;
		record->sample.residual_bytes = RESIDUE;
		record->sample.occupancy_bytes = 4 << 20;
		record->sample.mbm_total_bytes = reader->next_ms * 1000;
		record->sample.mbm_local_bytes = reader->next_ms * 500;
	} else if (record->rmid) {
		record->sample.occupancy_bytes = record->rmid == 2 ? 1 << 20 :
								    3 << 20;
	}
	if (fake("beside") && record->rmid == 1)
		make_beside(record);
	if (fake("wave") && record->rmid == 1 && reader->next_ms / 1000 % 2)
		record->sample.occupancy_bytes = 1 << 20;
	if (fake("stream"))
		make_stream(reader, record);
	if (fake("busy"))
		make_busy(reader, record);
	if (record->domain)
		make_second(record);
}

static unsigned int last_step(const struct cmt_reader *reader)
{
	return sample_steps() + perf_steps() + channel_steps(reader);
}

/* Is the next sample of an RMID that is not read: it did not run, and is not due? */
static int is_left_out(const struct cmt_reader *reader)
{
	if (fake("software"))
		return reader->step && reader->step <= sample_steps();
	return fake("idle") && reader->step && reader->step != 2 &&
	       reader->next_ms % 32;
}

int cmt_reader_read(struct cmt_reader *reader, struct cmt_record *records,
		    unsigned int n)
{
	uint64_t now_ms = now_ns() / MS - (fake("held") ? 100 : 0);
	unsigned int i, last = last_step(reader);

	if (fake("torn"))
		return -EPROTO;
	if (!reader->reads && fake("caps"))
		say_caps();
	if (!reader->reads++ && fake("forbidden"))
		forbidden_calls(stderr);
	if (reader->reads > 3 && fake("gone") && reader->dev->pipe[1] >= 0) {
		close(reader->dev->pipe[1]);
		reader->dev->pipe[1] = -1;
	}
	for (i = 0; i < n && reader->next_ms < now_ms; i++) {
		make(reader, &records[i]);
		do {
			if (++reader->step > last) {
				reader->step = 0;
				reader->next_ms += tick_ms();
			}
		} while (is_left_out(reader));
	}
	if (i && fake("lost"))
		reader->lost = 7;
	unread = reader->next_ms < now_ms ? reader : NULL;
	return (int)i;
}

int __real_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

int __wrap_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	if (unread && fake("overrun") && (timeout->tv_sec || timeout->tv_nsec))
		unread->lost += 7;
	return __real_sigtimedwait(set, info, timeout);
}

int cmt_reader_timeout(const struct cmt_reader *reader)
{
	(void)reader;
	return -1;
}

static int sync_owners(struct cmt_reader *reader, struct cmt_slots *slots)
{
	struct cmt_snapshot *snapshot;
	int ret;

	if (reader->synced)
		return 0;
	ret = cmt_device_snapshot(reader->dev, &snapshot);
	if (ret)
		return ret;
	ret = cmt_tracker_sync(cmt_slots_tracker(slots), snapshot);
	cmt_snapshot_free(snapshot);
	reader->synced = !ret;
	return ret;
}

static void check_order(const struct cmt_reader *reader)
{
	static int told;

	if (!fake("order") || told || !unread || unread == reader)
		return;
	told = 1;
	fprintf(stderr, "out of order: another reader has not read all\n");
}

int cmt_reader_feed(struct cmt_reader *reader, struct cmt_slots *slots)
{
	struct cmt_record records[512];
	int i, n, ret = sync_owners(reader, slots);

	if (ret)
		return ret;
	check_order(reader);
	n = cmt_reader_read(reader, records, 512);
	for (i = 0; i < n && !ret; i++)
		ret = cmt_slots_add(slots, &records[i]);
	return ret ? ret : n;
}

int cmt_reader_counts(const struct cmt_reader *reader,
		      struct cmt_reader_counts *counts)
{
	uint64_t now_ms = now_ns() / MS;

	*counts = (struct cmt_reader_counts){
		.sz = counts->sz, .lost = reader->lost,
	};
	if (reader->next_ms < now_ms)
		counts->pending = (now_ms - reader->next_ms) * (last_step(reader) + 1) -
				  reader->step;
	return 0;
}

int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
			  struct cmt_reader_counts *counts)
{
	if (cpu)
		return -EINVAL;
	return cmt_reader_counts(reader, counts);
}

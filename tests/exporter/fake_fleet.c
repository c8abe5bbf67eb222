// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device made up for cmt-exporter: a machine full of containers, with the library's
 * own slots, tracker, containers and usage behind it.
 *
 * CMT_FLEET is how many containers there are (3), CMT_FLEET_CPUS how many CPUs (1),
 * CMT_FLEET_DOMAINS how many L3 domains (1): of the second one all are as in the first.
 * Container k has RMID k.  It holds k times 64 KiB, but the first one 8 MiB more for
 * 5 ms of each second, and moves k times 1 MB/s in total, half of it local.  With
 * counters it runs all the time at 1,000,000 cycles and 500,000 instructions a millisecond.
 * The first one is a Kubernetes pod's, the second one has a name that would break a
 * page or a terminal.  The overflow RMID is the last one, and two owners are pending.
 * CMT_FLEET_NAMES is a file of names, each of which ends with a zero byte: the first
 * containers are cgroups of these names.  Of the others odd ones are docker's, even ones
 * podman's.
 *
 * CMT_FLEET_DIR is a directory in which files change that: "gone" (there is no device),
 * "ended" (the first container is over), "forbidden" (the calls of forbidden.h are made
 * once, and stderr has how they end), "hold" (the child that makes a page waits).  Words in CMT_FAKE: "denied" (nobody may
 * open the device), "newer" (the module speaks another version), "software" (nothing
 * is read), "lost" (records are), "hardware" (not a model), "stream" (the first one has
 * no 5 ms, but 4 MiB, of which the second one takes 3 within 6 ms, one second after the
 * start), "steady" (the first one has no 5 ms), "channels" (one memory channel reads
 * 2 MB/s and writes 1 MB/s, another one, of the second socket, reads 500 kB/s).
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "forbidden.h"

#define MS		1000000ULL
#define TURN_TICKS	32
#define OPENS		8U
#define NAMES_MAX	512U
#define WAITED_NS	262144U	/* of each owner that runs, a millisecond */
#define CGROUP		7000U	/* and its RMID: the id of a container's cgroup */
#define POD "/kubepods.slice/kubepods-burstable.slice/" \
	"kubepods-burstable-pod8f6f2e5c_3c58_4d0c_9c0b_2b1f5a7e9d10.slice/cri-containerd-" \
	"5d0a7b6c4f3e2d1c0b9a8f7e6d5c4b3a29181706f5e4d3c2b1a0f9e8d7c6b5a4.scope"
#define HOSTILE "/system.slice/\"quo\\te\"\n\033[31m\377.service"

struct cmt_device {
	struct cmt_info info;
	int pipe[2];
	uint32_t counters;
	uint64_t opened_ms;
	bool read;		/* it has a reader */
};

struct cmt_reader {
	struct cmt_device *dev;
	uint64_t ms;		/* to be made next */
	uint64_t lost;
	bool synced, over, gone;
};

/* Looked up once: what the exporter costs is measured with this. */
static struct {
	uint32_t containers, cpus, domains;
	bool denied, newer, software, lost, hardware, stream, steady, channels, forbidden;
	int pipes[OPENS][2];	/* with a filter none can be made later */
	unsigned int opened;
	uint32_t counters;	/* PERF records are in the rings of all readers */
	const char *names[NAMES_MAX];
	uint32_t nr_names;
} fleet;

static bool fake(const char *word)
{
	const char *words = getenv("CMT_FAKE");

	return words && strstr(words, word);
}

static bool told(const char *file)
{
	const char *dir = getenv("CMT_FLEET_DIR");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/nonexistent", file);
	return !access(path, F_OK);
}

static uint32_t number(const char *name, uint32_t other)
{
	const char *value = getenv(name);

	return value ? (uint32_t)strtoul(value, NULL, 10) : other;
}

static void read_names(const char *path)
{
	static char text[NAMES_MAX * 256], *at = text;
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		abort();
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	for (; at < text + size && fleet.nr_names < NAMES_MAX; at += strlen(at) + 1)
		fleet.names[fleet.nr_names++] = at;
}

__attribute__((constructor)) static void fleet_begin(void)
{
	unsigned int i;

	if (getenv("CMT_FLEET_NAMES"))
		read_names(getenv("CMT_FLEET_NAMES"));

	for (i = 0; i < OPENS; i++)
		if (pipe2(fleet.pipes[i], O_CLOEXEC))
			abort();
	fleet.containers = number("CMT_FLEET", 3);
	fleet.cpus = number("CMT_FLEET_CPUS", 1);
	fleet.domains = number("CMT_FLEET_DOMAINS", 1);
	fleet.denied = fake("denied");
	fleet.newer = fake("newer");
	fleet.software = fake("software");
	fleet.lost = fake("lost");
	fleet.hardware = fake("hardware");
	fleet.stream = fake("stream");
	fleet.steady = fake("steady");
	fleet.channels = fake("channels");
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
}

static void fill_info(struct cmt_info *info)
{
	*info = (struct cmt_info){
		.size = sizeof(*info), .abi_version = CMT_ABI_VERSION,
		.backend = fleet.hardware ? CMT_BACKEND_HARDWARE :
			   fleet.software ? CMT_BACKEND_SOFTWARE :
				      CMT_BACKEND_EMULATED,
		.vendor = CMT_VENDOR_INTEL, .scope = CMT_SCOPE_CONTAINER,
		.nr_cpus = fleet.cpus,
		.nr_rmids = fleet.containers + 2,
		.rmids_usable = fleet.containers + 1,
		.events = fleet.software ? 0 : CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
					 CMT_F_MBM_LOCAL,
		.ring_records = 4096, .ring_bytes = 4096 * 64 + CMT_RING_DATA_OFFSET,
		.interval_ns = MS,
		.interval_min_ns = 100000, .interval_max_ns = 1000 * MS,
		.l3_bytes = 32 << 20, .limbo_ns = 2 * MS,
		.ring_hold_ns = 250 * MS, .idle_ticks = TURN_TICKS,
		.module_version = "0.0.0", .reason = "made \"up\"\n\033[31m",
	};
}

int cmt_device_open(struct cmt_device **result, const char *path,
		    unsigned int flags)
{
	struct cmt_device *dev;

	(void)path;
	(void)flags;
	if (fleet.denied || fleet.newer || told("gone"))
		return fleet.denied ? -EACCES :
		       fleet.newer ? -EPROTONOSUPPORT : -ENOENT;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	if (fleet.opened == OPENS) {
		free(dev);
		return -EMFILE;
	}
	memcpy(dev->pipe, fleet.pipes[fleet.opened++], sizeof(dev->pipe));
	fill_info(&dev->info);
	dev->opened_ms = now_ns() / MS;
	*result = dev;
	return 0;
}

void cmt_device_close(struct cmt_device *dev)
{
	close(dev->pipe[0]);
	if (dev->pipe[1] >= 0)
		close(dev->pipe[1]);
	free(dev);
}

int cmt_device_abi(const char *path, uint32_t *abi)
{
	(void)path;
	*abi = fleet.newer ? 9 << 16 : CMT_ABI_VERSION;
	return 0;
}

int cmt_device_fd(const struct cmt_device *dev)
{
	return dev->pipe[0];
}

bool cmt_device_has_reader(const struct cmt_device *dev)
{
	return dev->read;
}

const struct cmt_info *cmt_device_info(const struct cmt_device *dev)
{
	return &dev->info;
}

int cmt_device_stats(const struct cmt_device *dev, struct cmt_stats *stats)
{
	*stats = (struct cmt_stats){
		.size = sizeof(*stats), .rmids_active = dev->info.rmids_usable,
		.pending = 2, .cpus_online = dev->info.nr_cpus,
	};
	return 0;
}

int cmt_device_scope(const struct cmt_device *dev, uint32_t *scope)
{
	*scope = dev->info.scope;
	return 0;
}

int cmt_device_interval(const struct cmt_device *dev, uint32_t *interval_ns)
{
	*interval_ns = dev->info.interval_ns;
	return 0;
}

int cmt_device_set_counters(struct cmt_device *dev, uint32_t counters)
{
	dev->counters = counters;
	fleet.counters = counters;
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
	(void)reason;
	*counters = dev->counters & ~CMT_F_CHANNEL;
	return 0;
}

int cmt_device_uncore(const struct cmt_device *dev, struct cmt_uncore *uncore,
		      struct cmt_box **boxes)
{
	(void)dev;
	if (uncore->size != sizeof(*uncore))
		return -EINVAL;
	*uncore = (struct cmt_uncore){
		.size = sizeof(*uncore), .reason = "made up",
		.channels_reason = "made \"up\"",
	};
	*boxes = calloc(1, sizeof(**boxes));
	if (!*boxes)
		return -ENOMEM;
	if (!fleet.channels)
		return 0;
	uncore->sockets = 2;
	uncore->channels = 2;
	uncore->reason[0] = '\0';
	uncore->channels_reason[0] = '\0';
	return 0;
}

int cmt_device_cgroup_path(const struct cmt_device *dev, uint64_t cgroup_id,
			   char *path, size_t size)
{
	(void)dev;
	if (cgroup_id <= CGROUP)
		return -ENOENT;
	if (cgroup_id - CGROUP <= fleet.nr_names)
		snprintf(path, size, "/user.slice/user-1000.slice/%s",
			 fleet.names[cgroup_id - CGROUP - 1]);
	else if (fleet.nr_names)
		snprintf(path, size, "/machine.slice/%s-%012llx%052d.scope",
			 cgroup_id % 2 ? "docker" : "libpod",
			 (unsigned long long)cgroup_id, 0);
	else if (cgroup_id == CGROUP + 1)
		snprintf(path, size, "%s", POD);
	else if (cgroup_id == CGROUP + 2)
		snprintf(path, size, "%s", HOSTILE);
	else
		snprintf(path, size, "/machine.slice/docker-%012llx%052d.scope",
			 (unsigned long long)cgroup_id, 0);
	return 0;
}

/* The library's call: directories above the made-up cgroups are root's, and in no tree. */
int fstatat64(int fd, const char *path, struct stat64 *st, int flags)
{
	if (*path != '.')
		return (int)syscall(SYS_newfstatat, fd, path, st, flags);
	*st = (struct stat64){ .st_mode = S_IFDIR | 0755 };
	return 0;
}

static void set_owner(struct cmt_record *record, uint16_t type, uint32_t rmid)
{
	bool overflow = rmid > fleet.containers;

	*record = (struct cmt_record){
		.ts = type == CMT_REC_EXISTING ? MS : 0, .type = type,
		.rmid = rmid, .generation = 1,
		.flags = overflow ? CMT_F_OWNER_OVERFLOW : CMT_F_OWNER_CGROUP,
	};
	if (!overflow)
		record->owner.cgroup_id = CGROUP + rmid;
}

int cmt_device_snapshot(const struct cmt_device *dev,
			struct cmt_snapshot **result)
{
	uint32_t i, first = told("ended") ? 2 : 1, nr = fleet.containers + 2 - first;
	int ret = cmt_snapshot_new(result, now_ns(), NULL, nr);

	(void)dev;
	for (i = 0; !ret && i < nr; i++)
		set_owner(cmt_snapshot_at(*result, i), CMT_REC_EXISTING,
			  first + i);
	return ret;
}

int cmt_device_pending(const struct cmt_device *dev,
		       struct cmt_snapshot **result)
{
	uint32_t i, rmid = fleet.containers + 1;
	int ret = cmt_snapshot_new(result, now_ns(), NULL, 2);

	(void)dev;
	for (i = 0; !ret && i < 2; i++) {
		struct cmt_record *record = cmt_snapshot_at(*result, i);

		set_owner(record, CMT_REC_ALLOC_FAIL, rmid);
		record->flags = CMT_F_OWNER_CGROUP;
		record->owner.cgroup_id = CGROUP + rmid + i;
		record->owner.why = CMT_WHY_NO_RMID;
	}
	return ret;
}

int cmt_reader_new(struct cmt_reader **result, struct cmt_device *dev,
		   const struct cmt_reader_opts *opts)
{
	struct cmt_reader *reader;

	(void)opts;
	if (dev->read)
		return -EBUSY;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	dev->read = true;
	reader->dev = dev;
	reader->ms = now_ns() / MS;
	*result = reader;
	return 0;
}

void cmt_reader_free(struct cmt_reader *reader)
{
	if (reader)
		reader->dev->read = false;
	free(reader);
}

static struct cmt_record record_of(const struct cmt_reader *reader,
				   uint16_t type, uint32_t cpu, uint32_t rmid)
{
	return (struct cmt_record){
		.ts = reader->ms * MS, .type = type, .cpu = cpu, .rmid = rmid,
		.generation = rmid ? 1 : 0, .interval_ns = MS,
		.flags = fleet.hardware || fleet.software ? 0 :
								CMT_F_EMULATED,
	};
}

/* Where records go: the slots of a usage, or the caller's own room. */
struct sink {
	struct cmt_slots *slots;
	struct cmt_record *records;
	unsigned int nr, room;
};

static int put(struct sink *sink, const struct cmt_record *record)
{
	if (sink->slots)
		return cmt_slots_add(sink->slots, record);
	sink->records[sink->nr++] = *record;
	return 0;
}

static int add_tick(const struct cmt_reader *reader, struct sink *sink,
		    uint32_t cpu)
{
	struct cmt_record record = record_of(reader, CMT_REC_TICK, cpu, 0);

	return put(sink, &record);
}

/* "stream": what the first two hold and have moved by then. */
static void stream(const struct cmt_reader *reader, struct cmt_record *record)
{
	uint64_t ms = reader->ms - reader->dev->opened_ms;
	uint64_t late = ms > 1000 ? ms - 1000 : 0;
	uint64_t taken = (late < 6 ? late : 6) * (512 << 10);

	if (record->rmid == 1) {
		record->sample.occupancy_bytes = (4 << 20) - taken;
		record->sample.mbm_total_bytes += late * (700 << 10);
	} else if (record->rmid == 2) {
		record->sample.occupancy_bytes = (64 << 10) + taken;
		record->sample.mbm_total_bytes += late * (2500 << 10);
	}
}

static int add_channel(const struct cmt_reader *reader, struct sink *sink,
		       uint32_t number)
{
	struct cmt_record record = record_of(reader, CMT_REC_CHANNEL, 0, 0);

	record.flags = CMT_F_CHANNEL;
	record.domain = number;
	record.channel = number ? 7 : 3;
	record.channels.read_bytes = (number ? 500 : 2000) * reader->ms;
	record.channels.written_bytes = number ? 0 : 1000 * reader->ms;
	return put(sink, &record);
}

static int add_channels(const struct cmt_reader *reader, struct sink *sink)
{
	int ret;

	if (!fleet.channels || !(reader->dev->counters & CMT_F_CHANNEL))
		return 0;
	ret = add_channel(reader, sink, 0);
	return ret ? ret : add_channel(reader, sink, 1);
}

static int add_sample(const struct cmt_reader *reader, struct sink *sink,
		      uint32_t cpu, uint32_t rmid)
{
	struct cmt_record record = record_of(reader, CMT_REC_SAMPLE, cpu, rmid);
	bool spike = rmid == 1 && reader->ms % 1000 < 5 && !fleet.steady;
	int ret = 0;

	record.interval_ns = 0;
	if (reader->over && rmid == 1)
		return 0;
	record.flags |= CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	record.sample.occupancy_bytes = rmid * 65536ULL + (spike ? 8 << 20 : 0);
	record.sample.mbm_total_bytes = reader->ms * rmid * 1000;
	record.sample.mbm_local_bytes = reader->ms * rmid * 500;
	if (fleet.stream)
		stream(reader, &record);
	for (; !ret && record.domain < fleet.domains; record.domain++)
		ret = put(sink, &record);
	return ret;
}

static int add_perf(const struct cmt_reader *reader, struct sink *sink,
		    uint32_t cpu, uint32_t rmid)
{
	struct cmt_record record = record_of(reader, CMT_REC_PERF, cpu, rmid);

	if (!(fleet.counters & ~CMT_F_CHANNEL) || (reader->over && rmid == 1))
		return 0;
	record.interval_ns = 0;
	record.ran_ns = MS / 2;
	record.flags |= fleet.counters & ~CMT_F_CHANNEL;
	record.perf.cycles = 1000000;
	record.perf.instructions = 500000;
	record.perf.llc_misses = 10000;
	record.perf.llc_references = 100000;
	record.perf.waited_ns = fleet.counters & CMT_F_WAITED ? WAITED_NS : 0;
	return put(sink, &record);
}

/* Two owners run on each CPU: those are read, and the others in turn. */
static int add_cpu(const struct cmt_reader *reader, struct sink *sink,
		   uint32_t cpu)
{
	uint32_t rmid, nr = reader->dev->info.nr_rmids;
	uint32_t cpus = reader->dev->info.nr_cpus;
	int ret = add_tick(reader, sink, cpu);

	for (rmid = cpu; !ret && rmid < nr; rmid += cpus) {
		bool runs = rmid / cpus < 2;

		if (!fleet.software &&
		    (runs || rmid / cpus % TURN_TICKS == reader->ms % TURN_TICKS))
			ret = add_sample(reader, sink, cpu, rmid);
		if (!ret && runs)
			ret = add_perf(reader, sink, cpu, rmid);
	}
	return ret;
}

static int sync_owners(struct cmt_reader *reader, struct cmt_slots *slots)
{
	struct cmt_snapshot *snapshot;
	int ret;

	reader->synced = true;
	reader->over = told("ended");
	ret = cmt_device_snapshot(reader->dev, &snapshot);
	if (ret)
		return ret;
	ret = cmt_tracker_sync(cmt_slots_tracker(slots), snapshot);
	cmt_snapshot_free(snapshot);
	return ret;
}

/* What the directory says changes between two calls. */
static int obey(struct cmt_reader *reader, struct sink *sink)
{
	struct cmt_record record;

	if (told("gone") && !reader->gone) {
		reader->gone = true;
		close(reader->dev->pipe[1]);
		reader->dev->pipe[1] = -1;
	}
	if (told("forbidden") && !fleet.forbidden) {
		fleet.forbidden = true;
		forbidden_calls(stderr);
	}
	if (reader->over || !told("ended"))
		return 0;
	reader->over = true;
	set_owner(&record, CMT_REC_FREE, 1);
	record.ts = reader->ms * MS;
	return put(sink, &record);
}

/* For all records of a millisecond */
static bool has_room(const struct cmt_reader *reader, const struct sink *sink)
{
	const struct cmt_info *info = &reader->dev->info;
	unsigned int most = info->nr_cpus + info->nr_rmids * (fleet.domains + 1) + 3;

	return sink->slots || sink->room - sink->nr >= most;
}

static int make_ms(const struct cmt_reader *reader, struct sink *sink)
{
	int ret = 0;

	for (uint32_t cpu = 0; !ret && cpu < reader->dev->info.nr_cpus; cpu++)
		ret = add_cpu(reader, sink, cpu);
	return ret ? ret : add_channels(reader, sink);
}

/* Returns how many milliseconds there were, or -errno. */
static int make_all(struct cmt_reader *reader, struct sink *sink)
{
	uint64_t now_ms = now_ns() / MS;
	int n, ret = obey(reader, sink);

	for (n = 0; !ret && n < 64 && reader->ms < now_ms && has_room(reader, sink);
	     n++, reader->ms++)
		ret = make_ms(reader, sink);
	if (n && fleet.lost)
		reader->lost++;
	return ret ? ret : n;
}

int cmt_reader_feed(struct cmt_reader *reader, struct cmt_slots *slots)
{
	struct sink sink = { .slots = slots };
	int ret = reader->synced ? 0 : sync_owners(reader, slots);

	return ret ? ret : make_all(reader, &sink);
}

int cmt_reader_read(struct cmt_reader *reader, struct cmt_record *records, unsigned int n)
{
	struct sink sink = { .records = records, .room = n };
	int ret = make_all(reader, &sink);

	return ret < 0 ? ret : (int)sink.nr;
}

int cmt_reader_timeout(const struct cmt_reader *reader)
{
	(void)reader;
	return -1;
}

/* In the child that makes a page: wait while the directory says so. */
int setpriority(__priority_which_t which, id_t who, int prio)
{
	(void)which;
	(void)who;
	(void)prio;
	while (told("hold"))
		poll(NULL, 0, 1);
	return 0;
}

int cmt_reader_counts(const struct cmt_reader *reader,
		      struct cmt_reader_counts *counts)
{
	*counts = (struct cmt_reader_counts){
		.sz = counts->sz, .lost = reader->lost,
	};
	return 0;
}

int cmt_reader_cpu_counts(const struct cmt_reader *reader, uint32_t cpu,
			  struct cmt_reader_counts *counts)
{
	return cpu ? -EINVAL : cmt_reader_counts(reader, counts);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define BATCH 256

void dev_open(struct dev *dev, int flags)
{
	memset(dev, 0, sizeof(*dev));
	dev->fd = open(DEV_PATH, flags | O_CLOEXEC);
	CHECK(dev->fd >= 0, "open " DEV_PATH ": %m");
	dev->info.size = sizeof(dev->info);
	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &dev->info), "GET_INFO: %m");
	CHECK(dev->info.abi_version >> 16 == CMT_ABI_MAJOR, "ABI %#x",
	      dev->info.abi_version);
	CHECK(dev->info.nr_rmids <= MAX_RMIDS, "%u RMIDs",
	      dev->info.nr_rmids);
}

static void ring_map(struct dev *dev, uint32_t cpu, enum dev_from from)
{
	const struct cmt_info *info = &dev->info;
	struct ring *ring = &dev->rings[cpu];
	void *map = mmap(NULL, info->ring_bytes, PROT_READ, MAP_SHARED,
			 dev->fd, cpu * info->ring_bytes);
	uint64_t head;

	CHECK(map != MAP_FAILED, "mmap of ring %u: %m", cpu);
	ring->header = map;
	CHECK(ring->header->magic == CMT_RING_MAGIC, "ring %u: magic %#x", cpu,
	      ring->header->magic);
	CHECK(ring->header->abi_version == info->abi_version &&
	      ring->header->instance == info->instance &&
	      ring->header->cpu == cpu &&
	      ring->header->records <= info->ring_records &&
	      ring->header->record_bytes == sizeof(struct cmt_record) &&
	      ring->header->data_offset == CMT_RING_DATA_OFFSET,
	      "ring %u: its header contradicts GET_INFO", cpu);
	ring->slots = (void *)((char *)map + ring->header->data_offset);
	ring->records = ring->header->records;
	head = ring_head(ring);
	ring->pos = from == FROM_NOW ? head :
		head > ring->records ? head - ring->records : 0;
	ring->begin = ring->pos;
}

void dev_map(struct dev *dev, enum dev_from from)
{
	uint32_t cpu;

	dev->rings = calloc(dev->info.nr_cpus, sizeof(*dev->rings));
	CHECK(dev->rings, "no memory");
	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		ring_map(dev, cpu, from);
}

void dev_unmap(struct dev *dev)
{
	uint32_t cpu;

	for (cpu = 0; dev->rings && cpu < dev->info.nr_cpus; cpu++)
		munmap((void *)dev->rings[cpu].header, dev->info.ring_bytes);
	free(dev->rings);
	dev->rings = NULL;
}

void dev_close(struct dev *dev)
{
	dev_unmap(dev);
	close(dev->fd);
}

uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->header->head, __ATOMIC_ACQUIRE);
}

uint32_t ring_state(const struct ring *ring)
{
	return __atomic_load_n(&ring->header->state, __ATOMIC_ACQUIRE);
}

bool is_lifecycle(const struct cmt_record *r)
{
	return r->type == CMT_REC_ALLOC || r->type == CMT_REC_FREE ||
		r->type == CMT_REC_UPDATE || r->type == CMT_REC_ALLOC_FAIL;
}

static bool type_is_known(uint16_t type)
{
	switch (type) {
	case CMT_REC_ALLOC:
	case CMT_REC_FREE:
	case CMT_REC_UPDATE:
	case CMT_REC_ALLOC_FAIL:
	case CMT_REC_SAMPLE:
	case CMT_REC_TICK:
	case CMT_REC_PERF:
	case CMT_REC_CHANNEL:
	case CMT_REC_CPU_ONLINE:
	case CMT_REC_CPU_OFFLINE:
	case CMT_REC_STATE:
		return true;
	}
	return false;
}

/* Does the owner match its flags @kind? */
static void owner_check_kind(const struct cmt_record *r, uint32_t kind)
{
	switch (kind) {
	case 0:
		CHECK(r->tgid, "type %u: a process without an id", r->type);
		break;
	case CMT_F_OWNER_CGROUP:
		CHECK(!r->tgid && r->owner.cgroup_id, "type %u: cgroup %llu, tgid %u",
		      r->type, (unsigned long long)r->owner.cgroup_id, r->tgid);
		break;
	case CMT_F_OWNER_CPU:
		CHECK(!r->owner.cgroup_id, "type %u: a CPU in a cgroup", r->type);
		break;
	case CMT_F_OWNER_OVERFLOW:
	case CMT_F_OWNER_KERNEL:
		CHECK(!r->tgid && !r->owner.cgroup_id, "type %u: flags %#x, tgid %u",
		      r->type, r->flags, r->tgid);
		break;
	default:
		FAIL("type %u: flags %#x", r->type, r->flags);
	}
}

static void owner_check(const struct cmt_record *r)
{
	uint32_t kind = owner_kind(r), members = r->flags & OWNER_KINDS & ~kind;

	if (r->flags & CMT_F_GROUP_SOLE) {
		CHECK(kind == CMT_F_OWNER_RESCTRL, "type %u: flags %#x",
		      r->type, r->flags);
		owner_check_kind(r, members);
	} else if (kind == CMT_F_OWNER_RESCTRL) {
		CHECK((!members || members == CMT_F_OWNER_CPU) &&
		      !r->owner.cgroup_id, "type %u: flags %#x, cgroup %llu",
		      r->type, r->flags, (unsigned long long)r->owner.cgroup_id);
	} else {
		owner_check_kind(r, kind);
	}
}

/* Checks every record of a ring, in all tests. */
static void record_check(const struct dev *dev, struct ring *ring,
			 const struct cmt_record *r, uint64_t index)
{
	uint32_t cpu = ring->header->cpu;

	CHECK(type_is_known(r->type), "ring %u: record %llu has type %u", cpu,
	      (unsigned long long)index, r->type);
	CHECK(r->cpu == cpu, "ring %u: record of CPU %u", cpu, r->cpu);
	CHECK(r->ts >= ring->last_ts, "ring %u: time goes back by %llu ns",
	      cpu, (unsigned long long)(ring->last_ts - r->ts));
	ring->last_ts = r->ts;
	CHECK(!!(r->flags & CMT_F_EMULATED) ==
	      (dev->info.backend == CMT_BACKEND_EMULATED &&
	       r->type != CMT_REC_PERF && r->type != CMT_REC_CHANNEL),
	      "type %u: EMULATED is wrong: flags %#x", r->type, r->flags);
	CHECK(r->rmid < dev->info.nr_rmids, "type %u: RMID %u", r->type,
	      r->rmid);
	CHECK(!r->rmid == !r->generation, "type %u: RMID %u, generation %u",
	      r->type, r->rmid, r->generation);
	if (!is_lifecycle(r))
		return;
	CHECK(r->rmid || r->type == CMT_REC_ALLOC_FAIL, "type %u: RMID 0",
	      r->type);
	owner_check(r);
}

unsigned int ring_take(const struct dev *dev, struct ring *ring,
		       struct cmt_record *records, unsigned int max)
{
	uint64_t head = ring_head(ring), valid, first;
	unsigned int i, n;

	CHECK(head >= ring->pos, "head went back");
	if (head - ring->pos > ring->records) {
		ring->lost += head - ring->records - ring->pos;
		ring->pos = head - ring->records;
	}
	n = head - ring->pos < max ? head - ring->pos : max;
	first = ring->pos;
	for (i = 0; i < n; i++)
		records[i] = ring->slots[(first + i) & (ring->records - 1)];
	ring->pos += n;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	head = ring_head(ring);
	valid = head >= ring->records ? head - ring->records + 1 : 0;
	if (valid > first) {
		i = valid - first < n ? valid - first : n;
		ring->lost += i;
		first += i;
		n -= i;
		memmove(records, records + i, n * sizeof(*records));
	}
	ring->delivered += n;
	for (i = 0; i < n; i++)
		record_check(dev, ring, &records[i], first + i);
	return n;
}

struct cmt_stats dev_stats(const struct dev *dev)
{
	struct cmt_stats stats = { .size = sizeof(stats) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_STATS, &stats), "GET_STATS: %m");
	return stats;
}

void dev_set_interval(const struct dev *dev, uint32_t ns)
{
	struct cmt_interval arg = { .size = sizeof(arg), .interval_ns = ns };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_INTERVAL, &arg),
	      "SET_INTERVAL %u: %m", ns);
}

void dev_snapshot(const struct dev *dev, struct snapshot *snapshot)
{
	struct cmt_rmids arg = {
		.size = sizeof(arg),
		.count = MAX_RMIDS,
		.records = (uintptr_t)snapshot->records,
	};
	uint32_t i;

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_RMIDS, &arg), "GET_RMIDS: %m");
	CHECK(arg.count <= dev->info.rmids_usable, "%u assignments of %u RMIDs",
	      arg.count, dev->info.rmids_usable);
	snapshot->as_of = arg.as_of;
	snapshot->count = arg.count;
	for (i = 0; i < arg.count; i++) {
		const struct cmt_record *r = &snapshot->records[i];

		CHECK(r->type == CMT_REC_EXISTING, "snapshot: type %u",
		      r->type);
		CHECK(r->rmid && r->rmid < dev->info.nr_rmids && r->generation,
		      "snapshot: RMID %u, generation %u", r->rmid,
		      r->generation);
		owner_check(r);
		CHECK(r->ts <= arg.as_of, "snapshot: allocated after as_of");
		CHECK(!i || r->ts > r[-1].ts, "snapshot: not oldest first");
		CHECK(!!(r->flags & CMT_F_EMULATED) ==
		      (dev->info.backend == CMT_BACKEND_EMULATED),
		      "snapshot: flags %#x", r->flags);
	}
}

const struct cmt_record *snapshot_find(const struct snapshot *snapshot,
				       uint32_t tgid)
{
	const struct cmt_record *found = NULL;
	uint32_t i;

	for (i = 0; i < snapshot->count; i++) {
		if (snapshot->records[i].tgid != tgid ||
		    owner_kind(&snapshot->records[i]))
			continue;
		CHECK(!found, "process %u has two RMIDs", tgid);
		found = &snapshot->records[i];
	}
	return found;
}

void log_add(struct log *log, const struct cmt_record *record, uint64_t index)
{
	if (log->count == log->room) {
		log->room = log->room ? 2 * log->room : 4096;
		log->records = realloc(log->records,
				       log->room * sizeof(*log->records));
		log->indices = realloc(log->indices,
				       log->room * sizeof(*log->indices));
		CHECK(log->records && log->indices, "no memory");
	}
	log->records[log->count] = *record;
	log->indices[log->count++] = index;
}

struct sort_key {
	struct cmt_record record;
	uint64_t index;
};

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->record.ts != y->record.ts)
		return x->record.ts < y->record.ts ? -1 : 1;
	if (x->record.cpu != y->record.cpu)
		return x->record.cpu < y->record.cpu ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void log_sort(struct log *log)
{
	struct sort_key *keys = malloc((log->count + 1) * sizeof(*keys));
	size_t i;

	CHECK(keys, "no memory");
	for (i = 0; i < log->count; i++)
		keys[i] = (struct sort_key){ log->records[i], log->indices[i] };
	qsort(keys, log->count, sizeof(*keys), key_compare);
	for (i = 0; i < log->count; i++) {
		log->records[i] = keys[i].record;
		log->indices[i] = keys[i].index;
	}
	free(keys);
}

void log_free(struct log *log)
{
	free(log->records);
	free(log->indices);
	memset(log, 0, sizeof(*log));
}

static void drain(struct dev *dev, struct log *log, bool samples)
{
	struct cmt_record batch[BATCH];
	uint64_t first;
	unsigned int i, n;
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++) {
		struct ring *ring = &dev->rings[cpu];

		do {
			n = ring_take(dev, ring, batch, BATCH);
			first = ring->pos - n;
			for (i = 0; i < n; i++)
				if (samples || batch[i].type < CMT_REC_SAMPLE ||
				    batch[i].type > CMT_REC_TICK)
					log_add(log, &batch[i], first + i);
		} while (n == BATCH);
	}
}

void dev_drain(struct dev *dev, struct log *log)
{
	drain(dev, log, true);
}

void dev_drain_events(struct dev *dev, struct log *log)
{
	drain(dev, log, false);
}

static void *recorder_main(void *arg)
{
	struct recorder *recorder = arg;

	while (!__atomic_load_n(&recorder->stop, __ATOMIC_ACQUIRE)) {
		drain(recorder->dev, &recorder->log, recorder->samples);
		sleep_ms(1);
	}
	return NULL;
}

void recorder_start(struct recorder *recorder, struct dev *dev, bool samples)
{
	memset(recorder, 0, sizeof(*recorder));
	recorder->dev = dev;
	recorder->samples = samples;
	CHECK(!pthread_create(&recorder->thread, NULL, recorder_main, recorder),
	      "pthread_create");
}

void recorder_stop(struct recorder *recorder)
{
	struct dev *dev = recorder->dev;
	uint32_t cpu;

	__atomic_store_n(&recorder->stop, true, __ATOMIC_RELEASE);
	pthread_join(recorder->thread, NULL);
	drain(dev, &recorder->log, recorder->samples);
	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		CHECK(!dev->rings[cpu].lost, "ring %u: %llu records lost", cpu,
		      (unsigned long long)dev->rings[cpu].lost);
	log_sort(&recorder->log);
}

const struct cmt_record *snapshot_rest(const struct snapshot *snapshot)
{
	const struct cmt_record *found = NULL;
	uint32_t i;

	for (i = 0; i < snapshot->count; i++) {
		if (!(snapshot->records[i].flags & CMT_F_OWNER_OVERFLOW))
			continue;
		CHECK(!found, "two RMIDs of the rest");
		found = &snapshot->records[i];
	}
	return found;
}

const struct cmt_record *log_find(const struct log *log, size_t from,
				  uint16_t type, uint32_t tgid)
{
	size_t i;

	for (i = from; i < log->count; i++)
		if (log->records[i].type == type &&
		    log->records[i].tgid == tgid)
			return &log->records[i];
	return NULL;
}

size_t log_count(const struct log *log, uint16_t type)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++)
		n += log->records[i].type == type;
	return n;
}

size_t log_count_read(const struct log *log, uint32_t cpu, uint32_t rmid, size_t *samples)
{
	size_t ticks = 0, seen = 0;

	*samples = 0;
	for (size_t i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->cpu != cpu)
			continue;
		seen += r->type == CMT_REC_SAMPLE && r->rmid == rmid;
		if (r->type != CMT_REC_TICK)
			continue;
		if (!r->tick.waiting) {
			*samples += seen;
			ticks++;
		}
		seen = 0;
	}
	return ticks;
}

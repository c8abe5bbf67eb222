// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is in the rings of the fake device: what a test in Python says, by the
 * functions test_*(), or, for the agents, a stream that never ends.
 *
 * The stream has two CPUs and three processes.  RMIDs 1 and 2 are of cgroups
 * 7001 and 7002, were there before and hold 1 and 2 MiB; RMID 3 comes with the
 * first poll, in cgroup 7001, too, and holds 3 MiB.  RMID 2 has no reading at
 * every other millisecond.
 *
 * CMT_TEST_STREAM asks for it; with CMT_TEST_ERRNO, too, opening fails.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_device.h"
#include "image.h"

#define MS	1000000ULL
#define T0	(5000 * MS)
#define MIB	(1ULL << 20)

void test_setup(uint32_t nr_cpus, uint32_t records);
void test_teardown(void);
void test_info(uint32_t backend, uint64_t l3_bytes);
void test_events(uint32_t events);
void test_fail(int open_errno, int ioctl_errno, int poll_errno);
void test_abi(uint32_t abi);
void test_now(uint64_t now);
void test_tick(uint32_t cpu, uint64_t ts);
void test_busy_tick(uint32_t cpu, uint64_t ts, uint32_t rmid,
		    uint32_t generation);
void test_event(uint16_t type, uint32_t cpu, uint64_t ts, uint32_t rmid,
		uint32_t generation, uint32_t flags);
void test_sample(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t generation,
		 uint32_t flags, const uint64_t *values);
void test_perf(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t generation,
	       uint32_t flags, const uint64_t *values);
/* Neither idle nor busy: cycles are not counted. */
void test_channel(uint32_t cpu, uint64_t ts, uint32_t socket, uint32_t channel,
		  uint64_t read, uint64_t written, uint64_t idle, uint64_t busy)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_CHANNEL, .cpu = (uint16_t)cpu,
		.flags = CMT_F_CHANNEL, .domain = socket, .channel = channel,
		.channels = { read, written, idle, busy },
	};

	if (idle || busy)
		record.flags |= CMT_F_CHANNEL_IDLE;

	image_put(fake_ring(cpu), &record);
}

void test_uncore(const char *reason)
{
	snprintf(fake.uncore.channels_reason,
		 sizeof(fake.uncore.channels_reason), "%s", reason);
}

void test_channel(uint32_t cpu, uint64_t ts, uint32_t socket, uint32_t channel,
		  uint64_t read, uint64_t written, uint64_t idle, uint64_t busy);
void test_uncore(const char *reason);
void test_uncounted(uint32_t counters);
uint32_t test_counters(void);
void test_other(uint16_t type, uint32_t cpu, uint64_t ts);
void test_load(uint32_t rmids, uint32_t ms);
void test_existing(uint64_t since, uint32_t rmid, uint32_t generation,
		   uint32_t flags);
void test_pending(uint64_t since, uint32_t flags);
void test_state(uint32_t cpu, uint64_t ts);
void test_as_of(uint64_t ts);
void test_bad_at(uint32_t byte);
int test_open_flags(void);
uint32_t test_interval(void);
const struct cmt_attach *test_attach(void);

void test_setup(uint32_t nr_cpus, uint32_t records)
{
	fake_setup(nr_cpus, records);
	fake.level = true;
	strcpy(fake.patterns, "docker-<id>.scope\n!x\n");
}

void test_teardown(void)
{
	fake_teardown();
}

void test_info(uint32_t backend, uint64_t l3_bytes)
{
	fake.info.backend = backend;
	fake.info.l3_bytes = l3_bytes;
}

void test_events(uint32_t events)
{
	fake.info.events = events;
}

void test_fail(int open_errno, int ioctl_errno, int poll_errno)
{
	fake.open_errno = open_errno;
	fake.ioctl_errno = ioctl_errno;
	fake.poll_errno = poll_errno;
}

void test_abi(uint32_t abi)
{
	fake.info.abi_version = abi;
}

void test_now(uint64_t now)
{
	fake.now = now;
}

void test_tick(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_tick(cpu, ts);

	record.tick.missed = 11;
	record.tick.deferred = 12;
	record.tick.busy_ns = 13;
	record.tick.read = 14;
	record.tick.waiting = 15;
	image_put(fake_ring(cpu), &record);
}

void test_busy_tick(uint32_t cpu, uint64_t ts, uint32_t rmid,
		    uint32_t generation)
{
	struct cmt_record record = image_tick(cpu, ts);

	record.rmid = rmid;
	record.generation = generation;
	image_put(fake_ring(cpu), &record);
}

void test_event(uint16_t type, uint32_t cpu, uint64_t ts, uint32_t rmid,
		uint32_t generation, uint32_t flags)
{
	struct cmt_record record = image_event(type, cpu, ts, rmid, generation);

	record.flags = flags;
	image_put(fake_ring(cpu), &record);
}

void test_sample(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t generation,
		 uint32_t flags, const uint64_t *values)
{
	struct cmt_record record = image_sample(cpu, ts, rmid, generation);

	record.flags = flags;
	memcpy(&record.sample, values, sizeof(record.sample));
	image_put(fake_ring(cpu), &record);
}

void test_perf(uint32_t cpu, uint64_t ts, uint32_t rmid, uint32_t generation,
	       uint32_t flags, const uint64_t *values)
{
	struct cmt_record record = image_perf(cpu, ts, rmid, generation, 0);

	record.flags = flags;
	record.perf.cycles = values[0];
	record.perf.instructions = values[1];
	record.perf.llc_misses = (uint32_t)values[2];
	record.perf.llc_references = (uint32_t)values[3];
	record.perf.waited_ns = values[4];
	record.ran_ns = (uint32_t)values[5];
	image_put(fake_ring(cpu), &record);
}

void test_uncounted(uint32_t counters)
{
	fake.uncounted = counters;
}

uint32_t test_counters(void)
{
	return fake.counters;
}

void test_other(uint16_t type, uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = { .ts = ts, .type = type, .cpu = cpu };

	image_put(fake_ring(cpu), &record);
}

void test_existing(uint64_t since, uint32_t rmid, uint32_t generation,
		   uint32_t flags)
{
	struct cmt_record *record = &fake.existing[fake.nr_existing++];

	*record = image_event(CMT_REC_EXISTING, 0, since, rmid, generation);
	record->flags = flags;
}

void test_pending(uint64_t since, uint32_t flags)
{
	struct cmt_record *record = &fake.pending[fake.nr_pending++];

	*record = image_event(CMT_REC_ALLOC_FAIL, 0, since, 9, 90);
	record->owner.why = CMT_WHY_RECLAIMED;
	record->flags = flags;
}

void test_state(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = {
		.ts = ts,
		.type = CMT_REC_STATE,
		.cpu = (uint16_t)cpu,
		.state = { CMT_SCOPE_CONTAINER, MS, CMT_RESCTRL_TAKE, 1,
			   CMT_F_CYCLES },
	};

	image_put(fake_ring(cpu), &record);
}

void test_as_of(uint64_t ts)
{
	fake.as_of = ts;
}

void test_bad_at(uint32_t byte)
{
	fake.bad_at = byte;
}

int test_open_flags(void)
{
	return fake.open_flags;
}

uint32_t test_interval(void)
{
	return fake.interval_ns;
}

const struct cmt_attach *test_attach(void)
{
	return &fake.attach;
}

static void load_sample(uint32_t cpu, uint64_t ts, uint32_t rmid,
			uint32_t generation)
{
	struct cmt_record record = image_sample(cpu, ts, rmid, generation);

	record.domain = cpu;
	record.flags |= CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL | CMT_F_RESIDUAL;
	image_put(fake_ring(cpu), &record);
}

/* A process ends in each millisecond, and another one gets its RMID. */
static void load_change(uint64_t ts, uint32_t rmid, uint32_t generation)
{
	struct cmt_record record =
		image_event(CMT_REC_FREE, 0, ts, rmid, generation);

	if (generation)
		image_put(fake_ring(0), &record);
	record = image_event(CMT_REC_ALLOC, 0, ts, rmid, generation + 1);
	image_put(fake_ring(0), &record);
}

/*
 * What a busy machine writes in @ms milliseconds: each CPU is an L3 domain of its
 * own and reads @rmids RMIDs, from 1 on, in each of them.
 */
void test_load(uint32_t rmids, uint32_t ms)
{
	fake.info.nr_rmids = rmids + 2;
	/* as after the first time around a ring */
	fake.populate = true;
	for (uint32_t rmid = 1; rmid <= rmids; rmid++)
		load_change(T0, rmid, 0);
	for (uint32_t n = 0; n < ms; n++) {
		uint64_t ts = T0 + n * MS;

		load_change(ts + 1, 1 + n % rmids, 1 + n / rmids);
		for (uint32_t cpu = 0; cpu < fake.nr_rings; cpu++) {
			for (uint32_t rmid = 1; rmid <= rmids; rmid++)
				load_sample(cpu, ts + rmid + 1, rmid,
					    1 + n / rmids +
					    (rmid <= 1 + n % rmids));
			test_tick(cpu, ts + rmids + 2);
		}
	}
	fake.now = T0 + ms * MS + 10 * MS;
}

static void stream_sample(uint64_t ms, uint32_t rmid, uint64_t bytes)
{
	uint32_t flags = CMT_F_EMULATED;
	uint64_t values[4] = { bytes };

	if (rmid != 2 || ms % 2)
		flags |= CMT_F_OCCUPANCY;
	else
		values[0] = 0;
	test_sample(rmid % 2, T0 + ms * MS, rmid, 10 * rmid, flags, values);
}

/* One millisecond. */
static void stream_go_on(void)
{
	static uint64_t ms;

	ms++;
	if (ms == 1) {
		struct cmt_record alloc =
			image_event(CMT_REC_ALLOC, 1, T0 + ms * MS, 3, 30);

		alloc.owner.cgroup_id = 7001;
		image_put(fake_ring(1), &alloc);
	}
	for (uint32_t rmid = 1; rmid <= 3; rmid++)
		stream_sample(ms, rmid, rmid * MIB);
	test_tick(0, T0 + ms * MS + 1);
	test_tick(1, T0 + ms * MS + 1);
	fake.now = T0 + ms * MS + 2;
}

__attribute__((constructor)) static void stream_setup(void)
{
	const char *number = getenv("CMT_TEST_ERRNO");

	if (!getenv("CMT_TEST_STREAM"))
		return;
	test_setup(2, 1024);
	fake.open_errno = number ? atoi(number) : 0;
	fake.now = fake.as_of = T0;
	test_existing(T0 - 20, 1, 10, 0);
	test_existing(T0 - 10, 2, 20, 0);
	fake.poll_revents = POLLIN;
	fake.on_poll = stream_go_on;
}

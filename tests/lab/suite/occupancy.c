// SPDX-License-Identifier: GPL-2.0-or-later
/* Reported occupancy, compared with the model's counters and the true values. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "tests.h"

/* Has a process two page-table roots? */
static bool has_pti(void)
{
	static char text[16384];

	return strstr(read_file("/proc/cpuinfo", text, sizeof(text)), " pti");
}

/* The module has found the processor's properties. */
static void test_caps(void)
{
	struct dev dev;

	CHECK(lab_present(), "this is not the lab processor");
	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.backend == CMT_BACKEND_HARDWARE, "backend %u: %s",
	      dev.info.backend, dev.info.reason);
	CHECK(dev.info.nr_rmids == lab_get(LAB_CONFIG, LAB_C_RMIDS) /
	      lab_get(LAB_CONFIG, LAB_C_SNC), "%u RMIDs", dev.info.nr_rmids);
	CHECK(dev.info.upscale_bytes == lab_unit(), "%u bytes a unit",
	      dev.info.upscale_bytes);
	CHECK(dev.info.counter_bits == lab_get(LAB_CONFIG, LAB_C_WIDTH),
	      "%u bits", dev.info.counter_bits);
	CHECK(dev.info.events == lab_get(LAB_CONFIG, LAB_C_EVENTS) << 4,
	      "events %#x", dev.info.events);
	CHECK(dev.info.l3_bytes == lab_get(LAB_CONFIG, LAB_C_SIZE) /
	      lab_get(LAB_CONFIG, LAB_C_SNC),
	      "L3 of %llu", (unsigned long long)dev.info.l3_bytes);
	CHECK(dev.info.vendor == (lab_get(LAB_CONFIG, LAB_C_AMD) ?
				  CMT_VENDOR_AMD : CMT_VENDOR_INTEL),
	      "vendor %u", dev.info.vendor);
	CHECK(has_pti() == lab_get(LAB_CONFIG, LAB_C_PTI),
	      "the kernel isolates its page tables: %d", has_pti());
	note("%u RMIDs, %u bytes a unit, %u bits, events %#x",
	     dev.info.nr_rmids, dev.info.upscale_bytes, dev.info.counter_bits,
	     dev.info.events);
	dev_close(&dev);
}

/*
 * Idle and kernel threads borrow the page tables of the last process, and run with RMID
 * 0.  The lines that they fill, through addresses of the kernel, are in the space of
 * that process, but have another RMID.  A process that ran without its RMID would show
 * in the lines that were filled through its own addresses.
 */
static uint64_t own_truth(const struct worker *worker)
{
	uint64_t all = lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, worker->space));
	uint64_t none = lab_get(LAB_OF_PAIR, LAB_ARG(L3, 0, worker->space));
	struct lab_answer user = lab_ask(LAB_OF_USER,
					 LAB_ARG(L3, worker->rmid, worker->space));

	note("in the worker's space %llu bytes; of its own addresses %llu, %llu of these under its RMID; borrowed %llu",
	     (unsigned long long)all, (unsigned long long)user.second,
	     (unsigned long long)user.first, (unsigned long long)none);
	CHECK(user.first == user.second, "it ran under another RMID");
	CHECK(user.first >= worker->bytes - worker->bytes / 50,
	      "its memory is not in the cache");
	return all - none;
}

/* The same without a ring. */
static uint64_t read_now(const struct dev *dev, const struct worker *worker)
{
	struct cmt_record r = { 0 };
	struct cmt_read arg = {
		.size = sizeof(arg), .kind = CMT_OWNER_PROCESS,
		.id = worker->pid, .count = 1, .records = (uintptr_t)&r,
	};

	CHECK(!ioctl(dev->fd, CMT_IOC_READ, &arg), "READ: %m");
	CHECK(r.rmid == worker->rmid && r.generation == worker->generation &&
	      r.flags & CMT_F_OCCUPANCY, "RMID %u, flags %#x", r.rmid, r.flags);
	return r.sample.occupancy_bytes;
}

static void check_near(const char *what, uint64_t said, uint64_t truth)
{
	uint64_t off = said > truth ? said - truth : truth - said;

	note("%s: truth %llu, said %llu, off by %.2f %%", what,
	     (unsigned long long)truth, (unsigned long long)said,
	     100.0 * off / truth);
	CHECK(off <= truth / 50 + lab_unit(), "%s: more than 2 %% and a unit off",
	      what);
}

#define SAMPLES 100

static void occupancy(size_t bytes)
{
	struct worker *worker = worker_start(bytes);
	struct recorder recorder;
	struct readings readings;
	const struct cmt_record *r;
	uint64_t truth, now;
	size_t matched, i;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	worker_wait(worker, 3);

	recorder_start(&recorder, &dev, true);
	readings_begin(&readings);
	for (i = 0; i < SAMPLES; i++)
		wait_read(L3, worker->rmid);
	worker_halt(worker);
	wait_read(L3, worker->rmid);
	truth = own_truth(worker);
	now = read_now(&dev, worker);
	recorder_stop(&recorder);
	readings_end(&readings);
	lab_switch(false);

	matched = samples_match(&recorder.log, &readings, worker->rmid);
	r = last_sample(&recorder.log, worker->rmid);
	CHECK(r && matched >= SAMPLES, "only %zu samples", matched);
	note("%zu bytes walked: %zu samples equal the counter", bytes, matched);
	check_near("in a ring", r->sample.occupancy_bytes, truth);
	check_near("on demand", now, truth);
	readings_free(&readings);
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

static void test_1m(void)
{
	occupancy(1 << 20);
}

static void test_2m(void)
{
	occupancy(2 << 20);
}

static void test_4m(void)
{
	occupancy(4 << 20);
}

#define MANY_SAMPLES	900
#define TICK_LINES_MAX	(128 << 10)

/*
 * A tick writes its samples while it interrupts a task.  These lines do not belong to
 * the task: rings are large beside a small working set.
 */
static void test_tick_fills_use_rmid0(void)
{
	struct worker *worker = worker_start(1 << 20);
	struct recorder recorder;
	struct lab_answer user;
	uint64_t all, records;
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	recorder_start(&recorder, &dev, true);
	records = dev_stats(&dev).records;
	for (i = 0; i < MANY_SAMPLES; i++)
		wait_read(L3, worker->rmid);
	worker_halt(worker);
	records = dev_stats(&dev).records - records;
	all = lab_get(LAB_OF_RMID, LAB_ARG(L3, worker->rmid, 0));
	user = lab_ask(LAB_OF_USER, LAB_ARG(L3, worker->rmid, worker->space));
	lab_switch(false);
	recorder_stop(&recorder);
	note("%llu bytes of records written; the worker's RMID has %llu, %llu of them by its own addresses",
	     (unsigned long long)records * sizeof(struct cmt_record),
	     (unsigned long long)all, (unsigned long long)user.first);
	CHECK(records * sizeof(struct cmt_record) > 4 * TICK_LINES_MAX,
	      "too few to tell");
	CHECK(all - user.first <= TICK_LINES_MAX, "the ticks' lines are its");
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

#define HUGE_PAGES	"/sys/kernel/mm/transparent_hugepage/"
#define HUGE_BYTES	(2U << 20)
#define HUGE_WALKS	20

static unsigned long collapsed(void)
{
	static char text[16384];
	const char *at;

	at = strstr(read_file("/proc/vmstat", text, sizeof(text)),
		    "\nthp_collapse_alloc ");
	CHECK(at, "the kernel does not count huge pages");
	return strtoul(strchr(at, ' '), NULL, 10);
}

/*
 * khugepaged runs with RMID 0, so the lines of copied pages have RMID 0 as long as the
 * process finds them in the cache.
 */
static void test_khugepaged_fills_use_rmid0(void)
{
	struct worker *worker = worker_start(2 * HUGE_BYTES);
	uint64_t none, traffic;
	unsigned long before;
	struct dev dev;

	CHECK(!write_file(HUGE_PAGES "enabled", "madvise") &&
	      !write_file(HUGE_PAGES "khugepaged/scan_sleep_millisecs", "10"),
	      "no khugepaged");
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	before = collapsed();
	model_begin();
	worker_go(worker, true);
	worker_wait(worker, 3);
	none = lab_get(LAB_OF_RMID, LAB_ARG(L3, 0, 0));
	__atomic_store_n(&worker->huge, true, __ATOMIC_RELEASE);
	WAIT_FOR(collapsed() > before, 60000, "khugepaged does nothing");
	worker_wait(worker, 2);
	traffic = lab_get(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	worker_wait(worker, HUGE_WALKS);
	traffic = lab_get(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0)) - traffic;
	none = lab_get(LAB_OF_RMID, LAB_ARG(L3, 0, 0)) - none;
	lab_switch(false);
	CHECK(!write_file(HUGE_PAGES "enabled", "never"), "khugepaged stays");
	note("%lu huge pages: RMID 0 has %llu bytes more; the worker's traffic in %d walks after that: %llu",
	     collapsed() - before, (unsigned long long)none, HUGE_WALKS,
	     (unsigned long long)traffic);
	CHECK(none >= HUGE_BYTES - HUGE_BYTES / 10,
	      "the copies' lines are not RMID 0's");
	CHECK(traffic < HUGE_BYTES, "the worker does not use them");
	worker_stop(worker);
	dev_close(&dev);
}

const struct test occupancy_tests[] = {
	{ "caps_match_processor", test_caps, PROCESS, 0 },
	{ "occupancy_1m_matches_model", test_1m, PROCESS, 60 },
	{ "occupancy_2m_matches_model", test_2m, PROCESS, 60 },
	{ "occupancy_4m_matches_model", test_4m, PROCESS, 60 },
	{ "tick_fills_use_rmid0", test_tick_fills_use_rmid0, PROCESS, 60 },
	{ "khugepaged_fills_use_rmid0", test_khugepaged_fills_use_rmid0, PROCESS, 120 },
	{ 0 }
};

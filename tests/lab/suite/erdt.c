// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters in memory (ACPI's ERDT): which registers the module reads, and what it
 * reports when registers fail, or when another agent switches RDT_CTRL.  The tests of
 * QM_CTR also test the values: occupancy.c, traffic.c, churn.c, sockets.c.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "faults.h"
#include "tests.h"

#define TICKS		100
#define PLANTED		10000
#define PERIOD		3
#define INTERVAL_NS	1000000
#define VALUES		(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define REASONS		(CMT_F_ERROR | CMT_F_UNAVAILABLE)
/* two readings of one CPU in one tick are at most this far apart */
#define TICK_NS		500000

/* MSR mode lasts for more readings than a tick makes here, and ends at any of them. */
#define MODE_BURST	255
#define MODE_PERIOD	997
#define MODE_READINGS	(40 * MODE_BURST)

/* RDT_CTRL is read twice in a tick: it fails in one tick of three, or four. */
#define CONTROL_PERIOD	7
#define CONTROL_READINGS 2000

#define SWITCHES	60
#define BYTES		(1U << 20)
#define WALK_BYTES	(32U << 20)	/* more than the cache */

#define SLEEPERS	100	/* more owners than the table of 64 RMIDs has */
#define REGIONS		2	/* regions of memory, in the MRRM table */

/* Mapped as another agent maps it. */
static volatile uint64_t *control;

static void map_control(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC);

	CHECK(fd >= 0, "/dev/mem: %m");
	control = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       LAB_ERDT_BASE);
	CHECK(control != MAP_FAILED, "RDT_CTRL: %m");
	close(fd);
}

static const char *kernel_log(void)
{
	static char text[1 << 18];
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof(text) - 1);

	CHECK(n >= 0, "klogctl: %m");
	text[n] = '\0';
	return text;
}

static void unload(struct dev *dev)
{
	dev_close(dev);
	CHECK(!module_unload(), "the module does not unload");
}

static void wait_ticks(const struct dev *dev, uint64_t ticks)
{
	uint64_t from = dev_stats(dev).ticks;

	WAIT_FOR(dev_stats(dev).ticks - from >= ticks, 120000, "there are no ticks");
}

/* The module reads the registers in memory, writes no EVTSEL, and reads no QM_CTR. */
static void test_used(void)
{
	uint64_t evtsel = lab_get(LAB_STAT, LAB_S_EVTSEL_WRMSR);
	uint64_t ctr = lab_get(LAB_STAT, LAB_S_CTR_RDMSR);
	uint64_t readings = lab_get(LAB_LOG_HEAD, 0);
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	note("%s", dev.info.reason);
	CHECK(strstr(dev.info.reason, "ERDT"), "it reads something else");
	dev_map(&dev, FROM_NOW);
	wait_ticks(&dev, TICKS);
	readings = lab_get(LAB_LOG_HEAD, 0) - readings;
	note("%llu readings", (unsigned long long)readings);
	CHECK(readings >= TICKS, "they are not read");
	CHECK(lab_get(LAB_STAT, LAB_S_EVTSEL_WRMSR) == evtsel, "EVTSEL was written");
	CHECK(lab_get(LAB_STAT, LAB_S_CTR_RDMSR) == ctr, "QM_CTR was read");
	dev_close(&dev);
}

/* The flags that a SAMPLE must have for a register's value. */
static uint32_t flags_of(const struct reading *reading, uint32_t value)
{
	if (reading->gave == LAB_ERDT_ONES)
		return CMT_F_ERROR;
	return reading->gave & LAB_ERDT_UNAVAILABLE ? CMT_F_UNAVAILABLE : value;
}

/*
 * Each SAMPLE has the values of its registers, reasons for missing values, and nothing
 * else.
 */
static void check_flags(const struct planting *p)
{
	size_t i, samples = 0, differ = 0;

	for (i = 0; i < p->recorder.log.count; i++) {
		const struct cmt_record *r = &p->recorder.log.records[i];
		const struct reading *occupancy, *traffic;

		if (r->type != CMT_REC_SAMPLE || r->ts < p->readings.ns)
			continue;
		occupancy = reading_of(&p->readings, r, 1);
		traffic = reading_of(&p->readings, r, 2);
		CHECK(occupancy && traffic, "a SAMPLE without a reading");
		samples++;
		differ += (r->flags & (VALUES | REASONS)) !=
			  (flags_of(occupancy, CMT_F_OCCUPANCY) |
			   flags_of(traffic, CMT_F_MBM_TOTAL));
	}
	note("%zu samples, the flags of %zu are not the registers'", samples, differ);
	CHECK(samples && !differ, "flags differ");
}

static void plant_reads(enum lab_fault fault, unsigned int burst, unsigned int period)
{
	struct planting p = { 0 };
	struct verdicts v;

	plant_begin(&p, INTERVAL_NS);
	plant_more(&p, fault, burst, period, PLANTED);
	plant_stop(&p);
	v = check_planted(&p);
	CHECK(v.missing, "no fault showed");
	check_flags(&p);
	plant_end(&p);
}

static void test_ones(void)
{
	plant_reads(LAB_FAULT_ERROR, 1, PERIOD);
}

static void test_unavailable(void)
{
	plant_reads(LAB_FAULT_UNAVAILABLE, 1, PERIOD);
}

/* No device answers from some reading in a tick to one in a later tick. */
static void test_silence(void)
{
	plant_reads(LAB_FAULT_ERROR, 200, 601);
}

/* The number of mode changes between two traffic readings in one tick of a CPU. */
static size_t count_mixed(const struct readings *readings)
{
	const struct reading *last = NULL, *r;
	size_t n = 0;

	for (r = readings->all; r < readings->all + readings->count; r++) {
		if (r->event != 2)
			continue;
		n += last && last->cpu == r->cpu && r->ns - last->ns < TICK_NS &&
		     !last->fault != !r->fault;
		last = r;
	}
	return n;
}

/*
 * RDT_CTRL is switched to MSR mode at some reading in a tick, and back at one in a
 * later tick.  Meanwhile registers of traffic have garbage, and afterwards they begin
 * at 0.
 */
static void test_mode_in_mid_tick(void)
{
	struct planting p = { 0 };
	struct verdicts v;
	size_t mixed;

	plant_begin(&p, INTERVAL_NS);
	plant_more(&p, LAB_FAULT_ERDT_MODE, MODE_BURST, MODE_PERIOD, MODE_READINGS);
	plant_stop(&p);
	v = check_planted(&p);
	mixed = count_mixed(&p.readings);
	note("%zu switches in mid-tick", mixed);
	CHECK(mixed >= 10, "too few switches in mid-tick");
	CHECK(v.missing, "no traffic is missing");
	plant_end(&p);
}

/* In some ticks RDT_CTRL does not answer: traffic is unknown, occupancy is known. */
static void test_control_of_ones(void)
{
	struct planting p = { 0 };
	struct verdicts v;
	size_t i, lost = 0;

	plant_begin(&p, INTERVAL_NS);
	plant_more(&p, LAB_FAULT_ERDT_CONTROL, 1, CONTROL_PERIOD, CONTROL_READINGS);
	plant_stop(&p);
	v = check_planted(&p);
	CHECK(v.missing, "all traffic is said");
	for (i = 0; i < p.recorder.log.count; i++)
		lost += p.recorder.log.records[i].type == CMT_REC_SAMPLE &&
			!(p.recorder.log.records[i].flags & CMT_F_OCCUPANCY);
	CHECK(!lost, "%zu samples have no occupancy", lost);
	plant_end(&p);
}

/* Another agent writes RDT_CTRL, and restores it some ticks later. */
static void test_mode(void)
{
	struct planting p = { 0 };
	struct verdicts v;
	int i;

	map_control();
	plant_begin(&p, INTERVAL_NS);
	for (i = 0; i < SWITCHES; i++) {
		*control = LAB_ERDT_MSR_MODE;
		wait_ticks(&p.dev, 3);
		*control = 0;
		wait_ticks(&p.dev, 3);
	}
	plant_stop(&p);
	v = check_planted(&p);
	CHECK(v.missing >= SWITCHES, "only %zu samples miss traffic", v.missing);
	plant_end(&p);
}

static struct cmt_record read_one(const struct dev *dev, const struct worker *worker)
{
	struct cmt_record r;

	sleep_ms(1);	/* a reading is reused for CMT_READ_FRESH_NS */
	CHECK(owner_read(dev, CMT_OWNER_PROCESS, worker->pid, &r, 1) == 1, "READ: %m");
	return r;
}

static struct worker *registered(const struct dev *dev)
{
	struct worker *worker = worker_start(WALK_BYTES);

	CHECK(!owner_register(dev, CMT_OWNER_PROCESS, worker->pid, NULL), "REGISTER: %m");
	worker_identify(worker, dev);
	worker_go(worker, true);
	worker_wait(worker, 1);
	worker_go(worker, false);
	return worker;
}

/*
 * A reading on demand after MSR mode does not continue a reading before it, even if
 * only the reading of another owner met the mode.
 */
static void test_mode_on_demand(void)
{
	struct worker *worker, *other;
	struct cmt_record before, after;
	struct dev dev;

	map_control();
	dev_open(&dev, O_RDWR);
	model_begin();
	worker = registered(&dev);
	other = registered(&dev);
	read_one(&dev, worker);
	before = read_one(&dev, worker);
	read_one(&dev, other);
	CHECK(before.flags & CMT_F_MBM_TOTAL, "flags %#x", before.flags);
	*control = LAB_ERDT_MSR_MODE;
	after = read_one(&dev, other);
	CHECK((after.flags & (VALUES | REASONS)) == (CMT_F_OCCUPANCY | CMT_F_UNAVAILABLE),
	      "in MSR mode: flags %#x", after.flags);
	*control = 0;
	after = read_one(&dev, worker);
	note("before: %llu bytes, flags %#x; after: %llu bytes, flags %#x",
	     (unsigned long long)before.sample.mbm_total_bytes, before.flags,
	     (unsigned long long)after.sample.mbm_total_bytes, after.flags);
	CHECK(!(after.flags & CMT_F_MBM_TOTAL) && after.flags & CMT_F_UNAVAILABLE,
	      "traffic from before and after MSR mode is one sum");
	after = read_one(&dev, worker);
	CHECK(after.flags & CMT_F_MBM_TOTAL && after.flags & CMT_F_REBASED,
	      "flags %#x", after.flags);
	lab_switch(false);
	worker_stop(worker);
	worker_stop(other);
	dev_close(&dev);
}

static pid_t sleeper_start(void)
{
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return pid;
}

/* How many RMIDs have a SAMPLE; the greatest of them. */
static size_t count_rmids(const struct log *log, uint32_t *most)
{
	static bool seen[LAB_ERDT_RMIDS];
	size_t i, n = 0;

	*most = 0;
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE)
			continue;
		CHECK(r->rmid < LAB_ERDT_RMIDS, "RMID %u", r->rmid);
		n += !seen[r->rmid];
		seen[r->rmid] = true;
		if (r->rmid > *most)
			*most = r->rmid;
	}
	return n;
}

/*
 * The largest number of RMIDs that the registers have room for: each RMID is read at
 * its address.
 */
static void test_rmids(void)
{
	struct planting p = { 0 };
	pid_t sleepers[SLEEPERS];
	uint32_t most;
	size_t i, n;

	for (i = 0; i < SLEEPERS; i++)
		sleepers[i] = sleeper_start();
	plant_begin(&p, INTERVAL_NS);
	CHECK(p.dev.info.nr_rmids == LAB_ERDT_RMIDS, "%u RMIDs", p.dev.info.nr_rmids);
	CHECK(strstr(p.dev.info.reason, "ERDT"), "%s", p.dev.info.reason);
	worker_wait(p.worker, 2);
	wait_ticks(&p.dev, TICKS);
	plant_stop(&p);
	check_planted(&p);
	check_flags(&p);
	n = count_rmids(&p.recorder.log, &most);
	note("samples of %zu RMIDs, up to %u", n, most);
	CHECK(n >= SLEEPERS && most == LAB_ERDT_RMIDS - 1, "too few");
	plant_end(&p);
	for (i = 0; i < SLEEPERS; i++) {
		kill(sleepers[i], SIGKILL);
		waitpid(sleepers[i], NULL, 0);
	}
}

/* With an MRRM table, no register of a missing region of memory is read. */
static void test_mrrm(void)
{
	struct planting p = { 0 };
	size_t i, n = 0;

	plant_begin(&p, INTERVAL_NS);
	worker_wait(p.worker, 2);
	wait_ticks(&p.dev, TICKS);
	plant_stop(&p);
	check_planted(&p);
	check_flags(&p);
	for (i = 0; i < p.readings.count; i++) {
		const struct reading *r = &p.readings.all[i];

		if (r->event != 2)
			continue;
		CHECK(r->region == REGIONS - 1, "region %u is the last one", r->region);
		n++;
	}
	note("%zu readings of traffic", n);
	CHECK(n >= TICKS, "too few");
	plant_end(&p);
}

/* The module reads MSRs, and reports the reason. */
static void expect_msrs(const char *params, const char *why)
{
	struct dev dev;

	CHECK(!module_load(params), "the module does not load");
	dev_open(&dev, O_RDONLY);
	note("%s", dev.info.reason);
	CHECK(strstr(dev.info.reason, "CPUID leaf 0xF"), "it does not read MSRs");
	CHECK(!why || strstr(kernel_log(), why), "the log does not say: %s", why);
	CHECK(why || !strstr(kernel_log(), "ERDT is not used"), "the log says something");
	unload(&dev);
}

static void test_off(void)
{
	expect_msrs(PROCESS " erdt=0", NULL);
}

static void test_ones_at_load(void)
{
	map_control();
	*control = LAB_ERDT_ONES;
	expect_msrs(PROCESS, "ERDT is not used: a control register reads all ones");
	*control = 0;
}

static void test_msr_mode_at_load(void)
{
	map_control();
	*control = LAB_ERDT_MSR_MODE;
	expect_msrs(PROCESS, "ERDT is not used: traffic is counted for the MSRs (RDT_CTRL)");
	*control = 0;
}

static void test_ram(void)
{
	expect_msrs(PROCESS, "ERDT is not used: registers are in RAM");
}

static void test_cpus(void)
{
	expect_msrs(PROCESS, "ERDT is not used: a CPU is in none of its domains, or in two");
}

static void test_cut(void)
{
	expect_msrs(PROCESS, "ERDT is not used: a structure is cut short");
}

const struct test erdt_tests[] = {
	{ "erdt_off_leaves_msrs", test_off, NULL, 60 },
	{ "erdt_is_used", test_used, PROCESS, 120 },
	{ "erdt_all_ones_are_flagged", test_ones, PROCESS, 120 },
	{ "erdt_unavailable_is_flagged", test_unavailable, PROCESS, 120 },
	{ "erdt_silence_in_mid_tick_is_flagged", test_silence, PROCESS, 120 },
	{ "erdt_mode_switched_in_mid_tick", test_mode_in_mid_tick, PROCESS, 120 },
	{ "erdt_mode_switched_under_ticks", test_mode, PROCESS, 120 },
	{ "erdt_control_of_ones_in_mid_tick", test_control_of_ones, PROCESS, 120 },
	{ "erdt_mode_switched_on_demand", test_mode_on_demand, "scope=manual", 60 },
	{ "erdt_control_of_ones_at_load_is_refused", test_ones_at_load, NULL, 60 },
	{ "erdt_msr_mode_at_load_leaves_msrs", test_msr_mode_at_load, NULL, 60 },
	{ 0 }
};

const struct test erdt_rmids_tests[] = {
	{ "erdt_1024_rmids", test_rmids, PROCESS, 120 },
	{ 0 }
};

const struct test erdt_mrrm_tests[] = {
	{ "erdt_regions_of_mrrm", test_mrrm, PROCESS, 120 },
	{ 0 }
};

const struct test erdt_ram_tests[] = {
	{ "erdt_registers_in_ram_are_refused", test_ram, NULL, 60 },
	{ 0 }
};

const struct test erdt_cpus_tests[] = {
	{ "erdt_unknown_cpus_are_refused", test_cpus, NULL, 60 },
	{ 0 }
};

const struct test erdt_cut_tests[] = {
	{ "erdt_table_cut_short_is_refused", test_cut, NULL, 60 },
	{ 0 }
};

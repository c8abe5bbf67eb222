// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters in memory (ACPI's ERDT): the module reads what is in the registers, as the
 * table says, and what they do not tell is flagged.  The registers are RAM: what they
 * have is written here, through /dev/mem, and is no truth of a cache.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "erdt.h"
#include "tests.h"

#define REGISTERS_BYTES	0x100000
#define TICKS		100
#define FLAGGED		10000
#define UNAVAILABLE	(1ULL << 63)
#define WRAPPED		(1ULL << 62)
#define ONES		(~0ULL)
#define GARBAGE		0x3badbadbadbadULL
#define MSR_MODE	4ULL
#define MASK		((1ULL << ERDT_WIDTH) - 1)
#define VALUES		(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define REASONS		(CMT_F_ERROR | CMT_F_UNAVAILABLE)
#define SWITCHES	60

static volatile uint64_t *registers;

static void map_registers(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC);

	CHECK(fd >= 0, "/dev/mem: %m");
	registers = mmap(NULL, REGISTERS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			 fd, ERDT_BASE);
	CHECK(registers != MAP_FAILED, "registers: %m");
	close(fd);
}

static volatile uint64_t *occupancy_of(uint32_t rmid)
{
	return registers + ERDT_CMRC / 8 + rmid;
}

/* By the formula of the specification, for RMIDs below 64. */
static volatile uint64_t *traffic_of(uint32_t rmid, uint32_t region)
{
	return registers + (ERDT_MMRC + rmid % 32 / 8 * 0x4000 + region * 0x800 +
			    (rmid / 32 * 8 + rmid % 8) * 8) / 8;
}

static uint64_t units_of(uint32_t rmid)
{
	return rmid * 3 + 1;
}

/* Every RMID has an occupancy of its own, and no traffic. */
static void fill_registers(void)
{
	uint32_t rmid, region;

	registers[0] = 0;
	for (rmid = 0; rmid < ERDT_RMIDS; rmid++) {
		*occupancy_of(rmid) = units_of(rmid);
		for (region = 0; region < ERDT_REGIONS; region++)
			*traffic_of(rmid, region) = 0;
	}
}

static const char *kernel_log(void)
{
	static char text[1 << 18];
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, text, sizeof(text) - 1);

	CHECK(n >= 0, "klogctl: %m");
	text[n] = '\0';
	return text;
}

static void load(const char *params)
{
	map_registers();
	fill_registers();
	CHECK(!module_load(params), "the module does not load");
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

/* The module has the registers, as the table says, and writes no EVTSEL. */
static void test_used(void)
{
	uint64_t evtsel, ctr;
	struct dev dev;

	load(PROCESS);
	dev_open(&dev, O_RDONLY);
	note("%s", dev.info.reason);
	CHECK(strstr(dev.info.reason, "ERDT"), "it reads something else");
	CHECK(dev.info.backend == CMT_BACKEND_HARDWARE, "backend %u", dev.info.backend);
	CHECK(dev.info.nr_rmids == ERDT_RMIDS, "%u RMIDs", dev.info.nr_rmids);
	CHECK(dev.info.upscale_bytes == ERDT_CMRC_UNIT, "%u bytes a unit",
	      dev.info.upscale_bytes);
	CHECK(dev.info.counter_bits == ERDT_WIDTH, "%u bits", dev.info.counter_bits);
	CHECK(dev.info.events == (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL), "events %#x",
	      dev.info.events);
	evtsel = lab_get(LAB_STAT, LAB_S_EVTSEL_WRMSR);
	ctr = lab_get(LAB_STAT, LAB_S_CTR_RDMSR);
	dev_map(&dev, FROM_NOW);
	wait_ticks(&dev, TICKS);
	CHECK(lab_get(LAB_STAT, LAB_S_EVTSEL_WRMSR) == evtsel, "EVTSEL was written");
	CHECK(lab_get(LAB_STAT, LAB_S_CTR_RDMSR) == ctr, "QM_CTR was read");
	unload(&dev);
}

/* What of a log is right, missing with a reason, and bad. */
struct verdicts {
	size_t values, flagged, bad, silent;
};

static void judge(struct verdicts *v, const struct cmt_record *r, uint64_t moved)
{
	v->flagged += !!(r->flags & REASONS);
	v->silent += (r->flags & VALUES) != (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL) &&
		     !(r->flags & REASONS);
	v->bad += !!(r->flags & CMT_F_MBM_LOCAL);
	if (r->flags & CMT_F_OCCUPANCY) {
		v->values++;
		v->bad += r->sample.occupancy_bytes != units_of(r->rmid) * ERDT_CMRC_UNIT;
	}
	if (r->flags & CMT_F_MBM_TOTAL) {
		v->values++;
		v->bad += r->sample.mbm_total_bytes > moved;
	}
}

/* @moved: no RMID moved more bytes. */
static struct verdicts judge_all(const struct log *log, uint64_t moved)
{
	struct verdicts v = { 0 };
	size_t i;

	for (i = 0; i < log->count; i++)
		if (log->records[i].type == CMT_REC_SAMPLE)
			judge(&v, &log->records[i], moved);
	return v;
}

static void check_verdicts(const struct verdicts *v)
{
	note("%zu values, %zu samples with a reason for what is missing, %zu bad, %zu silent",
	     v->values, v->flagged, v->bad, v->silent);
	CHECK(v->values, "no value at all");
	CHECK(!v->bad, "%zu bad values", v->bad);
	CHECK(!v->silent, "%zu values are missing without a reason", v->silent);
}

/* The occupancy of every RMID is its register's. */
static void test_occupancy(void)
{
	struct recorder recorder;
	struct verdicts v;
	struct dev dev;

	load(PROCESS);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	wait_ticks(&dev, TICKS);
	recorder_stop(&recorder);
	v = judge_all(&recorder.log, 0);
	check_verdicts(&v);
	CHECK(!v.flagged, "%zu samples say that something is missing", v.flagged);
	log_free(&recorder.log);
	unload(&dev);
}

/* A process that is on a CPU, so that its RMID is read in every tick. */
static struct worker *start_worker(struct dev *dev)
{
	struct worker *worker = worker_start(1 << 16);

	worker_identify(worker, dev);
	worker_go(worker, true);
	return worker;
}

/* The traffic that the module says of a worker in some samples from now on. */
static uint64_t said_traffic(struct dev *dev, const struct worker *worker)
{
	const struct cmt_record *r = NULL;
	struct recorder recorder;
	uint64_t said = 0;

	while (!r) {
		recorder_start(&recorder, dev, true);
		wait_ticks(dev, 10);
		recorder_stop(&recorder);
		r = last_sample(&recorder.log, worker->rmid);
		CHECK(!r || r->flags & CMT_F_MBM_TOTAL, "no traffic: flags %#x",
		      r->flags);
		said = r ? r->sample.mbm_total_bytes : 0;
		log_free(&recorder.log);
	}
	return said;
}

/* Bytes of so many units, as the table says */
static uint64_t traffic_bytes(uint64_t units)
{
	return (units * ERDT_FACTOR >> 16) * ERDT_MMRC_UNIT;
}

/*
 * Traffic is the sum of the regions, corrected, over wraps of each of them.  A register
 * with its overflow bit has a value like any other.
 */
static void test_traffic(void)
{
	uint64_t raw[ERDT_REGIONS] = { 0 }, moved = 0, said, base;
	struct worker *worker;
	struct dev dev;
	int step, region;

	load(PROCESS);
	dev_open(&dev, O_RDWR);
	worker = start_worker(&dev);
	dev_map(&dev, FROM_NOW);
	base = said_traffic(&dev, worker);
	CHECK(!base, "%llu bytes of a register that did not move",
	      (unsigned long long)base);
	for (step = 0; step < 20; step++) {
		for (region = 0; region < ERDT_REGIONS; region++) {
			uint64_t units = (MASK / 7) * (region + 1) / 2 + step;

			raw[region] += units;
			moved += units;
			*traffic_of(worker->rmid, region) = (raw[region] & MASK) |
				(step % 3 ? 0 : WRAPPED);
		}
		said = said_traffic(&dev, worker);
		CHECK(said == traffic_bytes(moved), "step %d: said %llu, moved %llu", step,
		      (unsigned long long)said,
		      (unsigned long long)traffic_bytes(moved));
	}
	note("%llu bytes in %u regions, over %llu wraps of the last one",
	     (unsigned long long)said, ERDT_REGIONS,
	     (unsigned long long)(raw[ERDT_REGIONS - 1] >> ERDT_WIDTH));
	CHECK(raw[ERDT_REGIONS - 1] >> ERDT_WIDTH, "nothing wrapped");
	worker_stop(worker);
	unload(&dev);
}

/* In turn: right, Unavailable, and no answer; at last right again. */
static void plant(uint32_t rmid, uint64_t round)
{
	static const uint64_t faults[] = { UNAVAILABLE | GARBAGE, ONES };
	uint64_t fault = faults[(rmid + round / 2) % 2];
	bool good = (rmid + round) % 2;
	uint32_t region = round % ERDT_REGIONS;

	*occupancy_of(rmid) = good ? units_of(rmid) : fault;
	*traffic_of(rmid, region) = good ? 0 : fault;
}

static void plant_all(uint64_t round)
{
	uint32_t rmid, region;

	for (rmid = 0; rmid < ERDT_RMIDS; rmid++) {
		for (region = 0; region < ERDT_REGIONS; region++)
			*traffic_of(rmid, region) = 0;
		plant(rmid, round);
	}
}

/* Samples that miss something: planted faults that were read. */
static uint64_t flagged(const struct dev *dev)
{
	struct cmt_stats stats = dev_stats(dev);

	return stats.read_errors + stats.read_unavailable;
}

/* Registers of all RMIDs fail and recover all the time. */
static void test_faults(void)
{
	uint64_t from, round = 0;
	struct recorder recorder;
	struct worker *worker;
	struct verdicts v;
	struct dev dev;

	load(PROCESS);
	dev_open(&dev, O_RDWR);
	worker = start_worker(&dev);
	dev_set_interval(&dev, 200000);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	from = flagged(&dev);
	WAIT_FOR((plant_all(round++), flagged(&dev) - from >= FLAGGED), 240000,
		 "too few faults");
	recorder_stop(&recorder);
	v = judge_all(&recorder.log, 0);
	note("%llu faults read in %llu rounds", (unsigned long long)(flagged(&dev) - from),
	     (unsigned long long)round);
	check_verdicts(&v);
	CHECK(v.flagged, "no sample says that something is missing");
	log_free(&recorder.log);
	worker_stop(worker);
	unload(&dev);
}

/*
 * Another agent switches to the MSRs and back, under ticks.  Meanwhile the registers of
 * traffic have anything; nothing of that is said, nor of the time in between.
 */
static void test_mode(void)
{
	struct recorder recorder;
	struct worker *worker;
	struct verdicts v;
	struct dev dev;
	int i;

	load(PROCESS);
	dev_open(&dev, O_RDWR);
	worker = start_worker(&dev);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	for (i = 0; i < SWITCHES; i++) {
		registers[0] = MSR_MODE;
		*traffic_of(worker->rmid, 0) = (uint64_t)i * 0x1357 & MASK;
		wait_ticks(&dev, 3);
		*traffic_of(worker->rmid, 0) = (uint64_t)i * 0x2468 & MASK;
		registers[0] = 0;
		wait_ticks(&dev, 3);
	}
	recorder_stop(&recorder);
	v = judge_all(&recorder.log, 0);
	check_verdicts(&v);
	CHECK(v.flagged >= SWITCHES, "only %zu samples say that traffic is missing",
	      v.flagged);
	log_free(&recorder.log);
	worker_stop(worker);
	unload(&dev);
}

/* The module reads MSRs, and says why. */
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

static void test_ones(void)
{
	map_registers();
	registers[0] = ONES;
	expect_msrs(PROCESS, "ERDT is not used: a control register reads all ones");
}

static void test_msr_mode(void)
{
	map_registers();
	registers[0] = MSR_MODE;
	expect_msrs(PROCESS, "ERDT is not used: traffic is counted for the MSRs (RDT_CTRL)");
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
	{ "erdt_is_used", test_used, NULL, 120 },
	{ "erdt_occupancy_is_the_registers", test_occupancy, NULL, 180 },
	{ "erdt_traffic_is_the_sum_corrected", test_traffic, NULL, 300 },
	{ "erdt_faults_are_flagged", test_faults, NULL, 300 },
	{ "erdt_mode_switched_under_ticks", test_mode, NULL, 300 },
	{ "erdt_registers_of_ones_are_refused", test_ones, NULL, 60 },
	{ "erdt_msr_mode_leaves_msrs", test_msr_mode, NULL, 60 },
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

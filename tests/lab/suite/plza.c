// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD's privilege-level zero association: the kernel's accesses have a separate RMID.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define CPUS		2
#define BYTES		(1 << 19)
#define KERNEL_RMID	9
#define OTHER_RMID	11
#define WALKS		20

/* Makes the kernel write to all of its memory, repeatedly. */
struct asker {
	pid_t pid;
	uint32_t space;
	uint64_t walks;
	bool go, stop;
};

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

/* Sets the registers as resctrl does. */
static void associate(uint32_t rmid, uint32_t enables, unsigned int cpus)
{
	unsigned int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		run_on(0, cpu);
		lab_ask(LAB_PLZA_SET, LAB_ARG(0, rmid, cpus >> cpu & 1 ? enables : 0));
	}
}

static const struct cmt_record *kernel_owner(const struct dev *dev)
{
	static struct snapshot snapshot;
	uint32_t i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		if (snapshot.records[i].flags & CMT_F_OWNER_KERNEL)
			return &snapshot.records[i];
	return NULL;
}

static bool kernel_has(const struct dev *dev, uint32_t rmid)
{
	const struct cmt_record *r = kernel_owner(dev);

	return r && r->rmid == rmid && !strcmp(r->owner.comm, "kernel");
}

static void asker_main(struct asker *asker)
{
	char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int zero = open("/dev/zero", O_RDONLY);

	CHECK(memory != MAP_FAILED && zero >= 0, "no memory, or no /dev/zero");
	asker->space = lab_get(LAB_SPACE_NEW, 0);
	while (!__atomic_load_n(&asker->stop, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&asker->go, __ATOMIC_ACQUIRE)) {
			sleep_ms(1);
			continue;
		}
		CHECK(read(zero, memory, BYTES) == BYTES, "read: %m");
		__atomic_fetch_add(&asker->walks, 1, __ATOMIC_RELEASE);
	}
}

static struct asker *asker_start(void)
{
	struct asker *asker = mmap(NULL, sizeof(*asker), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	CHECK(asker != MAP_FAILED, "mmap: %m");
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		asker_main(asker);
		_exit(0);
	}
	asker->pid = pid;
	WAIT_FOR(__atomic_load_n(&asker->space, __ATOMIC_ACQUIRE), 10000,
		 "the process does not start");
	return asker;
}

static void asker_walk(struct asker *asker)
{
	uint64_t from = __atomic_load_n(&asker->walks, __ATOMIC_ACQUIRE);

	__atomic_store_n(&asker->go, true, __ATOMIC_RELEASE);
	WAIT_FOR(__atomic_load_n(&asker->walks, __ATOMIC_ACQUIRE) - from >= WALKS,
		 30000, "the process stands still");
}

/* A row for programs that do not know about RMIDs: an interval may have no tick. */
static bool screen_has_kernel(void)
{
	static char said[1 << 16];
	FILE *out = popen("cmtstat -i 0.3 -n 2 --json 2>&1", "r");
	size_t n;

	CHECK(out, "popen: %m");
	n = fread(said, 1, sizeof(said) - 1, out);
	said[n] = '\0';
	CHECK(!pclose(out), "cmtstat: %s", said);
	return strstr(said, "\"container\":\"(kernel)\"");
}

/*
 * No switch loads the kernel's RMID: one CPU reads it in each tick all the same, as far as
 * the budget allows: a reading takes long here.  One that did not run is in a tick of 32.
 */
static void check_read(const struct log *log)
{
	size_t ticks = log_count(log, CMT_REC_TICK) / CPUS, samples = 0, i;

	for (i = 0; i < log->count; i++)
		samples += log->records[i].type == CMT_REC_SAMPLE &&
			   log->records[i].rmid == KERNEL_RMID;
	note("the RMID is read %zu times in %zu ticks", samples, ticks);
	CHECK(ticks > 20 && samples * 24 > ticks, "read %zu times in %zu ticks", samples,
	      ticks);
}

/* Bytes that the kernel wrote for a process belong to the kernel, by the counter. */
static void test_sampled(void)
{
	struct asker *asker = asker_start();
	const struct cmt_record *sample;
	struct recorder recorder;
	struct readings readings;
	uint64_t truth;
	size_t matched;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	associate(KERNEL_RMID, LAB_PLZA_RMID | LAB_PLZA_ON, 3);
	WAIT_FOR(kernel_has(&dev, KERNEL_RMID), 10000, "no owner \"kernel\"");
	model_begin();
	recorder_start(&recorder, &dev, true);
	readings_begin(&readings);
	asker_walk(asker);
	wait_read(L3, KERNEL_RMID);
	recorder_stop(&recorder);
	readings_end(&readings);
	truth = lab_get(LAB_OF_PAIR, LAB_ARG(L3, KERNEL_RMID, asker->space));
	lab_switch(false);
	matched = samples_match(&recorder.log, &readings, KERNEL_RMID);
	sample = last_sample(&recorder.log, KERNEL_RMID);
	CHECK(matched && sample, "RMID %u is not sampled", KERNEL_RMID);
	note("of %u bytes that the kernel wrote %llu are its own; %zu samples equal the counter, the last one says %llu, %llu of traffic",
	     BYTES, (unsigned long long)truth, matched,
	     (unsigned long long)sample->sample.occupancy_bytes,
	     (unsigned long long)sample->sample.mbm_total_bytes);
	CHECK(truth >= BYTES * 9 / 10, "the bytes are not under the RMID");
	CHECK(sample->sample.occupancy_bytes >= BYTES * 9 / 10, "too little is said");
	CHECK(sample->flags & CMT_F_MBM_TOTAL && sample->sample.mbm_total_bytes,
	      "no traffic");
	check_read(&recorder.log);
	WAIT_FOR(screen_has_kernel(), 20000, "cmtstat has no row of the kernel");
	__atomic_store_n(&asker->stop, true, __ATOMIC_RELEASE);
	expect_exit_0(asker->pid, "the process");
	associate(0, 0, 3);
	readings_free(&readings);
	log_free(&recorder.log);
	dev_close(&dev);
}

static void expect_info(const struct dev *dev, uint32_t plza)
{
	WAIT_FOR(info_of(dev).plza == (CMT_PLZA_EXISTS | plza), 10000,
		 "%#x is said, not %#x", info_of(dev).plza, CMT_PLZA_EXISTS | plza);
}

/* The association appears, changes and disappears; cmt only reads it. */
static void test_followed(void)
{
	const uint32_t both = LAB_PLZA_RMID | LAB_PLZA_ON;
	struct cmt_stats stats;
	uint64_t reads;
	struct dev dev;

	CHECK(lab_get(LAB_CONFIG, LAB_C_PLZA), "the processor has no PLZA");
	associate(0, 0, 3);
	CHECK(!module_load(PROCESS), "the module does not load");
	dev_open(&dev, O_RDONLY);
	expect_info(&dev, 0);
	CHECK(!kernel_owner(&dev), "an owner without an association");
	associate(KERNEL_RMID, LAB_PLZA_RMID, 3);
	expect_info(&dev, 0);
	associate(KERNEL_RMID, LAB_PLZA_ON, 3);
	expect_info(&dev, CMT_PLZA_ON);
	CHECK(!kernel_owner(&dev), "an owner without an RMID");
	associate(KERNEL_RMID, both, 2);
	expect_info(&dev, CMT_PLZA_ON | CMT_PLZA_HAS_RMID | KERNEL_RMID);
	WAIT_FOR(kernel_has(&dev, KERNEL_RMID), 10000, "not from CPU 1 alone");
	stats = dev_stats(&dev);
	CHECK(stats.rmids_foreign == 1, "%u foreign RMIDs", stats.rmids_foreign);

	/* a failed access changes nothing */
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_GP, 1, 1));
	reads = lab_get(LAB_STAT, LAB_S_PLZA_RDMSR);
	WAIT_FOR(lab_get(LAB_STAT, LAB_S_PLZA_RDMSR) > reads + 2 * CPUS, 10000,
		 "the register is not read");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_GP, 0, 0));
	CHECK(kernel_has(&dev, KERNEL_RMID), "faults took the owner");

	associate(OTHER_RMID, both, 3);
	WAIT_FOR(kernel_has(&dev, OTHER_RMID), 10000, "the new RMID is not seen");
	associate(0, both, 3);
	expect_info(&dev, CMT_PLZA_ON | CMT_PLZA_HAS_RMID);
	WAIT_FOR(!kernel_owner(&dev), 10000, "RMID 0 has an owner");
	associate(KERNEL_RMID, both, 3);
	WAIT_FOR(kernel_has(&dev, KERNEL_RMID), 10000, "RMID %u again", KERNEL_RMID);
	CHECK(!dev_stats(&dev).pqr_overwritten, "an owner of cmt's is disturbed");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	CHECK(!lab_get(LAB_STAT, LAB_S_PLZA_WRMSR), "the register was written");
	associate(0, 0, 3);
}

const struct test plza_tests[] = {
	{ "plza_sampled", test_sampled, PROCESS, 120 },
	{ "plza_followed", test_followed, NULL, 120 },
	{ 0 }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's own user of the registers, beside us. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define ROOT		"/sys/fs/resctrl"
#define DOMAIN		"/mon_data/mon_L3_00/"
#define LOOKS		300
#define GROUP_RMID	1	/* resctrl's first */
#define GROUP_CLOSID	1

static void resctrl_mount(void)
{
	CHECK(!mount("resctrl", ROOT, "resctrl", 0, NULL), "mount: %m");
}

static void resctrl_umount(void)
{
	CHECK(!umount(ROOT), "umount: %m");
}

static void resctrl_add(const char *group, pid_t pid)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), ROOT "/%s/tasks", group);
	snprintf(text, sizeof(text), "%d", pid);
	CHECK(!write_file(path, text), "%s", path);
}

static uint64_t resctrl_read(const char *group, const char *event)
{
	char path[128], text[64];
	uint64_t value;

	snprintf(path, sizeof(path), ROOT "%s" DOMAIN "%s", group, event);
	read_file(path, text, sizeof(text));
	CHECK(sscanf(text, "%lu", &value) == 1, "%s: %s", path, text);
	return value;
}

/* Did QM_CTR give @units for RMID and event, from reading @from on? */
static bool was_given(uint64_t from, uint32_t rmid, uint32_t event,
		      uint64_t units)
{
	uint64_t head = lab_get(LAB_LOG_HEAD, 0);

	for (; from < head; from++) {
		struct lab_answer what = lab_ask(LAB_LOG_WHAT, from);
		struct lab_answer value = lab_ask(LAB_LOG_VALUE, from);

		if (LAB_LOG_RMID(what.second) == rmid &&
		    LAB_LOG_EVENT(what.second) == event &&
		    value.first == value.second && value.second == units)
			return true;
	}
	return false;
}

/* Of LOOKS readings of a group's occupancy, how many are not the model's. */
static unsigned int wrong_reads(const char *group, uint32_t rmid)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < LOOKS; i++) {
		uint64_t from = lab_get(LAB_LOG_HEAD, 0);
		uint64_t said = resctrl_read(group, "llc_occupancy");

		wrong += said % lab_unit() ||
			!was_given(from, rmid, 1, said / lab_unit());
	}
	return wrong;
}

/* A total that is right at two times grew by what the model counted. */
static void check_growth(const char *group, uint32_t rmid)
{
	struct lab_answer from = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, rmid, 0)), to;
	uint64_t first = resctrl_read(group, "mbm_total_bytes"), said, truth;

	sleep_ms(500);
	said = resctrl_read(group, "mbm_total_bytes") - first;
	to = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, rmid, 0));
	truth = to.first - from.first;
	note("RMID %u, mbm_total_bytes: grew by %llu, the model's by %llu", rmid,
	     (unsigned long long)said, (unsigned long long)truth);
	CHECK(said <= truth + lab_unit(), "resctrl says more than there was");
	CHECK(said * 100 + 200 * lab_unit() + (10 << 20) >= truth * 90,
	      "resctrl says less than there was");
}

static void with_us(bool mounted_first, const char *group)
{
	struct worker *worker;
	unsigned int wrong;
	struct dev dev;

	if (mounted_first)
		resctrl_mount();
	CHECK(!module_load(""), "the module does not load");
	if (!mounted_first)
		resctrl_mount();
	worker = worker_start(1 << 20);
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	wrong = wrong_reads(group, 0);
	note("%s first: %u of %u readings of resctrl are not the model's; the worker ran %llu of %llu walks under its RMID",
	     mounted_first ? "resctrl" : "cmt", wrong, LOOKS,
	     (unsigned long long)worker->with_rmid,
	     (unsigned long long)worker->walks);
	CHECK(!wrong, "resctrl reads wrong numbers");
	check_growth(group, 0);
	CHECK(worker->with_rmid * 100 >= worker->walks * 99,
	      "the worker lost its RMID");
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

static void test_mounted_first(void)
{
	with_us(true, "");
}

static void test_mounted_later(void)
{
	with_us(false, "");
}

static size_t count_flagged(const struct log *log, uint16_t type)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++)
		n += log->records[i].type == type &&
			log->records[i].flags & CMT_F_PQR_OVERWRITTEN;
	return n;
}

/* A process that is in a monitoring group of resctrl, and has an RMID of ours. */
static void test_mon_group(void)
{
	struct worker *worker;
	struct recorder recorder;
	struct cmt_stats stats;
	unsigned int wrong;
	struct dev dev;

	resctrl_mount();
	CHECK(!module_load(""), "the module does not load");
	CHECK(!mkdir(ROOT "/mon_groups/g", 0755), "mkdir: %m");
	worker = worker_start(1 << 20);
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	resctrl_add("mon_groups/g", worker->pid);
	model_begin();
	recorder_start(&recorder, &dev, true);
	worker_go(worker, true);
	worker_wait(worker, 2);
	wrong = wrong_reads("/mon_groups/g", GROUP_RMID);
	stats = dev_stats(&dev);
	recorder_stop(&recorder);
	note("%u of %u readings of the group are not the model's; under cmt's RMID %llu of %llu walks; %llu overwritten, %zu ticks and %zu samples say so; space %llu bytes: cmt's RMID %llu, the group's %llu",
	     wrong, LOOKS, (unsigned long long)worker->with_rmid,
	     (unsigned long long)worker->walks,
	     (unsigned long long)stats.pqr_overwritten,
	     count_flagged(&recorder.log, CMT_REC_TICK),
	     count_flagged(&recorder.log, CMT_REC_SAMPLE),
	     (unsigned long long)lab_get(LAB_OF_SPACE,
		LAB_ARG(L3, 0, worker->space)),
	     (unsigned long long)lab_get(LAB_OF_PAIR,
		LAB_ARG(L3, worker->rmid, worker->space)),
	     (unsigned long long)lab_get(LAB_OF_PAIR,
		LAB_ARG(L3, GROUP_RMID, worker->space)));
	CHECK(worker->rmid != GROUP_RMID, "cmt gave away resctrl's RMID");
	CHECK(!wrong, "resctrl reads wrong numbers");
	CHECK(worker->with_rmid == worker->walks || stats.pqr_overwritten,
	      "overwritten associations are not counted");
	CHECK(!count_flagged(&recorder.log, CMT_REC_TICK) ==
	      !count_flagged(&recorder.log, CMT_REC_SAMPLE),
	      "ticks and samples do not agree on them");
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
	lab_switch(false);
	CHECK(!rmdir(ROOT "/mon_groups/g"), "rmdir: %m");
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

/* What a worker has run under since the last time this was asked. */
static uint32_t closids_of(struct worker *worker)
{
	__atomic_store_n(&worker->closids, 0, __ATOMIC_RELAXED);
	worker_wait(worker, 200);
	return __atomic_load_n(&worker->closids, __ATOMIC_RELAXED);
}

/* A process in an allocation group of resctrl keeps its CLOSID whatever we do. */
static void test_cat_group(void)
{
	uint32_t before, loaded, running, after;
	struct worker *worker, *other;
	uint64_t with_rmid, walks;
	struct recorder recorder;
	struct dev dev;

	resctrl_mount();
	CHECK(!mkdir(ROOT "/c", 0755), "mkdir: %m (closids= is not set?)");
	CHECK(!write_file(ROOT "/c/schemata", "L3:0=f\n"), "schemata");
	worker = worker_start(64 << 10);
	other = worker_start(64 << 10);
	resctrl_add("c", worker->pid);
	worker_go(worker, true);
	worker_go(other, true);
	sleep_ms(20);
	before = closids_of(worker);
	CHECK(!module_load(""), "the module does not load");
	loaded = closids_of(worker);
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	recorder_start(&recorder, &dev, true);
	with_rmid = worker->with_rmid;
	walks = worker->walks;
	running = closids_of(worker);
	note("under cmt's RMID %llu of %llu walks, %llu overwritten",
	     (unsigned long long)(worker->with_rmid - with_rmid),
	     (unsigned long long)(worker->walks - walks),
	     (unsigned long long)dev_stats(&dev).pqr_overwritten);
	recorder_stop(&recorder);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	after = closids_of(worker);
	note("CLOSIDs seen: before %#x, loaded %#x, running %#x, after %#x; the other's %#x",
	     before, loaded, running, after, closids_of(other));
	CHECK(before == 1U << GROUP_CLOSID, "resctrl did not set its CLOSID");
	CHECK(loaded == before && running == before && after == before,
	      "the CLOSID did not survive");
	CHECK(closids_of(other) == 1, "a CLOSID that nobody gave");
	worker_stop(worker);
	worker_stop(other);
	log_free(&recorder.log);
	CHECK(!rmdir(ROOT "/c"), "rmdir: %m");
	resctrl_umount();
}

const struct test resctrl_tests[] = {
	{ "resctrl_mounted_before_us", test_mounted_first, NULL, 120 },
	{ "resctrl_mounted_after_us", test_mounted_later, NULL, 120 },
	{ "resctrl_monitoring_group", test_mon_group, NULL, 120 },
	{ "resctrl_allocation_group", test_cat_group, NULL, 120 },
	{ 0 }
};

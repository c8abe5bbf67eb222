// SPDX-License-Identifier: GPL-2.0-or-later
/* The software backend: owners and ticks without a counter. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "dev.h"
#include "suite.h"

#define SOFTWARE_RMIDS	4096

/* Where the processor has L3 monitoring, the backend must be named. */
static void software_load(const char *named, const char *by_auto)
{
	CHECK(!module_load(has_hw ? named : by_auto), "load");
}

static void check_info(const struct cmt_info *info)
{
	CHECK(info->backend == CMT_BACKEND_SOFTWARE, "backend %u (%s)",
	      info->backend, info->reason);
	CHECK(info->nr_rmids == SOFTWARE_RMIDS &&
	      info->rmids_usable == SOFTWARE_RMIDS - 1, "%u RMIDs, %u usable",
	      info->nr_rmids, info->rmids_usable);
	CHECK(!info->events && !info->upscale_bytes && !info->counter_bits,
	      "events %#x, unit %u, %u bits", info->events,
	      info->upscale_bytes, info->counter_bits);
	CHECK(info->reason[0] && !strcmp(info->reason, info->mbm_reason),
	      "reason '%s', of bandwidth '%s'", info->reason, info->mbm_reason);
}

static void software_auto(void)
{
	struct dev dev;

	if (!has_hw) {
		CHECK(!module_load("backend=auto"), "load");
		dev_open(&dev, O_RDONLY);
		check_info(&dev.info);
		CHECK(strstr(dev.info.reason, "CPUID") &&
		      strstr(dev.info.reason, "(in a VM)"),
		      "not what the hardware lacks: '%s'", dev.info.reason);
		dev_close(&dev);
		CHECK(!module_unload(), "unload");
	}
	CHECK(!module_load("backend=software"), "load");
	dev_open(&dev, O_RDONLY);
	check_info(&dev.info);
	CHECK(!strcmp(dev.info.reason, "backend=software"), "reason '%s'",
	      dev.info.reason);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/*
 * A process from its begin to its end, with an RMID that the processor does not have.
 */
static void software_owners(void)
{
	static struct snapshot snapshot;
	const struct cmt_record *alloc, *gone, *r;
	struct recorder rec;
	struct dev dev;
	pid_t pid;

	software_load(SOFTWARE, "backend=auto");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, true);
	pid = park(1, "numbered");
	dev_snapshot(&dev, &snapshot);
	r = snapshot_find(&snapshot, pid);
	CHECK(r && r->rmid > SOFTWARE_RMIDS / 2, "process %d has RMID %u", pid,
	      r ? r->rmid : 0);
	CHECK(!(r->flags & CMT_F_RESIDUAL) && !r->owner.residual_bytes,
	      "flags %#x, residue %llu", r->flags,
	      (unsigned long long)r->owner.residual_bytes);
	reap(pid, SIGKILL);
	recorder_stop(&rec);
	alloc = log_find(&rec.log, 0, CMT_REC_ALLOC, pid);
	gone = log_find(&rec.log, 0, CMT_REC_FREE, pid);
	CHECK(alloc && gone, "no ALLOC or no FREE");
	CHECK(alloc->rmid == r->rmid && gone->rmid == r->rmid &&
	      alloc->generation == gone->generation, "not one RMID");
	check_pool(&dev);
	log_free(&rec.log);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* Ticks report the running RMID, and read no counter. */
static void software_ticks(void)
{
	const struct cmt_record *r;
	struct cmt_stats s;
	struct recorder rec;
	struct dev dev, look;
	size_t i, ticks = 0;
	uint64_t id;
	pid_t pid;

	software_load(SOFTWARE "scope=container", "backend=auto scope=container");
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	recorder_start(&rec, &dev, true);
	dev_open(&look, O_RDONLY);
	dev_map(&look, FROM_NOW);
	id = group_make(container(0));
	pid = spin_on(1);
	group_enter(container(0), pid);
	r = owner_find(&dev, CMT_OWNER_CGROUP, id);
	CHECK(r, "the container has no RMID");
	wait_tick(&look, 1, r->rmid);
	/* the CPU has the RMID of its owner */
	scope_set(&dev, CMT_SCOPE_PROCESS);
	r = owner_find(&dev, CMT_OWNER_PROCESS, pid);
	CHECK(r, "the process has no RMID");
	wait_tick(&look, 1, r->rmid);
	reap(pid, SIGKILL);
	group_remove(container(0));
	dev_close(&look);
	recorder_stop(&rec);
	for (i = 0; i < rec.log.count; i++) {
		r = &rec.log.records[i];
		CHECK(r->type != CMT_REC_SAMPLE, "a SAMPLE of RMID %u", r->rmid);
		if (r->type != CMT_REC_TICK)
			continue;
		ticks++;
		CHECK(!r->tick.read && !r->tick.waiting && !r->tick.deferred,
		      "a tick read %llu, %llu are waiting",
		      (unsigned long long)r->tick.read,
		      (unsigned long long)r->tick.waiting);
	}
	s = dev_stats(&dev);
	CHECK(ticks && !s.samples && !s.deferred && !s.read_errors &&
	      !s.read_unavailable, "%zu ticks, %llu samples, %llu deferred",
	      ticks, (unsigned long long)s.samples,
	      (unsigned long long)s.deferred);
	CHECK(s.pqr_writes && s.switches, "no CPU changed its RMID");
	check_pool(&dev);
	log_free(&rec.log);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

#define TOOL_OUTPUT "/run/tool"

/* The output of a program, which must exit with 0. */
static const char *output_of(const char *const argv[])
{
	static char text[1 << 18];
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid == 0) {
		if (!freopen(TOOL_OUTPUT, "w", stdout))
			_exit(1);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	expect_exit_0(pid, argv[0]);
	return read_file(TOOL_OUTPUT, text, sizeof(text));
}

static void check_says(const char *text, const char *what)
{
	CHECK(strstr(text, what), "no '%s' in: %.800s", what, text);
}

static void check_json(const struct dev *dev, const char *text, pid_t pid)
{
	char line[160];

	snprintf(line, sizeof(line), "\"unavailable\":\"%s\"",
		 dev->info.reason);
	check_says(text, line);
	snprintf(line, sizeof(line), "\"pid\":%d,\"comm\":\"listed\"", pid);
	check_says(text, line);
	check_says(text, "\"occupancy_bytes\":null");
	check_says(text, "\"mbm_total_bytes_per_s\":null");
	check_says(text, "\"reason\":\"unavailable\"");
	CHECK(!strstr(text, "occupancy_bytes\":0"), "0 is a value");
}

/* The tools show owners without values, and the reason. */
static void software_tools(void)
{
	static const char *const info[] = { "/bin/cmtctl", "info", NULL };
	static const char *const rmids[] = { "/bin/cmtctl", "rmids", NULL };
	static const char *const table[] = {
		"/bin/cmtstat", "-i", "0.3", "-n", "1", "--by", "process", NULL
	};
	static const char *const json[] = {
		"/bin/cmtstat", "-i", "0.3", "-n", "1", "--by", "process",
		"--json", NULL
	};
	char line[160];
	const char *text;
	struct dev dev;
	pid_t pid;

	software_load(SOFTWARE, "backend=auto");
	dev_open(&dev, O_RDONLY);
	pid = park(0, "listed");
	text = output_of(info);
	check_says(text, "software");
	check_says(text, dev.info.reason);
	text = output_of(rmids);
	check_says(text, "listed");
	snprintf(line, sizeof(line), "UNAVAILABLE: cache occupancy: %s\n",
		 dev.info.reason);
	check_says(text, line);
	text = output_of(table);
	check_says(text, "listed");
	snprintf(line, sizeof(line),
		 "UNAVAILABLE: cache occupancy and memory bandwidth: %s\n",
		 dev.info.reason);
	check_says(text, line);
	check_json(&dev, output_of(json), pid);
	reap(pid, SIGKILL);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

#define CROWD	(SOFTWARE_RMIDS + 50)

/* Every RMID but 0 is used, one of them by the overflow owner. */
static void software_full(void)
{
	static struct snapshot snapshot;
	static bool seen[SOFTWARE_RMIDS];
	struct cmt_stats s;
	struct dev dev;
	unsigned int i;

	if (slowness > 1)
		return;
	software_load(SOFTWARE "scope=container ring_records=16384",
		      "backend=auto scope=container ring_records=16384");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < CROWD; i++)
		group_make(container(i));
	s = dev_stats(&dev);
	CHECK(s.rmids_active == SOFTWARE_RMIDS - 1 &&
	      s.pending == CROWD - (SOFTWARE_RMIDS - 2),
	      "%u active, %u are pending", s.rmids_active, s.pending);
	dev_snapshot(&dev, &snapshot);
	CHECK(snapshot.count == SOFTWARE_RMIDS - 1, "%u assignments",
	      snapshot.count);
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < snapshot.count; i++) {
		CHECK(!seen[snapshot.records[i].rmid], "RMID %u twice",
		      snapshot.records[i].rmid);
		seen[snapshot.records[i].rmid] = true;
	}
	for (i = 0; i < CROWD; i++)
		group_remove(container(i));
	WAIT_FOR(dev_stats(&dev).rmids_active == 1, 5000, "%u stay active",
		 dev_stats(&dev).rmids_active);
	check_pool(&dev);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

const struct test software_tests[] = {
	{ "software_auto", software_auto, NULL, 0 },
	{ "software_owners", software_owners, NULL, 0 },
	{ "software_ticks", software_ticks, NULL, 40 },
	{ "software_tools", software_tools, NULL, 40 },
	{ "software_full", software_full, NULL, 90 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The resctrl source of libcmt beside the module: both have the same values of a group.
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define GROUP		"mon_groups/g"
#define FITS_BYTES	(1U << 20)	/* much less than the size of the cache */
#define WALK_BYTES	(32U << 20)	/* more than the size of the cache */
#define WALKS		10
#define CLOSE_PERCENT	1
#define BATCH		1024

/* A device, and its last values of the group. */
struct side {
	struct cmt_device *dev;
	struct cmt_reader *reader;
	uint32_t rmid;		/* RMID of the group, by this device */
	struct cmt_record last;
};

static void side_open(struct side *side, struct cmt_device *dev)
{
	int err = cmt_reader_new(&side->reader, dev, NULL);

	CHECK(!err, "cmt_reader_new: %s", strerror(-err));
	side->dev = dev;
}

static void side_close(struct side *side)
{
	cmt_reader_free(side->reader);
	cmt_device_close(side->dev);
}

/* The RMID of the group with this name; 0: there is none. */
static uint32_t find_group(const struct cmt_device *dev, const char *name)
{
	struct cmt_snapshot *owners;
	uint32_t rmid = 0;
	char path[4096];

	CHECK(!cmt_device_snapshot(dev, &owners), "no snapshot");
	for (uint32_t i = 0; i < owners->count; i++) {
		const struct cmt_record *owner = cmt_snapshot_at(owners, i);

		if (!cmt_device_cgroup_path(dev, owner->owner.cgroup_id, path,
					    sizeof(path)) && !strcmp(path, name))
			rmid = owner->rmid;
	}
	cmt_snapshot_free(owners);
	return rmid;
}

/* Read the present records.  True: the group was read at or after @since_ns. */
static bool side_drain(struct side *side, uint64_t since_ns)
{
	static struct cmt_record records[BATCH];
	int n;

	while ((n = cmt_reader_read(side->reader, records, BATCH)) > 0)
		for (int i = 0; i < n; i++)
			if (records[i].type == CMT_REC_SAMPLE &&
			    records[i].rmid == side->rmid)
				side->last = records[i];
	CHECK(n >= 0, "cmt_reader_read: %s", strerror(-n));
	return side->last.ts >= since_ns;
}

/* The worker is at rest: from now on the values of both do not change. */
static void read_both(struct side *a, struct side *b)
{
	uint64_t since = now_ns();
	const uint32_t both = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;

	WAIT_FOR(side_drain(b, since), 20000, "resctrl does not read the group");
	WAIT_FOR(side_drain(a, b->last.ts), 20000, "the module does not read the group");
	CHECK((a->last.flags & both) == both, "the module: flags %#x", a->last.flags);
	CHECK((b->last.flags & both) == both, "resctrl: flags %#x", b->last.flags);
}

static void check_close(const char *what, uint64_t module, uint64_t files)
{
	uint64_t differ = module > files ? module - files : files - module;

	note("%s: %llu bytes by the module, %llu by resctrl, %.3f %% apart", what,
	     (unsigned long long)module, (unsigned long long)files,
	     module ? 100.0 * differ / module : 0);
	CHECK(module && differ * 100 <= module * CLOSE_PERCENT + 100 * lab_unit(),
	      "%s differs", what);
}

/* The cache has room, so no line of the resting worker is evicted. */
static void compare_occupancy(struct side *module, struct side *files,
			      struct worker *worker)
{
	lab_ask(LAB_FLUSH, 0);
	worker_wait(worker, WALKS);
	worker_go(worker, false);
	read_both(module, files);
	check_close("occupancy", module->last.sample.occupancy_bytes,
		    files->last.sample.occupancy_bytes);
	CHECK(files->last.sample.occupancy_bytes + lab_unit() > FITS_BYTES,
	      "the worker is not there");
}

static void compare_traffic(struct side *module, struct side *files,
			    struct worker *worker)
{
	uint64_t module_total, files_total;

	worker_go(worker, false);
	read_both(module, files);
	module_total = module->last.sample.mbm_total_bytes;
	files_total = files->last.sample.mbm_total_bytes;
	worker_go(worker, true);
	worker_wait(worker, WALKS);
	worker_go(worker, false);
	read_both(module, files);
	check_close("traffic", module->last.sample.mbm_total_bytes - module_total,
		    files->last.sample.mbm_total_bytes - files_total);
	CHECK(module->last.sample.mbm_total_bytes - module_total >= WALK_BYTES,
	      "the worker moved nothing");
}

static void test_same_values(void)
{
	struct side module = { 0 }, files = { 0 };
	struct cmt_device *dev;
	struct worker *worker;
	struct dev mapped;

	resctrl_mount();
	CHECK(!module_load(PROCESS), "the module does not load");
	resctrl_make(GROUP);
	model_begin();
	worker = worker_start(FITS_BYTES);
	dev_open(&mapped, O_RDONLY);
	dev_map(&mapped, FROM_NOW);
	worker_identify(worker, &mapped);
	resctrl_add(GROUP, worker->pid);
	worker_go(worker, true);
	module.rmid = group_rmid(worker, worker->rmid);
	CHECK(!cmt_device_open(&dev, NULL, 0), "cmt_device_open fails");
	side_open(&module, dev);
	CHECK(!cmt_resctrl_open(&dev, NULL), "cmt_resctrl_open fails");
	side_open(&files, dev);
	files.rmid = find_group(dev, "/" GROUP);
	CHECK(files.rmid, "resctrl's group is not found");
	compare_occupancy(&module, &files, worker);
	worker_stop(worker);
	worker = worker_start(WALK_BYTES);
	resctrl_add(GROUP, worker->pid);
	compare_traffic(&module, &files, worker);
	CHECK(umount(RESCTRL) && errno == EBUSY, "umount: %m");
	side_close(&files);
	side_close(&module);
	lab_switch(false);
	worker_stop(worker);
	dev_close(&mapped);
	resctrl_remove(GROUP);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

/* A group that is removed while its files are open: the kernel says ENODEV. */
static void test_group_goes(void)
{
	struct side files = { 0 };
	struct cmt_device *dev;
	uint32_t rmid;

	resctrl_mount();
	resctrl_make(GROUP);
	CHECK(!cmt_resctrl_open(&dev, NULL), "cmt_resctrl_open fails");
	side_open(&files, dev);
	files.rmid = find_group(dev, "/" GROUP);
	rmid = files.rmid;
	WAIT_FOR(side_drain(&files, 1), 20000, "the group is not read");
	resctrl_remove(GROUP);
	WAIT_FOR((side_drain(&files, UINT64_MAX), !find_group(dev, "/" GROUP)), 20000,
		 "RMID %u is that of a group that is gone", rmid);
	side_close(&files);
	CHECK(cmt_resctrl_open(&dev, NULL) == 0, "cmt_resctrl_open fails");
	cmt_device_close(dev);
	resctrl_umount();
	CHECK(cmt_resctrl_open(&dev, NULL) == -ENOENT, "resctrl is not mounted, and opens");
}

static struct cmt_record record_of(struct side *side, const char *name)
{
	uint64_t since = now_ns();

	side->rmid = find_group(side->dev, name);
	CHECK(side->rmid, "%s is not found", name);
	WAIT_FOR(side_drain(side, since), 20000, "%s is not read", name);
	return side->last;
}

/* The kernel counts a monitoring group in its control group, too; the source does not. */
static void test_control_group_alone(void)
{
	struct cmt_record control, monitoring;
	struct side files = { 0 };
	struct cmt_device *dev;
	struct worker *worker;
	uint64_t file;

	resctrl_mount();
	resctrl_make("B");
	resctrl_make("B/mon_groups/m");
	model_begin();
	worker = worker_start(1 << 20);
	resctrl_add("B", worker->pid);
	resctrl_add("B/mon_groups/m", worker->pid);
	worker_go(worker, true);
	group_rmid(worker, 0);
	lab_ask(LAB_FLUSH, 0);
	worker_wait(worker, WALKS);
	worker_go(worker, false);
	CHECK(!cmt_resctrl_open(&dev, NULL), "cmt_resctrl_open fails");
	side_open(&files, dev);
	monitoring = record_of(&files, "/B/m");
	control = record_of(&files, "/B");
	file = resctrl_read("B", "llc_occupancy");
	note("B's file says %llu bytes; the source %llu of B, and %llu of B/m",
	     (unsigned long long)file,
	     (unsigned long long)control.sample.occupancy_bytes,
	     (unsigned long long)monitoring.sample.occupancy_bytes);
	CHECK(monitoring.sample.occupancy_bytes >= 1 << 20, "B/m has no worker");
	CHECK(file >= 1 << 20, "B's file is without B/m");
	CHECK(control.sample.occupancy_bytes < 1 << 17, "B is with B/m");
	side_close(&files);
	lab_switch(false);
	worker_stop(worker);
	resctrl_remove("B/mon_groups/m");
	resctrl_remove("B");
	resctrl_umount();
}

/* The output of cmtstat with @options, and its exit status. */
static int run_cmtstat(const char *options, char *said, size_t size)
{
	char command[128];
	FILE *out;
	size_t n;

	snprintf(command, sizeof(command), "cmtstat %s 2>&1", options);
	out = popen(command, "r");
	CHECK(out, "popen: %m");
	n = fread(said, 1, size - 1, out);
	said[n] = '\0';
	return pclose(out);
}

/* Without /dev/cmt, cmtstat uses resctrl if resctrl is mounted. */
static void test_cmtstat_chooses(void)
{
	static char said[1 << 16];
	struct worker *worker;

	CHECK(run_cmtstat("-n 1", said, sizeof(said)), "cmtstat reads: %s", said);
	CHECK(strstr(said, "the cmt module is not loaded"), "%s", said);
	resctrl_mount();
	resctrl_make(GROUP);
	worker = worker_start(1 << 20);
	resctrl_add(GROUP, worker->pid);
	worker_go(worker, true);
	CHECK(!run_cmtstat("-i 0.3 -n 2 --json", said, sizeof(said)), "%s", said);
	CHECK(strstr(said, "\"source\":\"resctrl\""), "%s", said);
	CHECK(strstr(said, "\"container\":\"resctrl:" GROUP "\""), "%s", said);
	CHECK(run_cmtstat("-n 1 --source device", said, sizeof(said)), "%s", said);
	CHECK(run_cmtstat("-n 1 --by process", said, sizeof(said)), "%s", said);
	CHECK(strstr(said, "counts groups, and no processes"), "%s", said);
	worker_stop(worker);
	resctrl_remove(GROUP);
	resctrl_umount();
}

const struct test source_tests[] = {
	{ "source_control_group_alone", test_control_group_alone, NULL, 120 },
	{ "source_cmtstat_chooses", test_cmtstat_chooses, NULL, 120 },
	{ "source_same_values", test_same_values, NULL, 300 },
	{ "source_group_is_removed", test_group_goes, NULL, 120 },
	{ 0 }
};

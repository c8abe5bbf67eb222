// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resctrl beside cmt, where the processor tracks few RMIDs.  It reports only to the first
 * reading that it tracks an RMID anew, and that report must be resctrl's.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define WALK_BYTES	(2U << 20)	/* more than the cache */
#define WALKS		4	/* more than the group walks in a round after its rest */
#define ROUNDS		10
#define OTHERS		3	/* as many RMIDs as are tracked */
#define MBM		(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

/* A group that rests and runs, and others for which its RMID is tracked no longer */
struct scene {
	struct worker *worker, *others[OTHERS];
	uint32_t rmid;
};

static const char *group(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "mon_groups/g%u", i);
	return name;
}

static struct worker *worker_in(unsigned int i)
{
	struct worker *worker = worker_start(WALK_BYTES);

	resctrl_make(group(i));
	resctrl_add(group(i), worker->pid);
	worker_go(worker, true);
	return worker;
}

static void resume(const struct worker *worker)
{
	CHECK(!kill(worker->pid, SIGCONT), "SIGCONT: %m");
}

static void others_halt(const struct scene *scene)
{
	unsigned int i;

	for (i = 0; i < OTHERS; i++)
		worker_halt(scene->others[i]);
}

static void others_resume(const struct scene *scene)
{
	unsigned int i;

	for (i = 0; i < OTHERS; i++)
		resume(scene->others[i]);
}

/* The groups are there before the module is loaded, and after it is unloaded. */
static void scene_begin(struct scene *scene)
{
	unsigned int i;

	CHECK(lab_get(LAB_CONFIG, LAB_C_TRACKED) == OTHERS, "tracked= is not set");
	resctrl_mount();
	model_begin();
	scene->worker = worker_in(0);
	scene->rmid = group_rmid(scene->worker, 0);
	for (i = 0; i < OTHERS; i++)
		scene->others[i] = worker_in(1 + i);
	others_halt(scene);
}

static void scene_end(struct scene *scene)
{
	unsigned int i;

	lab_switch(false);
	worker_stop(scene->worker);
	for (i = 0; i < OTHERS; i++)
		worker_stop(scene->others[i]);
	for (i = 0; i <= OTHERS; i++)
		resctrl_remove(group(i));
	resctrl_umount();
}

/* The first reading of an RMID that is tracked anew is "Unavailable". */
static bool try_total(uint64_t *bytes)
{
	char text[64];

	read_file(resctrl_event(group(0), "mbm_total_bytes"), text, sizeof(text));
	return sscanf(text, "%lu", bytes) == 1;
}

static uint64_t total(void)
{
	uint64_t bytes;

	WAIT_FOR(try_total(&bytes), 10000, "resctrl shows no traffic");
	return bytes;
}

static uint64_t truth(const struct scene *scene)
{
	return lab_get(LAB_TRAFFIC, LAB_ARG(L3, scene->rmid, 0));
}

static void rest(const struct scene *scene)
{
	worker_halt(scene->worker);
	others_resume(scene);
	WAIT_FOR(!lab_get(LAB_TRACKED, LAB_ARG(L3, scene->rmid, 0)), 10000,
		 "the RMID of a group that rests stays tracked");
	others_halt(scene);
	resume(scene->worker);
}

/* Only the group runs, and so its RMID stays tracked: first for long, then shortly. */
static void rounds_run(const struct scene *scene, const char *who)
{
	/* the group runs: the truth is the earlier one here, and the later one in the rounds */
	uint64_t true_from = truth(scene), from = total(), said = from, moved;
	unsigned int round, wrong = 0;

	for (round = 0; round < ROUNDS; round++) {
		worker_wait(scene->worker, WALKS);
		said = total();
		rest(scene);
		worker_wait(scene->worker, 1);
		said = total();
		moved = truth(scene) - true_from;
		wrong += said - from > moved + lab_unit();
	}
	note("%s: in %u of %u rounds resctrl's total is too high; the last one is %llu bytes of %llu",
	     who, wrong, ROUNDS, (unsigned long long)(said - from),
	     (unsigned long long)moved);
	CHECK(!wrong, "%s: resctrl's total is higher than the truth", who);
	CHECK(said > from, "%s: resctrl counts nothing", who);
}

/*
 * The numbers of samples of an RMID; of those without occupancy, with traffic, and with the
 * reason against it
 */
struct seen {
	size_t samples, unoccupied, counted, unavailable;
};

static struct seen seen_of(const struct log *log, uint32_t rmid)
{
	struct seen seen = { 0 };
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid)
			continue;
		seen.samples++;
		seen.unoccupied += !(r->flags & CMT_F_OCCUPANCY);
		CHECK(r->flags & (CMT_F_OCCUPANCY | CMT_F_ERROR),
		      "a sample without occupancy");
		seen.counted += !!(r->flags & MBM);
		seen.unavailable += !!(r->flags & CMT_F_UNAVAILABLE);
	}
	note("RMID %u: %zu samples, %zu with traffic, %zu without it, %zu without occupancy",
	     rmid, seen.samples, seen.counted, seen.unavailable, seen.unoccupied);
	/* a busy host lets another CPU change EVTSEL in each attempt of a reading */
	CHECK(seen.unoccupied <= seen.samples / 100, "occupancy is not read");
	CHECK(seen.samples, "no sample of RMID %u", rmid);
	return seen;
}

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

/* cmt's own RMIDs, which resctrl does not read, and RMID 0 have traffic. */
static void check_records(const struct log *log, uint32_t group, uint32_t own)
{
	struct seen seen = seen_of(log, group);

	CHECK(!seen.counted && seen.unavailable == seen.samples,
	      "the traffic of the group is read");
	CHECK(seen_of(log, own).counted, "an owner has no traffic");
	CHECK(seen_of(log, 0).counted, "RMID 0 has no traffic");
}

/* An owner beside the groups */
static void run_own(const struct scene *scene, struct worker *own)
{
	unsigned int i;

	worker_halt(scene->worker);
	worker_go(own, true);
	for (i = 0; i < 3; i++) {
		worker_wait(own, 2);
		wait_read(L3, own->rmid);
	}
	resume(scene->worker);
}

static void test_resctrl(void)
{
	struct recorder recorder;
	struct worker *own;
	struct scene scene;
	struct dev dev;

	scene_begin(&scene);
	rounds_run(&scene, "without cmt");
	CHECK(!module_load(PROCESS), "the module does not load");
	own = worker_start(WALK_BYTES);
	dev_open(&dev, O_RDONLY);
	worker_identify(own, &dev);
	dev_map(&dev, FROM_NOW);
	WAIT_FOR(resctrl_owner(&dev, scene.rmid), 10000, "the group is not noticed");
	recorder_start(&recorder, &dev, true);
	rounds_run(&scene, "beside cmt");
	run_own(&scene, own);
	recorder_stop(&recorder);
	check_records(&recorder.log, scene.rmid, own->rmid);
	CHECK(info_of(&dev).mbm_reason[0], "the reason is not said");
	log_free(&recorder.log);
	worker_stop(own);
	scene_end(&scene);
	WAIT_FOR(!info_of(&dev).mbm_reason[0], 10000, "a reason is said without resctrl");
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

const struct test tracked_resctrl_tests[] = {
	{ "tracked_resctrl", test_resctrl, NULL, 300 },
	{ 0 }
};

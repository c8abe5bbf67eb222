// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rdtgroup.h"

#define DOMAIN "mon_data/mon_L3_00"

void resctrl_mount(void)
{
	CHECK(!mount("resctrl", RESCTRL, "resctrl", 0, NULL), "mount: %m");
}

void resctrl_umount(void)
{
	CHECK(!umount(RESCTRL), "umount: %m");
}

bool resctrl_reads_on_first_cpu(void)
{
	unsigned int major, minor;
	struct utsname name;

	CHECK(!uname(&name) && sscanf(name.release, "%u.%u", &major, &minor) == 2,
	      "uname: %m");
	return major > 6 || (major == 6 && minor >= 9);
}

static const char *path_of(const char *group)
{
	static char path[128];

	snprintf(path, sizeof(path), RESCTRL "/%s", group);
	return path;
}

/* EBUSY: an RMID is in resctrl's limbo, at which a worker looks every second. */
static int try_make(const char *group)
{
	return mkdir(path_of(group), 0755) ? errno : 0;
}

bool resctrl_try_make(const char *group)
{
	int err;

	WAIT_FOR((err = try_make(group)) != EBUSY, 10000,
		 "RMIDs stay in resctrl's limbo");
	CHECK(!err || err == ENOSPC, "mkdir %s: %s (closids= is not set?)",
	      group, strerror(err));
	return !err;
}

void resctrl_make(const char *group)
{
	CHECK(resctrl_try_make(group), "no RMID is free for %s", group);
}

void resctrl_remove(const char *group)
{
	CHECK(!rmdir(path_of(group)), "rmdir %s: %m", group);
}

static void group_write(const char *group, const char *file, const char *text)
{
	char path[160];
	int err;

	snprintf(path, sizeof(path), "%s/%s", path_of(group), file);
	err = write_file(path, text);
	CHECK(!err, "%s to %s: %s", text, path, strerror(-err));
}

void resctrl_add(const char *group, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	group_write(group, "tasks", text);
}

void resctrl_cpus(const char *group, const char *mask)
{
	group_write(group, "cpus", mask);
}

const char *resctrl_event(const char *group, const char *event)
{
	static char path[192];

	snprintf(path, sizeof(path), "%s/" DOMAIN "/%s", path_of(group), event);
	return path;
}

uint64_t resctrl_read(const char *group, const char *event)
{
	const char *path = resctrl_event(group, event);
	char text[64];
	uint64_t value;

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

unsigned int wrong_reads(const char *group, uint32_t rmid)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < RESCTRL_LOOKS; i++) {
		uint64_t from = lab_get(LAB_LOG_HEAD, 0);
		uint64_t said = resctrl_read(group, "llc_occupancy");

		wrong += said % lab_unit() ||
			!was_given(from, rmid, 1, said / lab_unit());
	}
	return wrong;
}

unsigned int percent_under(struct worker *worker, uint32_t rmid, uint64_t walks)
{
	uint64_t elsewhere, all;

	__atomic_store_n(&worker->rmid, rmid, __ATOMIC_RELAXED);
	worker_wait(worker, 2);
	elsewhere = __atomic_load_n(&worker->elsewhere, __ATOMIC_RELAXED);
	all = __atomic_load_n(&worker->walks, __ATOMIC_RELAXED);
	worker_wait(worker, walks);
	/*
	 * The two counts are not loaded at one instant, and the worker may stop
	 * between them.  A count of wrong walks is exact if there are none.
	 */
	all = __atomic_load_n(&worker->walks, __ATOMIC_ACQUIRE) - all;
	elsewhere = __atomic_load_n(&worker->elsewhere, __ATOMIC_RELAXED) -
		    elsewhere;
	return elsewhere >= all ? 0 : 100 - (elsewhere * 100 + all - 1) / all;
}

uint32_t group_rmid(struct worker *worker, uint32_t ours)
{
	uint32_t rmid = 0;

	WAIT_FOR((rmid = __atomic_load_n(&worker->seen_rmid, __ATOMIC_RELAXED),
		  rmid && rmid != ours), 10000, "resctrl gave no RMID");
	return rmid;
}

void check_under(struct worker *worker, const char *who, uint32_t rmid)
{
	unsigned int percent;

	WAIT_FOR(percent_under(worker, rmid, 10) == 100, 10000,
		 "%s does not come under RMID %u", who, rmid);
	percent = percent_under(worker, rmid, 10);
	CHECK(percent == 100, "%s is under RMID %u for %u %%, then %u", who,
	      rmid, percent, worker->other_rmid);
}

#define TICKS		200	/* of a recording */

/* The last sample of the RMID; the recording has some hundred ticks. */
static const struct cmt_record *record_sample(struct dev *dev, struct log *log,
					      uint32_t rmid)
{
	const struct cmt_record *sample;
	struct recorder recorder;
	uint64_t from;

	recorder_start(&recorder, dev, true);
	from = dev_stats(dev).ticks;
	WAIT_FOR(dev_stats(dev).ticks >= from + TICKS, 30000, "there are no ticks");
	recorder_stop(&recorder);
	*log = recorder.log;
	sample = last_sample(log, rmid);
	CHECK(sample, "no sample of RMID %u", rmid);
	return sample;
}

/* Of two that follow each other on two CPUs, the second one may have nothing to say. */
void check_marks(struct dev *dev, uint32_t rmid, bool marked, const char *when)
{
	size_t samples = 0, flagged = 0, i;
	struct log log;

	record_sample(dev, &log, rmid);
	for (i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid)
			continue;
		if (samples++)
			flagged += !!(r->flags & CMT_F_PQR_OVERWRITTEN);
	}
	log_free(&log);
	CHECK(samples > 2, "%s: %zu samples", when, samples);
	CHECK(marked ? flagged > samples / 2 : !flagged,
	      "%s: %zu of %zu samples are flagged", when, flagged, samples);
}

void check_own(struct dev *dev, struct worker *worker, uint32_t own, const char *when)
{
	const struct cmt_record *sample;
	struct log log;

	check_under(worker, when, own);
	lab_ask(LAB_FLUSH, 0);
	worker_wait(worker, 3);
	sample = record_sample(dev, &log, own);
	note("%s: the owner's sample says %llu of %zu bytes", when,
	     (unsigned long long)sample->sample.occupancy_bytes, worker->bytes);
	CHECK(sample->sample.occupancy_bytes + lab_unit() > worker->bytes,
	      "%s: the owner is not counted", when);
	log_free(&log);
	check_marks(dev, own, false, when);
}

uint32_t closids_of(struct worker *worker)
{
	__atomic_store_n(&worker->closids, 0, __ATOMIC_RELAXED);
	worker_wait(worker, 200);
	return __atomic_load_n(&worker->closids, __ATOMIC_RELAXED);
}

void resctrl_set_mode(const struct dev *dev, uint32_t mode)
{
	struct cmt_resctrl arg = { .size = sizeof(arg), .mode = mode };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_RESCTRL, &arg), "SET_RESCTRL %u: %m",
	      mode);
}

const struct cmt_record *resctrl_owner(const struct dev *dev, uint32_t rmid)
{
	static struct snapshot snapshot;
	uint32_t i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		if (snapshot.records[i].rmid == rmid &&
		    snapshot.records[i].flags & CMT_F_OWNER_RESCTRL)
			return &snapshot.records[i];
	return NULL;
}

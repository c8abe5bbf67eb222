// SPDX-License-Identifier: GPL-2.0-or-later
/* The largest number of RMIDs, each with an owner. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "control.h"

#define MOST		MAX_RMIDS
#define GROUPS		(MOST - 2)	/* RMID 0, and the overflow RMID */

static uint32_t rmids[GROUPS];		/* by group */

static const char *group_name(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "limits-%u", i);
	return name;
}

static void groups_attach(const struct dev *dev)
{
	static bool given[MOST];
	struct cmt_attach out;
	unsigned int i;

	for (i = 0; i < GROUPS; i++) {
		uint64_t id = group_make(group_name(i));

		CHECK(!attach(dev, CMT_OWNER_CGROUP, id, 0, &out), "attach %u", i);
		CHECK(out.rmid && out.rmid < MOST && !given[out.rmid],
		      "group %u has RMID %u", i, out.rmid);
		given[out.rmid] = true;
		rmids[i] = out.rmid;
	}
	CHECK(dev_stats(dev).rmids_active == MOST - 1 &&
	      !dev_stats(dev).rmids_free, "%u RMIDs have an owner",
	      dev_stats(dev).rmids_active);
}

struct found {
	bool read[MOST];
	uint64_t bytes[MOST];	/* the last occupancy */
	unsigned int n;
};

/* Read the rings until every RMID was read. */
static bool all_read(struct dev *dev, struct found *found)
{
	struct log log = { };
	size_t i;

	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++) {
		const struct cmt_record *r = &log.records[i];

		if (r->type != CMT_REC_SAMPLE)
			continue;
		CHECK(r->rmid < MOST && r->flags & CMT_F_OCCUPANCY,
		      "RMID %u, flags %#x", r->rmid, r->flags);
		found->n += !found->read[r->rmid];
		found->read[r->rmid] = true;
		found->bytes[r->rmid] = r->sample.occupancy_bytes;
	}
	log_free(&log);
	return found->n == MOST;
}

static void limits_4096_rmids(void)
{
	static const unsigned int runs[] = { 0, GROUPS / 2, GROUPS - 1 };
	static struct found found;
	pid_t pids[3];
	struct dev dev;
	unsigned int i;

	dev_open(&dev, O_RDWR);
	CHECK(dev.info.nr_rmids == MOST, "%u RMIDs", dev.info.nr_rmids);
	groups_attach(&dev);
	for (i = 0; i < 3; i++) {
		pids[i] = spin_on(i % 2);
		group_enter(group_name(runs[i]), pids[i]);
	}
	wait_spin();
	dev_map(&dev, FROM_NOW);
	WAIT_FOR(all_read(&dev, &found), 30000, "%u of %u RMIDs are read",
		 found.n, MOST);
	memset(&found, 0, sizeof(found));
	WAIT_FOR(all_read(&dev, &found), 30000, "%u of %u RMIDs are read again",
		 found.n, MOST);
	for (i = 0; i < 3; i++) {
		uint32_t rmid = rmids[runs[i]];

		note("RMID %u: %llu bytes", rmid,
		     (unsigned long long)found.bytes[rmid]);
		CHECK(found.bytes[rmid], "RMID %u holds nothing", rmid);
		found.bytes[rmid] = 0;
		reap(pids[i], SIGKILL);
	}
	for (i = 1; i < MOST; i++)
		CHECK(!found.bytes[i], "RMID %u holds %llu bytes", i,
		      (unsigned long long)found.bytes[i]);
	for (i = 0; i < GROUPS; i++)
		group_remove(group_name(i));
	CHECK(dev_stats(&dev).rmids_active <= 1, "%u RMIDs have an owner",
	      dev_stats(&dev).rmids_active);
	dev_close(&dev);
}

const struct test limits_tests[] = {
	{ "limits_4096_rmids", limits_4096_rmids,
	  EMULATED "scope=manual emulated_rmids=4096 ring_records=65536", 120 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Readings on demand of the device of fake_device.c.  The owner that is registered
 * has RMID 5 and holds 4 MiB, moves 1 MB/s in total and half of it local.  With kind
 * 0 there are RMIDs 1 to 3 as in the rings.  Words in CMT_FAKE: "denied" and
 * "full" (registering), "waits" (the owner is pending), "served" (it is pending for
 * 350 ms), "limbo" (it is pending for 20 ms), "twice" (there are two L3 domains, and the second holds
 * 1 MiB), "halved" (the second has no values), "paused" (the traffic counters begin
 * anew before the 3rd reading, which was another reader's to say), "over" (the owner
 * ends after 4 readings), "busy" (no call works), "beside" (another RMID counts a part of
 * what the owner does, with "none" all).
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned int reads;
static bool registered;
static uint64_t registered_ns;

static bool fake(const char *word)
{
	const char *words = getenv("CMT_FAKE");

	return words && strstr(words, word);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int cmt_register(struct cmt_device *dev, uint32_t kind, uint64_t id,
		 uint32_t options, struct cmt_attached *attached)
{
	(void)dev;
	(void)options;
	if (fake("denied"))
		return -EPERM;
	if (fake("old"))
		return -ENOTTY;
	if (fake("full"))
		return -ENOSPC;
	if (kind == CMT_OWNER_CPU && id)
		return -ENXIO;
	registered = true;
	registered_ns = now_ns();
	if (!attached)
		return 0;
	attached->rmid = fake("waits") ? 3 : 5;
	attached->generation = 7;
	return 0;
}

static uint32_t flags(void)
{
	uint32_t values = CMT_F_OCCUPANCY;

	if (fake("software"))
		return 0;
	if (!fake("nombm"))
		values |= CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	return values | (fake("hardware") ? 0 : CMT_F_EMULATED);
}

static void set_sample(struct cmt_record *record, uint32_t rmid,
		       uint64_t occupancy, uint64_t per_s)
{
	uint64_t ts = now_ns();

	if (fake("software"))
		occupancy = 0;
	*record = (struct cmt_record){
		.ts = ts, .type = CMT_REC_SAMPLE, .flags = flags(),
		.rmid = rmid, .generation = rmid == 5 ? 7 : 1,
		.base = fake("paused") && reads > 2 ? 2 : 1,
		.sample.occupancy_bytes = occupancy,
	};
	if (fake("nombm") || fake("software"))
		return;
	record->sample.mbm_total_bytes = ts / 1000000 * per_s / 1000;
	record->sample.mbm_local_bytes = record->sample.mbm_total_bytes / 2;
}

static void set_bad(struct cmt_record *record, uint32_t rmid, uint32_t why)
{
	set_sample(record, rmid, 0, 0);
	record->flags &= CMT_F_EMULATED;
	record->flags |= why;
	memset(&record->sample, 0, sizeof(record->sample));
}

static int read_owner(struct cmt_snapshot **readings)
{
	struct cmt_record records[2];
	uint32_t nr = 1;

	if (fake("waits") || (fake("served") && now_ns() - registered_ns < 350000000) ||
	    (fake("limbo") && now_ns() - registered_ns < 20000000))
		return -EAGAIN;
	if (fake("over") && reads > 4)
		return -ENOENT;
	set_sample(&records[0], 5, fake("none") ? 0 : 4 << 20, fake("none") ? 0 : 1000000);
	if (fake("beside"))
		records[0].flags |= CMT_F_PQR_OVERWRITTEN;
	if (fake("twice") || fake("halved")) {
		set_sample(&records[1], 5, 1 << 20, 0);
		if (fake("halved"))
			set_bad(&records[1], 5, CMT_F_UNAVAILABLE);
		records[1].domain = 3;
		nr = 2;
	}
	return cmt_snapshot_new(readings, now_ns(), records, nr);
}

int cmt_device_read_now(const struct cmt_device *dev, uint32_t kind,
			uint64_t id, struct cmt_snapshot **readings)
{
	struct cmt_record records[3];

	(void)dev;
	(void)id;
	reads++;
	if (fake("busy") || fake("old"))
		return fake("old") ? -ENOTTY : -EIO;
	if (kind)
		return registered ? read_owner(readings) : -ENOENT;
	set_sample(&records[0], 1, 4 << 20, 1000000);
	set_sample(&records[1], 2, 1 << 20, 0);
	set_bad(&records[2], 3, CMT_F_ERROR);
	return cmt_snapshot_new(readings, now_ns(), records, 3);
}

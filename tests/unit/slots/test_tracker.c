// SPDX-License-Identifier: GPL-2.0-or-later
/* Who owned an RMID at a time. */
#include <errno.h>
#include <string.h>

#include <cmt/resctrl.h>

#include "slots/tracker.h"
#include "unit.h"

#define NR_RMIDS 16

static struct cmt_tracker *tracker;

static void setup(void)
{
	ck_assert_int_eq(cmt_tracker_new(&tracker, NR_RMIDS), 0);
}

static void teardown(void)
{
	cmt_tracker_free(tracker);
}

static int record(uint16_t type, uint32_t rmid, uint32_t generation,
		  uint64_t ts, const char *comm)
{
	struct cmt_record r = {
		.ts = ts,
		.type = type,
		.rmid = rmid,
		.generation = generation,
		.tgid = generation * 100,
	};

	memcpy(r.owner.comm, comm, strlen(comm));
	return cmt_tracker_record(tracker, &r);
}

static int alloc(uint32_t rmid, uint32_t generation, uint64_t ts)
{
	return record(CMT_REC_ALLOC, rmid, generation, ts, "one");
}

static int release(uint32_t rmid, uint32_t generation, uint64_t ts)
{
	return record(CMT_REC_FREE, rmid, generation, ts, "");
}

/* The generation of the owner of @rmid at @ts; 0: none. */
static uint32_t who(uint32_t rmid, uint64_t ts)
{
	const struct cmt_owner *owner = cmt_tracker_lookup(tracker, rmid, ts);

	return owner ? owner->generation : 0;
}

/* RMIDs with queued events. */
static unsigned int nr_queued(void)
{
	const struct cmt_hot *hot = cmt_tracker_hot(tracker);
	unsigned int n = 0;

	for (uint32_t rmid = 0; rmid < NR_RMIDS; rmid++)
		n += hot[rmid].events;
	return n;
}

/* RMIDs with an owner that is not freed, as of the last advance. */
static unsigned int nr_active(void)
{
	const struct cmt_hot *hot = cmt_tracker_hot(tracker);
	const struct cmt_owner *next = cmt_tracker_next_owner(tracker, 0);
	unsigned int n = 0;

	for (uint32_t rmid = 0; rmid < NR_RMIDS; rmid++) {
		if (!hot[rmid].owner || hot[rmid].freed)
			continue;
		n++;
		ck_assert_ptr_eq(next, hot[rmid].owner);
		next = cmt_tracker_next_owner(tracker, rmid + 1);
	}
	ck_assert_ptr_null(next);
	return n;
}

START_TEST(test_new_limits)
{
	struct cmt_tracker *t = NULL;

	ck_assert_int_eq(cmt_tracker_new(&t, 0), -EINVAL);
	ck_assert_int_eq(cmt_tracker_new(&t, 65537), -EINVAL);
	ck_assert_ptr_null(t);
	ck_assert_int_eq(cmt_tracker_new(&t, 65536), 0);
	cmt_tracker_free(t);
	cmt_tracker_free(NULL);
}
END_TEST

START_TEST(test_next_owner)
{
	static const uint32_t rmids[] = { 1, 63, 64, 130, 199 };
	const struct cmt_owner *owner;

	cmt_tracker_free(tracker);
	ck_assert_int_eq(cmt_tracker_new(&tracker, 200), 0);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(alloc(rmids[i], 1, 100), 1);
	ck_assert_ptr_null(cmt_tracker_next_owner(tracker, 0));
	cmt_tracker_advance(tracker, 100);
	owner = cmt_tracker_next_owner(tracker, 0);
	for (int i = 0; i < 5; i++) {
		ck_assert_ptr_nonnull(owner);
		ck_assert_uint_eq(owner->rmid, rmids[i]);
		owner = cmt_tracker_next_owner(tracker, owner->rmid + 1);
	}
	ck_assert_ptr_null(owner);
}
END_TEST

START_TEST(test_lookup_queued_and_applied)
{
	ck_assert_int_eq(alloc(3, 1, 100), 1);
	ck_assert_uint_eq(who(3, 99), 0);
	ck_assert_uint_eq(who(3, 100), 1);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert_uint_eq(nr_active(), 0);
	cmt_tracker_advance(tracker, 100);
	ck_assert_uint_eq(nr_queued(), 0);
	ck_assert_uint_eq(nr_active(), 1);
	ck_assert_uint_eq(who(3, 150), 1);
	ck_assert_uint_eq(who(4, 150), 0);
	ck_assert_uint_eq(who(0, 150), 0);
	ck_assert_uint_eq(who(16, 150), 0);
}
END_TEST

START_TEST(test_metadata_outlives_free)
{
	const struct cmt_owner *owner;

	alloc(3, 1, 100);
	ck_assert_int_eq(release(3, 1, 200), 1);
	ck_assert(!cmt_tracker_lookup(tracker, 3, 199)->freed);
	owner = cmt_tracker_lookup(tracker, 3, 250);
	ck_assert(owner->freed);
	ck_assert_uint_eq(owner->until, 200);
	ck_assert_str_eq(owner->comm, "one");
	cmt_tracker_advance(tracker, 1000);
	ck_assert_uint_eq(who(3, 1000), 1);
	ck_assert_uint_eq(nr_active(), 0);
	alloc(3, 2, 2000);
	ck_assert_uint_eq(who(3, 1999), 1);
	ck_assert_uint_eq(who(3, 2000), 2);
}
END_TEST

START_TEST(test_any_order_within_window)
{
	alloc(3, 2, 300);
	release(3, 1, 200);
	alloc(3, 1, 100);
	release(3, 2, 400);
	ck_assert_uint_eq(who(3, 150), 1);
	ck_assert(cmt_tracker_lookup(tracker, 3, 250)->freed);
	ck_assert_uint_eq(who(3, 350), 2);
	cmt_tracker_advance(tracker, 350);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert_uint_eq(nr_active(), 1);
	ck_assert(cmt_tracker_lookup(tracker, 3, 400)->freed);
}
END_TEST

/* What comes late goes before the queue's first, and behind what was applied. */
START_TEST(test_late_event_after_advance)
{
	alloc(3, 1, 10);
	release(3, 2, 30);
	cmt_tracker_advance(tracker, 20);
	ck_assert_int_eq(alloc(3, 2, 25), 1);
	ck_assert_uint_eq(who(3, 24), 1);
	ck_assert_uint_eq(who(3, 25), 2);
	ck_assert(!cmt_tracker_lookup(tracker, 3, 29)->freed);
	ck_assert(cmt_tracker_lookup(tracker, 3, 30)->freed);
}
END_TEST

START_TEST(test_same_time_in_order_queued)
{
	alloc(3, 1, 100);
	release(3, 1, 100);
	alloc(3, 2, 100);
	cmt_tracker_advance(tracker, 100);
	ck_assert_uint_eq(who(3, 100), 2);
	ck_assert(!cmt_tracker_lookup(tracker, 3, 100)->freed);
}
END_TEST

START_TEST(test_stale_and_invalid)
{
	ck_assert_int_eq(alloc(0, 1, 100), -EINVAL);
	ck_assert_int_eq(alloc(16, 1, 100), -EINVAL);
	ck_assert_int_eq(release(16, 1, 100), -EINVAL);
	cmt_tracker_advance(tracker, 100);
	ck_assert_int_eq(alloc(3, 1, 99), -ESTALE);
	ck_assert_int_eq(release(3, 1, 99), -ESTALE);
	ck_assert_uint_eq(nr_queued(), 0);
	ck_assert_int_eq(alloc(3, 1, 100), 1);
	cmt_tracker_advance(tracker, 50);
	ck_assert_uint_eq(nr_queued(), 1);
}
END_TEST

START_TEST(test_free_other_generation_ignored)
{
	alloc(3, 2, 100);
	release(3, 1, 150);
	release(4, 1, 150);
	cmt_tracker_advance(tracker, 200);
	ck_assert(!cmt_tracker_lookup(tracker, 3, 200)->freed);
	ck_assert_uint_eq(nr_active(), 1);
	ck_assert_uint_eq(who(4, 200), 0);
}
END_TEST

START_TEST(test_time_wraps)
{
	uint64_t t = UINT64_MAX - 10;

	alloc(3, 1, t);
	release(3, 1, t + 20);
	alloc(3, 2, t + 30);
	cmt_tracker_advance(tracker, t + 5);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert(!cmt_tracker_lookup(tracker, 3, t + 19)->freed);
	ck_assert(cmt_tracker_lookup(tracker, 3, t + 20)->freed);
	ck_assert_uint_eq(who(3, t + 30), 2);
	cmt_tracker_advance(tracker, t + 40);
	ck_assert_uint_eq(nr_queued(), 0);
	ck_assert_uint_eq(who(3, t + 40), 2);
	ck_assert_int_eq(alloc(4, 1, t), -ESTALE);
}
END_TEST

/* The generation that is found for one, whoever has the RMID now; 0: not known. */
static uint32_t whose(uint32_t rmid, uint32_t generation, uint64_t ts)
{
	const struct cmt_owner *owner =
		cmt_tracker_lookup_generation(tracker, rmid, generation, ts);

	return owner ? owner->generation : 0;
}

/* As long as no other two had the RMID since. */
START_TEST(test_generation_outlives_free)
{
	ck_assert_int_eq(alloc(3, 1, 10), 1);
	ck_assert_int_eq(release(3, 1, 20), 1);
	ck_assert_int_eq(alloc(3, 2, 30), 1);
	for (uint64_t advanced = 5; advanced <= 35; advanced += 10) {
		cmt_tracker_advance(tracker, advanced);
		ck_assert_uint_eq(whose(3, 1, 25), 1);
		ck_assert_uint_eq(whose(3, 1, 40), 1);
		ck_assert_uint_eq(whose(3, 2, 40), 2);
		ck_assert_uint_eq(whose(3, 3, 40), 0);
	}
	ck_assert(cmt_tracker_lookup_generation(tracker, 3, 1, 40)->freed);
	ck_assert_uint_eq(whose(0, 0, 40), 0);
	ck_assert_uint_eq(whose(4, 1, 40), 0);
	ck_assert_uint_eq(whose(NR_RMIDS, 1, 40), 0);
	ck_assert_int_eq(alloc(3, 4, 50), 1);
	ck_assert_uint_eq(whose(3, 1, 60), 1);
	cmt_tracker_advance(tracker, 60);
	ck_assert_uint_eq(whose(3, 1, 60), 0);
	ck_assert_uint_eq(whose(3, 2, 60), 2);
	ck_assert_uint_eq(whose(3, 4, 60), 4);
}
END_TEST

START_TEST(test_record_types)
{
	const struct cmt_owner *owner;

	ck_assert_int_eq(record(CMT_REC_ALLOC, 5, 1, 100, "sh"), 1);
	ck_assert_int_eq(record(CMT_REC_UPDATE, 5, 1, 110,
				"sixteen_bytes_xx"), 1);
	ck_assert_int_eq(record(CMT_REC_FREE, 5, 1, 120, ""), 1);
	ck_assert_int_eq(record(CMT_REC_SAMPLE, 5, 1, 100, ""), 0);
	ck_assert_int_eq(record(CMT_REC_TICK, 5, 1, 100, ""), 0);
	ck_assert_int_eq(record(CMT_REC_ALLOC_FAIL, 0, 0, 100, ""), 0);
	ck_assert_int_eq(record(CMT_REC_ALLOC, 99, 1, 100, ""), -EINVAL);
	ck_assert_str_eq(cmt_tracker_lookup(tracker, 5, 105)->comm, "sh");
	owner = cmt_tracker_lookup(tracker, 5, 115);
	ck_assert_str_eq(owner->comm, "sixteen_bytes_xx");
	ck_assert_uint_eq(owner->since, 100);
	cmt_tracker_advance(tracker, 130);
	owner = cmt_tracker_lookup(tracker, 5, 130);
	ck_assert_str_eq(owner->comm, "sixteen_bytes_xx");
	ck_assert(owner->freed);
	ck_assert_int_eq(record(CMT_REC_ALLOC, 5, 2, 129, ""), -ESTALE);
}
END_TEST

START_TEST(test_update_teaches_lost_alloc)
{
	record(CMT_REC_ALLOC, 5, 1, 100, "old");
	record(CMT_REC_UPDATE, 5, 2, 200, "new");
	record(CMT_REC_UPDATE, 6, 7, 200, "other");
	cmt_tracker_advance(tracker, 200);
	ck_assert_str_eq(cmt_tracker_lookup(tracker, 5, 200)->comm, "new");
	ck_assert_uint_eq(who(6, 200), 7);
	ck_assert_uint_eq(who(6, 199), 0);
	ck_assert_uint_eq(nr_active(), 2);
}
END_TEST

START_TEST(test_existing_behind_advance)
{
	cmt_tracker_advance(tracker, 1000);
	ck_assert_int_eq(record(CMT_REC_EXISTING, 5, 3, 10, "old"), 1);
	ck_assert_uint_eq(who(5, 1000), 3);
	ck_assert_uint_eq(nr_active(), 1);
	ck_assert_int_eq(record(CMT_REC_EXISTING, 5, 2, 5, "older"), 1);
	ck_assert_uint_eq(who(5, 1000), 3);
}
END_TEST

static struct cmt_snapshot *snapshot_new(uint64_t as_of, uint32_t count)
{
	struct cmt_record records[8];
	struct cmt_snapshot *s = NULL;

	for (uint32_t i = 0; i < count; i++)
		records[i] = (struct cmt_record){
			.ts = 50 + i,
			.type = CMT_REC_EXISTING,
			.rmid = i + 1,
			.generation = 9,
			.owner.comm = "snap",
		};
	ck_assert_int_eq(cmt_snapshot_new(&s, as_of, records, count), 0);
	return s;
}

START_TEST(test_sync_replaces)
{
	struct cmt_snapshot *s = snapshot_new(500, 2);

	alloc(1, 8, 20);	/* replaced */
	alloc(3, 1, 20);	/* the snapshot does not have it */
	alloc(4, 1, 600);	/* after it */
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), 0);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert_uint_eq(nr_active(), 2);
	ck_assert_uint_eq(who(1, 500), 9);
	ck_assert_uint_eq(who(2, 500), 9);
	ck_assert(cmt_tracker_lookup(tracker, 3, 500)->freed);
	ck_assert_uint_eq(cmt_tracker_lookup(tracker, 3, 500)->until, 500);
	ck_assert_uint_eq(who(4, 599), 0);
	ck_assert_uint_eq(who(4, 600), 1);
	/* What the snapshot already knows comes again with the stream. */
	ck_assert_int_eq(record(CMT_REC_FREE, 1, 9, 500, ""), 1);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert_int_eq(record(CMT_REC_FREE, 1, 9, 501, ""), 1);
	cmt_tracker_advance(tracker, 700);
	ck_assert_uint_eq(nr_active(), 2);
	cmt_snapshot_free(s);
}
END_TEST

/* The owner that the snapshot replaces is the one before it. */
START_TEST(test_sync_keeps_owner_before)
{
	struct cmt_snapshot *s = snapshot_new(500, 1);

	alloc(1, 8, 20);
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), 0);
	ck_assert_uint_eq(whose(1, 8, 600), 8);
	ck_assert_uint_eq(whose(1, 9, 600), 9);
	cmt_snapshot_free(s);
}
END_TEST

START_TEST(test_sync_older_than_advance)
{
	struct cmt_snapshot *s = snapshot_new(500, 6);

	alloc(1, 10, 600);
	record(CMT_REC_ALLOC, 2, 9, 51, "x");
	record(CMT_REC_FREE, 2, 9, 700, "");
	record(CMT_REC_ALLOC, 4, 9, 53, "old");
	record(CMT_REC_UPDATE, 4, 9, 600, "new");
	record(CMT_REC_FREE, 5, 9, 700, "");	/* of an owner that is not known */
	record(CMT_REC_FREE, 6, 8, 700, "");
	cmt_tracker_advance(tracker, 1000);
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), 0);
	ck_assert_uint_eq(who(1, 1000), 10);
	ck_assert(cmt_tracker_lookup(tracker, 2, 1000)->freed);
	ck_assert_uint_eq(who(3, 1000), 9);
	ck_assert_str_eq(cmt_tracker_lookup(tracker, 4, 1000)->comm, "new");
	ck_assert(cmt_tracker_lookup(tracker, 5, 1000)->freed);
	ck_assert_uint_eq(cmt_tracker_lookup(tracker, 5, 1000)->until, 700);
	ck_assert_uint_eq(who(6, 1000), 9);
	ck_assert_uint_eq(nr_active(), 4);
	cmt_snapshot_free(s);

	/* a newer snapshot counts, whatever came before it */
	s = snapshot_new(1000, 6);
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), 0);
	ck_assert_str_eq(cmt_tracker_lookup(tracker, 4, 1000)->comm, "snap");
	ck_assert_uint_eq(nr_active(), 6);
	cmt_snapshot_free(s);
}
END_TEST

START_TEST(test_sync_impossible_unchanged)
{
	struct cmt_snapshot *s = snapshot_new(500, 2);

	alloc(3, 1, 20);
	s->records[1].rmid = 16;
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), -EINVAL);
	s->records[1].rmid = 0;
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), -EINVAL);
	s->records[1].rmid = 2;
	s->records[1].type = CMT_REC_ALLOC;
	ck_assert_int_eq(cmt_tracker_sync(tracker, s), -EINVAL);
	ck_assert_uint_eq(nr_queued(), 1);
	ck_assert_uint_eq(who(1, 500), 0);
	cmt_snapshot_free(s);
}
END_TEST

/* Against a model that remembers everything. */
START_TEST(test_random_against_model)
{
	enum { N = 4000 };
	static struct { uint32_t rmid, generation; uint64_t alloc, free; } m[N];
	uint64_t busy_until[16] = { 0 }, t = 1000;
	uint32_t generation[16] = { 0 };
	unsigned int seed = 7, n = 0;

	for (; n < N; t += 1 + (unsigned int)rand_r(&seed) % 20) {
		uint32_t rmid = 1 + (uint32_t)rand_r(&seed) % 15;

		if (busy_until[rmid] >= t)
			continue;
		m[n].rmid = rmid;
		m[n].generation = ++generation[rmid];
		m[n].alloc = t;
		m[n].free = t + 1 + (unsigned int)rand_r(&seed) % 200;
		busy_until[rmid] = m[n].free + 2;
		/* The free is queued before the alloc now and then. */
		if (n % 3)
			alloc(rmid, m[n].generation, t);
		release(rmid, m[n].generation, m[n].free);
		if (!(n % 3))
			alloc(rmid, m[n].generation, t);
		ck_assert_uint_eq(who(rmid, t), m[n].generation);
		if (n > 30) {
			unsigned int k = n - (unsigned int)rand_r(&seed) % 3;

			ck_assert_uint_eq(who(m[k].rmid, m[k].free),
					  m[k].generation);
			cmt_tracker_advance(tracker, m[n - 3].alloc);
		}
		n++;
	}
	cmt_tracker_advance(tracker, t + 1000);
	ck_assert_uint_eq(nr_queued(), 0);
	ck_assert_uint_eq(nr_active(), 0);
	for (uint32_t rmid = 1; rmid < 16; rmid++)
		ck_assert_uint_eq(who(rmid, t + 1000), generation[rmid]);
}
END_TEST

#define SOLE (CMT_F_OWNER_RESCTRL | CMT_F_GROUP_SOLE)

static const struct {
	uint32_t flags;
	uint32_t kind, tgid, cpu;
} kinds[] = {
	{ 0, CMT_OWNER_PROCESS, 17, 0 },
	{ CMT_F_OWNER_CGROUP, CMT_OWNER_CGROUP, 0, 0 },
	{ CMT_F_OWNER_CPU, CMT_OWNER_CPU, 0, 17 },
	{ CMT_F_OWNER_OVERFLOW, CMT_OWNER_OVERFLOW, 0, 0 },
	{ CMT_F_OWNER_RESCTRL, CMT_OWNER_RESCTRL, 0, 0 },
	{ CMT_F_OWNER_KERNEL, CMT_OWNER_KERNEL, 0, 0 },
	/* a group of resctrl that is an owner's, and one that has a CPU */
	{ SOLE, CMT_OWNER_PROCESS, 17, 0 },
	{ SOLE | CMT_F_OWNER_CGROUP, CMT_OWNER_CGROUP, 0, 0 },
	{ SOLE | CMT_F_OWNER_CPU, CMT_OWNER_CPU, 0, 17 },
	{ CMT_F_OWNER_RESCTRL | CMT_F_OWNER_CPU, CMT_OWNER_RESCTRL, 0, 0 },
};

/* What an owner is goes along, and may change with an UPDATE. */
START_TEST(test_owner_kinds)
{
	struct cmt_record r = {
		.type = CMT_REC_ALLOC, .rmid = 3, .generation = 1, .tgid = 17,
		.owner.cgroup_id = 5, .ts = 100,
	};
	const struct cmt_owner *owner;
	struct cmt_owner told = { .sz = sizeof(told) };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		r.ts++;
		r.generation++;
		r.flags = kinds[i].flags;
		ck_assert_int_eq(cmt_record_owner(&r, &told), 0);
		ck_assert_uint_eq(told.kind, kinds[i].kind);
		ck_assert_int_eq(cmt_tracker_record(tracker, &r), 1);
		owner = cmt_tracker_lookup(tracker, 3, r.ts);
		ck_assert_uint_eq(owner->sz, sizeof(*owner));
		ck_assert_uint_eq(owner->kind, kinds[i].kind);
		ck_assert_uint_eq(owner->tgid, kinds[i].tgid);
		ck_assert_uint_eq(owner->cpu, kinds[i].cpu);
		ck_assert_uint_eq(owner->cgroup_id, 5);
		ck_assert(!owner->attached);
		ck_assert(owner->sole == !!(kinds[i].flags & CMT_F_GROUP_SOLE));
	}
	r.type = CMT_REC_UPDATE;
	r.flags = CMT_F_OWNER_CGROUP | CMT_F_ATTACHED;
	ck_assert_int_eq(cmt_tracker_record(tracker, &r), 1);
	owner = cmt_tracker_lookup(tracker, 3, r.ts);
	ck_assert_uint_eq(owner->kind, CMT_OWNER_CGROUP);
	ck_assert(owner->attached && !owner->service);
	ck_assert_uint_eq(owner->since, r.ts);
	r.flags = CMT_F_OWNER_CGROUP | CMT_F_SERVICE;
	ck_assert_int_eq(cmt_tracker_record(tracker, &r), 1);
	owner = cmt_tracker_lookup(tracker, 3, r.ts);
	ck_assert_uint_eq(owner->kind, CMT_OWNER_CGROUP);
	ck_assert(!owner->attached && owner->service);
}
END_TEST

static void assert_hints(const struct cmt_record *r, uint32_t tid, uint32_t cpu)
{
	const struct cmt_owner *owner;

	ck_assert_int_eq(cmt_tracker_record(tracker, r), 1);
	owner = cmt_tracker_lookup(tracker, r->rmid, r->ts);
	ck_assert_uint_eq(owner->group_tid, tid);
	ck_assert_uint_eq(owner->group_cpu, cpu);
}

/* Of a group that is no owner's, a thread or a CPU is known, which changes. */
START_TEST(test_group_hints)
{
	struct cmt_record r = {
		.type = CMT_REC_ALLOC, .rmid = 3, .generation = 0x10002, .tgid = 17,
		.flags = CMT_F_OWNER_RESCTRL, .ts = 100,
	};
	const uint64_t id = CMT_RESCTRL_GROUP | CMT_RESCTRL_RMID | 0x10002ULL << 16 | 3;

	assert_hints(&r, 17, CMT_GROUP_NO_CPU);
	ck_assert(cmt_tracker_lookup(tracker, 3, 100)->cgroup_id == id);
	r.type = CMT_REC_UPDATE;
	r.tgid = 0;
	r.ts++;
	r.flags |= CMT_F_OWNER_CPU;
	assert_hints(&r, 0, 0);
	ck_assert(cmt_tracker_lookup(tracker, 3, 101)->cgroup_id == id);
	r.ts++;
	r.flags = SOLE | CMT_F_OWNER_CGROUP;
	r.owner.cgroup_id = 5;
	assert_hints(&r, 0, CMT_GROUP_NO_CPU);
	ck_assert(cmt_tracker_lookup(tracker, 3, 102)->sole);
	ck_assert_uint_eq(cmt_tracker_lookup(tracker, 3, 102)->cgroup_id, 5);
	r.ts++;
	r.flags = CMT_F_OWNER_RESCTRL;
	r.owner.cgroup_id = 0;
	assert_hints(&r, 0, CMT_GROUP_NO_CPU);
	ck_assert(!cmt_tracker_lookup(tracker, 3, 103)->sole);
}
END_TEST

START_TEST(test_record_owner)
{
	struct cmt_record r = {
		.type = CMT_REC_ALLOC_FAIL, .rmid = 9, .generation = 1,
		.flags = CMT_F_OWNER_CGROUP | CMT_F_ATTACHED, .ts = 100,
		.owner.comm = "0123456789abcde", .owner.why = CMT_WHY_RECLAIMED,
	};
	struct cmt_owner owner = { .sz = sizeof(owner) };

	r.owner.comm[CMT_COMM_LEN - 1] = 'f';
	ck_assert_int_eq(cmt_record_owner(&r, &owner), 0);
	ck_assert_uint_eq(owner.rmid, 9);
	ck_assert_uint_eq(owner.since, 100);
	ck_assert_uint_eq(owner.why, CMT_WHY_RECLAIMED);
	ck_assert_uint_eq(owner.residual_bytes, 0);
	ck_assert(!owner.residual_known);
	ck_assert(owner.attached);
	ck_assert_str_eq(owner.comm, "0123456789abcdef");
	r.type = CMT_REC_ALLOC;
	r.owner.residual_bytes = 3;
	ck_assert_int_eq(cmt_record_owner(&r, &owner), 0);
	ck_assert_uint_eq(owner.why, 0);
	ck_assert(!owner.residual_known);
	ck_assert_uint_eq(owner.residual_bytes, 0);
	r.flags |= CMT_F_RESIDUAL;
	ck_assert_int_eq(cmt_record_owner(&r, &owner), 0);
	ck_assert(owner.residual_known);
	ck_assert_uint_eq(owner.residual_bytes, 3);
	r.type = CMT_REC_SAMPLE;
	ck_assert_int_eq(cmt_record_owner(&r, &owner), -EINVAL);
	r.type = CMT_REC_PAD;
	ck_assert_int_eq(cmt_record_owner(&r, &owner), -EINVAL);
}
END_TEST

/* An older program has fewer members, a newer one more. */
START_TEST(test_record_owner_sizes)
{
	const struct cmt_record r = {
		.type = CMT_REC_ALLOC, .rmid = 9, .generation = 1, .ts = 100,
	};
	struct { struct cmt_owner owner; uint64_t next, behind; } more;
	size_t older = offsetof(struct cmt_owner, cgroup_id);

	memset(&more, 0xff, sizeof(more));
	more.owner.sz = older;
	ck_assert_int_eq(cmt_record_owner(&r, &more.owner), 0);
	ck_assert_uint_eq(more.owner.sz, older);
	ck_assert_uint_eq(more.owner.since, 100);
	ck_assert_uint_eq(more.owner.cgroup_id, UINT64_MAX);
	more.owner.sz = offsetof(__typeof__(more), behind);
	ck_assert_int_eq(cmt_record_owner(&r, &more.owner), 0);
	ck_assert_uint_eq(more.owner.sz, offsetof(__typeof__(more), behind));
	ck_assert_uint_eq(more.owner.rmid, 9);
	ck_assert_uint_eq(more.next, 0);
	ck_assert_uint_eq(more.behind, UINT64_MAX);
	more.owner.sz = 0;
	ck_assert_int_eq(cmt_record_owner(&r, &more.owner), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracker");
	TCase *tcase = tcase_create("tracker");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_new_limits);
	tcase_add_test(tcase, test_next_owner);
	tcase_add_test(tcase, test_lookup_queued_and_applied);
	tcase_add_test(tcase, test_metadata_outlives_free);
	tcase_add_test(tcase, test_any_order_within_window);
	tcase_add_test(tcase, test_late_event_after_advance);
	tcase_add_test(tcase, test_same_time_in_order_queued);
	tcase_add_test(tcase, test_stale_and_invalid);
	tcase_add_test(tcase, test_free_other_generation_ignored);
	tcase_add_test(tcase, test_time_wraps);
	tcase_add_test(tcase, test_generation_outlives_free);
	tcase_add_test(tcase, test_record_types);
	tcase_add_test(tcase, test_update_teaches_lost_alloc);
	tcase_add_test(tcase, test_existing_behind_advance);
	tcase_add_test(tcase, test_sync_replaces);
	tcase_add_test(tcase, test_sync_keeps_owner_before);
	tcase_add_test(tcase, test_sync_older_than_advance);
	tcase_add_test(tcase, test_sync_impossible_unchanged);
	tcase_add_test(tcase, test_random_against_model);
	tcase_add_test(tcase, test_owner_kinds);
	tcase_add_test(tcase, test_group_hints);
	tcase_add_test(tcase, test_record_owner);
	tcase_add_test(tcase, test_record_owner_sizes);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}

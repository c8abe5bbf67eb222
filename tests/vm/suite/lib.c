// SPDX-License-Identifier: GPL-2.0-or-later
/* The same kernel, through libcmt. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmt/cmt.h>

#include "../../abi/record_text.h"
#include "suite.h"

struct side {
	struct cmt_device *dev;
	struct cmt_reader *reader;
	uint64_t got;		/* records that the kernel wrote */
	uint64_t lost;		/* records reported by CMT_REC_LOST */
	uint64_t lifecycle;
	struct cmt_record last;
};

static void side_open(struct side *s, uint32_t flags)
{
	struct cmt_reader_opts opts = { .sz = sizeof(opts), .flags = flags };
	int err;

	memset(s, 0, sizeof(*s));
	err = cmt_device_open(&s->dev, NULL, 0);
	CHECK(!err, "cmt_device_open: %s", strerror(-err));
	err = cmt_reader_new(&s->reader, s->dev, &opts);
	CHECK(!err, "cmt_reader_new: %s", strerror(-err));
}

static void side_close(struct side *s)
{
	cmt_reader_free(s->reader);
	cmt_device_close(s->dev);
}

static void side_take(struct side *s, const struct cmt_record *r)
{
	if (r->type == CMT_REC_LOST) {
		CHECK(cmt_record_lost(r), "a loss of nothing");
		s->lost += cmt_record_lost(r);
		return;
	}
	CHECK(r->ts >= s->last.ts, "time goes back by %llu ns",
	      (unsigned long long)(s->last.ts - r->ts));
	CHECK(r->ts > s->last.ts || r->cpu >= s->last.cpu,
	      "a tie is not in the order of CPUs");
	CHECK(!(r->flags & CMT_F_EMULATED) == has_hw, "flags %#x", r->flags);
	s->got++;
	s->lifecycle += r->type <= CMT_REC_ALLOC_FAIL;
	s->last = *r;
}

/* Read the ready records; returns their number. */
static int side_read(struct side *s)
{
	struct cmt_record batch[128];
	int i, n, sum = 0;

	do {
		n = cmt_reader_read(s->reader, batch, 128);
		CHECK(n >= 0, "cmt_reader_read: %s", strerror(-n));
		for (i = 0; i < n; i++)
			side_take(s, &batch[i]);
		sum += n;
	} while (n == 128);
	return sum;
}

static void check_sum(const struct cmt_reader_counts *c, const char *of)
{
	CHECK(c->emitted == c->delivered + c->lost + c->late + c->malformed +
	      c->pending,
	      "%s: emitted %llu, delivered %llu, lost %llu, late %llu, malformed %llu, pending %llu",
	      of, (unsigned long long)c->emitted,
	      (unsigned long long)c->delivered, (unsigned long long)c->lost,
	      (unsigned long long)c->late, (unsigned long long)c->malformed,
	      (unsigned long long)c->pending);
	CHECK(!c->malformed, "%s: malformed records", of);
}

/* The emitted count keeps growing; the delivered count does not. */
static void check_counts(const struct side *s)
{
	const struct cmt_info *info = cmt_device_info(s->dev);
	struct cmt_reader_counts c = { .sz = sizeof(c) }, one = { .sz = sizeof(one) };
	uint64_t delivered = 0;
	uint32_t cpu;

	CHECK(!cmt_reader_counts(s->reader, &c), "cmt_reader_counts");
	check_sum(&c, "all CPUs");
	CHECK(c.delivered == s->got, "delivered %llu, got %llu",
	      (unsigned long long)c.delivered, (unsigned long long)s->got);
	for (cpu = 0; cpu < info->nr_cpus; cpu++) {
		if (cmt_reader_cpu_counts(s->reader, cpu, &one))
			continue;
		check_sum(&one, "one CPU");
		delivered += one.delivered;
	}
	CHECK(delivered == c.delivered, "the CPUs' counts are not the sum");
	CHECK(cmt_reader_cpu_counts(s->reader, info->nr_cpus, &one) == -EINVAL,
	      "a ring that is not there has counts");
}

/* Has a ring wrapped since it was opened? */
static bool is_lapped(const struct side *s)
{
	const struct cmt_info *info = cmt_device_info(s->dev);
	struct cmt_reader_counts one = { .sz = sizeof(one) };
	uint32_t cpu;

	for (cpu = 0; cpu < info->nr_cpus; cpu++)
		if (!cmt_reader_cpu_counts(s->reader, cpu, &one) &&
		    one.emitted > info->ring_records)
			return true;
	return false;
}

static void lib_conservation(void)
{
	struct side fast, fast2, slow;
	struct cmt_reader_counts c = { .sz = sizeof(c) };
	uint64_t end;
	pid_t victim;
	int i;

	side_open(&fast, 0);
	side_open(&fast2, 0);
	side_open(&slow, 0);
	victim = fork();
	if (victim == 0) {
		struct side s;

		side_open(&s, 0);
		for (;;)
			side_read(&s);
	}
	end = now_ns() + 1500000000ULL;
	for (i = 0; now_ns() < end || !is_lapped(&slow); i++) {
		side_read(&fast);
		side_read(&fast2);
		if (i == 20)
			reap(victim, SIGKILL);
		cmt_reader_wait(fast.reader, 5);
	}
	side_read(&slow);
	check_counts(&fast);
	check_counts(&fast2);
	check_counts(&slow);
	CHECK(!cmt_reader_counts(slow.reader, &c), "cmt_reader_counts");
	CHECK(c.lost, "the slow reader lost nothing: no test");
	/*
	 * records lost since the last read are counted now, and reported by the next
	 * read
	 */
	CHECK(slow.lost && slow.lost <= c.lost, "told of %llu lost, counted %llu",
	      (unsigned long long)slow.lost, (unsigned long long)c.lost);
	CHECK(fast.got > 1000, "only %llu records",
	      (unsigned long long)fast.got);
	note("fast: %llu delivered; slow: %llu delivered, %llu lost",
	     (unsigned long long)fast.got, (unsigned long long)slow.got,
	     (unsigned long long)c.lost);
	side_close(&fast);
	side_close(&fast2);
	side_close(&slow);
}

static const struct cmt_owner *find_owner(struct cmt_tracker *tracker,
					  uint32_t nr_rmids, pid_t pid,
					  uint64_t ts)
{
	const struct cmt_owner *owner;
	uint32_t rmid;

	for (rmid = 1; rmid < nr_rmids; rmid++) {
		owner = cmt_tracker_lookup(tracker, rmid, ts);
		if (owner && !owner->freed && owner->tgid == (uint32_t)pid)
			return owner;
	}
	return NULL;
}

/* A late reader: the snapshot has the present owners, the records have all changes. */
static void lib_late_reader(void)
{
	struct cmt_snapshot *snapshot;
	struct cmt_tracker *tracker;
	const struct cmt_owner *owner;
	struct cmt_record batch[128];
	pid_t before, dies, after;
	uint32_t nr_rmids;
	struct side s;
	uint64_t end;
	int err, i, n;

	before = park(2, "was-before");
	dies = park(0, "dies");
	side_open(&s, 0);
	nr_rmids = cmt_device_info(s.dev)->nr_rmids;
	err = cmt_tracker_new(&tracker, nr_rmids);
	CHECK(!err, "cmt_tracker_new: %s", strerror(-err));
	err = cmt_device_snapshot(s.dev, &snapshot);
	CHECK(!err, "cmt_device_snapshot: %s", strerror(-err));
	err = cmt_tracker_sync(tracker, snapshot);
	CHECK(!err, "cmt_tracker_sync: %s", strerror(-err));
	cmt_snapshot_free(snapshot);

	after = park(1, "comes-after");
	reap(dies, SIGKILL);
	end = now_ns();
	do {
		n = cmt_reader_read(s.reader, batch, 128);
		CHECK(n >= 0, "cmt_reader_read: %s", strerror(-n));
		for (i = 0; i < n; i++) {
			err = cmt_tracker_record(tracker, &batch[i]);
			CHECK(err >= 0, "cmt_tracker_record: %s",
			      strerror(-err));
			s.last = batch[i];
		}
		CHECK(now_ns() < end + 10000000000ULL, "no records");
	} while (s.last.ts < end);
	cmt_tracker_advance(tracker, end);

	owner = find_owner(tracker, nr_rmids, before, end);
	CHECK(owner && !strcmp(owner->comm, "was-before"),
	      "who was there before is not known");
	owner = find_owner(tracker, nr_rmids, after, end);
	CHECK(owner && !strcmp(owner->comm, "comes-after"),
	      "who came after is not known");
	CHECK(!find_owner(tracker, nr_rmids, dies, end), "the dead live on");
	cmt_tracker_free(tracker);
	side_close(&s);
}

struct folded {
	uint64_t slots, entries, named, carried, oldest_ns, last_start;
};

static int fold(void *ctx, const struct cmt_slot *slot)
{
	struct folded *f = ctx;
	uint32_t i;

	CHECK(slot->end_ns - slot->start_ns == 1000000, "a slot of %llu ns",
	      (unsigned long long)(slot->end_ns - slot->start_ns));
	CHECK(!f->slots || slot->start_ns > f->last_start, "slots out of order");
	f->last_start = slot->start_ns;
	f->slots++;
	for (i = 0; i < slot->nr_entries; i++) {
		const struct cmt_slot_entry *e = cmt_slot_entry_at(slot, i);

		f->entries += e->rmid != 0;
		f->named += e->rmid && e->owner &&
			e->owner->generation == e->generation;
		if (e->samples)
			continue;
		CHECK(e->ts < slot->start_ns, "carried from its own slot");
		f->carried++;
		if (f->oldest_ns < slot->end_ns - e->ts)
			f->oldest_ns = slot->end_ns - e->ts;
	}
	return 0;
}

static void lib_slots(void)
{
	struct cmt_slots_opts opts = { .sz = sizeof(opts) };
	struct cmt_slots_counts counts = { .sz = sizeof(counts) };
	struct cmt_snapshot *snapshot;
	struct cmt_record batch[128];
	struct folded f = { };
	struct cmt_slots *slots;
	struct side s;
	uint64_t end;
	int err, i, n;

	for (i = 0; i < 10; i++)
		park(0, NULL);
	side_open(&s, 0);
	opts.nr_rmids = cmt_device_info(s.dev)->nr_rmids;
	opts.nr_cpus = cmt_device_info(s.dev)->nr_cpus;
	err = cmt_slots_new(&slots, &opts, fold, &f);
	CHECK(!err, "cmt_slots_new: %s", strerror(-err));
	err = cmt_device_snapshot(s.dev, &snapshot);
	CHECK(!err, "cmt_device_snapshot: %s", strerror(-err));
	cmt_tracker_sync(cmt_slots_tracker(slots), snapshot);
	cmt_snapshot_free(snapshot);

	for (end = now_ns() + 1000000000ULL; now_ns() < end;) {
		n = cmt_reader_read(s.reader, batch, 128);
		CHECK(n >= 0, "cmt_reader_read: %s", strerror(-n));
		for (i = 0; i < n; i++)
			CHECK(!cmt_slots_add(slots, &batch[i]), "slots_add");
		if (!n)
			cmt_reader_wait(s.reader, 10);
	}
	cmt_slots_flush(slots);
	CHECK(!cmt_slots_counts(slots, &counts), "cmt_slots_counts");
	CHECK(!counts.malformed && !counts.unknown, "%llu malformed, %llu unknown",
	      (unsigned long long)counts.malformed,
	      (unsigned long long)counts.unknown);
	CHECK(f.slots == counts.retired && f.slots > 50, "%llu slots",
	      (unsigned long long)f.slots);
	CHECK(f.entries > 500 && f.named == f.entries,
	      "%llu of %llu readings have an owner",
	      (unsigned long long)f.named, (unsigned long long)f.entries);
	/* the processes sleep, so not every slot has a reading of them */
	CHECK(f.carried > 100, "%llu values were carried",
	      (unsigned long long)f.carried);
	note("%llu of %llu values were carried, for %llu ms at most",
	     (unsigned long long)f.carried, (unsigned long long)f.entries,
	     (unsigned long long)f.oldest_ns / 1000000);
	cmt_slots_free(slots);
	side_close(&s);
}

static void lib_no_module(void)
{
	struct cmt_device *dev;

	CHECK(cmt_device_open(&dev, NULL, 0) == -ENOENT, "not ENOENT");
	CHECK(cmt_device_open(&dev, "/dev/null", 0) == -ENOTTY, "not ENOTTY");
}

static void lib_control(void)
{
	struct cmt_device *ro, *rw;
	uint32_t ns;

	CHECK(!cmt_device_open(&ro, NULL, 0), "open");
	CHECK(!cmt_device_open(&rw, NULL, CMT_OPEN_CONTROL), "open");
	CHECK(cmt_device_set_interval(ro, 2000000) == -EBADF, "not EBADF");
	CHECK(cmt_device_set_interval(rw, 1) == -EINVAL, "not EINVAL");
	CHECK(!cmt_device_set_interval(rw, 2000000), "refused");
	CHECK(!cmt_device_interval(ro, &ns) && ns == 2000000, "%u ns", ns);
	cmt_device_close(ro);
	cmt_device_close(rw);
}

/* Members that one side does not know are not written, and get no invented value. */
static void lib_sizes(void)
{
	struct { struct cmt_stats stats; uint64_t behind; } room;
	struct { struct cmt_uncore uncore; uint64_t behind; } other;
	const struct cmt_info *info;
	struct cmt_device *dev;
	struct cmt_box *boxes;
	uint32_t known = sizeof(struct cmt_stats);

	memset(&room, 0xff, sizeof(room));
	room.stats.size = known;
	memset(&other, 0xff, sizeof(other));
	other.uncore.size = sizeof(other.uncore);
	CHECK(!cmt_device_open(&dev, NULL, 0), "open");
	CHECK(!cmt_device_stats(dev, &room.stats), "stats");
	CHECK(!cmt_device_uncore(dev, &other.uncore, &boxes), "uncore");
	free(boxes);
	CHECK(room.behind == ~0ULL && other.behind == ~0ULL,
	      "written behind the structure");
	info = cmt_device_info(dev);
	CHECK(info->size >= CMT_INFO_SIZE && info->size <= CMT_INFO_ROOM,
	      "info of %u bytes", info->size);
	CHECK(room.stats.size >= CMT_STATS_SIZE && room.stats.size <= known,
	      "stats of %u bytes", room.stats.size);
#ifdef CMT_TEST_NEXT
	/* of a program that is as new as its module, or newer */
	CHECK(info->test_next == (info->size == sizeof(*info) ?
				  CMT_TEST_NEXT : 0), "info made up");
	CHECK(room.stats.test_next == (room.stats.size == known ?
				       CMT_TEST_NEXT : 0), "stats made up");
	CHECK(other.uncore.test_next == (other.uncore.size == sizeof(other.uncore) ?
					 CMT_TEST_NEXT : 0), "uncore made up");
#endif
	cmt_device_close(dev);
}

static void lib_resctrl(void)
{
	struct cmt_device *ro, *rw;
	uint32_t mode;
	bool mounted;

	CHECK(!cmt_device_open(&ro, NULL, 0), "open");
	CHECK(!cmt_device_open(&rw, NULL, CMT_OPEN_CONTROL), "open");
	CHECK(!cmt_device_resctrl(ro, &mode, &mounted) &&
	      mode == CMT_RESCTRL_RESPECT && !mounted, "mode %u", mode);
	CHECK(cmt_device_set_resctrl(ro, CMT_RESCTRL_TAKE) == -EBADF,
	      "not EBADF");
	CHECK(cmt_device_set_resctrl(rw, 3) == -EINVAL, "not EINVAL");
	CHECK(!cmt_device_set_resctrl(rw, CMT_RESCTRL_TAKE), "refused");
	CHECK(!cmt_device_resctrl(ro, &mode, NULL) && mode == CMT_RESCTRL_TAKE,
	      "mode %u", mode);
	cmt_device_close(ro);
	cmt_device_close(rw);
}

static void lib_cgroup_path(void)
{
	struct cmt_device *dev;
	char path[4096];
	struct stat st;
	uint64_t id;

	CHECK(!mkdir("/sys/fs/cgroup/path-of", 0755), "mkdir: %m");
	CHECK(!stat("/sys/fs/cgroup/path-of", &st), "stat: %m");
	id = st.st_ino;
	CHECK(!cmt_device_open(&dev, NULL, 0), "open");
	CHECK(!cmt_device_cgroup_path(dev, id, path, sizeof(path)) &&
	      !strcmp(path, "/path-of"), "it is at %s", path);
	CHECK(!cmt_device_cgroup_path(dev, id, path, sizeof("/path-of")),
	      "no room for just the path");
	CHECK(cmt_device_cgroup_path(dev, id, path, sizeof("/path-of") - 1) ==
	      -ENOSPC, "not ENOSPC");
	CHECK(cmt_device_cgroup_path(dev, 1ULL << 60, path, sizeof(path)) ==
	      -ENOENT, "not ENOENT");
	CHECK(!rmdir("/sys/fs/cgroup/path-of"), "rmdir: %m");
	CHECK(cmt_device_cgroup_path(dev, id, path, sizeof(path)) == -ENOENT,
	      "it is gone, and has a path");
	cmt_device_close(dev);
}

#define SECOND_OUTPUT	"/tmp/ring-reader"
#define FIRST_OUTPUT	"/tmp/libcmt-reader"

/* All records up to @until, in order.  Returns their number. */
static uint64_t print_until(struct side *s, uint64_t until, FILE *out)
{
	struct cmt_record r = { 0 };
	uint64_t printed = 0;
	int n;

	for (;;) {
		do {
			n = cmt_reader_read(s->reader, &r, 1);
			CHECK(n >= 0, "cmt_reader_read: %s", strerror(-n));
			if (!n)
				cmt_reader_wait(s->reader, 10);
		} while (!n);
		CHECK(r.type != CMT_REC_LOST, "records are lost");
		if (r.ts > until)
			return printed;
		CHECK(!record_print(out, &r), "record type %u", r.type);
		printed++;
	}
}

static pid_t second_reader(uint64_t until)
{
	char argument[32];
	pid_t pid;

	snprintf(argument, sizeof(argument), "%llu", (unsigned long long)until);
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	if (!freopen(SECOND_OUTPUT, "w", stdout))
		_exit(99);
	execl("/bin/ring-reader", "ring-reader", "-oldest", "-until", argument, (char *)NULL);
	_exit(99);
}

/* Compares line by line; the second reader's last line has the lost records. */
static void compare_outputs(uint64_t printed)
{
	FILE *first = fopen(FIRST_OUTPUT, "r"), *second = fopen(SECOND_OUTPUT, "r");
	char a[512], b[512], expected[64];
	uint64_t i;

	CHECK(first && second, "no output: %m");
	for (i = 0; i < printed; i++) {
		CHECK(fgets(a, sizeof(a), first) && fgets(b, sizeof(b), second),
		      "only %llu records", (unsigned long long)i);
		CHECK(!strcmp(a, b), "record %llu: libcmt %s the second reader %s",
		      (unsigned long long)i, a, b);
	}
	snprintf(expected, sizeof(expected), "delivered=%llu lost=0\n",
		 (unsigned long long)printed);
	CHECK(fgets(b, sizeof(b), second) && !strcmp(b, expected), "%s, not %s", b, expected);
	CHECK(!fgets(b, sizeof(b), second), "more: %s", b);
	fclose(first);
	fclose(second);
}

#define SECOND_NS 500000000ULL

/* Follows docs/abi.md, which must suffice for a reader in another language. */
static void second_reader_agrees(void)
{
	uint64_t until, printed;
	struct side s;
	FILE *out;
	pid_t pid;

	side_open(&s, CMT_READER_OLDEST);
	until = now_ns() + SECOND_NS;
	pid = second_reader(until);
	reap(park(2, "seen-by-both"), SIGKILL);
	out = fopen(FIRST_OUTPUT, "w");
	CHECK(out, "%s: %m", FIRST_OUTPUT);
	printed = print_until(&s, until, out);
	CHECK(!fclose(out), "%s: %m", FIRST_OUTPUT);
	expect_exit_0(pid, "ring-reader");
	note("%llu records", (unsigned long long)printed);
	CHECK(printed > 100, "too few");
	compare_outputs(printed);
	side_close(&s);
}

/* The library and the module are of different minor versions. */
static void abi_older_library(void)
{
	run_suite("/bin/suite", "--module-next", "lib_");
}

static void abi_newer_library(void)
{
	run_suite("/bin/suite-lib-next", NULL, "lib_");
}

const struct test lib_tests[] = {
	{ "lib_no_module", lib_no_module, NULL, 0 },
	{ "lib_control", lib_control, "", 0 },
	{ "lib_sizes", lib_sizes, "", 0 },
	{ "lib_resctrl", lib_resctrl, "", 0 },
	{ "lib_cgroup_path", lib_cgroup_path, "", 0 },
	{ "lib_conservation", lib_conservation, "ring_records=1024", 40 },
	{ "lib_late_reader", lib_late_reader, "", 0 },
	{ "lib_slots", lib_slots, "", 40 },
	{ "second_reader_agrees", second_reader_agrees, "scope=process ring_records=65536", 60 },
	{ "abi_older_library", abi_older_library, NULL, 120 },
	{ "abi_newer_library", abi_newer_library, NULL, 120 },
	{ }
};

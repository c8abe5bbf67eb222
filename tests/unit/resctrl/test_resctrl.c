// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups of resctrl as a device. */
#include <cmt/cmt.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "groups.h"
#include "resctrl/state.h"
#include "unit.h"

#define MS	1000000ULL
#define RECORDS	1024
#define ALL	(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define HANG_MS	10000

ssize_t __real_pread64(int fd, void *buf, size_t n, off64_t offset);
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off64_t offset);

/* As the kernel of resctrl: what is removed cannot be read, though it is open. */
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off64_t offset)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_nlink)
		return __real_pread64(fd, buf, n, offset);
	errno = ENODEV;
	return -1;
}

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

static long clock_step_ns;	/* of a coarse clock; 0: as it is */

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	int ret = __real_clock_gettime(clock, ts);

	if (clock_step_ns)
		ts->tv_nsec -= ts->tv_nsec % clock_step_ns;
	return ret;
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old);

static int timer_err;	/* as by a seccomp filter; 0: the timer can be set */

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old)
{
	if (!timer_err)
		return __real_timerfd_settime(fd, flags, new, old);
	errno = timer_err;
	return -1;
}

static struct cmt_device *dev;
static struct cmt_reader *reader;
static struct cmt_record got[RECORDS];	/* of the last reading of all groups */
static unsigned int nr_got;

static void open_device(uint64_t scan_ns)
{
	const struct cmt_resctrl_opts opts = {
		.sz = sizeof(opts), .root = groups_root, .interval_ns = 10 * MS,
		.scan_ns = scan_ns, .l3_bytes = 1 << 20,
	};

	ck_assert_int_eq(cmt_resctrl_open(&dev, &opts), 0);
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
}

static void setup(void)
{
	clock_step_ns = 0;
	timer_err = 0;
	groups_setup(2);
}

static void teardown(void)
{
	cmt_reader_free(reader);
	reader = NULL;
	cmt_device_close(dev);
	dev = NULL;
	groups_teardown();
}

static struct cmt_stats stats_now(void)
{
	struct cmt_stats stats = { .size = sizeof(stats) };

	ck_assert_int_eq(cmt_device_stats(dev, &stats), 0);
	return stats;
}

/* All records of the next reading: the device reads in cmt_reader_read() alone. */
static void next_reading(void)
{
	int n;

	nr_got = 0;
	do {
		ck_assert_int_gt(cmt_reader_wait(reader, HANG_MS), 0);
		n = cmt_reader_read(reader, got + nr_got, RECORDS - nr_got);
		ck_assert_int_ge(n, 0);
		nr_got += (unsigned int)n;
	} while (!nr_got || got[nr_got - 1].type != CMT_REC_TICK);
}

static const struct cmt_record *find(uint16_t type, const char *name, uint32_t domain)
{
	char path[PATH_MAX], wanted[PATH_MAX];
	struct cmt_snapshot *owners;
	uint32_t rmid = *name ? UINT32_MAX : 0;

	ck_assert_int_eq(cmt_device_snapshot(dev, &owners), 0);
	for (uint32_t i = 0; i < owners->count; i++) {
		const struct cmt_record *owner = cmt_snapshot_at(owners, i);

		ck_assert_int_eq(cmt_device_cgroup_path(dev, owner->owner.cgroup_id,
							path, sizeof(path)), 0);
		snprintf(wanted, sizeof(wanted), "/%s", name);
		if (!strcmp(path, wanted))
			rmid = owner->rmid;
	}
	cmt_snapshot_free(owners);
	for (unsigned int i = 0; i < nr_got; i++)
		if (got[i].type == type && got[i].rmid == rmid &&
		    (type != CMT_REC_SAMPLE || got[i].domain == domain))
			return &got[i];
	return NULL;
}

static const struct cmt_record *sample(const char *name, uint32_t domain)
{
	const struct cmt_record *record = find(CMT_REC_SAMPLE, name, domain);

	ck_assert_msg(record, "no sample of '%s' in %u", name, domain);
	return record;
}

static unsigned int count(uint16_t type)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < nr_got; i++)
		nr += got[i].type == type;
	return nr;
}

START_TEST(test_parse)
{
	static const struct {
		const char *text;
		uint32_t flags;
		uint64_t value;
	} cases[] = {
		{ "0\n", 0, 0 },
		{ "4096", 0, 4096 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", CMT_F_ERROR, 0 },
		{ "99999999999999999999999\n", CMT_F_ERROR, 0 },
		{ "Unavailable\n", CMT_F_UNAVAILABLE, 0 },
		{ "Unassigned\n", CMT_F_UNAVAILABLE, 0 },
		{ "Error\n", CMT_F_ERROR, 0 },
		{ "", CMT_F_ERROR, 0 },
		{ "\n", CMT_F_ERROR, 0 },
		{ "-1\n", CMT_F_ERROR, 0 },
		{ " 1\n", CMT_F_ERROR, 0 },
		{ "1 \n", CMT_F_ERROR, 0 },
		{ "1\n2\n", CMT_F_ERROR, 0 },
		{ "0x10\n", CMT_F_ERROR, 0 },
		{ "Unavailable12", CMT_F_ERROR, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 0;
		uint32_t flags = cmt_resctrl_parse(cases[i].text, strlen(cases[i].text),
					       &value);

		ck_assert_msg(flags == cases[i].flags, "'%s': %#x", cases[i].text, flags);
		if (!flags)
			ck_assert_uint_eq(value, cases[i].value);
	}
}
END_TEST

START_TEST(test_values)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_set_all("web", 0, 4096, 1000, 600);
	groups_set_all("web", 1, 8192, 50, 50);
	open_device(MS);
	next_reading();
	record = sample("web", 1);
	ck_assert_uint_eq(record->flags, ALL | CMT_F_REBASED);
	ck_assert_uint_eq(record->sample.occupancy_bytes, 8192);
	groups_set_all("web", 0, 4097, 1700, 601);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags, ALL);
	ck_assert_uint_eq(record->sample.occupancy_bytes, 4097);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 700);
	ck_assert_uint_eq(record->sample.mbm_local_bytes, 1);
	ck_assert_uint_eq(sample("web", 1)->sample.mbm_total_bytes, 0);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 4);
	ck_assert_uint_eq(count(CMT_REC_TICK), 1);
}
END_TEST

START_TEST(test_times_increase_with_a_coarse_clock)
{
	uint64_t before = 0;

	groups_add("web");
	open_device(MS);
	clock_step_ns = 5 * MS;
	for (int n = 0; n < 3; n++) {
		next_reading();
		for (unsigned int i = 0; i < nr_got; before = got[i++].ts)
			ck_assert_uint_gt(got[i].ts, before);
	}
}
END_TEST

/* Nothing is read before the interval is over. */
START_TEST(test_reads_when_due)
{
	struct cmt_record records[8];
	uint64_t before;

	groups_add("web");
	open_device(MS);
	ck_assert_uint_eq(stats_now().readers, 1);
	ck_assert_uint_eq(cmt_device_info(dev)->idle_ticks, 1);
	next_reading();
	/* the time stands still */
	clock_step_ns = 1000000000;
	before = stats_now().records;
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(cmt_reader_read(reader, records, 8), 0);
	ck_assert_uint_eq(stats_now().records, before);
	clock_step_ns = 0;
	cmt_reader_free(reader);
	reader = NULL;
	ck_assert_uint_eq(stats_now().readers, 0);
}
END_TEST

/* The kernel counts monitoring groups in their control group, too. */
START_TEST(test_monitoring_groups_are_subtracted)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_add("mon_groups/b");
	groups_set_all("web", 0, 10000, 5000, 5000);
	groups_set_all("web/mon_groups/a", 0, 4000, 3000, 1000);
	groups_set_all(".", 0, 700, 900, 900);
	groups_set_all("mon_groups/b", 0, 300, 100, 100);
	open_device(MS);
	next_reading();
	groups_set_all("web", 0, 10000, 5900, 5000);
	groups_set_all("web/mon_groups/a", 0, 4000, 3600, 1000);
	groups_set_all(".", 0, 700, 1000, 900);
	groups_set_all("mon_groups/b", 0, 300, 150, 100);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->sample.occupancy_bytes, 6000);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 300);
	ck_assert_uint_eq(sample("web/a", 0)->sample.mbm_total_bytes, 600);
	ck_assert_uint_eq(sample("mon_groups/b", 0)->sample.mbm_total_bytes, 50);
	record = sample("", 0);
	ck_assert_uint_eq(record->generation, 0);
	ck_assert_uint_eq(record->sample.occupancy_bytes, 400);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 50);
}
END_TEST

/* What is not known of one below is not known above either. */
START_TEST(test_unknown_below)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_set("web/mon_groups/a", 0, "llc_occupancy", "Unavailable\n");
	open_device(MS);
	next_reading();
	record = sample("web", 0);
	ck_assert(!(record->flags & CMT_F_OCCUPANCY));
	ck_assert(record->flags & CMT_F_UNAVAILABLE);
	ck_assert(record->flags & CMT_F_MBM_TOTAL);
	ck_assert_uint_eq(record->sample.occupancy_bytes, 0);
}
END_TEST

/* The kernel leaves out an RMID without a value. */
static void set_sums(unsigned long long web, unsigned long long below)
{
	groups_set_number("web", 0, "mbm_total_bytes", web);
	groups_set_number("web/mon_groups/a", 0, "mbm_total_bytes", below);
	next_reading();
}

static void open_sums(unsigned long long web, unsigned long long below)
{
	groups_add("web");
	groups_add("web/mon_groups/a");
	open_device(MS);
	set_sums(web, below);
}

static void check_unknown(void)
{
	ck_assert_uint_eq(sample("web", 0)->flags & (CMT_F_MBM_TOTAL | CMT_F_UNAVAILABLE),
			  CMT_F_UNAVAILABLE);
	ck_assert_uint_eq(sample("web/a", 0)->flags & ALL, ALL);
}

static void check_rebased(unsigned long long sum)
{
	const uint32_t flags = CMT_F_MBM_TOTAL | CMT_F_REBASED;

	ck_assert_uint_eq(sample("web", 0)->flags & flags, flags);
	ck_assert_uint_eq(sample("web", 0)->sample.mbm_total_bytes, sum);
}

static void check_known(unsigned long long sum)
{
	ck_assert_uint_eq(sample("web", 0)->flags, ALL);
	ck_assert_uint_eq(sample("web", 0)->sample.mbm_total_bytes, sum);
}

START_TEST(test_own_goes_and_comes_back)
{
	open_sums(5000, 3000);
	for (int i = 0; i < 2; i++) {
		set_sums(3000, 3000);
		check_unknown();
	}
	/* the sum is as before by the monitoring group's traffic */
	set_sums(5000, 5000);
	check_unknown();
	set_sums(7001, 5000);
	check_rebased(0);
	set_sums(7011, 5000);
	check_known(10);
}
END_TEST

START_TEST(test_own_comes_late)
{
	open_sums(3000, 3000);
	set_sums(3100, 3100);
	check_known(0);
	set_sums(5151, 3150);
	check_rebased(0);
	set_sums(5161, 3150);
	check_known(10);
}
END_TEST

/* Both have no value, and the monitoring group has one first. */
START_TEST(test_own_comes_back_second)
{
	open_sums(5000, 3000);
	set_sums(5000, 3000);
	groups_set("web", 0, "mbm_total_bytes", "Unavailable\n");
	groups_set("web/mon_groups/a", 0, "mbm_total_bytes", "Unavailable\n");
	next_reading();
	set_sums(3000, 3000);
	check_unknown();
	set_sums(5001, 3000);
	check_rebased(0);
}
END_TEST

/* The monitoring group has a value, and not when the kernel adds up. */
START_TEST(test_sum_is_less_than_below)
{
	open_sums(5000, 3000);
	groups_set_number("web", 0, "llc_occupancy", 1000);
	groups_set_number("web/mon_groups/a", 0, "llc_occupancy", 4000);
	set_sums(2000, 3000);
	ck_assert_uint_eq(sample("web", 0)->flags & ALL, CMT_F_MBM_LOCAL);
	groups_set_number("web", 0, "llc_occupancy", 3900);
	set_sums(5001, 3000);
	check_rebased(0);
	/* what the monitoring group lost meanwhile */
	ck_assert(sample("web", 0)->flags & CMT_F_OCCUPANCY);
	ck_assert_uint_eq(sample("web", 0)->sample.occupancy_bytes, 0);
}
END_TEST

/* A counter that begins anew grows in time, and may stay less than before for good. */
START_TEST(test_own_begins_anew)
{
	open_sums(5000, 3000);
	set_sums(3100, 3000);
	check_unknown();
	for (int i = 0; i < 64 && !(sample("web", 0)->flags & CMT_F_MBM_TOTAL); i++)
		set_sums(3100, 3000);
	check_rebased(0);
	set_sums(3150, 3010);
	check_known(40);
}
END_TEST

static void move_group(const char *from, const char *to)
{
	char old[PATH_MAX], new[PATH_MAX];

	snprintf(old, sizeof(old), "%s/%s", groups_root, from);
	snprintf(new, sizeof(new), "%s/%s", groups_root, to);
	ck_assert_int_eq(rename(old, new), 0);
}

/* The files of a group that is moved stay readable, and none of its life is new. */
START_TEST(test_group_moves)
{
	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_add("db");
	groups_set_all("web", 0, 3000, 5000, 5000);
	groups_set_all("web/mon_groups/a", 0, 2000, 3000, 3000);
	groups_set_all("db", 0, 100, 700, 700);
	open_device(60000 * MS);
	next_reading();
	next_reading();
	ck_assert_uint_eq(sample("db", 0)->flags, ALL);
	move_group("web/mon_groups/a", "db/mon_groups/a");
	groups_set_all("web", 0, 1000, 2000, 2000);
	groups_set_all("db", 0, 2100, 3701, 3700);
	groups_set_all("db/mon_groups/a", 0, 2000, 3001, 3000);
	next_reading();
	ck_assert_uint_eq(sample("db", 0)->flags, ALL | CMT_F_REBASED);
	ck_assert_uint_eq(sample("db", 0)->sample.mbm_total_bytes, 0);
	ck_assert_uint_eq(sample("db", 0)->sample.occupancy_bytes, 100);
	ck_assert_uint_eq(sample("web", 0)->flags, ALL | CMT_F_REBASED);
	ck_assert_uint_eq(sample("web", 0)->sample.occupancy_bytes, 1000);
	ck_assert_uint_eq(sample("db/a", 0)->sample.occupancy_bytes, 2000);
	groups_set_all("db", 0, 2100, 3711, 3700);
	next_reading();
	ck_assert_uint_eq(sample("db", 0)->flags, ALL);
	ck_assert_uint_eq(sample("db", 0)->sample.mbm_total_bytes, 10);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 8);
}
END_TEST

/* A group that comes or goes below a control group is no traffic of that. */
START_TEST(test_set_below_changes)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_set_all("web", 0, 0, 1000, 1000);
	open_device(MS);
	next_reading();
	groups_add("web/mon_groups/a");
	groups_set_all("web/mon_groups/a", 0, 0, 300, 300);
	groups_set_all("web", 0, 0, 1400, 1400);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags & CMT_F_REBASED, CMT_F_REBASED);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 0);
	groups_remove("web/mon_groups/a");
	groups_set_all("web", 0, 0, 1100, 1100);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags & CMT_F_REBASED, CMT_F_REBASED);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 0);
	groups_set_all("web", 0, 0, 1150, 1150);
	next_reading();
	ck_assert_uint_eq(sample("web", 0)->sample.mbm_total_bytes, 50);
}
END_TEST

START_TEST(test_text_is_no_number)
{
	static const struct {
		const char *text;
		uint32_t flags;
	} cases[] = {
		{ "Unavailable\n", CMT_F_UNAVAILABLE }, { "Error\n", CMT_F_ERROR },
		{ "Unassigned\n", CMT_F_UNAVAILABLE }, { "", CMT_F_ERROR },
		{ "garbage\n", CMT_F_ERROR }, { "\001\377\n", CMT_F_ERROR },
	};
	const struct cmt_record *record;

	groups_add("web");
	open_device(MS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		groups_set("web", 0, "mbm_total_bytes", cases[i].text);
		next_reading();
		record = sample("web", 0);
		ck_assert_uint_eq(record->flags & ~CMT_F_REBASED, CMT_F_OCCUPANCY |
				  CMT_F_MBM_LOCAL | cases[i].flags);
		ck_assert_uint_eq(record->sample.mbm_total_bytes, 0);
		groups_set_number("web", 0, "mbm_total_bytes", 1000 * (i + 1));
		next_reading();
		/* what was moved meanwhile is not known */
		record = sample("web", 0);
		ck_assert_uint_eq(record->flags, ALL | CMT_F_REBASED);
		ck_assert_uint_eq(record->sample.mbm_total_bytes, 0);
	}
}
END_TEST

START_TEST(test_huge_file)
{
	char *text = malloc((1 << 20) + 1);

	ck_assert(text);
	memset(text, '1', 1 << 20);
	text[1 << 20] = '\0';
	groups_add("web");
	groups_set("web", 0, "llc_occupancy", text);
	free(text);
	open_device(MS);
	next_reading();
	ck_assert_uint_eq(sample("web", 0)->flags, CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL |
			  CMT_F_REBASED | CMT_F_ERROR);
}
END_TEST

START_TEST(test_counter_steps_back)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_set_all("web", 0, 0, 1000, 1000);
	open_device(MS);
	next_reading();
	groups_set_all("web", 0, 0, 1500, 1000);
	next_reading();
	groups_set_all("web", 0, 0, 10, 1000);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags, ALL | CMT_F_REBASED);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 500);
	groups_set_all("web", 0, 0, 40, 1000);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags, ALL);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 530);
}
END_TEST

/* A group that is removed is found before the next scan is due. */
START_TEST(test_group_vanishes_between_scans)
{
	groups_add("web");
	open_device(60000 * MS);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 4);
	groups_remove("web");
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_FREE), 1);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 2);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_FREE), 0);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 2);
}
END_TEST

/* What the kernel has taken off the control group with it is no traffic. */
START_TEST(test_monitoring_group_vanishes)
{
	const struct cmt_record *record;

	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_set_all("web", 0, 0, 1000, 1000);
	groups_set_all("web/mon_groups/a", 0, 0, 100, 100);
	open_device(60000 * MS);
	next_reading();
	groups_remove("web/mon_groups/a");
	groups_set_all("web", 0, 0, 2000, 2000);
	next_reading();
	record = sample("web", 0);
	ck_assert_uint_eq(record->flags, ALL | CMT_F_REBASED);
	ck_assert_uint_eq(record->sample.mbm_total_bytes, 0);
	groups_set_all("web", 0, 0, 2005, 2000);
	next_reading();
	ck_assert_uint_eq(sample("web", 0)->sample.mbm_total_bytes, 5);
}
END_TEST

START_TEST(test_groups_come_and_go)
{
	const struct cmt_record *record;
	struct cmt_snapshot *owners;
	uint32_t rmid;

	open_device(MS);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_ALLOC), 0);
	groups_add("web");
	groups_set_all("web", 0, 1, 100, 100);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_ALLOC), 1);
	record = find(CMT_REC_ALLOC, "web", 0);
	ck_assert(record);
	rmid = record->rmid;
	ck_assert_uint_eq(record->flags, CMT_F_OWNER_RESCTRL);
	ck_assert(record->owner.cgroup_id & CMT_RESCTRL_GROUP);
	ck_assert_str_eq(record->owner.comm, "web");
	/* who asks later learns of the same begin */
	ck_assert_int_eq(cmt_device_snapshot(dev, &owners), 0);
	ck_assert_uint_eq(owners->count, 1);
	ck_assert_uint_eq(cmt_snapshot_at(owners, 0)->ts, record->ts);
	cmt_snapshot_free(owners);
	/* what was moved before it was found is not known */
	ck_assert(sample("web", 0)->flags & CMT_F_REBASED);
	groups_remove("web");
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_FREE), 1);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 2);
	groups_add("web");
	next_reading();
	record = find(CMT_REC_ALLOC, "web", 0);
	ck_assert(record && (record->rmid != rmid || record->generation > 1));
}
END_TEST

/* A directory of the same name is another group. */
START_TEST(test_group_is_replaced)
{
	uint64_t before, after;

	groups_add("web");
	groups_set_all("web", 0, 0, 100, 100);
	open_device(MS);
	next_reading();
	before = sample("web", 0)->rmid;
	groups_add("other");
	groups_remove("web");
	groups_add("web");
	groups_set_all("web", 0, 0, 900, 900);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_FREE), 1);
	ck_assert_uint_eq(count(CMT_REC_ALLOC), 2);
	after = sample("web", 0)->rmid;
	ck_assert_uint_ne(before, after);
	ck_assert_uint_eq(sample("web", 0)->sample.mbm_total_bytes, 0);
}
END_TEST

START_TEST(test_domains_go_and_come)
{
	groups_add("web");
	open_device(MS);
	next_reading();
	groups_remove("web/mon_data/mon_L3_01");
	groups_remove("mon_data/mon_L3_01");
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 2);
	sample("web", 0);
	groups_add_domain(".", 1);
	groups_add_domain("web", 1);
	groups_add_domain(".", 2);
	groups_add_domain("web", 2);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 6);
	/* the files that were open are those of other directories */
	for (uint32_t d = 0; d < 3; d++)
		ck_assert_uint_eq(sample("web", d)->flags, ALL | CMT_F_REBASED);
}
END_TEST

/* Of one group in one domain a file is missing. */
START_TEST(test_file_is_missing)
{
	groups_add("web");
	groups_set("web", 1, "mbm_local_bytes", NULL);
	open_device(MS);
	next_reading();
	ck_assert_uint_eq(sample("web", 1)->flags, CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
			  CMT_F_REBASED | CMT_F_UNAVAILABLE);
	ck_assert_uint_eq(sample("web", 0)->flags, ALL | CMT_F_REBASED);
}
END_TEST

START_TEST(test_hostile_names)
{
	static const char *const names[] = {
		"\033[31mred", "docker-0123456789abcdef", "a b", "..x", "%s%n",
		"\377\376", "user.slice",
	};
	const struct cmt_container *container;
	struct cmt_containers *containers;
	const struct cmt_containers_opts opts = { .sz = sizeof(opts) };
	struct cmt_containers_opts o = opts;
	char longest[256];

	memset(longest, 'x', 255);
	longest[255] = '\0';
	groups_add(longest);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		groups_add(names[i]);
	open_device(MS);
	next_reading();
	o.device = dev;
	ck_assert_int_eq(cmt_containers_new(&containers, &o), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		sample(names[i], 0);
	sample(longest, 1);
	for (unsigned int i = 0; i < nr_got; i++) {
		if (got[i].type != CMT_REC_ALLOC)
			continue;
		container = cmt_containers_lookup(containers, got[i].owner.cgroup_id);
		ck_assert(container && container->path);
		ck_assert_int_eq(container->runtime, CMT_RUNTIME_NONE);
		ck_assert_str_eq(container->id, "");
		for (const char *c = container->name; *c; c++)
			ck_assert(*c >= ' ' && *c < 127);
	}
	cmt_containers_free(containers);
}
END_TEST

/* What is no directory, or has no mon_data, is no group. */
START_TEST(test_no_groups)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && mkfifo fifo && ln -s . link && mkdir plain && touch schemata && "
		 "mkdir half && touch half/mon_data && ln -s info mon_data/mon_L3_x && "
		 "mkdir mon_data/mon_L3_7x mon_data/mon_PERF_PKG_00 mon_data/mon_L3_3",
		 groups_root);
	unit_shell(command);
	open_device(MS);
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_ALLOC), 0);
	ck_assert_uint_eq(count(CMT_REC_SAMPLE), 2);
}
END_TEST

START_TEST(test_fifo_is_no_value)
{
	char command[512];

	groups_add("web");
	snprintf(command, sizeof(command), "cd %s/web/mon_data/mon_L3_00 && "
		 "rm llc_occupancy mbm_total_bytes && mkfifo llc_occupancy && "
		 "ln -s /proc/self/stat mbm_total_bytes", groups_root);
	unit_shell(command);
	open_device(MS);
	next_reading();
	ck_assert_uint_eq(sample("web", 0)->flags & (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL), 0);
}
END_TEST

/* Files are opened for each reading where there may be no more. */
START_TEST(test_few_descriptors)
{
	struct rlimit limit;
	char name[16];
	int before;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 64;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		groups_add(name);
		groups_set_number(name, 1, "llc_occupancy", 100ULL + (unsigned int)i);
	}
	before = unit_open_fds();
	open_device(MS);
	next_reading();
	next_reading();
	ck_assert_int_le(unit_open_fds() - before, 36);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		ck_assert_uint_eq(sample(name, 1)->sample.occupancy_bytes,
				  100 + (unsigned int)i);
	}
}
END_TEST

/*
 * The monitoring groups of one control group cannot be listed for lack of a descriptor: they
 * have not ended, and what they hold is not the control group's.
 */
START_TEST(test_no_descriptor_for_a_list)
{
	struct rlimit limit, one;

	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_set_number("web", 0, "llc_occupancy", 3000);
	groups_set_number("web/mon_groups/a", 0, "llc_occupancy", 1000);
	open_device(MS);
	next_reading();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	one = limit;
	one.rlim_cur = (rlim_t)dup(0) + 1;
	ck_assert_int_eq(close((int)one.rlim_cur - 1), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &one), 0);
	for (int i = 0; i < 3; i++) {
		next_reading();
		ck_assert_uint_eq(count(CMT_REC_FREE), 0);
		ck_assert_uint_eq(sample("web", 0)->sample.occupancy_bytes, 2000);
		ck_assert_uint_eq(sample("web/a", 0)->sample.occupancy_bytes, 1000);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	groups_remove("web/mon_groups/a");
	next_reading();
	ck_assert_uint_eq(count(CMT_REC_FREE), 1);
	ck_assert_uint_eq(sample("web", 0)->sample.occupancy_bytes, 3000);
}
END_TEST

START_TEST(test_no_leak)
{
	int before = unit_open_fds();

	groups_add("web");
	open_device(MS);
	next_reading();
	cmt_reader_free(reader);
	reader = NULL;
	cmt_device_close(dev);
	dev = NULL;
	ck_assert_int_eq(unit_open_fds(), before);
}
END_TEST

START_TEST(test_unmounted)
{
	struct cmt_record record;
	int n;

	open_device(MS);
	next_reading();
	groups_remove("mon_data");
	do {
		ck_assert_int_ge(cmt_reader_wait(reader, HANG_MS), 0);
		n = cmt_reader_read(reader, &record, 1);
	} while (n >= 0);
	ck_assert_int_eq(n, -ENODEV);
	ck_assert_int_eq(cmt_reader_read(reader, &record, 1), -ENODEV);
}
END_TEST

static int open_at(const char *root, uint64_t interval_ns)
{
	const struct cmt_resctrl_opts opts = {
		.sz = sizeof(opts), .root = root, .interval_ns = interval_ns,
	};

	return cmt_resctrl_open(&dev, &opts);
}

START_TEST(test_open_fails)
{
	char path[256];

	ck_assert_int_eq(open_at("/nonexistent", 0), -ENOENT);
	ck_assert_int_eq(open_at("/dev/null", 0), -ENOENT);
	ck_assert_int_eq(open_at("/tmp", 0), -EOPNOTSUPP);
	ck_assert_int_eq(open_at(groups_root, CMT_RESCTRL_INTERVAL_MIN_NS - 1), -EINVAL);
	ck_assert_int_eq(open_at(groups_root, CMT_RESCTRL_INTERVAL_MAX_NS + 1), -EINVAL);
	/* this machine may have no resctrl; if it has, that is resctrl */
	if (access(CMT_RESCTRL_PATH "/info", F_OK))
		ck_assert_int_eq(open_at(NULL, 0), -ENOENT);
	groups_remove("mon_data");
	ck_assert_int_eq(open_at(groups_root, 0), -EOPNOTSUPP);
	snprintf(path, sizeof(path), "%s/info/L3_MON/mon_features", groups_root);
	ck_assert_int_eq(truncate(path, 0), 0);
	errno = EIO;
	ck_assert_int_eq(open_at(groups_root, 0), -EOPNOTSUPP);
	groups_remove("info/L3_MON/mon_features");
	ck_assert_int_eq(open_at(groups_root, 0), -EOPNOTSUPP);
}
END_TEST

/* Without its timer a reader would wait in vain. */
START_TEST(test_timer_fails)
{
	ck_assert_int_eq(open_at(groups_root, 0), 0);
	timer_err = EPERM;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), -EPERM);
	timer_err = 0;
	ck_assert_int_eq(cmt_reader_new(&reader, dev, NULL), 0);
	next_reading();
}
END_TEST

START_TEST(test_no_permission)
{
	char path[256];

	if (!geteuid())
		ck_assert_int_eq(seteuid(65534), 0);
	snprintf(path, sizeof(path), "%s/info/L3_MON/mon_features", groups_root);
	if (!getuid())
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(chmod(path, 0), 0);
	ck_assert_int_eq(chmod(groups_root, 0755), 0);
	if (!getuid())
		ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(open_at(groups_root, 0), -EACCES);
	if (!getuid())
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* A value that may not be read is no value, and the others are. */
START_TEST(test_no_permission_for_a_file)
{
	char command[512];

	groups_add("web");
	snprintf(command, sizeof(command),
		 "chmod -R a+rX %s; chmod 0 %s/web/mon_data/mon_L3_00/llc_occupancy",
		 groups_root, groups_root);
	unit_shell(command);
	if (!getuid())
		ck_assert_int_eq(seteuid(65534), 0);
	open_device(MS);
	next_reading();
	ck_assert_uint_eq(sample("web", 0)->flags, CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL |
			  CMT_F_REBASED | CMT_F_UNAVAILABLE);
	if (!getuid())
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

START_TEST(test_device_answers)
{
	struct cmt_stats stats = { .size = sizeof(stats) };
	struct cmt_snapshot *snapshot;
	struct cmt_uncore uncore = { .size = sizeof(uncore) };
	struct cmt_box *boxes;
	const struct cmt_info *info;
	char *patterns;
	uint32_t n;
	bool mounted;

	groups_add("web");
	open_device(MS);
	next_reading();
	info = cmt_device_info(dev);
	ck_assert_uint_eq(info->backend, CMT_BACKEND_RESCTRL);
	ck_assert_uint_eq(info->events, ALL);
	ck_assert_uint_eq(info->l3_bytes, 1 << 20);
	ck_assert_int_eq(cmt_device_stats(dev, &stats), 0);
	ck_assert_uint_eq(stats.rmids_active, 1);
	ck_assert_uint_eq(stats.samples, 4);
	ck_assert_int_eq(cmt_device_interval(dev, &n), 0);
	ck_assert_uint_eq(n, 10 * MS);
	ck_assert_int_eq(cmt_device_pending(dev, &snapshot), 0);
	ck_assert_uint_eq(snapshot->count, 0);
	cmt_snapshot_free(snapshot);
	ck_assert_int_eq(cmt_device_uncore(dev, &uncore, &boxes), 0);
	ck_assert_uint_eq(uncore.count, 0);
	free(boxes);
	ck_assert_int_eq(cmt_device_resctrl(dev, &n, &mounted), 0);
	ck_assert(mounted);
	ck_assert_int_eq(cmt_device_set_interval(dev, 10 * MS), -EOPNOTSUPP);
	ck_assert_int_eq(cmt_device_set_scope(dev, CMT_SCOPE_CPU, NULL, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(cmt_device_attach(dev, CMT_OWNER_PROCESS, 1, 0, NULL),
			 -EOPNOTSUPP);
	ck_assert_int_eq(cmt_register(dev, CMT_OWNER_PROCESS, 1, 0, NULL), -EOPNOTSUPP);
	ck_assert_int_eq(cmt_device_patterns(dev, &patterns), -EOPNOTSUPP);
	ck_assert_int_eq(cmt_device_read_now(dev, 0, 0, &snapshot), -EOPNOTSUPP);
}
END_TEST

/* What the module refuses is refused here, too. */
START_TEST(test_requests)
{
	const uint32_t values[] = { 0, CMT_F_CYCLES, ALL | 1U << 31 };
	const uint32_t counters[] = { CMT_F_OCCUPANCY, 1U << 31, CMT_F_COUNTERS_FIRST,
				      CMT_F_COUNTERS_FIRST | CMT_F_WAITED };

	groups_add("web");
	open_device(MS);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		ck_assert_int_eq(cmt_device_set_values(dev, values[i]), -EINVAL);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		ck_assert_int_eq(cmt_device_set_counters(dev, counters[i]), -EINVAL);
	ck_assert_int_eq(cmt_device_set_values(dev, CMT_F_OCCUPANCY), 0);
	ck_assert_int_eq(cmt_device_set_values(dev, ALL), 0);
	ck_assert_int_eq(cmt_device_set_counters(dev, 0), 0);
	ck_assert_int_eq(cmt_device_set_counters(dev, CMT_F_COUNTERS_FIRST | CMT_F_CYCLES |
						 CMT_F_WAITED | CMT_F_CHANNEL), 0);
}
END_TEST

static const struct cmt_usage_row *row_of(const struct cmt_usage_frame *frame,
					  const char *path)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

		if (row->container && row->container->path &&
		    !strcmp(row->container->path, path))
			return row;
	}
	return NULL;
}

static const struct cmt_usage_frame *next_frame(struct cmt_usage *usage)
{
	const struct cmt_usage_frame *frame;
	int ret;

	while (!(ret = cmt_usage_next(usage, &frame))) {
		cmt_usage_refresh(usage, CMT_USAGE_NAMES);
		ck_assert_int_ge(cmt_usage_wait(usage, HANG_MS), 0);
	}
	ck_assert_int_eq(ret, 1);
	return frame;
}

/* The rows of a usage are the groups, by their names, and the domains. */
START_TEST(test_usage)
{
	const struct cmt_resctrl_opts opts = {
		.sz = sizeof(opts), .root = groups_root, .interval_ns = 10 * MS,
	};
	struct cmt_usage_opts uopts = {
		.sz = sizeof(uopts), .by = CMT_USAGE_BY_CONTAINER,
		.interval_ns = 40 * MS, .counters = CMT_F_CYCLES | CMT_F_CHANNEL,
	};
	const struct cmt_usage_frame *frame;
	const struct cmt_usage_row *row;
	struct cmt_usage *usage;

	groups_add("web");
	groups_add("web/mon_groups/a");
	groups_set_all("web", 0, 3000, 0, 0);
	groups_set_all("web/mon_groups/a", 0, 1000, 0, 0);
	groups_set_all("web/mon_groups/a", 1, 500, 0, 0);
	groups_set_all("web", 1, 500, 0, 0);
	ck_assert_int_eq(cmt_resctrl_open(&dev, &opts), 0);
	uopts.device = dev;
	ck_assert_int_eq(cmt_usage_new(&usage, &uopts), 0);
	next_frame(usage);
	frame = next_frame(usage);
	ck_assert_uint_eq(frame->nr_rows, 3);
	row = row_of(frame, "/web/a");
	ck_assert(row);
	ck_assert_uint_eq(row->occupancy.last_bytes, 1500);
	ck_assert_uint_eq(row->owner, CMT_OWNER_RESCTRL);
	ck_assert_str_eq(row->container->name, "web/a");
	ck_assert(row->total.known && row->total.bytes == 0);
	row = row_of(frame, "/web");
	ck_assert(row);
	ck_assert_uint_eq(row->occupancy.last_bytes, 2000);
	ck_assert_uint_eq(frame->sampling_ns, 10 * MS);
	ck_assert_str_eq(frame->channels_reason, "resctrl does not count memory channels");
	cmt_usage_free(usage);
}
END_TEST

/* A directory that is renamed keeps its inode, from which the group's id is. */
START_TEST(test_usage_of_a_renamed_group)
{
	const struct cmt_resctrl_opts opts = {
		.sz = sizeof(opts), .root = groups_root, .interval_ns = 10 * MS,
	};
	struct cmt_usage_opts uopts = {
		.sz = sizeof(uopts), .by = CMT_USAGE_BY_CONTAINER, .interval_ns = 40 * MS,
	};
	const struct cmt_usage_frame *frame;
	struct cmt_usage *usage;
	int n;

	groups_add("web");
	groups_add("web/mon_groups/a");
	ck_assert_int_eq(cmt_resctrl_open(&dev, &opts), 0);
	uopts.device = dev;
	ck_assert_int_eq(cmt_usage_new(&usage, &uopts), 0);
	next_frame(usage);
	ck_assert(row_of(next_frame(usage), "/web/a"));
	move_group("web/mon_groups/a", "web/mon_groups/b");
	/* names are asked for again each second */
	for (n = 0; n < 75; n++) {
		frame = next_frame(usage);
		if (row_of(frame, "/web/b") && !row_of(frame, "/web/a"))
			break;
	}
	ck_assert_int_lt(n, 75);
	ck_assert_str_eq(row_of(frame, "/web/b")->container->name, "web/b");
	cmt_usage_free(usage);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resctrl");
	TCase *tcase = tcase_create("groups");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_parse);
	tcase_add_test(tcase, test_values);
	tcase_add_test(tcase, test_times_increase_with_a_coarse_clock);
	tcase_add_test(tcase, test_reads_when_due);
	tcase_add_test(tcase, test_monitoring_groups_are_subtracted);
	tcase_add_test(tcase, test_unknown_below);
	tcase_add_test(tcase, test_own_goes_and_comes_back);
	tcase_add_test(tcase, test_own_comes_late);
	tcase_add_test(tcase, test_own_comes_back_second);
	tcase_add_test(tcase, test_sum_is_less_than_below);
	tcase_add_test(tcase, test_own_begins_anew);
	tcase_add_test(tcase, test_group_moves);
	tcase_add_test(tcase, test_set_below_changes);
	tcase_add_test(tcase, test_text_is_no_number);
	tcase_add_test(tcase, test_huge_file);
	tcase_add_test(tcase, test_counter_steps_back);
	tcase_add_test(tcase, test_group_vanishes_between_scans);
	tcase_add_test(tcase, test_monitoring_group_vanishes);
	tcase_add_test(tcase, test_groups_come_and_go);
	tcase_add_test(tcase, test_group_is_replaced);
	tcase_add_test(tcase, test_domains_go_and_come);
	tcase_add_test(tcase, test_file_is_missing);
	tcase_add_test(tcase, test_hostile_names);
	tcase_add_test(tcase, test_no_groups);
	tcase_add_test(tcase, test_fifo_is_no_value);
	tcase_add_test(tcase, test_few_descriptors);
	tcase_add_test(tcase, test_no_descriptor_for_a_list);
	tcase_add_test(tcase, test_no_leak);
	tcase_add_test(tcase, test_unmounted);
	tcase_add_test(tcase, test_open_fails);
	tcase_add_test(tcase, test_timer_fails);
	tcase_add_test(tcase, test_no_permission);
	tcase_add_test(tcase, test_no_permission_for_a_file);
	tcase_add_test(tcase, test_device_answers);
	tcase_add_test(tcase, test_requests);
	tcase_add_test(tcase, test_usage);
	tcase_add_test(tcase, test_usage_of_a_renamed_group);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}

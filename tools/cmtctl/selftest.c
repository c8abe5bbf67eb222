// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fill the cache by known amounts, and compare.  Nothing of the machine is changed but
 * by processes and registered owners of this program, and the kernel ends both with it.
 */
#include "selftest.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmtctl.h"
#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/meter.h"
#include "common/meter_view.h"
#include "common/progress.h"
#include "common/signals.h"
#include "filler.h"

#define LIMIT_NS	60000000000ULL	/* of all */
#define TICKS_NS	3000000000ULL
#define READ_NS		20000000ULL	/* from one reading of a fill to the next */
#define READINGS	9		/* of a fill: their median counts */
#define ROUNDS		3		/* attempts at a check that fails */
#define PASSES		4		/* over the memory of the traffic check */
#define TRAFFIC_L3S	4		/* memory of the traffic check, in L3s */
#define TICKS_MAX	(1U << 18)
#define RECORDS		512
#define PAGE		4096ULL

enum { MAIN, SECOND, IDLE, NR_FILLERS };

struct run {
	const struct ctl *ctl;
	struct selftest *test;
	struct filler fillers[NR_FILLERS];
	struct meter bases[NR_FILLERS];	/* before the first write */
	uint64_t memory;		/* bytes of MAIN */
	uint64_t begin_ns;
	struct progress progress;
};

/*
 * Print "cmtctl: cannot run the self-test: WHY", and the remedy.  Returns EXIT_CANNOT.
 */
static int cannot(const char *why, const char *todo)
{
	fprintf(stderr, "cmtctl: cannot run the self-test: %s\n", why);
	if (todo)
		fprintf(stderr, "%s\n", todo);
	return EXIT_CANNOT;
}

/* @err: the error of a step.  Returns EXIT_CANNOT. */
static int explain(int err, const char *what)
{
	if (err > 0)
		return err;
	if (signal_stop)
		return cannot("it was interrupted", NULL);
	if (err == -ECHILD)
		return cannot("a process that fills the cache was killed",
			      "Is there a limit of memory for this program?");
	if (err == -ETIMEDOUT)
		return cannot("it did not end within a minute",
			      "Run it while the machine does little else");
	error_plain(stderr, "cmtctl", what, err);
	return EXIT_CANNOT;
}

static int ask_module(struct run *run, const char **what)
{
	struct selftest *test = run->test;
	struct cmt_device *dev = run->ctl->dev;
	struct cmt_stats stats = { .size = sizeof(stats) };
	uint32_t interval_ns;
	int ret;

	*what = "cannot read the resctrl mode";
	ret = cmt_device_resctrl(dev, &test->resctrl, &test->mounted);
	if (!ret) {
		*what = "cannot read the interval";
		ret = cmt_device_interval(dev, &interval_ns);
	}
	if (!ret) {
		test->interval_ns = interval_ns;
		*what = "cannot read the statistics";
		ret = cmt_device_stats(dev, &stats);
		test->cpus_foreign = stats.cpus_foreign;
	}
	return ret;
}

/* Nothing is done where nothing can be compared.  Returns 0 or EXIT_CANNOT. */
static int check_machine(const struct run *run)
{
	const struct selftest *test = run->test;
	const struct cmt_info *info = test->info;
	uint64_t available = selftest_memory();
	char missing[METER_REASON_LEN], why[METER_REASON_LEN + 64];

	if (info->backend == CMT_BACKEND_EMULATED)
		return cannot("the module has a model of a cache, and measures nothing",
			      "Load the module without backend=emulated");
	if (!(info->events & CMT_F_OCCUPANCY)) {
		snprintf(why, sizeof(why), "this machine has no %s",
			 meter_missing(missing, info));
		return cannot(why, "See cmtctl doctor");
	}
	if (!info->l3_bytes)
		return cannot("the size of the L3 is not known", NULL);
	if (test->resctrl == CMT_RESCTRL_RESPECT && selftest_in_group())
		return cannot("this program has the RMID of a resctrl group",
			      "Run it from a shell that is in the default group");
	if (test->resctrl == CMT_RESCTRL_RESPECT && test->cpus_foreign)
		return cannot("some CPUs have the RMID of a resctrl group or of another program",
			      "Run it with cmtctl resctrl take; cmtctl doctor has more");
	if (available < info->l3_bytes)
		return cannot("less memory is available than the L3 has", NULL);
	return 0;
}

static uint64_t part_of(const struct run *run, unsigned int parts)
{
	return run->test->info->l3_bytes / parts / PAGE * PAGE;
}

static void size_memory(struct run *run)
{
	struct selftest *test = run->test;
	uint64_t wanted = TRAFFIC_L3S * part_of(run, 1);

	run->memory = part_of(run, 1);
	if (!(test->info->events & CMT_F_MBM_TOTAL))
		test->traffic_reason = "the machine does not count it";
	else if (selftest_memory() < 2 * wanted)
		test->traffic_reason = "too little memory is available";
	else
		run->memory = wanted;
}

/* The first CPU that this program may run on, and the next one if there is one */
static int two_cpus(int cpus[2])
{
	cpu_set_t set;
	int cpu, nr = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		return -errno;
	for (cpu = 0; cpu < CPU_SETSIZE && nr < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			cpus[nr++] = cpu;
	if (nr == 1)
		cpus[1] = cpus[0];
	return nr ? 0 : -ENXIO;
}

static int start_fillers(struct run *run)
{
	const uint64_t memory[NR_FILLERS] = {
		[MAIN] = run->memory, [SECOND] = part_of(run, 4), [IDLE] = PAGE,
	};
	int cpus[2] = { 0 }, ret = two_cpus(cpus);

	for (unsigned int i = 0; !ret && i < NR_FILLERS; i++)
		ret = filler_start(&run->fillers[i], cpus[i == SECOND], memory[i]);
	return ret;
}

static int register_fillers(struct run *run)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < NR_FILLERS; i++) {
		ret = cmt_register(run->ctl->dev, CMT_OWNER_PROCESS,
				   (uint64_t)run->fillers[i].pid, 0, NULL);
		run->bases[i].events = run->test->info->events;
	}
	for (unsigned int i = 0; !ret && i < NR_FILLERS; i++)
		meter_await_rmid(run->ctl->dev, CMT_OWNER_PROCESS,
				 (uint64_t)run->fillers[i].pid);
	return ret;
}

/* Returns 0, -ETIMEDOUT, -EINTR or EXIT_CANNOT: the owner has no RMID. */
static int read_filler(struct run *run, unsigned int nr, struct meter *meter)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC) - run->begin_ns;
	int ret;

	progress_show(&run->progress, now, LIMIT_NS / 4);
	if (now > LIMIT_NS)
		return -ETIMEDOUT;
	if (signal_stop)
		return -EINTR;
	ret = meter_read(meter, run->ctl->dev, CMT_OWNER_PROCESS,
			 (uint64_t)run->fillers[nr].pid);
	if (!ret && meter->pending)
		return cannot("no RMID is free",
			      "cmtctl show lists their owners; end an attachment, or a group of resctrl");
	return ret == -ENOENT || ret == -ESRCH ? -ECHILD : ret;
}

/*
 * Wait for the answer.  @meter: read meanwhile, so that its traffic is not lost; or
 * NULL.
 */
static int wait_filler(struct run *run, unsigned int nr, struct meter *meter)
{
	struct meter unused = run->bases[nr];
	int ret;

	do {
		ret = filler_answer(&run->fillers[nr], METER_READ_NS / 2);
		if (!ret || ret == -EINTR) {
			int err = read_filler(run, nr, meter ? meter : &unused);

			ret = err ? err : ret;
		}
	} while (!ret);
	return ret > 0 && ret != EXIT_CANNOT ? 0 : ret;
}

static const struct meter_domain *domain_of(const struct meter *meter, uint32_t domain)
{
	for (uint32_t i = 0; i < meter->nr_domains; i++)
		if (meter->domains[i].domain == domain)
			return &meter->domains[i];
	return NULL;
}

/* The occupancy in the domain that gained most.  False: no domain is known. */
static bool take_reading(struct fill *fill, const struct meter *base,
			 const struct meter *meter, uint64_t *held)
{
	int64_t most = INT64_MIN;

	fill->rmid = meter->rmid;
	fill->generation = meter->generation;
	for (uint32_t i = 0; i < meter->nr_domains; i++) {
		const struct meter_domain *now = &meter->domains[i];
		const struct meter_domain *before = domain_of(base, now->domain);
		int64_t more;

		if (!now->known || !before || !before->known)
			continue;
		more = (int64_t)now->occupancy - (int64_t)before->occupancy;
		if (more <= most)
			continue;
		most = more;
		*held = now->occupancy;
		fill->domain = now->domain;
		fill->residue = before->occupancy;
	}
	return most > INT64_MIN;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Without a filler: wait, or until a signal. */
static int pause_ns(uint64_t ns)
{
	int ret = signals_poll(NULL, 0, ns);

	return ret < 0 ? ret : 0;
}

static int read_fill(struct run *run, unsigned int nr, struct fill *fill)
{
	uint64_t held[READINGS];
	unsigned int known = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < READINGS; i++) {
		struct meter meter = run->bases[nr];

		ret = read_filler(run, nr, &meter);
		if (!ret)
			known += take_reading(fill, &run->bases[nr], &meter, &held[known]);
		ret = ret ? ret : pause_ns(READ_NS);
	}
	fill->known = known;
	if (known) {
		qsort(held, known, sizeof(held[0]), by_size);
		fill->held = held[known / 2];
	}
	judge_fill(fill, &run->test->cache);
	return ret;
}

/* Other programs take lines, too, so a fill that does not pass is read again. */
static int check_fill(struct run *run, unsigned int nr, enum fill_nr which)
{
	struct fill *fill = &run->test->fills[which];
	int ret = 0;

	for (unsigned int i = 0; !ret && i < ROUNDS && fill->state != CHECK_PASS; i++)
		ret = read_fill(run, nr, fill);
	return ret;
}

static int write_and_check(struct run *run, unsigned int nr, enum fill_nr which)
{
	int ret = filler_write(&run->fillers[nr], run->test->fills[which].filled);

	ret = ret ? ret : wait_filler(run, nr, NULL);
	return ret ? ret : check_fill(run, nr, which);
}

static int rest(struct run *run, unsigned int nr)
{
	int ret = filler_rest(&run->fillers[nr]);

	return ret ? ret : wait_filler(run, nr, NULL);
}

/*
 * Two processes write at once, and each is compared with its own size.  MAIN has not
 * written to more memory before: those lines would stay in the cache.
 */
static int check_pair(struct run *run)
{
	int ret = write_and_check(run, SECOND, FILL_SECOND);

	ret = ret ? ret : check_fill(run, MAIN, FILL_FIRST);
	return ret ? ret : rest(run, SECOND);
}

static int check_fills(struct run *run)
{
	struct selftest *test = run->test;
	const uint64_t filled[NR_FILLS] = {
		0, part_of(run, 8), part_of(run, 4), part_of(run, 2),
		part_of(run, 8), part_of(run, 4),
	};
	int ret = 0;

	for (unsigned int i = 0; i < NR_FILLS; i++)
		test->fills[i].filled = filled[i];
	for (unsigned int i = 0; !ret && i < NR_FILLERS; i++)
		ret = read_filler(run, i, &run->bases[i]);
	ret = ret ? ret : check_fill(run, IDLE, FILL_NONE);
	ret = ret ? ret : write_and_check(run, MAIN, FILL_SMALL);
	ret = ret ? ret : check_pair(run);
	ret = ret ? ret : write_and_check(run, MAIN, FILL_MEDIUM);
	ret = ret ? ret : write_and_check(run, MAIN, FILL_LARGE);
	judge_growth(&test->growth, &test->fills[FILL_SMALL], &test->fills[FILL_LARGE],
		     &test->cache);
	return ret ? ret : rest(run, MAIN);
}

/* The first passes give memory to all pages, and leave no modified line. */
static int begin_traffic(struct run *run, struct meter *meter)
{
	int ret = filler_write(&run->fillers[MAIN], run->memory);

	ret = ret ? ret : wait_filler(run, MAIN, NULL);
	ret = ret ? ret : filler_read(&run->fillers[MAIN], run->memory);
	ret = ret ? ret : wait_filler(run, MAIN, NULL);
	*meter = run->bases[MAIN];
	ret = ret ? ret : read_filler(run, MAIN, meter);
	meter_begin(meter);
	return ret;
}

static int check_traffic(struct run *run)
{
	struct traffic_check *traffic = &run->test->traffic;
	struct meter meter;
	struct measure total, local;
	int ret;

	if (run->test->traffic_reason)
		return 0;
	ret = begin_traffic(run, &meter);
	for (unsigned int i = 0; !ret && i < PASSES; i++) {
		ret = filler_read(&run->fillers[MAIN], run->memory);
		ret = ret ? ret : wait_filler(run, MAIN, &meter);
		ret = ret ? ret : read_filler(run, MAIN, &meter);
	}
	if (ret)
		return ret;
	total = meter_bytes(&meter, METER_TOTAL);
	local = meter_bytes(&meter, METER_LOCAL);
	*traffic = (struct traffic_check){
		.read = PASSES * run->memory,
		.total_known = total.known && !total.partial,
		.local_known = local.known && !local.partial,
		.total = (uint64_t)total.value, .local = (uint64_t)local.value,
	};
	judge_traffic(traffic);
	return 0;
}

/* The last tick of each CPU: the next tick has its duration. */
struct tick_log {
	struct tick *ticks;
	size_t nr;
	struct cpu_tick {
		bool known;
		uint32_t read;
		uint64_t busy_ns, missed;
	} *last;
	uint32_t nr_cpus;
};

static void add_tick(struct tick_log *log, const struct cmt_record *record)
{
	struct cpu_tick *last = &log->last[record->cpu];

	if (last->known && record->tick.missed == last->missed && log->nr < TICKS_MAX)
		log->ticks[log->nr++] = (struct tick){
			last->read, (uint32_t)(record->tick.busy_ns - last->busy_ns),
		};
	*last = (struct cpu_tick){
		true, record->tick.read, record->tick.busy_ns, record->tick.missed,
	};
}

static int take_ticks(struct tick_log *log, struct cmt_reader *reader)
{
	static struct cmt_record records[RECORDS];
	int n = cmt_reader_read(reader, records, RECORDS);

	for (int i = 0; i < n; i++) {
		if (records[i].type == CMT_REC_LOST)
			memset(log->last, 0, log->nr_cpus * sizeof(*log->last));
		else if (records[i].type == CMT_REC_TICK && records[i].cpu < log->nr_cpus)
			add_tick(log, &records[i]);
	}
	return n;
}

/* All that the rings show within TICKS_NS. */
static int log_ticks(struct run *run, struct tick_log *log, struct cmt_reader *reader)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + TICKS_NS;
	int ret = 0;

	while (ret >= 0 && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		ret = take_ticks(log, reader);
		if (!ret)
			ret = pause_ns(READ_NS);
		progress_show(&run->progress, clock_ns(CLOCK_MONOTONIC) - run->begin_ns,
			      LIMIT_NS / 4);
	}
	return ret < 0 ? ret : 0;
}

static void note_stats(struct selftest *test, const struct cmt_stats *before,
		       const struct cmt_stats *after, uint64_t ns)
{
	uint64_t samples = after->samples - before->samples;

	test->rates.readings = samples * (uint64_t)__builtin_popcount(test->info->events);
	test->rates.errors = after->read_errors - before->read_errors;
	test->rates.unavailable = after->read_unavailable - before->read_unavailable;
	judge_rates(&test->rates);
	test->tick_share_ns = after->busy_ns - before->busy_ns;
	test->tick_time_ns = ns * after->cpus_online;
	test->missed = after->missed - before->missed;
	test->deferred = after->deferred - before->deferred;
	test->irqs_off_ns = after->irqs_off_ns;
	test->lock_held_ns = after->lock_held_ns;
}

/* MAIN writes meanwhile, so that there is an RMID that every tick reads. */
static int sample(struct run *run, struct tick_log *log)
{
	struct cmt_stats before = { .size = sizeof(before) }, after = before;
	struct cmt_device *dev = run->ctl->dev;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct cmt_reader *reader;
	int ret = cmt_reader_new(&reader, dev, NULL);

	if (ret)
		return ret;
	ret = cmt_device_stats(dev, &before);
	ret = ret ? ret : filler_write(&run->fillers[MAIN], part_of(run, 8));
	ret = ret ? ret : wait_filler(run, MAIN, NULL);
	ret = ret ? ret : log_ticks(run, log, reader);
	ret = ret ? ret : cmt_device_stats(dev, &after);
	if (!ret)
		note_stats(run->test, &before, &after,
			   clock_ns(CLOCK_MONOTONIC) - begin_ns);
	cmt_reader_free(reader);
	return ret;
}

static int check_ticks(struct run *run)
{
	struct tick_log log = {
		.nr_cpus = run->test->info->nr_cpus,
		.ticks = calloc(TICKS_MAX, sizeof(*log.ticks)),
		.last = calloc(run->test->info->nr_cpus, sizeof(*log.last)),
	};
	int ret = log.ticks && log.last ? sample(run, &log) : -ENOMEM;

	if (!ret)
		judge_ticks(&run->test->ticks, log.ticks, log.nr);
	free(log.ticks);
	free(log.last);
	return ret;
}

static int check_all(struct run *run, const char **what)
{
	struct cmt_stats before = { .size = sizeof(before) }, after = before;
	int ret;

	*what = "cannot read the statistics";
	ret = cmt_device_stats(run->ctl->dev, &before);
	*what = ret ? *what : "cannot compare the cache";
	ret = ret ? ret : check_fills(run);
	*what = ret ? *what : "cannot compare the traffic";
	ret = ret ? ret : check_traffic(run);
	*what = ret ? *what : "cannot read the ticks";
	ret = ret ? ret : check_ticks(run);
	*what = ret ? *what : "cannot read the statistics";
	ret = ret ? ret : cmt_device_stats(run->ctl->dev, &after);
	run->test->overwritten = after.pqr_overwritten - before.pqr_overwritten;
	return ret;
}

static int prepare(struct run *run, const char **what)
{
	int ret;

	size_memory(run);
	*what = "cannot start a process";
	ret = start_fillers(run);
	if (ret)
		return ret;
	*what = "cannot give a process an RMID";
	ret = register_fillers(run);
	if (ret) {
		error_reason(stderr, "cmtctl", *what, CMT_CALL_ATTACH, ret, NULL);
		return EXIT_CANNOT;
	}
	*what = "cannot drop capabilities";
	return caps_drop(false);
}

/* Returns 0, EXIT_CANNOT, or -errno. */
static int run_all(struct run *run, const char **what)
{
	int ret = ask_module(run, what);

	ret = ret ? ret : check_machine(run);
	if (ret)
		return ret;
	signals_setup(false);
	run->begin_ns = clock_ns(CLOCK_MONOTONIC);
	progress_begin(&run->progress, "cmtctl selftest");
	ret = prepare(run, what);
	ret = ret ? ret : check_all(run, what);
	for (unsigned int i = 0; i < NR_FILLERS; i++)
		filler_stop(&run->fillers[i]);
	progress_end(&run->progress);
	run->test->elapsed_ns = clock_ns(CLOCK_MONOTONIC) - run->begin_ns;
	return ret;
}

int ctl_selftest(const struct ctl *ctl, const char **what)
{
	struct selftest test = { .info = cmt_device_info(ctl->dev) };
	struct run run = { .ctl = ctl, .test = &test };
	int ret;

	test.cache = (struct cache_facts){
		.l3_bytes = test.info->l3_bytes, .l2_bytes = selftest_l2_bytes(),
		.unit_bytes = test.info->upscale_bytes,
	};
	uname(&test.kernel);
	processor_read(&test.processor);
	ret = run_all(&run, what);
	if (ret)
		return explain(ret, *what);
	selftest_judge(&test);
	*what = "cannot print";
	ret = selftest_print(&test, ctl->json);
	if (ret)
		return ret;
	return test.state == CHECK_PASS ? 0 : test.state == CHECK_FAIL ? EXIT_RUNTIME : EXIT_CANNOT;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The readers of resctrl and of the module, at the same time and on the same registers.
 * Neither makes the other one read a wrong value.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

/*
 * A fault that makes one reading in 3,000 wrong is found in 96 of 100 runs.  If EVTSEL is
 * not restored, more are wrong.  If the module reads on another CPU than resctrl, fewer
 * are, one in 20,000: follow.c finds that in the processor's log, each time.
 */
#define READINGS	10000
/* readings of resctrl between two checks of the values */
#define CHUNK		2000
/* readings of resctrl between two checks of the rings */
#define DRAIN		50
#define WORKERS		4
#define BYTES		(256 << 10)
#define EVENTS		3
/*
 * One sequence of wrong readings in this number of readings, at most.  How many there are
 * depends on what else the host does: docs/lab.md has measured 1 in 700 to 1 in 19,000.
 */
#define AMD_RUNS_MIN	250
/* bytes of the workers, so that the readers have values */
#define NICE		19

static const char *const event_names[EVENTS] = {
	"llc_occupancy", "mbm_total_bytes", "mbm_local_bytes",
};

/*
 * The values of an event of an RMID.  Occupancy is the counter's value.  Traffic
 * differs from the counter by a constant, since both sides add up differences.
 */
struct series {
	uint64_t base;		/* units, modulo 2^width */
	uint32_t generation;
	bool based;
};

struct file {
	int fd;
	uint32_t rmid;
	uint32_t event;
	struct series series;
};

struct tally {
	uint64_t readings;
	uint64_t wrong;
	uint64_t runs;		/* sequences of wrong readings */
	uint64_t refused;	/* "Error" or "Unavailable" */
	bool last_was_wrong;
};

static struct worker *workers[WORKERS];
static struct file files[WORKERS * EVENTS];
static struct series ours[MAX_RMIDS][EVENTS];
static bool theirs[MAX_RMIDS];	/* RMIDs that groups have, at the record that is judged */
static struct tally theirs_tally, our_tally;
static uint64_t begun_ns;
/* the time is requested once: there are 10^7 readings */
static uint64_t unit, width_mask;

static uint64_t modulo(uint64_t units)
{
	return units & width_mask;
}

/*
 * Is @said, in units, the result of a reading of @ought?  The first value sets the
 * constant.
 */
static bool fits(struct series *s, uint32_t event, uint64_t said,
		 uint64_t ought)
{
	if (event == 1)
		return said == ought;
	if (!s->based) {
		s->base = modulo(said - ought);
		s->based = true;
	}
	return modulo(said - ought) == s->base;
}

/* With one, all is told by interrupts, and the clock may count instructions: 10^7 are read. */
static unsigned int cpus(void)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

static const char *group_name(unsigned int i)
{
	static char name[32];

	snprintf(name, sizeof(name), "mon_groups/g%u", i);
	return name;
}

static void groups_start(void)
{
	unsigned int i, event;

	for (i = 0; i < WORKERS; i++) {
		struct worker *worker = worker_start(BYTES);
		uint32_t rmid;

		workers[i] = worker;
		setpriority(PRIO_PROCESS, worker->pid, NICE);
		worker_pin(worker, i % cpus());
		resctrl_make(group_name(i));
		resctrl_add(group_name(i), worker->pid);
		worker_go(worker, true);
		rmid = group_rmid(worker, 0);
		for (event = 0; event < EVENTS; event++) {
			const char *path = resctrl_event(group_name(i),
							 event_names[event]);
			struct file *file = &files[i * EVENTS + event];

			*file = (struct file) {
				.fd = open(path, O_RDONLY),
				.rmid = rmid, .event = event + 1,
			};
			CHECK(file->fd >= 0, "%s: %m", path);
		}
	}
}

static void groups_stop(void)
{
	unsigned int i;

	for (i = 0; i < WORKERS * EVENTS; i++)
		close(files[i].fd);
	for (i = 0; i < WORKERS; i++) {
		worker_stop(workers[i]);
		resctrl_remove(group_name(i));
	}
}

/*
 * Is @said the result of a reading from @from on?  The base of traffic is set when only
 * one reading fits.
 */
static bool given(struct file *file, uint64_t from, uint64_t said)
{
	uint64_t head = lab_get(LAB_LOG_HEAD, 0), last = 0;
	unsigned int candidates = 0;
	bool found = false;

	for (; from < head; from++) {
		struct lab_answer what = lab_ask(LAB_LOG_WHAT, from);
		uint64_t ought;

		if (LAB_LOG_RMID(what.second) != file->rmid ||
		    LAB_LOG_EVENT(what.second) != file->event)
			continue;
		ought = lab_ask(LAB_LOG_VALUE, from).second;
		candidates++;
		last = ought;
		if (file->event == 1 || file->series.based)
			found |= fits(&file->series, file->event, said, ought);
	}
	if (file->event != 1 && !file->series.based)
		return candidates != 1 ||
			fits(&file->series, file->event, said, last);
	return found;
}

#define SHOWN 5

static void read_one(struct file *file)
{
	uint64_t from = lab_get(LAB_LOG_HEAD, 0), bytes;
	bool last_was_wrong;
	char text[64];
	ssize_t n = pread(file->fd, text, sizeof(text) - 1, 0);

	CHECK(n > 0, "mon_data: %m");
	text[n] = '\0';
	last_was_wrong = theirs_tally.last_was_wrong;
	theirs_tally.last_was_wrong = false;
	theirs_tally.readings++;
	if (sscanf(text, "%lu", &bytes) != 1) {
		theirs_tally.refused++;
		return;
	}
	if (bytes % unit == 0 && given(file, from, bytes / unit))
		return;
	theirs_tally.last_was_wrong = true;
	theirs_tally.runs += !last_was_wrong;
	if (theirs_tally.wrong++ < SHOWN)
		note("resctrl: RMID %u event %u: %s", file->rmid, file->event,
		     text);
	file->series.based = false;
}

/* A value of a SAMPLE, of an RMID of any owner. */
static void judge_value(const struct readings *readings,
			const struct cmt_record *r, uint32_t event,
			uint64_t bytes)
{
	const struct reading *reading = reading_of(readings, r, event);
	struct series *s = &ours[r->rmid][event - 1];

	if (s->generation != r->generation || r->flags & CMT_F_REBASED)
		s->based = false;
	s->generation = r->generation;
	our_tally.readings++;
	if (reading && bytes % unit == 0 &&
	    fits(s, event, bytes / unit, reading->ought))
		return;
	if (our_tally.wrong++ < SHOWN)
		note("cmt: RMID %u event %u: %llu bytes, the counter %llu units",
		     r->rmid, event, (unsigned long long)bytes,
		     reading ? (unsigned long long)reading->ought : 0);
	s->based = false;
}

static void follow_groups(const struct cmt_record *r)
{
	if (r->type == CMT_REC_ALLOC)
		theirs[r->rmid] = r->flags & CMT_F_OWNER_RESCTRL;
	else if (r->type == CMT_REC_FREE)
		theirs[r->rmid] = false;
}

/* On AMD only resctrl reads the bandwidth of its groups. */
static bool is_refused(const struct cmt_record *r)
{
	if (!(r->flags & (CMT_F_ERROR | CMT_F_UNAVAILABLE)))
		return false;
	return !theirs[r->rmid] || r->flags & CMT_F_ERROR ||
	       !(r->flags & CMT_F_OCCUPANCY) || !lab_get(LAB_CONFIG, LAB_C_AMD);
}

static void judge(struct log *log, const struct readings *readings)
{
	size_t i;

	log_sort(log);
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		follow_groups(r);
		if (r->type != CMT_REC_SAMPLE || r->ts < readings->ns)
			continue;
		our_tally.refused += is_refused(r);
		if (r->flags & CMT_F_OCCUPANCY)
			judge_value(readings, r, 1, r->sample.occupancy_bytes);
		if (r->flags & CMT_F_MBM_TOTAL)
			judge_value(readings, r, 2, r->sample.mbm_total_bytes);
		if (r->flags & CMT_F_MBM_LOCAL)
			judge_value(readings, r, 3, r->sample.mbm_local_bytes);
	}
}

/* An RMID with lines in the cache is freed: resctrl's limbo worker reads it. */
static void feed_limbo(struct worker *worker)
{
	resctrl_make("mon_groups/limbo");
	resctrl_add("mon_groups/limbo", worker->pid);
	worker_wait(worker, 2);
	resctrl_remove("mon_groups/limbo");
}

/*
 * If the host does not run one of the guest's CPUs, records are lost.  Lost records are
 * not checked, and every series begins anew.
 */
static void forget_lost(const struct dev *dev)
{
	static uint64_t lost_before;
	uint64_t lost = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		lost += dev->rings[cpu].lost;
	if (lost != lost_before)
		memset(ours, 0, sizeof(ours));
	lost_before = lost;
}

static void read_chunk(struct dev *dev, unsigned int chunk)
{
	struct log log = { 0 };
	struct readings readings;
	unsigned int i;

	run_on(0, (int)(chunk % cpus()));
	readings_begin(&readings);
	for (i = 0; i < CHUNK; i++) {
		read_one(&files[i % (WORKERS * EVENTS)]);
		if (i % DRAIN == 0)
			dev_drain(dev, &log);
	}
	dev_drain(dev, &log);
	readings_end(&readings);
	forget_lost(dev);
	judge(&log, &readings);
	readings_free(&readings);
	log_free(&log);
}

/* LAB_READINGS=N of tests/lab/check asks for another number. */
static uint64_t readings_wanted(void)
{
	unsigned long wanted = READINGS;
	char text[2048], *word;

	read_file("/proc/cmdline", text, sizeof(text));
	word = strstr(text, "cmt_lab.readings=");
	CHECK(!word || sscanf(word, "cmt_lab.readings=%lu", &wanted) == 1,
	      "%s", text);
	return wanted;
}

static void note_tally(const char *who, const struct tally *tally)
{
	note("%s: %llu readings, %llu wrong, %llu refused", who,
	     (unsigned long long)tally->readings,
	     (unsigned long long)tally->wrong,
	     (unsigned long long)tally->refused);
}

static void note_progress(void)
{
	note("after %llu s", (unsigned long long)(now_ns() - begun_ns) /
	     1000000000);
	note_tally("resctrl", &theirs_tally);
	note_tally("cmt", &our_tally);
}

/*
 * On AMD all CPUs of an L3 share one pair of EVTSEL and CTR.  resctrl has a mutex for
 * it, which modules cannot use.  Where resctrl may read on any CPU, its reading is wrong
 * if the module writes EVTSEL on another CPU between resctrl's two accesses.
 * docs/lab.md has the figures.
 */
static void check_exposed(void)
{
	double seconds = (now_ns() - begun_ns) / 1e9;
	double share = (double)theirs_tally.runs / theirs_tally.readings;

	note("shared EVTSEL: resctrl was wrong in %.4f %% of its readings, in %llu runs; the module read %.0f values a second, so that the window of one is %.3f us",
	     100.0 * theirs_tally.wrong / theirs_tally.readings,
	     (unsigned long long)theirs_tally.runs,
	     our_tally.readings / seconds,
	     share / (our_tally.readings / seconds) * 1e6);
	CHECK(theirs_tally.runs * AMD_RUNS_MIN <= theirs_tally.readings,
	      "resctrl says wrong values more often than once in %u readings",
	      AMD_RUNS_MIN);
}

/* What the module says of its readings, and what is right then */
static void check_evtsel(const struct dev *dev)
{
	bool shared = lab_get(LAB_CONFIG, LAB_C_AMD);
	uint32_t right = !shared ? CMT_EVTSEL_OWN : resctrl_reads_on_first_cpu() ?
			 CMT_EVTSEL_FOLLOWED : CMT_EVTSEL_EXPOSED;

	CHECK(dev->info.evtsel == right, "evtsel is %u", dev->info.evtsel);
	CHECK(!our_tally.wrong, "the module says wrong values");
	if (right == CMT_EVTSEL_EXPOSED)
		check_exposed();
	else
		CHECK(!theirs_tally.wrong, "resctrl says wrong values");
	CHECK(!theirs_tally.refused && !our_tally.refused,
	      "readings were refused");
}

static void read_all(struct dev *dev, struct worker *drifter)
{
	uint64_t wanted = readings_wanted();
	unsigned int chunk = 0;

	while (theirs_tally.readings < wanted || our_tally.readings < wanted) {
		read_chunk(dev, chunk);
		if (chunk++ % 8 == 0)
			feed_limbo(drifter);
		if (wanted > READINGS && chunk % 10 == 0)
			note_progress();
	}
}

/* @cpu has ticks in which it reads. */
static void wait_samples(struct dev *dev, uint32_t cpu)
{
	struct patience patience = patience_of(10000);
	struct log log = { 0 };
	bool found = false;

	while (!found) {
		CHECK(patience_left(&patience), "CPU %u does not read", cpu);
		dev_drain(dev, &log);
		for (size_t i = 0; i < log.count; i++)
			found |= log.records[i].type == CMT_REC_SAMPLE &&
				 log.records[i].cpu == cpu;
		log.count = 0;
	}
	log_free(&log);
}

static void readers_run(const char *params, uint32_t reader)
{
	struct worker *drifter;
	struct dev dev;
	pid_t demand;

	memset(theirs, 0, sizeof(theirs));
	unit = lab_unit();
	width_mask = (1ULL << lab_get(LAB_CONFIG, LAB_C_WIDTH)) - 1;
	resctrl_mount();
	CHECK(!module_load(params), "the module does not load");
	drifter = worker_start(BYTES);
	setpriority(PRIO_PROCESS, drifter->pid, NICE);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(drifter, true);
	wait_samples(&dev, reader);
	groups_start();
	demand = demand_start(workers[1]->pid, cpus() - 1);
	begun_ns = now_ns();
	read_all(&dev, drifter);
	lab_switch(false);
	note_tally("resctrl", &theirs_tally);
	note_tally("cmt", &our_tally);
	check_evtsel(&dev);
	demand_stop(demand);
	groups_stop();
	worker_stop(drifter);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	resctrl_umount();
}

static void test_readers(void)
{
	readers_run(PROCESS " budget_us=100", 0);
}

/* CPU 0, on which resctrl may read, is to have no ticks. */
static void test_excluded(void)
{
	readers_run(PROCESS " budget_us=100 exclude_cpus=0",
		    lab_get(LAB_CONFIG, LAB_C_AMD) && resctrl_reads_on_first_cpu() ? 0 : 1);
}

const struct test readers_tests[] = {
	{ "readers_beside_each_other", test_readers, NULL, 100000 },
	{ "readers_with_excluded_cpu", test_excluded, NULL, 100000 },
	{ 0 }
};

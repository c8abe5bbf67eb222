// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Thousands of faults on every kind of processor: a value is right, or its record has
 * the reason why the value is missing.  The right value is the cache model's at the
 * instant of the reading: bytes in the cache, and bytes moved since the start.  The
 * registers are not the reference, so a counter that begins anew deceives only the
 * module.
 *
 * The number of faults is the model's count.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "tests.h"

#define LEAST		10000	/* faults of a kind */
#define WALK_BYTES	(2U << 20)	/* more than the cache */
#define WORKERS		6
#define WORKERS_MAX	24	/* more than the RMIDs that are tracked */
#define COVERAGE_SAMPLES 2000
#define INTERVAL_NS	4000000	/* slow enough for a busy host */
/* "take": cmt loads its own RMID again, and so every overwriting is one that can be noticed. */
#define PARAMETERS	PROCESS " ring_records=32768 resctrl=take"
#define BAD_SHOWN	5
#define PLANS		4
#define MBM		(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define VALUES		(CMT_F_OCCUPANCY | MBM)
#define REASONS		(CMT_F_ERROR | CMT_F_UNAVAILABLE)

/* The properties of a processor, by LAB_CONFIG. */
enum {
	AMD	= 1,
	ABMC	= 2,
	TRACKED	= 4,
};

struct plan {
	enum lab_fault fault;
	uint32_t burst, period;
};

struct phase {
	const char *name;
	struct plan plans[PLANS];	/* at the same time */
	enum lab_fault count;		/* the phase lasts until there are */
	uint64_t least;			/* so many of this */
	uint32_t needs;			/* of AMD, ABMC, TRACKED */
	bool off;			/* ABMC: while the mode is off */
	bool floor;			/* a value may be less than the true value */
};

#define ONE(fault_, burst_, period_) { { .fault = fault_, .burst = burst_, .period = period_ } }

static const struct phase phases[] = {
	{ .name = "uncounted", .count = LAB_FAULT_UNCOUNTED, .least = 3000,
	  .needs = TRACKED },
	/*
	 * an RMID that is tracked anew is reported once, and another agent may have got
	 * the report
	 */
	{ .name = "read", .plans = ONE(LAB_FAULT_READ, 1, 2),
	  .count = LAB_FAULT_READ, .least = 300, .needs = TRACKED, .floor = true },
	{ .name = "take", .plans = ONE(LAB_FAULT_TAKE, 1, 11),
	  .count = LAB_FAULT_TAKE, .least = 50, .needs = ABMC },
	{ .name = "mode", .plans = ONE(LAB_FAULT_MODE, 2, 31),
	  .count = LAB_FAULT_MODE, .least = 60, .needs = ABMC },
	{ .name = "mode_twice", .plans = ONE(LAB_FAULT_MODE_TWICE, 1, 31),
	  .count = LAB_FAULT_MODE_TWICE, .least = 40, .needs = ABMC },
	{ .name = "mode_off", .plans = ONE(LAB_FAULT_MODE, 2, 31),
	  .count = LAB_FAULT_MODE, .least = 60, .needs = ABMC, .off = true },
	{ .name = "mode_off_twice", .plans = ONE(LAB_FAULT_MODE_TWICE, 1, 31),
	  .count = LAB_FAULT_MODE_TWICE, .least = 40, .needs = ABMC, .off = true },
	{ .name = "error", .plans = ONE(LAB_FAULT_ERROR, 1, 3),
	  .count = LAB_FAULT_ERROR, .least = 2500 },
	{ .name = "unavailable", .plans = ONE(LAB_FAULT_UNAVAILABLE, 1, 3),
	  .count = LAB_FAULT_UNAVAILABLE, .least = 2500 },
	{ .name = "gp", .plans = ONE(LAB_FAULT_GP, 1, 7),
	  .count = LAB_FAULT_GP, .least = 2000 },
	{ .name = "mixed",
	  .plans = { { LAB_FAULT_ERROR, 1, 11 }, { LAB_FAULT_UNAVAILABLE, 1, 13 },
		     { LAB_FAULT_GP, 1, 17 } },
	  .count = LAB_FAULT_ERROR, .least = 500 },
	{ .name = "pqr", .plans = ONE(LAB_FAULT_PQR_TIMER, 1, 3000),
	  .count = LAB_FAULT_PQR_TIMER, .least = 800 },
	{ .name = "evtsel", .plans = ONE(LAB_FAULT_EVTSEL, 1, 3),
	  .count = LAB_FAULT_EVTSEL, .least = 1500, .needs = AMD },
	{ .name = "evtsel_error", .plans = ONE(LAB_FAULT_EVTSEL_ERROR, 1, 3),
	  .count = LAB_FAULT_EVTSEL_ERROR, .least = 1500, .needs = AMD },
};

/* The results of the faults. */
struct verdicts {
	uint64_t planted, readings;
	size_t values;		/* values with their flag */
	/* samples with a reason for a missing value, or rebased */
	size_t flagged;
	size_t bad;		/* values with a flag that are not the true value */
	size_t silent;		/* values with neither flag nor reason */
};

/* A value, and the model's value at its reading. */
struct previous {
	uint64_t said, truth;
	uint32_t generation;
	bool known;
};

struct lab {
	struct dev dev;
	struct worker *workers[WORKERS_MAX];
	size_t n;
	struct recorder recorder;
	struct readings readings;
	struct previous previous[64][MAX_RMIDS][2];
};

static struct lab lab;

static uint32_t kind(void)
{
	return (lab_get(LAB_CONFIG, LAB_C_AMD) ? AMD : 0) |
	       (lab_get(LAB_CONFIG, LAB_C_ABMC) ? ABMC : 0) |
	       (lab_get(LAB_CONFIG, LAB_C_TRACKED) ? TRACKED : 0);
}

static const char *kind_name(void)
{
	return kind() & ABMC ? "amd-abmc" : kind() & TRACKED ? "amd-tracked" :
	       kind() & AMD ? "amd" :
	       lab_get(LAB_CONFIG, LAB_C_SNC) > 1 ? "intel-snc" : "intel";
}

static uint64_t planted_all(void)
{
	uint64_t n = 0;
	uint32_t fault;

	for (fault = LAB_FAULT_NONE + 1; fault < LAB_FAULTS; fault++)
		if (fault != LAB_FAULT_PQR_TIMER)
			n += lab_get(LAB_FAULT_COUNT, fault);
	/* of the overwritten RMIDs, those with an RMID of another owner */
	return n + lab_get(LAB_STAT, LAB_S_PQR_SEEN) +
	       lab_get(LAB_STAT, LAB_S_PQR_UNSEEN);
}

static void lab_begin(void)
{
	size_t i;

	lab.n = kind() & TRACKED ? WORKERS_MAX : WORKERS;
	dev_open(&lab.dev, O_RDWR);
	dev_set_interval(&lab.dev, INTERVAL_NS);
	dev_map(&lab.dev, FROM_NOW);
	model_begin();
	for (i = 0; i < lab.n; i++) {
		lab.workers[i] = worker_start(WALK_BYTES);
		worker_identify(lab.workers[i], &lab.dev);
		worker_go(lab.workers[i], true);
	}
}

static void lab_end(void)
{
	size_t i;

	lab_switch(false);
	for (i = 0; i < lab.n; i++)
		worker_stop(lab.workers[i]);
	dev_close(&lab.dev);
}

static void record_begin(void)
{
	memset(lab.previous, 0, sizeof(lab.previous));
	recorder_start(&lab.recorder, &lab.dev, true);
	readings_begin(&lab.readings);
}

static void record_end(void)
{
	recorder_stop(&lab.recorder);
	readings_end(&lab.readings);
}

static void record_free(void)
{
	readings_free(&lab.readings);
	log_free(&lab.recorder.log);
}

/* NULL: no reading is free of faults */
static const struct reading *good_reading(const struct cmt_record *r, uint32_t event)
{
	const struct reading *reading = reading_of(&lab.readings, r, event);

	return reading && reading->fault == LAB_FAULT_NONE ? reading : NULL;
}

static void judge(struct verdicts *v, const struct cmt_record *r, uint32_t event,
		  uint64_t said, const struct reading *reading, bool right)
{
	v->values++;
	if (right || v->bad++ >= BAD_SHOWN)
		return;
	note("RMID %u generation %u domain %u event %u flags %#x says %llu; the truth %lld ns later is %llu, the fault %u",
	     r->rmid, r->generation, r->domain, event, r->flags,
	     (unsigned long long)said,
	     reading ? (long long)(reading->ns - r->ts) : -1LL,
	     reading ? (unsigned long long)reading->truth : 0,
	     reading ? reading->fault : 0);
}

static void judge_occupancy(struct verdicts *v, const struct cmt_record *r)
{
	const struct reading *reading = good_reading(r, 1);
	uint64_t unit = lab_unit();

	judge(v, r, 1, r->sample.occupancy_bytes, reading,
	      reading && r->sample.occupancy_bytes == reading->truth / unit * unit);
}

/*
 * The reported and the true traffic since the last value.  Both are of counters in
 * units, so they differ by less than a unit.
 */
static bool moved_rightly(const struct previous *prev, const struct cmt_record *r,
			  uint64_t said, uint64_t truth, bool floor)
{
	uint64_t moved = truth - prev->truth, unit = lab_unit();

	if (said < prev->said || said - prev->said > moved + unit)
		return false;
	return floor || r->flags & CMT_F_REBASED || said - prev->said + unit >= moved;
}

static void judge_mbm(struct verdicts *v, const struct cmt_record *r,
		      uint32_t event, uint64_t said, bool floor)
{
	const struct reading *reading = good_reading(r, event);
	struct previous *prev = &lab.previous[r->domain][r->rmid][event - 2];
	bool same = prev->known && prev->generation == r->generation;

	judge(v, r, event, said, reading, reading &&
	      (!same || moved_rightly(prev, r, said, reading->truth, floor)));
	prev->known = reading;
	prev->said = said;
	prev->truth = reading ? reading->truth : 0;
	prev->generation = r->generation;
}

static void judge_sample(struct verdicts *v, const struct cmt_record *r, bool floor)
{
	bool missing = (r->flags & VALUES) != VALUES;

	v->silent += missing && !(r->flags & REASONS);
	v->flagged += missing || r->flags & CMT_F_REBASED;
	if (r->flags & CMT_F_OCCUPANCY)
		judge_occupancy(v, r);
	if (r->flags & CMT_F_MBM_TOTAL)
		judge_mbm(v, r, 2, r->sample.mbm_total_bytes, floor);
	if (r->flags & CMT_F_MBM_LOCAL)
		judge_mbm(v, r, 3, r->sample.mbm_local_bytes, floor);
}

static void judge_all(struct verdicts *v, bool floor)
{
	size_t i;

	for (i = 0; i < lab.recorder.log.count; i++) {
		const struct cmt_record *r = &lab.recorder.log.records[i];

		if (r->type == CMT_REC_SAMPLE && r->ts >= lab.readings.ns)
			judge_sample(v, r, floor);
	}
}

static void plans_set(const struct phase *phase, bool on)
{
	const struct plan *plan;
	uint32_t i;

	for (i = 0; i < PLANS; i++) {
		plan = &phase->plans[i];
		if (plan->fault != LAB_FAULT_NONE)
			lab_ask(LAB_FAULT_SET, LAB_FAULT(plan->fault, on ? plan->burst : 0,
							 on ? plan->period : 0));
	}
}

static struct cmt_info info_of(void)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(lab.dev.fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

static void mode_set(bool on)
{
	if (!(kind() & ABMC))
		return;
	lab_ask(LAB_ABMC_SET, LAB_ARG(L3, 0, on));
	WAIT_FOR(!(info_of().assignable & CMT_ASSIGNABLE_ON) == !on, 20000,
		 "the module does not follow the mode");
}

/* The module noticed all faults that it can notice, and reports them. */
static void check_overwritten(uint64_t seen, uint64_t unseen, uint64_t counted)
{
	size_t i, flagged = 0;

	for (i = 0; i < lab.recorder.log.count; i++)
		flagged += lab.recorder.log.records[i].type == CMT_REC_TICK &&
			lab.recorder.log.records[i].flags & CMT_F_PQR_OVERWRITTEN;
	note("%s pqr: %llu overwritten and seen, %llu unseen, %llu counted, %zu ticks say so",
	     kind_name(), (unsigned long long)seen, (unsigned long long)unseen,
	     (unsigned long long)counted, flagged);
	CHECK(flagged, "no tick says so");
	CHECK(counted == seen, "%llu are not counted",
	      (unsigned long long)(seen - counted));
}

static void phase_run(const struct phase *phase, struct verdicts *all)
{
	uint64_t before, least, seen, unseen, counted;
	struct verdicts v = { 0 };

	mode_set(!phase->off);
	record_begin();
	before = planted_all();
	seen = lab_get(LAB_STAT, LAB_S_PQR_SEEN);
	unseen = lab_get(LAB_STAT, LAB_S_PQR_UNSEEN);
	counted = dev_stats(&lab.dev).pqr_overwritten;
	least = lab_get(LAB_FAULT_COUNT, phase->count) + phase->least;
	plans_set(phase, true);
	WAIT_FOR(lab_get(LAB_FAULT_COUNT, phase->count) >= least, 120000,
		 "%s: too few faults", phase->name);
	plans_set(phase, false);
	worker_wait(lab.workers[0], 2);
	record_end();
	judge_all(&v, phase->floor);
	v.planted = planted_all() - before;
	v.readings = lab.readings.count;
	note("%s %s: planted %llu, readings %llu, values %zu, flagged %zu, unflagged bad %zu",
	     kind_name(), phase->name, (unsigned long long)v.planted,
	     (unsigned long long)v.readings, v.values, v.flagged, v.bad + v.silent);
	if (phase->count == LAB_FAULT_PQR_TIMER)
		check_overwritten(lab_get(LAB_STAT, LAB_S_PQR_SEEN) - seen,
				  lab_get(LAB_STAT, LAB_S_PQR_UNSEEN) - unseen,
				  dev_stats(&lab.dev).pqr_overwritten - counted);
	CHECK(v.values, "%s: no value at all", phase->name);
	all->planted += v.planted;
	all->readings += v.readings;
	all->values += v.values;
	all->flagged += v.flagged;
	all->bad += v.bad;
	all->silent += v.silent;
	record_free();
}

static void test_faults(void)
{
	struct verdicts v = { 0 };
	size_t i;

	lab_begin();
	for (i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if ((phases[i].needs & kind()) == phases[i].needs)
			phase_run(&phases[i], &v);
	mode_set(true);
	note("planted on %s: %llu faults, %llu readings, %zu values, %zu samples flagged, %zu unflagged bad (limit 0)",
	     kind_name(), (unsigned long long)v.planted, (unsigned long long)v.readings,
	     v.values, v.flagged, v.bad + v.silent);
	CHECK(v.planted >= LEAST, "only %llu faults", (unsigned long long)v.planted);
	CHECK(!v.bad, "%zu bad values have no flag", v.bad);
	CHECK(!v.silent, "%zu values are missing without a reason", v.silent);
	lab_end();
}

/*
 * The MBM events with a value, by the model.  For an assignable counter: at the reading
 * of the occupancy, since MBM is not read for an RMID without a counter.  Otherwise: at
 * the reading of the event.
 */
static uint32_t counted_by_model(const struct cmt_record *r)
{
	const struct reading *occupancy = reading_of(&lab.readings, r, 1), *reading;
	uint32_t flags = 0, event;

	CHECK(occupancy, "a SAMPLE without a reading");
	for (event = 2; event <= 3; event++) {
		reading = kind() & ABMC ? occupancy : reading_of(&lab.readings, r, event);
		if (reading && reading->counted & 1U << (event - 2))
			flags |= event == 2 ? CMT_F_MBM_TOTAL : CMT_F_MBM_LOCAL;
	}
	return flags;
}

/* Without faults, there is a value exactly if the processor counts. */
static void test_coverage(void)
{
	uint64_t samples = 0, said = 0, model = 0, differ = 0, taken;
	size_t i;

	lab_begin();
	worker_wait(lab.workers[0], 5);
	record_begin();
	taken = dev_stats(&lab.dev).samples;
	WAIT_FOR(dev_stats(&lab.dev).samples - taken >= 2 * COVERAGE_SAMPLES, 60000,
		 "there are no samples");
	record_end();
	for (i = 0; i < lab.recorder.log.count; i++) {
		const struct cmt_record *r = &lab.recorder.log.records[i];
		uint32_t counted;

		if (r->type != CMT_REC_SAMPLE || r->ts < lab.readings.ns)
			continue;
		counted = counted_by_model(r);
		samples++;
		said += !!(r->flags & CMT_F_MBM_TOTAL);
		model += !!(counted & CMT_F_MBM_TOTAL);
		differ += (r->flags & MBM) != counted;
		CHECK(r->flags & CMT_F_OCCUPANCY, "a SAMPLE without occupancy");
	}
	note("coverage on %s: %llu samples, bandwidth in %.2f %% by cmt, %.2f %% by the model, %llu samples differ (limit 0)",
	     kind_name(), (unsigned long long)samples, 100.0 * said / samples,
	     100.0 * model / samples, (unsigned long long)differ);
	CHECK(samples >= COVERAGE_SAMPLES, "only %llu samples", (unsigned long long)samples);
	CHECK(!differ, "%llu samples differ", (unsigned long long)differ);
	CHECK(said, "no bandwidth at all");
	CHECK(kind() & (ABMC | TRACKED) ? said < samples : said == samples,
	      "coverage is %llu of %llu", (unsigned long long)said,
	      (unsigned long long)samples);
	record_free();
	lab_end();
}

const struct test planted_tests[] = {
	{ "planted_coverage", test_coverage, PARAMETERS, 300 },
	{ "planted_faults", test_faults, PARAMETERS, 550 },
	{ 0 }
};

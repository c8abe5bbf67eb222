// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers that lie, fail and change hands: a record says so, or it is right.
 */
#include <fcntl.h>
#include <string.h>

#include "bench.h"
#include "tests.h"

#define PLANTED		10000
#define FAULT_PERIOD	3
#define TRIES		4		/* the module reads so often */
#define CLOCKS_NS	2000000		/* between clocks, at the very most */

/* What a flagged value was last time, so that the next can be checked. */
struct previous {
	uint64_t said;
	uint64_t units;
	uint32_t generation;
	bool known;
};

struct verdicts {
	size_t values;		/* that had their flag */
	size_t missing;		/* that did not, with a reason given */
	size_t bad;		/* had the flag, and are not what was counted */
	size_t silent;		/* have neither flag nor reason */
};

/* The reading behind a value: the first good one of the module's tries. */
static const struct reading *good_reading(const struct readings *readings,
					  size_t *at,
					  const struct cmt_record *r,
					  uint32_t event)
{
	const struct reading *first = reading_of(readings, at, r, event);
	const struct reading *end = readings->all + readings->count, *p;
	int tries = 0;

	for (p = first; p && p < end && tries < TRIES; p++) {
		if (p->rmid != r->rmid || p->event != event ||
		    p->l3 != r->domain)
			continue;
		if (p->fault == LAB_FAULT_NONE)
			return p;
		tries++;
	}
	return NULL;
}

#define BAD_SHOWN 5

static void judge(struct verdicts *v, const struct cmt_record *r,
		  uint64_t said, const struct reading *reading, bool right)
{
	v->values++;
	if (right || v->bad++ >= BAD_SHOWN)
		return;
	note("RMID %u generation %u flags %#x says %llu; the reading %lld ns later ought to give %llu units",
	     r->rmid, r->generation, r->flags, (unsigned long long)said,
	     reading ? (long long)(reading->ns - r->ts) : -1LL,
	     reading ? (unsigned long long)reading->ought : 0);
}

static void judge_mbm(struct verdicts *v, struct previous *prev,
		      const struct cmt_record *r, uint64_t said,
		      const struct reading *reading)
{
	uint64_t mask = (1ULL << lab_get(LAB_CONFIG, LAB_C_WIDTH)) - 1;
	bool comparable = prev->known && prev->generation == r->generation &&
			  !(r->flags & CMT_F_REBASED);

	judge(v, r, said, reading, reading && (!comparable ||
	      said - prev->said == ((reading->ought - prev->units) & mask) *
				   lab_unit()));
	prev->known = reading;
	prev->said = said;
	prev->units = reading ? reading->ought : 0;
	prev->generation = r->generation;
}

static void judge_sample(struct verdicts *v, const struct readings *readings,
			 size_t *at, const struct cmt_record *r)
{
	static struct previous previous[MAX_RMIDS][2];
	const uint16_t reasons = CMT_F_ERROR | CMT_F_UNAVAILABLE;
	const uint16_t all = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL |
			     CMT_F_MBM_LOCAL;
	const struct reading *reading;
	size_t from;

	if ((r->flags & all) != all) {
		v->missing++;
		v->silent += !(r->flags & reasons);
	}
	if (r->flags & CMT_F_OCCUPANCY) {
		from = *at;
		reading = good_reading(readings, &from, r, 1);
		judge(v, r, r->sample.occupancy_bytes, reading,
		      reading && r->sample.occupancy_bytes ==
				 reading->ought * lab_unit());
	}
	if (r->flags & CMT_F_MBM_TOTAL) {
		from = *at;
		reading = good_reading(readings, &from, r, 2);
		judge_mbm(v, &previous[r->rmid][0], r,
			  r->sample.mbm_total_bytes, reading);
	}
	if (r->flags & CMT_F_MBM_LOCAL) {
		from = *at;
		reading = good_reading(readings, &from, r, 3);
		judge_mbm(v, &previous[r->rmid][1], r,
			  r->sample.mbm_local_bytes, reading);
	}
}

/* Skip readings that are older than a sample; samples come in order of time. */
static void skip_old(const struct readings *readings, size_t *at, uint64_t ts)
{
	while (*at < readings->count &&
	       readings->all[*at].ns + CLOCKS_NS < ts)
		++*at;
}

static struct verdicts judge_all(const struct log *log,
				 const struct readings *readings)
{
	struct verdicts v = { 0 };
	size_t at = 0, i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->ts < readings->ns)
			continue;
		skip_old(readings, &at, r->ts);
		judge_sample(&v, readings, &at, r);
	}
	return v;
}

static uint64_t planted(enum lab_fault fault)
{
	return lab_get(LAB_FAULT_COUNT, fault);
}

static void plant_reads(enum lab_fault fault)
{
	struct worker *worker = worker_start(1 << 20);
	struct recorder recorder;
	struct readings readings;
	struct cmt_stats stats;
	struct verdicts v;
	uint64_t before;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	recorder_start(&recorder, &dev, true);
	before = planted(fault);
	readings_begin(&readings);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 1, FAULT_PERIOD));
	WAIT_FOR(planted(fault) - before >= PLANTED, 60000, "too few faults");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 0, 0));
	recorder_stop(&recorder);
	readings_end(&readings);
	lab_switch(false);

	v = judge_all(&recorder.log, &readings);
	stats = dev_stats(&dev);
	note("%llu faults in %zu readings: %zu values, %zu samples with some missing; bad values %zu, missing without a reason %zu; module counts %llu errors, %llu unavailable",
	     (unsigned long long)(planted(fault) - before), readings.count,
	     v.values, v.missing, v.bad, v.silent,
	     (unsigned long long)stats.read_errors,
	     (unsigned long long)stats.read_unavailable);
	CHECK(v.values, "no value at all");
	CHECK(!v.bad, "%zu bad values have no flag", v.bad);
	CHECK(!v.silent, "%zu values are missing without a reason", v.silent);
	readings_free(&readings);
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

static void test_error(void)
{
	plant_reads(LAB_FAULT_ERROR);
}

static void test_unavailable(void)
{
	plant_reads(LAB_FAULT_UNAVAILABLE);
}

static void test_evtsel(void)
{
	plant_reads(LAB_FAULT_EVTSEL);
}

static void test_evtsel_error(void)
{
	plant_reads(LAB_FAULT_EVTSEL_ERROR);
}

/* An agent that takes every CPU's RMID, again and again. */
static void test_pqr(void)
{
	struct worker *worker = worker_start(1 << 20);
	uint64_t flagged = 0, before, taken;
	struct cmt_stats from, to;
	struct recorder recorder;
	struct dev dev;
	size_t i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	worker_identify(worker, &dev);
	worker_go(worker, true);
	recorder_start(&recorder, &dev, true);
	from = dev_stats(&dev);
	before = planted(LAB_FAULT_PQR_TIMER);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 3000));
	WAIT_FOR(planted(LAB_FAULT_PQR_TIMER) - before >= 500, 60000,
		 "too few faults");
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 0, 0));
	sleep_ms(20);
	recorder_stop(&recorder);
	to = dev_stats(&dev);
	taken = planted(LAB_FAULT_PQR_TIMER) - before;

	for (i = 0; i < recorder.log.count; i++)
		flagged += recorder.log.records[i].type == CMT_REC_TICK &&
			recorder.log.records[i].flags & CMT_F_PQR_OVERWRITTEN;
	note("%llu times overwritten: %llu ticks say so, %llu counted",
	     (unsigned long long)taken, (unsigned long long)flagged,
	     (unsigned long long)(to.pqr_overwritten - from.pqr_overwritten));
	CHECK(flagged == to.pqr_overwritten - from.pqr_overwritten,
	      "flags and counter differ");
	/* a CPU that was idle had the agent's RMID already, or switched since */
	CHECK(flagged * 4 >= taken, "most were not noticed");
	CHECK((uint32_t)lab_get(LAB_PQR, 0) < dev.info.nr_rmids, "PQR_ASSOC");
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

/* #GP where nobody expects it: no crash, and nothing false is said. */
static void test_gp(void)
{
	plant_reads(LAB_FAULT_GP);
}

const struct test faults_tests[] = {
	{ "fault_error_is_flagged", test_error, "", 120 },
	{ "fault_unavailable_is_flagged", test_unavailable, "", 120 },
	{ "fault_evtsel_error_is_retried", test_evtsel_error, "", 120 },
	{ "fault_evtsel_changes_no_value", test_evtsel, "", 120 },
	{ "fault_gp_is_flagged", test_gp, "", 120 },
	{ "fault_pqr_is_flagged", test_pqr, "", 120 },
	{ 0 }
};

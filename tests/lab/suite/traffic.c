// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory traffic across counter wraps, and RMIDs that had an owner before. */
#include <fcntl.h>
#include <sys/mman.h>

#include "bench.h"
#include "tests.h"

#define WRAPS		20
#define WRAP_TRIES	3
#define GAP_NS		1100000000ULL	/* CMT_COUNTER_GAP_NS */
#define WALK_BYTES	(32U << 20)	/* more than the cache */
#define RESIDUE_BYTES	(2U << 20)
#define OWN_BYTES	(1U << 20)
#define REUSE_TRIES	300
#define CTR_OVERFLOW	(1ULL << 61)

/* Samples of an RMID never decrease, and are flagged when they are not comparable. */
static void check_monotonic(const struct log *log, const struct worker *worker)
{
	uint64_t total = 0, local = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != worker->rmid ||
		    r->generation != worker->generation)
			continue;
		if (r->flags & CMT_F_MBM_TOTAL) {
			CHECK(r->sample.mbm_total_bytes >= total,
			      "the total went back");
			total = r->sample.mbm_total_bytes;
		}
		if (r->flags & CMT_F_MBM_LOCAL) {
			CHECK(r->sample.mbm_local_bytes >= local,
			      "the local went back");
			local = r->sample.mbm_local_bytes;
		}
	}
}

/*
 * The number of rebases since @ts, the time of the sample before.  The only allowed
 * reason is a missing reading.
 */
static size_t count_rebased(const struct log *log, uint32_t rmid, uint64_t ts)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->rmid != rmid || r->ts <= ts)
			continue;
		if (r->flags & CMT_F_REBASED) {
			CHECK(r->ts - ts > GAP_NS,
			      "started anew after %llu ns",
			      (unsigned long long)(r->ts - ts));
			n++;
		}
		ts = r->ts;
	}
	return n;
}

/* A reading that was made after this call. */
static struct cmt_record sample_now(struct dev *dev, uint32_t rmid)
{
	struct log log = { 0 };
	const struct cmt_record *r;
	struct cmt_record copy;

	dev_drain(dev, &log);
	log_free(&log);
	WAIT_FOR((dev_drain(dev, &log), last_sample(&log, rmid)), 5000,
		 "no sample of RMID %u", rmid);
	r = last_sample(&log, rmid);
	copy = *r;
	log_free(&log);
	return copy;
}

/* A processor that announces that it reports every wrap. */
static void check_overflow(const struct readings *readings, uint32_t rmid)
{
	uint64_t said = 0;
	size_t i;

	for (i = 0; i < readings->count; i++)
		said += readings->all[i].rmid == rmid &&
			readings->all[i].event == 2 &&
			readings->all[i].gave & CTR_OVERFLOW;
	note("the overflow bit was set in %llu readings",
	     (unsigned long long)said);
	if (lab_get(LAB_CONFIG, LAB_C_OVERFLOW))
		CHECK(said >= WRAPS, "the overflow bit did not show");
	else
		CHECK(!said, "an overflow bit that was not announced");
}

/*
 * False: the host did not run the guest for longer than a wrap can be detected.  Then
 * the module rebases the counter, and flags the sample.
 */
static bool wraps_counted(struct dev *dev, struct worker *worker)
{
	uint64_t wrap = traffic_bytes(worker->rmid,
				      1ULL << lab_get(LAB_CONFIG, LAB_C_WIDTH));
	struct cmt_record first = sample_now(dev, worker->rmid);
	struct lab_answer from, to;
	struct recorder recorder;
	struct readings readings;
	const struct cmt_record *last;
	uint64_t truth, said, off;
	size_t rebased;

	from = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	recorder_start(&recorder, dev, true);
	readings_begin(&readings);
	__atomic_store_n(&worker->paced, true, __ATOMIC_RELEASE);
	worker_go(worker, true);
	WAIT_FOR(lab_get(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0)) -
		 from.first >= (WRAPS + 1) * wrap, 120000, "too slow");
	worker_go(worker, false);
	to = lab_ask(LAB_TRAFFIC, LAB_ARG(L3, worker->rmid, 0));
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	readings_end(&readings);

	check_monotonic(&recorder.log, worker);
	last = last_sample(&recorder.log, worker->rmid);
	CHECK(last, "no sample");
	truth = to.first - from.first;
	said = last->sample.mbm_total_bytes - first.sample.mbm_total_bytes;
	off = said > truth ? said - truth : truth - said;
	rebased = count_rebased(&recorder.log, worker->rmid, first.ts);
	note("%llu wraps: truth %llu bytes, said %llu, off by %.3f %%; %zu samples not comparable",
	     (unsigned long long)(truth / wrap), (unsigned long long)truth,
	     (unsigned long long)said, 100.0 * off / truth, rebased);
	CHECK(truth / wrap >= WRAPS, "only %llu wraps",
	      (unsigned long long)(truth / wrap));
	CHECK(rebased || off * 100 <= truth, "more than 1 %% off");
	check_overflow(&readings, worker->rmid);
	readings_free(&readings);
	log_free(&recorder.log);
	return !rebased;
}

static void test_wraps(void)
{
	struct worker *worker = worker_start(WALK_BYTES);
	struct dev dev;
	int i = 1;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	worker_wait(worker, 1);
	worker_go(worker, false);
	wait_read(L3, worker->rmid);
	while (!wraps_counted(&dev, worker))
		CHECK(i++ < WRAP_TRIES, "the counter started anew each time");
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
}

/* Processes begin and end until one of them has @rmid. */
static struct worker *worker_with(uint32_t rmid, const struct dev *dev)
{
	struct worker *worker;
	int i;

	for (i = 0; i < REUSE_TRIES; i++) {
		worker = worker_start(OWN_BYTES);
		worker_identify(worker, dev);
		if (worker->rmid == rmid)
			return worker;
		worker_stop(worker);
		sleep_ms(3);
	}
	FAIL("RMID %u was not handed out again", rmid);
}

static void test_reuse(void)
{
	/*
	 * Not freed, so that the next owner gets none of its pages, and does not find
	 * their lines in the cache.
	 */
	char *memory = mmap(NULL, RESIDUE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker *before, *after;
	uint64_t residue, own, none, growth;
	uint32_t rmid, space;
	struct cmt_record r;
	struct dev dev;

	CHECK(memory != MAP_FAILED, "mmap: %m");
	before = worker_start_in(memory, RESIDUE_BYTES);
	dev_open(&dev, O_RDONLY);
	worker_identify(before, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(before, true);
	worker_wait(before, 2);
	rmid = before->rmid;
	space = before->space;
	worker_stop(before);

	/* Only the model knows that these lines are not the new owner's. */
	lab_switch(false);
	after = worker_with(rmid, &dev);
	lab_switch(true);
	worker_go(after, true);
	worker_wait(after, 3);
	worker_halt(after);
	wait_read(L3, rmid);
	r = sample_now(&dev, rmid);
	residue = lab_get(LAB_OF_PAIR, LAB_ARG(L3, rmid, space));
	own = lab_get(LAB_OF_PAIR, LAB_ARG(L3, rmid, after->space));
	none = lab_get(LAB_OF_PAIR, LAB_ARG(L3, 0, after->space));
	lab_switch(false);

	CHECK(r.generation == after->generation, "a sample of another owner");
	CHECK(r.flags & CMT_F_RESIDUAL, "the residue is not known: flags %#x",
	      r.flags);
	growth = r.sample.occupancy_bytes - r.sample.residual_bytes;
	note("residue: truth %llu, said %llu; the owner's own: truth %llu (%llu under RMID 0), said %llu",
	     (unsigned long long)residue,
	     (unsigned long long)r.sample.residual_bytes,
	     (unsigned long long)own, (unsigned long long)none,
	     (unsigned long long)growth);
	CHECK(residue >= RESIDUE_BYTES / 2, "there is no residue to speak of");
	CHECK(own >= OWN_BYTES / 2, "the new owner has next to nothing");
	CHECK(r.sample.residual_bytes + lab_unit() > residue,
	      "the residue is more than was said");
	/* at a switch the RMID changes before the page tables do */
	CHECK(growth * 100 <= own * 102, "the growth has residue in it");
	CHECK(growth * 100 >= own * 90, "the growth is too small");
	worker_stop(after);
	munmap(memory, RESIDUE_BYTES);
	dev_close(&dev);
}

const struct test traffic_tests[] = {
	{ "mbm_matches_model_across_wraps", test_wraps, PROCESS, 400 },
	{ "reuse_shows_no_residue_as_growth", test_reuse, PROCESS, 120 },
	{ 0 }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD's assignable counters: with them on, a plain reading of an MBM event is 0
 * and no measurement.  The module says that there is no MBM, and why.
 */
#include <fcntl.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "tests.h"

#define BYTES	(1 << 20)
#define MBM	(CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define ASK	2

static struct cmt_info info_of(const struct dev *dev)
{
	struct cmt_info info = { .size = sizeof(info) };

	CHECK(!ioctl(dev->fd, CMT_IOC_GET_INFO, &info), "GET_INFO: %m");
	return info;
}

static void check_info(const struct dev *dev, bool mbm)
{
	struct cmt_info info = info_of(dev);

	note("events %#x: %s", info.events, info.mbm_reason);
	CHECK(info.events & CMT_F_OCCUPANCY, "there is no occupancy");
	CHECK((info.events & MBM) == (mbm ? MBM : 0), "events %#x",
	      info.events);
	CHECK(!info.mbm_reason[0] == mbm, "the reason: \"%s\"",
	      info.mbm_reason);
}

/* How many samples of a CPU and those above say that they measured traffic. */
static size_t count_mbm(const struct log *log, uint16_t from_cpu)
{
	size_t i, n = 0;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE || r->cpu < from_cpu)
			continue;
		n += !!(r->flags & MBM);
		CHECK(r->flags & CMT_F_MBM_TOTAL || !r->sample.mbm_total_bytes,
		      "a number without a flag");
		CHECK(r->flags & CMT_F_MBM_LOCAL || !r->sample.mbm_local_bytes,
		      "a number without a flag");
	}
	return n;
}

/* From now on: the log of a worker's walks, and its samples are all true. */
static void record_walks(struct dev *dev, struct worker *worker,
			 struct log *log)
{
	struct recorder recorder;
	struct readings readings;
	size_t matched;

	recorder_start(&recorder, dev, true);
	readings_begin(&readings);
	worker_wait(worker, 50);
	wait_read(L3, worker->rmid);
	recorder_stop(&recorder);
	readings_end(&readings);
	matched = samples_match(&recorder.log, &readings, worker->rmid);
	note("%zu samples: occupancy equals the counter", matched);
	CHECK(matched, "no samples");
	readings_free(&readings);
	*log = recorder.log;
}

static struct worker *begin(struct dev *dev)
{
	struct worker *worker = worker_start(BYTES);

	CHECK(lab_get(LAB_CONFIG, LAB_C_ABMC), "abmc= is not set");
	dev_open(dev, O_RDONLY);
	worker_identify(worker, dev);
	dev_map(dev, FROM_NOW);
	model_begin();
	run_on(worker->pid, 0);
	worker_go(worker, true);
	return worker;
}

static void end(struct dev *dev, struct worker *worker)
{
	lab_switch(false);
	worker_stop(worker);
	dev_close(dev);
}

static void test_on_at_load(void)
{
	struct worker *worker;
	struct dev dev;
	struct log log;

	CHECK(lab_get(LAB_ABMC_SET, LAB_ARG(0, 0, ASK)) == 1, "it is off");
	worker = begin(&dev);
	check_info(&dev, false);
	record_walks(&dev, worker, &log);
	CHECK(!count_mbm(&log, 0), "a zero is presented as measured");
	log_free(&log);
	end(&dev, worker);
}

static bool socket_1_is_sampled(struct dev *dev, struct log *log)
{
	size_t i;

	dev_drain(dev, log);
	for (i = 0; i < log->count; i++)
		if (log->records[i].type == CMT_REC_SAMPLE &&
		    log->records[i].cpu == 1)
			return true;
	return false;
}

/* As Linux does it: when the first CPU of a domain comes up. */
static void switch_on(struct dev *dev)
{
	struct log log = { 0 };

	cpu_online(1, false);
	CHECK(lab_get(LAB_ABMC_SET, LAB_ARG(1, 0, true)) == 1, "it stays off");
	dev_drain(dev, &log);
	log_free(&log);
	cpu_online(1, true);
	WAIT_FOR(socket_1_is_sampled(dev, &log), 10000,
		 "CPU 1 does not read its counters");
	/* CPU 0 has measured until then, in a domain where they were off */
	CHECK(!count_mbm(&log, 1), "a zero is presented as measured");
	log_free(&log);
}

static void test_switched_on(void)
{
	struct worker *worker;
	struct dev dev;
	struct log log;

	CHECK(lab_get(LAB_CONFIG, LAB_C_L3S) == 2, "not two sockets");
	CHECK(!lab_get(LAB_ABMC_SET, LAB_ARG(0, 0, ASK)) &&
	      !lab_get(LAB_ABMC_SET, LAB_ARG(1, 0, ASK)), "it is on");
	worker = begin(&dev);
	check_info(&dev, true);
	record_walks(&dev, worker, &log);
	CHECK(count_mbm(&log, 0), "MBM is not sampled where it could be");
	log_free(&log);
	switch_on(&dev);
	/* and in the other domain, as Linux has it: the same in all */
	lab_ask(LAB_ABMC_SET, LAB_ARG(0, 0, true));
	wait_read(0, worker->rmid);
	wait_read(1, worker->rmid);
	dev_drain(&dev, &log);
	log_free(&log);
	check_info(&dev, false);
	record_walks(&dev, worker, &log);
	CHECK(!count_mbm(&log, 0), "a zero is presented as measured");
	log_free(&log);
	lab_ask(LAB_ABMC_SET, LAB_ARG(0, 0, false));
	lab_ask(LAB_ABMC_SET, LAB_ARG(1, 0, false));
	end(&dev, worker);
}

const struct test abmc_tests[] = {
	{ "abmc_on_at_load", test_on_at_load, PROCESS, 60 },
	{ 0 }
};

const struct test abmc_later_tests[] = {
	{ "abmc_switched_on", test_switched_on, PROCESS, 60 },
	{ 0 }
};

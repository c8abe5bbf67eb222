// SPDX-License-Identifier: GPL-2.0-or-later
/* Two sockets: every L3 has counts of its own, and is read by its own CPUs. */
#include <fcntl.h>

#include "bench.h"
#include "tests.h"

#define SOCKETS	2
#define BYTES	(1 << 20)

/* The model was off when the RMID was given: all its traffic is the worker's. */
static void check_traffic(uint32_t domain, uint32_t rmid, const char *what,
			  uint64_t said, uint64_t truth)
{
	uint64_t off = said > truth ? said - truth : truth - said;

	note("domain %u, RMID %u, traffic, %s: truth %llu, said %llu", domain,
	     rmid, what, (unsigned long long)truth, (unsigned long long)said);
	CHECK(off <= truth / 50 + 16 * lab_unit(), "%s is %llu off", what,
	      (unsigned long long)off);
}

/* What is said of a domain now is what the model counts there, in units. */
static void check_domain(const struct log *log, const struct worker *worker,
			 uint32_t domain)
{
	const struct cmt_record *r = last_sample_in(log, worker->rmid, domain);
	uint64_t truth = lab_get(LAB_OF_PAIR, LAB_ARG(domain, worker->rmid,
						      worker->space));
	struct lab_answer traffic = lab_ask(LAB_TRAFFIC,
					    LAB_ARG(domain, worker->rmid, 0));
	uint64_t said, off;

	CHECK(r, "no sample of domain %u", domain);
	CHECK(r->flags & CMT_F_OCCUPANCY, "flags %#x", r->flags);
	said = r->sample.occupancy_bytes;
	off = said > truth ? said - truth : truth - said;
	note("domain %u: truth %llu, said %llu", domain,
	     (unsigned long long)truth, (unsigned long long)said);
	CHECK(off <= truth / 50 + 16 * lab_unit(), "domain %u is %llu off",
	      domain, (unsigned long long)off);
	check_traffic(domain, worker->rmid, "total",
		      r->sample.mbm_total_bytes, traffic.first);
	check_traffic(domain, worker->rmid, "local",
		      r->sample.mbm_local_bytes, traffic.second);
}

static void test_two(void)
{
	struct worker *worker = worker_start(BYTES);
	struct recorder recorder;
	struct readings readings;
	struct dev dev;
	uint32_t l3;

	CHECK(lab_get(LAB_CONFIG, LAB_C_L3S) == SOCKETS, "not two sockets");
	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	recorder_start(&recorder, &dev, true);
	readings_begin(&readings);
	for (l3 = 0; l3 < SOCKETS; l3++) {
		run_on(worker->pid, l3);
		worker_go(worker, true);
		worker_wait(worker, 3);
		worker_go(worker, false);
		CHECK(lab_get(LAB_OF_SPACE, LAB_ARG(l3, 0, worker->space)) >=
		      BYTES * 9 / 10, "socket %u does not hold it", l3);
	}
	worker_halt(worker);
	for (l3 = 0; l3 < SOCKETS; l3++)
		wait_read(l3, worker->rmid);
	recorder_stop(&recorder);
	readings_end(&readings);
	note("%zu samples equal the counter of their domain",
	     samples_match(&recorder.log, &readings, worker->rmid));
	for (l3 = 0; l3 < SOCKETS; l3++)
		check_domain(&recorder.log, worker, l3);
	lab_switch(false);
	readings_free(&readings);
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

const struct test sockets_tests[] = {
	{ "two_sockets_count_apart", test_two, PROCESS, 60 },
	{ 0 }
};

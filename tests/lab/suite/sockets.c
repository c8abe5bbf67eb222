// SPDX-License-Identifier: GPL-2.0-or-later
/* Two sockets: every L3 has separate counts, and is read by its CPUs. */
#include <errno.h>
#include <fcntl.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "tests.h"

#define SOCKETS	2
#define BYTES	(1 << 20)

/*
 * The model was off when the RMID was given, so all traffic of the RMID is the
 * worker's.
 */
static void check_traffic(uint32_t domain, uint32_t rmid, const char *what,
			  uint64_t said, uint64_t truth)
{
	uint64_t off = said > truth ? said - truth : truth - said;

	note("domain %u, RMID %u, traffic, %s: truth %llu, said %llu", domain,
	     rmid, what, (unsigned long long)truth, (unsigned long long)said);
	CHECK(off <= truth / 50 + 16 * lab_unit(), "%s is %llu off", what,
	      (unsigned long long)off);
}

/* The last value of a domain is the model's count there, in units. */
static void check_occupancy(const struct cmt_record *r,
			    const struct worker *worker, uint32_t domain)
{
	uint64_t truth = lab_get(LAB_OF_PAIR, LAB_ARG(domain, worker->rmid,
						      worker->space));
	uint64_t said, off;

	CHECK(r->flags & CMT_F_OCCUPANCY, "flags %#x", r->flags);
	said = r->sample.occupancy_bytes;
	off = said > truth ? said - truth : truth - said;
	note("domain %u: truth %llu, said %llu", domain,
	     (unsigned long long)truth, (unsigned long long)said);
	CHECK(off <= truth / 50 + 16 * lab_unit(), "domain %u is %llu off",
	      domain, (unsigned long long)off);
}

static void check_domain(const struct log *log, const struct worker *worker,
			 uint32_t domain)
{
	const struct cmt_record *r = last_sample_in(log, worker->rmid, domain);
	struct lab_answer traffic = lab_ask(LAB_TRAFFIC,
					    LAB_ARG(domain, worker->rmid, 0));

	CHECK(r, "no sample of domain %u", domain);
	check_occupancy(r, worker, domain);
	check_traffic(domain, worker->rmid, "total",
		      r->sample.mbm_total_bytes, traffic.first);
	if (lab_get(LAB_CONFIG, LAB_C_EVENTS) & 4)
		check_traffic(domain, worker->rmid, "local",
			      r->sample.mbm_local_bytes, traffic.second);
}

#define TICKS_LEAST	20

/*
 * A CPU that the host seldom runs has few ticks in the time of the workers.  Two readings are
 * waited for at a time, and a tick has three.
 */
static void wait_unattributed(uint32_t l3)
{
	for (int i = 0; i < 2 * TICKS_LEAST; i++)
		wait_read(l3, 0);
}

/* The CPU of each domain reads RMID 0 in each of its ticks. */
static void check_unattributed(const struct log *log)
{
	size_t ticks, samples;

	for (uint32_t cpu = 0; cpu < SOCKETS; cpu++) {
		ticks = log_count_read(log, cpu, 0, &samples);
		note("RMID 0 of socket %u: %zu samples in %zu ticks", cpu, samples, ticks);
		CHECK(ticks > TICKS_LEAST && samples <= ticks && samples + 1 >= ticks,
		      "socket %u: %zu samples of RMID 0 in %zu ticks", cpu, samples, ticks);
	}
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
	for (l3 = 0; l3 < SOCKETS; l3++) {
		wait_read(l3, worker->rmid);
		wait_unattributed(l3);
	}
	recorder_stop(&recorder);
	readings_end(&readings);
	note("%zu samples equal the counter of their domain",
	     samples_match(&recorder.log, &readings, worker->rmid));
	for (l3 = 0; l3 < SOCKETS; l3++)
		check_domain(&recorder.log, worker, l3);
	lab_switch(false);
	check_unattributed(&recorder.log);
	readings_free(&readings);
	log_free(&recorder.log);
	worker_stop(worker);
	dev_close(&dev);
}

/* A reading at rest, and the model's traffic at that time: of each socket */
struct rest {
	struct cmt_record r[SOCKETS];
	uint64_t traffic[SOCKETS];
};

static void read_both(const struct dev *dev, const struct worker *worker,
		      struct cmt_record r[SOCKETS])
{
	int n = owner_read(dev, CMT_OWNER_PROCESS, worker->pid, r, SOCKETS);
	uint32_t i;

	CHECK(n == SOCKETS, "READ: %d", n);
	for (i = 0; i < SOCKETS; i++)
		CHECK(r[i].type == CMT_REC_SAMPLE && r[i].domain == i &&
		      r[i].rmid == worker->rmid &&
		      r[i].generation == worker->generation,
		      "record %u: type %u, domain %u, RMID %u", i, r[i].type,
		      r[i].domain, r[i].rmid);
}

/* One reading is reused for CMT_READ_FRESH_NS. */
static void rest_read(const struct dev *dev, const struct worker *worker,
		      struct rest *rest)
{
	uint32_t i;

	sleep_ms(1);
	read_both(dev, worker, rest->r);
	for (i = 0; i < SOCKETS; i++)
		rest->traffic[i] = lab_ask(LAB_TRAFFIC,
					   LAB_ARG(i, worker->rmid, 0)).first;
}

/*
 * The worker walks on one socket, and is read meanwhile.  False: the host let two
 * readings be too far apart, and the traffic in between is flagged as unknown.
 */
static bool walk_read(const struct dev *dev, struct worker *worker, uint32_t l3,
		      struct rest *from, struct rest *to)
{
	uint64_t walks;

	run_on(worker->pid, l3);
	rest_read(dev, worker, from);
	worker_go(worker, true);
	walks = __atomic_load_n(&worker->walks, __ATOMIC_RELAXED);
	do {
		read_both(dev, worker, to->r);
		sleep_ms(5);
	} while (__atomic_load_n(&worker->walks, __ATOMIC_RELAXED) < walks + 3);
	worker_go(worker, false);
	rest_read(dev, worker, to);
	return from->r[0].base == to->r[0].base && from->r[1].base == to->r[1].base;
}

/*
 * The readings have the traffic of each socket, of the one that ran and of the other
 * one.
 */
static void check_walk(const struct dev *dev, struct worker *worker, uint32_t l3)
{
	struct patience patience = patience_of(30000);
	struct rest from, to;
	uint32_t i;

	while (!walk_read(dev, worker, l3, &from, &to)) {
		CHECK(patience_left(&patience), "readings never are comparable");
		lab_ask(LAB_FLUSH, 0);	/* so that there is traffic again */
	}
	CHECK(to.traffic[l3] - from.traffic[l3] >= BYTES / 2,
	      "nothing has moved on socket %u", l3);
	for (i = 0; i < SOCKETS; i++) {
		CHECK(from.r[i].flags & to.r[i].flags & CMT_F_MBM_TOTAL,
		      "socket %u: flags %#x", i, to.r[i].flags);
		check_traffic(i, worker->rmid, i == l3 ? "here" : "elsewhere",
			      to.r[i].sample.mbm_total_bytes -
			      from.r[i].sample.mbm_total_bytes,
			      to.traffic[i] - from.traffic[i]);
	}
}

/* Without a CPU that can read it, a socket has no values; later it has values again. */
static void check_dark(const struct dev *dev, const struct worker *worker)
{
	struct cmt_record r[SOCKETS];

	cpu_online(1, false);
	read_both(dev, worker, r);
	CHECK(r[0].flags & CMT_F_OCCUPANCY, "socket 0: flags %#x", r[0].flags);
	CHECK(r[1].flags == CMT_F_UNAVAILABLE && !r[1].sample.occupancy_bytes &&
	      !r[1].sample.mbm_total_bytes && !r[1].sample.mbm_local_bytes,
	      "socket 1 without a CPU: flags %#x, %llu bytes", r[1].flags,
	      (unsigned long long)r[1].sample.occupancy_bytes);
	cpu_online(1, true);
	sleep_ms(1);
	read_both(dev, worker, r);
	CHECK(r[1].flags & CMT_F_OCCUPANCY && !(r[1].flags & CMT_F_UNAVAILABLE),
	      "socket 1 again: flags %#x", r[1].flags);
}

/* All RMIDs, by domain: both domains have the same ones. */
static void check_all(const struct dev *dev)
{
	struct cmt_record r[64];
	int i, n = owner_read(dev, 0, 0, r, 64);

	CHECK(n > 0 && n % SOCKETS == 0, "READ of all: %d", n);
	for (i = 0; i < n / 2; i++)
		CHECK(!r[i].domain && r[n / 2 + i].domain == 1 &&
		      r[i].rmid == r[n / 2 + i].rmid, "record %d: domain %u", i,
		      r[i].domain);
}

static void test_two_on_demand(void)
{
	struct worker *worker = worker_start(BYTES);
	struct cmt_record r[SOCKETS];
	uint64_t ticks;
	struct dev dev;
	uint32_t l3;

	dev_open(&dev, O_RDWR);
	ticks = dev_stats(&dev).ticks;
	CHECK(!owner_register(&dev, CMT_OWNER_PROCESS, worker->pid, NULL),
	      "REGISTER: %m");
	worker_identify(worker, &dev);
	CHECK(owner_read(&dev, CMT_OWNER_PROCESS, worker->pid, r, 1) == -ENOSPC,
	      "two records in the room of one");
	model_begin();
	for (l3 = 0; l3 < SOCKETS; l3++)
		check_walk(&dev, worker, l3);
	worker_halt(worker);
	sleep_ms(1);
	read_both(&dev, worker, r);
	for (l3 = 0; l3 < SOCKETS; l3++)
		check_occupancy(&r[l3], worker, l3);
	check_all(&dev);
	check_dark(&dev, worker);
	CHECK(dev_stats(&dev).ticks == ticks, "there were ticks");
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
}

const struct test sockets_tests[] = {
	{ "two_sockets_count_separately", test_two, PROCESS, 60 },
	{ "two_sockets_on_demand", test_two_on_demand, "scope=manual", 60 },
	{ 0 }
};

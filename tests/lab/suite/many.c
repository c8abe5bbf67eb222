// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The largest number of RMIDs that the registers have room for; more L3s than the
 * module reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "tests.h"

#define BYTES		(1 << 19)
#define RMIDS		4096
#define INTEL_RMIDS	1024	/* 10 bits */
#define AGENT_RMID	3000
#define DOMAINS		64	/* that the module reads */
#define CPUS		(DOMAINS + 1)	/* each in an L3 of its own */

/* The model's bytes of a worker in an L3 equal the last reported value. */
static void check_occupancy(const struct log *log, const struct worker *worker,
			    uint32_t domain)
{
	const struct cmt_record *r = last_sample_in(log, worker->rmid, domain);
	uint64_t truth = lab_get(LAB_OF_PAIR,
				 LAB_ARG(domain, worker->rmid, worker->space));
	uint64_t said, off;

	CHECK(r && r->flags & CMT_F_OCCUPANCY, "no sample of domain %u", domain);
	said = r->sample.occupancy_bytes;
	off = said > truth ? said - truth : truth - said;
	note("domain %u, RMID %u: truth %llu, said %llu", domain, worker->rmid,
	     (unsigned long long)truth, (unsigned long long)said);
	CHECK(truth >= BYTES * 9 / 10, "the L3 does not hold the memory");
	CHECK(off <= truth / 50 + 16 * lab_unit(), "%llu off",
	      (unsigned long long)off);
}

/* The worker walks on this CPU, and @log has its records. */
static void walk_on(struct worker *worker, unsigned int cpu, struct dev *dev,
		    struct log *log)
{
	struct recorder recorder;

	worker_pin(worker, cpu);
	recorder_start(&recorder, dev, true);
	worker_go(worker, true);
	worker_wait(worker, 3);
	worker_go(worker, false);
	worker_halt(worker);
	wait_read(cpu, worker->rmid);
	recorder_stop(&recorder);
	*log = recorder.log;
}

static bool is_foreign(const struct dev *dev, uint32_t rmid)
{
	static struct snapshot snapshot;
	uint32_t i;

	dev_snapshot(dev, &snapshot);
	for (i = 0; i < snapshot.count; i++)
		if (snapshot.records[i].rmid == rmid)
			return snapshot.records[i].flags & CMT_F_OWNER_RESCTRL;
	return false;
}

/* The RMIDs that are allocated first are those above the range of 10 bits. */
static void test_rmids(void)
{
	struct worker *worker = worker_start(BYTES);
	struct dev dev;
	struct log log;

	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.nr_rmids == RMIDS, "%u RMIDs", dev.info.nr_rmids);
	worker_identify(worker, &dev);
	CHECK(worker->rmid >= INTEL_RMIDS, "RMID %u", worker->rmid);
	dev_map(&dev, FROM_NOW);
	model_begin();
	walk_on(worker, L3, &dev, &log);
	check_occupancy(&log, worker, L3);
	lab_switch(false);
	log_free(&log);
	worker_stop(worker);

	/* an agent's RMID of that range is seen, and gets an owner of kind resctrl */
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 1000));
	WAIT_FOR(is_foreign(&dev, AGENT_RMID), 10000, "RMID %u is not foreign",
		 AGENT_RMID);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(LAB_FAULT_PQR_TIMER, 1, 0));
	dev_close(&dev);
}

/* Counts a text in the kernel's log. */
static unsigned int log_has(const char *text)
{
	static char buffer[1 << 22];
	int bytes = klogctl(3, buffer, sizeof(buffer) - 1);
	unsigned int n = 0;
	const char *at;

	CHECK(bytes > 0, "klogctl: %m");
	buffer[bytes] = '\0';
	for (at = strstr(buffer, text); at; at = strstr(at + 1, text))
		n++;
	return n;
}

/* Every L3 but the last one has samples; no record is of the last one. */
static void check_domains(const struct log *log)
{
	bool seen[CPUS] = { false };
	uint32_t domain, n = 0;
	size_t i;

	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (r->type != CMT_REC_SAMPLE && r->type != CMT_REC_TICK)
			continue;
		CHECK(r->domain < DOMAINS && r->cpu < DOMAINS,
		      "a record of CPU %u, domain %u", r->cpu, r->domain);
		seen[r->domain] = seen[r->domain] || r->type == CMT_REC_SAMPLE;
	}
	for (domain = 0; domain < DOMAINS; domain++)
		n += seen[domain];
	note("samples of %u domains", n);
	CHECK(n == DOMAINS, "%u domains", n);
}

/* CPU 64 is online, and a worker runs there; it has no ticks and no owner. */
static void check_last_cpu(struct worker *worker, struct dev *dev)
{
	struct cmt_attach out;

	CHECK(dev_stats(dev).cpus_online == CPUS, "%u CPUs online",
	      dev_stats(dev).cpus_online);
	CHECK(dev_stats(dev).cpus_unread == 1, "%u CPUs are not read",
	      dev_stats(dev).cpus_unread);
	CHECK(ring_state(&dev->rings[DOMAINS]) == CMT_RING_QUIET, "state %u",
	      ring_state(&dev->rings[DOMAINS]));
	CHECK(attach(dev, CMT_OWNER_CPU, DOMAINS, 0, &out) == -ENXIO,
	      "a CPU that is not read is attached");
	worker_pin(worker, DOMAINS);
	worker_go(worker, true);
	worker_wait(worker, 1);
	worker_go(worker, false);
	CHECK(!worker->elsewhere || !worker->seen_rmid, "RMID %u there",
	      worker->seen_rmid);
}

static void test_domains(void)
{
	struct worker *worker = worker_start(BYTES);
	struct dev dev;
	struct log log;

	CHECK(lab_get(LAB_CONFIG, LAB_C_L3S) == CPUS, "not %d L3s", CPUS);
	CHECK(log_has("one more than 64") == 1, "the kernel's log does not say so");
	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	worker_identify(worker, &dev);
	check_last_cpu(worker, &dev);
	model_begin();
	walk_on(worker, DOMAINS - 1, &dev, &log);
	check_domains(&log);
	check_occupancy(&log, worker, DOMAINS - 1);
	lab_switch(false);
	log_free(&log);
	worker_stop(worker);

	/* an index stays with its domain, and no other domain gets it */
	cpu_online(DOMAINS, false);
	CHECK(!dev_stats(&dev).cpus_unread, "offline, and not read");
	cpu_online(3, false);
	cpu_online(DOMAINS, true);
	CHECK(dev_stats(&dev).cpus_unread == 1, "CPU %d took the place of CPU 3",
	      DOMAINS);
	cpu_online(3, true);
	CHECK(dev_stats(&dev).cpus_unread == 1 &&
	      ring_state(&dev.rings[3]) == CMT_RING_ONLINE, "CPU 3 is not back");
	dev_close(&dev);
}

const struct test rmids_tests[] = {
	{ "rmids_4096", test_rmids, PROCESS, 120 },
	{ 0 }
};

const struct test domains_tests[] = {
	{ "domains_65", test_domains, PROCESS " interval_us=10000", 300 },
	{ 0 }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Sub-NUMA clusters: one L3 that counts for each of its nodes separately. */
#include <fcntl.h>

#include "bench.h"
#include "tests.h"

#define NODES	2	/* nodes of one CPU each, CPU n in node n */

/* The processor's number for a worker's RMID in a node. */
static uint32_t physical(const struct worker *worker, uint32_t node)
{
	return worker->rmid + node * lab_get(LAB_CONFIG, LAB_C_RMIDS) / NODES;
}

/* The value of QM_CTR for that RMID. */
static uint64_t counter(const struct worker *worker, uint32_t node)
{
	return lab_get(LAB_OF_RMID, LAB_ARG(L3, physical(worker, node), 0)) /
	       lab_unit() * lab_unit();
}

static void check_worker(const struct log *log, const struct worker *worker,
			 uint32_t node)
{
	const struct cmt_record *here = last_sample_in(log, worker->rmid, node);
	const struct cmt_record *there = last_sample_in(log, worker->rmid, !node);
	uint64_t truth = lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, worker->space));

	CHECK(here && there, "RMID %u has no sample in a domain", worker->rmid);
	note("RMID %u walks %zu bytes in node %u: SAMPLE says %llu there, %llu in the other; truth %llu",
	     worker->rmid, worker->bytes, node,
	     (unsigned long long)here->sample.occupancy_bytes,
	     (unsigned long long)there->sample.occupancy_bytes,
	     (unsigned long long)truth);
	CHECK(here->sample.occupancy_bytes == counter(worker, node) &&
	      there->sample.occupancy_bytes == counter(worker, !node),
	      "the counters have %llu and %llu",
	      (unsigned long long)counter(worker, node),
	      (unsigned long long)counter(worker, !node));
	CHECK(here->sample.occupancy_bytes + worker->bytes / 50 >=
	      worker->bytes, "its lines are missing");
	CHECK(there->sample.occupancy_bytes * 50 <= worker->bytes,
	      "lines of another node");
}

/* Two processes, one in each node: their lines are in their node's domain. */
static void test_nodes(void)
{
	struct worker *workers[NODES];
	struct recorder recorder;
	struct dev dev;
	uint32_t node, i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (node = 0; node < NODES; node++) {
		workers[node] = worker_start((node + 1) << 20);
		worker_identify(workers[node], &dev);
		worker_pin(workers[node], node);
		worker_go(workers[node], true);
		worker_wait(workers[node], 1);
	}
	model_begin();
	for (node = 0; node < NODES; node++)
		worker_wait(workers[node], 3);
	/* at rest, so that the model's counts stay the same during the check */
	for (node = 0; node < NODES; node++)
		worker_go(workers[node], false);
	lab_switch(false);
	recorder_start(&recorder, &dev, true);
	for (node = 0; node < NODES; node++)
		for (i = 0; i < NODES; i++)
			wait_read(L3, physical(workers[node], i));
	recorder_stop(&recorder);
	for (node = 0; node < NODES; node++) {
		check_worker(&recorder.log, workers[node], node);
		worker_stop(workers[node]);
	}
	log_free(&recorder.log);
	dev_close(&dev);
}

/* A node without a CPU when the module is loaded, and later with one */
static void test_offline(void)
{
	cpu_online(1, false);
	CHECK(!module_load(PROCESS), "the module does not load");
	cpu_online(1, true);
	test_nodes();
	CHECK(!module_unload(), "the module does not unload");
}

const struct test snc_tests[] = {
	{ "snc_nodes_count_separately", test_nodes, PROCESS, 120 },
	{ "snc_counts_nodes_that_are_offline", test_offline, NULL, 120 },
	{ 0 }
};

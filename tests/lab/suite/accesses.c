// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What readers ask for is what the module reads, and nothing else: two accesses to MSRs for
 * each value of a sample, which the processor counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "bench.h"
#include "tests.h"

#define SAMPLES 300

/* Save, look and restore, once in a tick */
#define OF_A_TICK 3

struct counts {
	uint64_t accesses;	/* of QM_EVTSEL and QM_CTR */
	uint64_t values;	/* of QM_CTR */
	uint64_t samples, ticks;
};

static struct counts counts_now(const struct dev *dev)
{
	struct cmt_stats stats = dev_stats(dev);

	return (struct counts){
		.accesses = lab_get(LAB_STAT, LAB_S_EVTSEL_RDMSR) +
			    lab_get(LAB_STAT, LAB_S_EVTSEL_WRMSR) +
			    lab_get(LAB_STAT, LAB_S_CTR_RDMSR),
		.values = lab_get(LAB_STAT, LAB_S_CTR_RDMSR),
		.samples = stats.samples, .ticks = stats.ticks,
	};
}

static void ask(const struct dev *dev, uint32_t values)
{
	struct cmt_values arg = { .size = sizeof(arg), .values = values };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_VALUES, &arg), "SET_VALUES %#x: %m", values);
}

static unsigned int bits(uint32_t values)
{
	return (unsigned int)__builtin_popcount(values);
}

/* Of each event how often it was read */
static void events_count(const struct readings *readings, size_t counts[4])
{
	size_t i;

	memset(counts, 0, 4 * sizeof(counts[0]));
	for (i = 0; i < readings->count; i++)
		counts[readings->all[i].event & 3]++;
}

/*
 * While @dev reads, and another reader may.  A burst that the host stopped for 1 ms is
 * discarded, and read again: its readings are in no sample.
 */
static void check_cost(const struct dev *dev, uint32_t values)
{
	struct counts from, to;
	struct readings readings;
	uint64_t read, most;
	size_t events[4];
	unsigned int i;

	readings_begin(&readings);
	from = counts_now(dev);
	WAIT_FOR(dev_stats(dev).samples >= from.samples + SAMPLES, 60000,
		 "no samples");
	to = counts_now(dev);
	readings_end(&readings);
	events_count(&readings, events);
	for (i = 1; i <= 3; i++)
		CHECK(!events[i] == !(values & CMT_F_OCCUPANCY << (i - 1)),
		      "%#x: %zu readings of event %u", values, events[i], i);
	read = to.values - from.values;
	most = 2 * read + OF_A_TICK * (to.ticks - from.ticks + 2);
	note("%#x: %llu samples, %llu values, %llu accesses in %llu ticks", values,
	     (unsigned long long)(to.samples - from.samples),
	     (unsigned long long)read,
	     (unsigned long long)(to.accesses - from.accesses),
	     (unsigned long long)(to.ticks - from.ticks));
	CHECK(to.accesses - from.accesses <= most, "more than %llu accesses",
	      (unsigned long long)most);
	/* the counts are not of one instant: a tick may be between them */
	CHECK(read + 80 * 3 >= bits(values) * (to.samples - from.samples),
	      "fewer values than samples have");
	CHECK(read <= bits(values) * (to.samples - from.samples) * 11 / 10 + 80 * 3,
	      "more values than samples have");
}

/* A tick that had begun with another choice has ended. */
static void let_pass(const struct dev *dev)
{
	uint64_t samples = dev_stats(dev).samples, from = now_ns();

	WAIT_FOR(dev_stats(dev).samples >= samples + 20 &&
		 now_ns() - from > 20000000, 60000, "no samples");
}

static void check(const struct dev *dev, const struct dev *asks, uint32_t asked,
		  uint32_t read)
{
	ask(asks, asked);
	let_pass(dev);
	check_cost(dev, read);
}

static void accesses(void)
{
	const uint32_t occupancy = CMT_F_OCCUPANCY, total = CMT_F_MBM_TOTAL,
		       local = CMT_F_MBM_LOCAL, all = occupancy | total | local;
	struct worker *worker = worker_start(1 << 20);
	struct dev dev, other;

	dev_open(&dev, O_RDONLY);
	worker_identify(worker, &dev);
	dev_map(&dev, FROM_NOW);
	model_begin();
	worker_go(worker, true);
	let_pass(&dev);
	check_cost(&dev, all);
	check(&dev, &dev, occupancy, occupancy);
	check(&dev, &dev, occupancy | total, occupancy | total);
	check(&dev, &dev, local, local);
	dev_open(&other, O_RDONLY);
	dev_map(&other, FROM_NOW);
	check(&dev, &other, total, total | local);
	check(&dev, &dev, occupancy, occupancy | total);
	dev_close(&other);
	let_pass(&dev);
	check_cost(&dev, occupancy);
	check(&dev, &dev, all, all);
	lab_switch(false);
	worker_stop(worker);
	dev_close(&dev);
}

const struct test accesses_tests[] = {
	{ "accesses", accesses, PROCESS, 300 },
	{ }
};

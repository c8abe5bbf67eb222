// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The idle time of memory channels: cycles without a pending read are those of the
 * lab's queues.  Their counters are claimed and restored with the others.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tests.h"
#include "uncore.h"

#define BUFFER_BYTES	(32 << 20)
#define WALK_NS		4000000000ULL

#define IDLE_EVENT	0x01800080
#define BUSY_EVENT	0x01000080

enum { IDLE, BUSY };

/* The number of channels whose cycles were read after @since. */
static uint32_t younger(struct dev *dev, struct traffic *t, uint64_t since)
{
	uint32_t s, c, n = 0;

	take_channels(dev, t);
	for (s = 0; s < SOCKETS_MAX; s++)
		for (c = 0; c < CHANNELS; c++)
			n += t->cycles_ts[s][c] > since;
	return n;
}

static void wait_cycles(struct dev *dev, struct traffic *t)
{
	uint64_t since = now_ns();

	WAIT_FOR(younger(dev, t, since) >= nr_channels(), 20000,
		 "not the cycles of each channel");
}

/* Only lines of the first halves of the channels: 8 of 16. */
static void walk_halves(volatile char *buffer)
{
	size_t i;

	for (i = 0; i < BUFFER_BYTES; i += 64)
		if (i / 64 / CHANNELS % 2 == 0)
			buffer[i]++;
}

static void make_traffic(struct dev *dev, struct traffic *t)
{
	char *buffer = aligned_alloc(4096, BUFFER_BYTES);
	uint64_t begin = now_ns();

	CHECK(buffer, "no memory");
	memset(buffer, 0, BUFFER_BYTES);
	while (now_ns() - begin < WALK_NS) {
		walk_halves(buffer);
		take_channels(dev, t);
	}
	free(buffer);
}

static double share(uint64_t idle, uint64_t busy)
{
	return (double)idle / (double)(idle + busy);
}

/* On each socket the memory may be unused. */
static bool check_channel(const struct traffic *t, const struct traffic *base,
			  uint32_t socket, uint32_t channel,
			  const struct lab_answer *from)
{
	struct lab_answer to = lab_ask(LAB_CHANNEL_IDLE,
				       LAB_ARG(socket, channel, 0));
	const uint64_t *b = base->cycles[socket][channel];
	const uint64_t *c = t->cycles[socket][channel];
	uint64_t ns = t->cycles_ts[socket][channel] -
		      base->cycles_ts[socket][channel];
	double is = share(c[IDLE] - b[IDLE], c[BUSY] - b[BUSY]);
	double truth = share(to.first - from->first, to.second - from->second);

	note("socket %u channel %u: busy %llu of %llu cycles, idle %.2f %% of %.2f %%",
	     socket, channel, (unsigned long long)(c[BUSY] - b[BUSY]),
	     (unsigned long long)(to.second - from->second), 100 * is,
	     100 * truth);
	CHECK(c[BUSY] - b[BUSY] == to.second - from->second,
	      "not what the model counted");
	CHECK(fabs(is - truth) <= 0.01, "not the share of the model");
	/* a cycle is a ns */
	CHECK(fabs((double)(c[IDLE] - b[IDLE] + c[BUSY] - b[BUSY]) / (double)ns -
		   1) <= 0.01, "not all cycles of %llu ns",
	      (unsigned long long)ns);
	return truth < 0.99 && truth > 0.01;
}

/*
 * The model is off before and after, and no read is pending then.  So the counters and
 * the model have the same busy cycles, while idle cycles go on.
 */
static void test_idle(void)
{
	uint32_t n = nr_channels(), i, told = 0;
	struct lab_answer from[SOCKETS_MAX * CHANNELS];
	struct traffic t = { 0 }, base;
	struct dev dev;

	open_reader(&dev, FROM_NOW);
	model_begin();
	lab_ask(LAB_FLUSH, 0);
	lab_switch(false);
	wait_cycles(&dev, &t);
	wait_cycles(&dev, &t);
	base = t;
	for (i = 0; i < n; i++)
		from[i] = lab_ask(LAB_CHANNEL_IDLE,
				  LAB_ARG(i / CHANNELS, i % CHANNELS, 0));
	lab_switch(true);
	make_traffic(&dev, &t);
	lab_switch(false);
	wait_cycles(&dev, &t);
	wait_cycles(&dev, &t);
	for (i = 0; i < n; i++)
		told += check_channel(&t, &base, i / CHANNELS, i % CHANNELS,
				      &from[i]);
	CHECK(told >= CHANNELS, "of %u channels only the share can be told from none and all",
	      told);
	note("cycles are in %u of %u records", t.cycles_read, t.records);
	CHECK(t.cycles_read < t.records, "cycles are in every record");
	dev_close(&dev);
}

static void test_restored(void)
{
	char *boxes = map_boxes();
	struct traffic t = { 0 };
	struct dev dev;
	uint32_t i;

	for (i = 0; i < 4; i++)
		*counter(boxes, 1, i) = 1000 + i;
	open_reader(&dev, FROM_NOW);
	wait_cycles(&dev, &t);
	CHECK(*control(boxes, 1, 2) == IDLE_EVENT &&
	      *control(boxes, 1, 3) == BUSY_EVENT, "controls %#x %#x",
	      *control(boxes, 1, 2), *control(boxes, 1, 3));
	dev_close(&dev);
	for (i = 0; i < 4; i++)
		CHECK(!*control(boxes, 1, i) && *counter(boxes, 1, i) == 1000 + i,
		      "counter %u is not restored", i);
	CHECK(!*unit(boxes, 1), "the box stays frozen");
}

/* Another program uses only a counter of cycles: cmt gives the box up. */
static void test_taken(void)
{
	char *boxes = map_boxes();
	struct traffic t = { 0 };
	struct dev dev;

	open_reader(&dev, FROM_NOW);
	wait_cycles(&dev, &t);
	*control(boxes, 5, 3) = 0xff05;
	WAIT_FOR((take_channels(&dev, &t), t.flags[0][5] & CMT_F_UNAVAILABLE),
		 20000, "the box that was taken is still read");
	dev_close(&dev);
	CHECK(*control(boxes, 5, 3) == 0xff05, "another program's is changed");
	*control(boxes, 5, 3) = 0;
}

const struct test uncore_idle_tests[] = {
	{ "channels_idle_matches_model", test_idle, ALL, 120 },
	{ "channels_idle_is_restored", test_restored, SLOWLY, 60 },
	{ "channels_idle_is_taken", test_taken, SLOWLY, 60 },
	{ 0 },
};

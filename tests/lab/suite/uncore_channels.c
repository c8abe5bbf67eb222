// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory channels: their records have the model's counts, they are read while a program
 * asks for them, and boxes that other agents use are not touched.
 */
#include <cmt/cmt.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"
#include "uncore.h"

#define BUFFER_BYTES	(48 << 20)
#define WRAPS		5
#define BOXES		"/sys/bus/pci/devices/0000:00:10.0/resource2"
#define READS		0xcf05
#define WRITES		0xf005

static void ask_for(struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg), "counters %#x: %m",
	      counters);
}

/* A reader that wants CHANNEL records. */
void open_reader(struct dev *dev, enum dev_from from)
{
	dev_open(dev, O_RDONLY);
	ask_for(dev, CMT_F_CHANNEL);
	dev_map(dev, from);
}

static void note_cycles(struct traffic *t, const struct cmt_record *r)
{
	uint64_t *cycles = t->cycles[r->domain][r->channel];

	if (!(r->flags & CMT_F_CHANNEL_IDLE)) {
		CHECK(!r->channels.idle_cycles && !r->channels.busy_cycles,
		      "cycles without a flag");
		return;
	}
	CHECK(r->flags & CMT_F_CHANNEL, "cycles, but no bytes");
	CHECK(r->channels.idle_cycles >= cycles[0] &&
	      r->channels.busy_cycles >= cycles[1],
	      "the cycles of channel %u went back", r->channel);
	cycles[0] = r->channels.idle_cycles;
	cycles[1] = r->channels.busy_cycles;
	t->cycles_ts[r->domain][r->channel] = r->ts;
	t->cycles_read++;
}

static void note_channel(struct traffic *t, const struct cmt_record *r)
{
	uint64_t *bytes;

	CHECK(r->domain < SOCKETS_MAX && r->channel < CHANNELS,
	      "socket %u, channel %u", r->domain, r->channel);
	bytes = t->bytes[r->domain][r->channel];
	CHECK(!r->rmid && !r->generation, "a channel of an RMID");
	t->ts[r->domain][r->channel] = r->ts;
	t->flags[r->domain][r->channel] = r->flags;
	t->records++;
	t->rebased += !!(r->flags & CMT_F_REBASED);
	note_cycles(t, r);
	if (!(r->flags & CMT_F_CHANNEL)) {
		CHECK(!r->channels.read_bytes && !r->channels.written_bytes,
		      "a number without a flag");
		return;
	}
	CHECK(r->channels.read_bytes >= bytes[0] &&
	      r->channels.written_bytes >= bytes[1],
	      "channel %u went back", r->channel);
	bytes[0] = r->channels.read_bytes;
	bytes[1] = r->channels.written_bytes;
}

void take_channels(struct dev *dev, struct traffic *t)
{
	struct log log = { 0 };
	size_t i;

	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++)
		if (log.records[i].type == CMT_REC_CHANNEL)
			note_channel(t, &log.records[i]);
	log_free(&log);
}

/* The number of channels whose last record is younger than @since. */
static uint32_t younger(struct dev *dev, struct traffic *t, uint64_t since)
{
	uint32_t s, c, n = 0;

	take_channels(dev, t);
	for (s = 0; s < SOCKETS_MAX; s++)
		for (c = 0; c < CHANNELS; c++)
			n += t->ts[s][c] > since;
	return n;
}

/* Wait until each of @n channels was read once more. */
void wait_channels(struct dev *dev, struct traffic *t, uint32_t n)
{
	uint64_t since = now_ns();

	WAIT_FOR(younger(dev, t, since) >= n, 20000, "not %u channels", n);
}

uint32_t nr_channels(void)
{
	return lab_get(LAB_CONFIG, LAB_C_L3S) * CHANNELS;
}

/* Touch all lines, with or without writes, until each channel has wrapped. */
static void make_traffic(struct dev *dev, struct traffic *t)
{
	uint64_t wrap = 64ULL << lab_get(LAB_CONFIG, LAB_C_PMON_WIDTH);
	uint64_t walks = 2 + nr_channels() * WRAPS * wrap / BUFFER_BYTES, n;
	volatile char *buffer = malloc(BUFFER_BYTES);
	size_t i;

	CHECK(buffer, "no memory");
	for (n = 0; n < walks; n++) {
		for (i = 0; i < BUFFER_BYTES; i += 64)
			buffer[i]++;
		take_channels(dev, t);
	}
	free((void *)buffer);
}

static void check_traffic(const struct traffic *t, const struct traffic *base,
			  uint32_t socket, uint32_t channel, uint64_t *least)
{
	struct lab_answer truth = lab_ask(LAB_CHANNEL,
					  LAB_ARG(socket, channel, 0));
	const uint64_t *bytes = t->bytes[socket][channel];
	const uint64_t *from = base->bytes[socket][channel];

	note("socket %u channel %u: read %llu of %llu, written %llu of %llu",
	     socket, channel, (unsigned long long)(bytes[0] - from[0]),
	     (unsigned long long)truth.first,
	     (unsigned long long)(bytes[1] - from[1]),
	     (unsigned long long)truth.second);
	CHECK(bytes[0] - from[0] == truth.first &&
	      bytes[1] - from[1] == truth.second, "not what the model counted");
	if (bytes[0] - from[0] < *least)
		*least = bytes[0] - from[0];
}

static void check_read_now(uint32_t channels, const char *reason)
{
	struct cmt_box *boxes;
	struct cmt_uncore uncore = uncore_of(&boxes);

	CHECK(uncore.channels == channels, "%u channels are read: %s",
	      uncore.channels, uncore.channels_reason);
	CHECK(*reason ? !!strstr(uncore.channels_reason, reason) :
			!uncore.channels_reason[0], "the reason: %s",
	      uncore.channels_reason);
	free(boxes);
}

/* The model is off before and after: no traffic moves during the comparison. */
static void test_traffic(void)
{
	uint64_t wrap = 64ULL << lab_get(LAB_CONFIG, LAB_C_PMON_WIDTH);
	uint64_t least = UINT64_MAX;
	struct traffic t = { 0 }, base;
	uint32_t n = nr_channels(), i;
	struct dev dev;

	check_read_now(0, "no program asks");
	open_reader(&dev, FROM_OLDEST);
	wait_channels(&dev, &t, n);
	check_read_now(n, "");
	base = t;
	model_begin();
	make_traffic(&dev, &t);
	lab_ask(LAB_FLUSH, 0);
	lab_switch(false);
	wait_channels(&dev, &t, n);
	for (i = 0; i < n; i++)
		check_traffic(&t, &base, i / CHANNELS, i % CHANNELS, &least);
	note("%llu wraps of each counter at least, %u records",
	     (unsigned long long)(least / wrap), t.records);
	CHECK(n > CHANNELS || least / wrap >= WRAPS, "too few wraps");
	CHECK(t.rebased == n, "%u records continue no other one", t.rebased);
	CHECK(!t.cycles_read, "cycles of counters that are too narrow");
	dev_close(&dev);
	check_read_now(0, "no program asks");
}

/* CPU 0 is excluded: CPU 1 reads.  CPU 0 reads when no other CPU is up. */
static void test_reader(void)
{
	struct traffic t = { 0 };
	struct dev dev;

	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, nr_channels());
	/* those that begin */
	t.rebased = 0;
	cpu_online(1, false);
	wait_channels(&dev, &t, nr_channels());
	cpu_online(1, true);
	wait_channels(&dev, &t, nr_channels());
	CHECK(!t.rebased, "%u records continue no other one", t.rebased);
	dev_close(&dev);
}

/* Accesses the registers of the first socket's boxes as another program does. */
char *map_boxes(void)
{
	int fd = open(BOXES, O_RDWR | O_SYNC);
	char *at = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);

	CHECK(fd >= 0 && at != MAP_FAILED, "%s: %m", BOXES);
	close(fd);
	return at;
}

/*
 * A reader alone gets no CHANNEL records.  While one descriptor asks for them, all
 * readers get them.
 */
static void test_asked_for(void)
{
	struct traffic t = { 0 };
	char *boxes = map_boxes();
	struct dev dev, other;
	uint64_t ticks;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	WAIT_FOR(dev_stats(&dev).ticks > 20, 20000, "no ticks");
	take_channels(&dev, &t);
	CHECK(!t.records, "%u records without a request", t.records);
	check_read_now(0, "no program asks");
	CHECK(!*control(boxes, 0, 0), "a box is programmed");
	dev_open(&other, O_RDONLY);
	ask_for(&other, CMT_F_CHANNEL);
	wait_channels(&dev, &t, nr_channels());
	check_read_now(nr_channels(), "");
	ask_for(&dev, CMT_F_CHANNEL | CMT_F_CYCLES);
	ask_for(&other, 0);
	wait_channels(&dev, &t, nr_channels());
	ask_for(&other, CMT_F_CHANNEL);
	ask_for(&dev, CMT_F_CYCLES);
	wait_channels(&dev, &t, nr_channels());
	dev_close(&other);
	check_read_now(0, "no program asks");
	CHECK(!*control(boxes, 0, 0), "a box stays programmed");
	take_channels(&dev, &t);
	t.records = 0;
	ticks = dev_stats(&dev).ticks;
	WAIT_FOR(dev_stats(&dev).ticks > ticks + 20, 20000, "no ticks");
	take_channels(&dev, &t);
	CHECK(!t.records, "%u records after the last request", t.records);
	dev_close(&dev);
}

/* The ticks of all CPUs, and the missed ticks. */
static uint64_t all_ticks(const struct dev *dev)
{
	struct cmt_stats stats = dev_stats(dev);

	return stats.ticks + stats.missed;
}

/* Repeated requests and their withdrawal: are three quarters of the ticks there? */
static bool ticks_go_on(const struct dev *dev, struct dev *other)
{
	uint64_t ticks = all_ticks(dev), begin = now_ns(), due;

	for (uint32_t i = 0; i < 10000; i++)
		ask_for(other, i % 2 ? 0 : CMT_F_CHANNEL);
	due = 2 * (now_ns() - begin) / 1000000;
	ticks = all_ticks(dev) - ticks;
	note("%llu ticks of %llu", (unsigned long long)ticks, (unsigned long long)due);
	CHECK(due > 100, "too fast to tell");
	return 4 * ticks >= 3 * due;
}

/*
 * Requests cost other readers no tick.  When ticks had to stop for a request, more than half
 * were lost, each time; on a busy host more than a quarter may be late now and then.
 */
static void test_ticks_go_on(void)
{
	struct dev dev, other;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	dev_open(&other, O_RDONLY);
	WAIT_FOR(all_ticks(&dev) > 20, 20000, "no ticks");
	WAIT_FOR(ticks_go_on(&dev, &other), 20000, "ticks have stopped");
	check_read_now(0, "no program asks");
	dev_close(&other);
	dev_close(&dev);
}

static void test_restored(void)
{
	char *boxes = map_boxes();
	struct traffic t = { 0 };
	struct dev dev;
	uint32_t i;

	*counter(boxes, 1, 0) = 12345;
	*counter(boxes, 1, 1) = 54321;
	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, nr_channels());
	CHECK(*control(boxes, 1, 0) == READS && *control(boxes, 1, 1) == WRITES &&
	      !*control(boxes, 1, 2) && !*control(boxes, 1, 3),
	      "controls %#x %#x", *control(boxes, 1, 0), *control(boxes, 1, 1));
	dev_close(&dev);
	for (i = 0; i < CHANNELS; i++)
		CHECK(!*unit(boxes, i) && !*control(boxes, i, 0) &&
		      !*control(boxes, i, 1), "box %u is not restored", i);
	CHECK(*counter(boxes, 1, 0) == 12345 && *counter(boxes, 1, 1) == 54321,
	      "the counters are others");
	CHECK(!lines_with("another program"), "a line in the log");
}

/*
 * One box is used by another program, one is frozen; meanwhile one is taken, and one frozen.
 */
static void test_in_use(void)
{
	char *boxes = map_boxes();
	uint32_t n = nr_channels();
	struct traffic t = { 0 };
	struct dev dev;

	*control(boxes, 3, 2) = 0x0001;
	*unit(boxes, 4) = 1;
	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, n - 2);
	check_read_now(n - 2, "another program");
	CHECK(!t.ts[0][3] && !t.ts[0][4], "records of boxes in use");
	*control(boxes, 5, 1) = 0xff05;
	WAIT_FOR((take_channels(&dev, &t), t.flags[0][5] & CMT_F_UNAVAILABLE),
		 20000, "the box that was taken is still read");
	wait_channels(&dev, &t, n - 3);
	check_read_now(n - 3, "another program");
	*unit(boxes, 6) = 1;
	WAIT_FOR((take_channels(&dev, &t), t.flags[0][6] & CMT_F_UNAVAILABLE),
		 20000, "the box that was frozen is still read");
	check_read_now(n - 4, "another program");
	dev_close(&dev);
	CHECK(*control(boxes, 5, 1) == 0xff05 && *control(boxes, 3, 2) == 1 &&
	      *unit(boxes, 4) == 1 && *unit(boxes, 6) == 1,
	      "registers of others are changed");
	CHECK(lines_with("uses 2 IMC boxes: their channels are not read") == 1 &&
	      lines_with("has programmed or frozen 2 IMC boxes") == 1, "not these lines");
	*control(boxes, 3, 2) = *control(boxes, 5, 0) = 0;
	*control(boxes, 5, 1) = *unit(boxes, 4) = 0;
	/* who has frozen a box lets it go on, with cmt's events */
	*unit(boxes, 6) = 0;
	open_reader(&dev, FROM_NOW);
	t = (struct traffic){ 0 };
	wait_channels(&dev, &t, n);
	dev_close(&dev);
	CHECK(!*control(boxes, 6, 0) && !*control(boxes, 6, 1), "a box is not restored");
}

#define DRIVER	"/lib/intel-uncore.ko"

static void load_driver(void)
{
	int fd = open(DRIVER, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0, "%s: %m", DRIVER);
	CHECK(!syscall(SYS_finit_module, fd, "", 0), "%s: %m", DRIVER);
	close(fd);
	CHECK(!access("/sys/bus/event_source/devices/uncore_imc_0", F_OK) ||
	      !access("/sys/bus/event_source/devices/uncore_type_6_0", F_OK),
	      "the driver does not have the lab's boxes");
}

static void unload_driver(void)
{
	CHECK(!syscall(SYS_delete_module, "intel_uncore", O_NONBLOCK),
	      "intel_uncore is not unloaded: %m");
}

#define PMU	"/sys/bus/event_source/devices/uncore_imc_0/type"

/* The counts of perf for the first channel, through the driver. */
static int perf_open(uint32_t config)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .config = config };
	char text[16];
	int fd;

	attr.type = (uint32_t)atoi(read_file(PMU, text, sizeof(text)));
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0UL);
	CHECK(fd >= 0, "perf_event_open of type %u: %m", attr.type);
	return fd;
}

static uint64_t perf_read(int fd)
{
	uint64_t value;

	CHECK(read(fd, &value, sizeof(value)) == sizeof(value), "perf: %m");
	return value;
}

/* Linux's driver counts with the lab's boxes. */
static void test_lab_box(void)
{
	struct lab_answer from, truth;
	size_t bytes = 16 << 20, i;
	volatile char *buffer = malloc(bytes);
	int reads, writes;

	CHECK(buffer, "no memory");
	load_driver();
	reads = perf_open(READS);
	writes = perf_open(WRITES);
	from = lab_ask(LAB_CHANNEL, LAB_ARG(0, 0, 0));
	model_begin();
	for (i = 0; i < bytes; i += 64)
		buffer[i]++;
	lab_ask(LAB_FLUSH, 0);
	lab_switch(false);
	truth = lab_ask(LAB_CHANNEL, LAB_ARG(0, 0, 0));
	note("perf: %llu and %llu CAS", (unsigned long long)perf_read(reads),
	     (unsigned long long)perf_read(writes));
	CHECK(truth.first - from.first >= bytes / CHANNELS, "no traffic");
	CHECK(perf_read(reads) * 64 == truth.first - from.first &&
	      perf_read(writes) * 64 == truth.second - from.second,
	      "not what the model counted");
	close(reads);
	close(writes);
	unload_driver();
	free((void *)buffer);
}

/* The registers are as the driver left them, whatever cmt reads. */
static void check_untouched(char *boxes)
{
	uint32_t i;

	for (i = 0; i < CHANNELS; i++)
		CHECK(!*control(boxes, i, 0) && !*control(boxes, i, 1),
		      "box %u of the driver's is programmed", i);
}

/*
 * The driver is loaded first, and keeps the boxes; without the driver cmt reads them.
 */
static void test_driver(void)
{
	char *boxes = map_boxes();
	struct traffic t = { 0 };
	struct dev dev;

	load_driver();
	open_reader(&dev, FROM_NOW);
	WAIT_FOR(dev_stats(&dev).ticks > 20, 20000, "no ticks");
	take_channels(&dev, &t);
	CHECK(!t.records, "%u records of channels", t.records);
	check_read_now(0, "intel_uncore");
	check_untouched(boxes);
	CHECK(lines_with("uncore: the kernel's driver intel_uncore") == 1,
	      "not one line");
	dev_close(&dev);
	check_untouched(boxes);
	unload_driver();
	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, nr_channels());
	dev_close(&dev);
}

/* The driver is loaded later, and resets the boxes: cmt gives them up. */
static void test_driver_later(void)
{
	char *boxes = map_boxes();
	struct traffic t = { 0 };
	struct dev dev;
	uint32_t i;

	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, nr_channels());
	load_driver();
	for (i = 0; i < nr_channels(); i++)
		WAIT_FOR((take_channels(&dev, &t),
			  t.flags[i / CHANNELS][i % CHANNELS] &
			  CMT_F_UNAVAILABLE), 20000,
			 "channel %u is still read", i);
	check_read_now(0, "another program");
	dev_close(&dev);
	check_untouched(boxes);
	unload_driver();
}

static void test_unknown(void)
{
	struct traffic t = { 0 };
	struct dev dev;

	open_reader(&dev, FROM_NOW);
	WAIT_FOR(dev_stats(&dev).ticks > 20, 20000, "no ticks");
	take_channels(&dev, &t);
	CHECK(!t.records, "%u records of channels", t.records);
	check_read_now(0, "are not known");
	dev_close(&dev);
}

UNCORE_TESTS(channels,
	     { "channels_match_model", test_traffic, ALL, 300 },
	     { "channels_are_read_on_request", test_asked_for, SLOWLY, 60 },
	     { "channels_come_and_go_beside_ticks", test_ticks_go_on,
	       ALL " interval_us=1000", 60 },
	     { "channels_are_restored", test_restored, SLOWLY, 60 },
	     { "channels_in_use_are_left_alone", test_in_use, SLOWLY, 60 });
UNCORE_TESTS(reader, { "channels_have_a_reader", test_reader,
		       "scope=cpu exclude_cpus=0", 60 });
UNCORE_TESTS(driver,
	     { "lab_boxes_count_for_linux", test_lab_box, ALL, 60 },
	     { "channels_of_the_kernels_driver", test_driver, ALL, 60 },
	     { "channels_end_when_driver_loads", test_driver_later, ALL, 60 });
/* Of a table with an error some channels are read: their sum is not the machine's traffic. */
static void test_missing(void)
{
	struct cmt_usage_opts opts = { .sz = sizeof(opts), .counters = CMT_F_CHANNEL };
	const struct cmt_usage_frame *frame;
	struct cmt_device *dev;
	struct cmt_usage *usage;

	CHECK(!cmt_device_open(&dev, NULL, 0), "cmt_device_open");
	opts.device = dev;
	CHECK(!cmt_usage_new(&usage, &opts), "cmt_usage_new");
	for (int i = 0; i < 3; i++)
		WAIT_FOR(cmt_usage_next(usage, &frame) == 1, 20000, "no frame");
	note("%u channels, %s: %s", frame->nr_channels,
	     frame->memory.total.known ? "a sum" : "no sum", frame->channels_reason);
	CHECK(frame->nr_channels && frame->nr_channels < nr_channels(), "%u channels",
	      frame->nr_channels);
	CHECK(frame->channels_reason[0] && !frame->memory.total.known,
	      "the sum of some channels passes for all");
	cmt_usage_free(usage);
	cmt_device_close(dev);
}

UNCORE_TESTS(missing, { "channels_that_are_missing_leave_no_sum", test_missing, ALL, 60 });
UNCORE_TESTS(unknown, { "channels_of_an_unknown_model", test_unknown, ALL, 60 });

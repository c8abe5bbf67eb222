// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The discovery tables of the uncore PMU: what the module lists is what the lab's
 * devices have, and a table that lies is refused, with a line that says why and a
 * module that is loaded.
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define ALL	"backend=software"
/* An access to a box takes QEMU long, and longer on a debug kernel. */
#define SLOWLY	ALL " interval_us=20000"
#define LIES	"uncore: 0000:00:1"

static struct cmt_uncore uncore_of(struct cmt_box **boxes)
{
	struct cmt_uncore uncore;
	struct cmt_device *dev;
	int ret = cmt_device_open(&dev, NULL, 0);

	CHECK(!ret, "open: %s", cmt_strerror(ret));
	ret = cmt_device_uncore(dev, &uncore, boxes);
	CHECK(!ret, "cmt_device_uncore: %s", cmt_strerror(ret));
	cmt_device_close(dev);
	return uncore;
}

static char kernel_log[1 << 20];

/* Lines of this boot that have @text. */
static unsigned int lines_with(const char *text)
{
	int n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, kernel_log,
			sizeof(kernel_log) - 1);
	unsigned int lines = 0;
	char *at;

	CHECK(n > 0, "no kernel log: %m");
	kernel_log[n] = '\0';
	for (at = kernel_log; (at = strstr(at, text)); at++)
		lines++;
	return lines;
}

static void check_box(const struct cmt_box *box, uint32_t socket, uint32_t i)
{
	struct lab_answer unit = lab_ask(LAB_PMON_UNIT, LAB_ARG(socket, i, 0));
	uint64_t name = lab_get(LAB_PMON_NAME, LAB_ARG(socket, i, 0));

	CHECK(unit.first, "socket %u has no box %u", socket, i);
	CHECK(box->socket == socket, "socket %u, not %u", box->socket, socket);
	CHECK(box->type == (name & 0xffff) && box->id == (name >> 16 & 0xffff),
	      "type %u ID %u", box->type, box->id);
	CHECK(box->counters == (unit.first & 0xff) &&
	      box->ctl_offset == (unit.first >> 8 & 0xff) &&
	      box->bits == (unit.first >> 16 & 0xff) &&
	      box->ctr_offset == (unit.first >> 24 & 0xff) &&
	      box->status_offset == (unit.first >> 32 & 0xff) &&
	      box->access == unit.first >> 62,
	      "type %u ID %u is another box", box->type, box->id);
	CHECK(box->ctl == unit.second, "control %#llx, not %#llx",
	      (unsigned long long)box->ctl, (unsigned long long)unit.second);
	CHECK(!box->reserved, "reserved is not 0");
}

static uint32_t nr_units(uint32_t socket)
{
	uint32_t n = 0;

	while (lab_get(LAB_PMON_UNIT, LAB_ARG(socket, n, 0)))
		n++;
	return n;
}

/* The seed's 8 memory channels, 48 bits, 4 counters, 0x8000 and 0x80000 apart. */
static void check_channels(const struct cmt_box *boxes, uint32_t count)
{
	const struct cmt_box *first = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < count; i++) {
		const struct cmt_box *box = &boxes[i];

		if (box->type != 6 || box->socket)
			continue;
		first = first ?: box;
		CHECK(box->access == CMT_BOX_MMIO && box->bits == 48 &&
		      box->counters == 4 && box->ctl_offset == 64 &&
		      box->ctr_offset == 8, "channel %u", n);
		CHECK(box->ctl == first->ctl + n / 2 * 0x80000 + n % 2 * 0x8000,
		      "channel %u is at %#llx", n,
		      (unsigned long long)box->ctl);
		CHECK(box->id == n++, "ID %u", box->id);
	}
	CHECK(n == 8, "%u channels", n);
}

static void test_listing(void)
{
	uint32_t sockets = lab_get(LAB_CONFIG, LAB_C_L3S), socket, i, n = 0;
	struct cmt_box *boxes;
	struct cmt_uncore uncore = uncore_of(&boxes);

	CHECK(lab_get(LAB_CONFIG, LAB_C_PMON), "pmon= is not set");
	note("%u boxes on %u sockets, %u refused: %s", uncore.count,
	     uncore.sockets, uncore.refused, uncore.reason);
	CHECK(uncore.sockets == sockets, "%u sockets", uncore.sockets);
	CHECK(!uncore.refused && !uncore.reason[0], "refused");
	for (socket = 0; socket < sockets; socket++)
		for (i = 0; i < nr_units(socket); i++, n++) {
			CHECK(n < uncore.count, "box %u is missing", n);
			check_box(&boxes[n], socket, i);
		}
	CHECK(n == uncore.count, "%u boxes, not %u", uncore.count, n);
	check_channels(boxes, uncore.count);
	CHECK(!lines_with(LIES), "a line in the log");
	free(boxes);
}

/* Room, reserved and flags, as of every argument. */
static void test_arguments(void)
{
	struct cmt_box boxes[64] = { 0 };
	struct cmt_uncore arg = { .size = sizeof(arg), .count = 3,
				  .boxes = (uintptr_t)boxes };
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	CHECK(ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg) == -1 && errno == ENOSPC,
	      "room for 3: %m");
	CHECK(arg.count > 3 && arg.count <= 64, "count %u", arg.count);
	CHECK(!boxes[0].counters, "written in spite of ENOSPC");
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg), "exact room: %m");
	CHECK(boxes[arg.count - 1].counters && !boxes[arg.count].counters,
	      "not so many boxes");
	/* what is only written is not read */
	arg.sockets = arg.refused = arg.channels = 7;
	CHECK(!ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg) && arg.sockets < 7 &&
	      !arg.refused && !arg.channels, "%u sockets, %u refused, %u channels",
	      arg.sockets, arg.refused, arg.channels);
	arg.boxes = 8;
	CHECK(ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg) == -1 && errno == EFAULT,
	      "a bad address: %m");
	arg = (struct cmt_uncore) { .size = sizeof(arg), .flags = 1 };
	CHECK(ioctl(dev.fd, CMT_IOC_GET_UNCORE, &arg) == -1 && errno == EINVAL,
	      "flags: %m");
	dev_close(&dev);
}

/* What was found stays as it was, and nothing refers to the device. */
static void test_unplugged(void)
{
	struct cmt_box *boxes, *after;
	struct cmt_uncore uncore = uncore_of(&boxes), then;

	CHECK(!write_file("/sys/bus/pci/devices/0000:00:10.0/remove", "1"),
	      "the device cannot be removed");
	then = uncore_of(&after);
	CHECK(then.count == uncore.count &&
	      !memcmp(boxes, after, uncore.count * sizeof(*boxes)),
	      "the boxes are others");
	CHECK(!write_file("/sys/bus/pci/rescan", "1"), "no rescan");
	free(after);
	free(boxes);
}

static void expect_none(const char *reason)
{
	struct cmt_box *boxes;
	struct cmt_uncore uncore = uncore_of(&boxes);

	note("%u refused: %s", uncore.refused, uncore.reason);
	CHECK(!uncore.count, "%u boxes", uncore.count);
	CHECK(strstr(uncore.reason, reason), "reason: %s", uncore.reason);
	free(boxes);
}

static void test_left_out(void)
{
	expect_none("uncore=0");
	CHECK(!lines_with(LIES), "a line in the log");
}

static void test_no_table(void)
{
	expect_none(lab_get(LAB_CONFIG, LAB_C_AMD) ? "Intel" :
						     "Sapphire Rapids");
	CHECK(!lines_with(LIES), "a line in the log");
}

/* The table as a whole is refused, that of the other socket too. */
static void expect_refused_table(const char *why)
{
	expect_none("refused");
	CHECK(lines_with(why) == lab_get(LAB_CONFIG, LAB_C_L3S),
	      "%u lines with: %s", lines_with(why), why);
}

static void test_ones(void)
{
	expect_refused_table("its table reads all ones");
}

static void test_stride(void)
{
	expect_refused_table("its entries are shorter than a box");
}

static void test_room(void)
{
	expect_refused_table("its table does not fit into its BAR");
}

static void test_bar(void)
{
	expect_refused_table("its table is in no BAR");
}

static void test_no_bar(void)
{
	expect_refused_table("the BAR of its table has no address");
}

static void test_offset(void)
{
	expect_refused_table("its table is beyond the end of its BAR");
}

static void test_loop(void)
{
	expect_refused_table("its capabilities are a loop");
}

/* One box of each socket is refused, and all others are as they are. */
static void expect_refused_box(const char *why)
{
	uint32_t sockets = lab_get(LAB_CONFIG, LAB_C_L3S), i;
	struct cmt_box *boxes;
	struct cmt_uncore uncore = uncore_of(&boxes);

	CHECK(uncore.refused == sockets, "%u refused", uncore.refused);
	CHECK(uncore.count == sockets * (nr_units(0) - 1), "%u boxes",
	      uncore.count);
	CHECK(lines_with(why) == sockets, "%u lines with: %s",
	      lines_with(why), why);
	for (i = 0; i < uncore.count; i++)
		CHECK(boxes[i].type != 6 || boxes[i].id != 3,
		      "it is listed all the same");
	free(boxes);
}

static void test_access(void)
{
	expect_refused_box("its access type is unknown");
}

static void test_ram(void)
{
	expect_refused_box("its control is in RAM");
}

static void test_huge(void)
{
	expect_refused_box("its control is beyond the physical addresses");
}

static void test_width(void)
{
	expect_refused_box("no counter has so many bits");
}

static void test_twice(void)
{
	expect_refused_box("another box has its type and ID");
}

/* The second socket's channels are not as those of the first. */
static void test_differ(void)
{
	struct cmt_box *boxes;
	struct cmt_uncore uncore = uncore_of(&boxes);

	CHECK(uncore.refused == 8 && uncore.sockets == 2, "%u refused",
	      uncore.refused);
	CHECK(uncore.count == nr_units(0) + nr_units(1) - 8, "%u boxes",
	      uncore.count);
	CHECK(lines_with("it differs from others of its type") == 8,
	      "not 8 lines");
	check_channels(boxes, uncore.count);
	free(boxes);
}

/* The memory channels: a processor whose events are known, and no owners. */

#define CHANNELS	8
#define SOCKETS_MAX	2
#define BUFFER_BYTES	(48 << 20)
#define WRAPS		20
#define BOXES		"/sys/bus/pci/devices/0000:00:10.0/resource2"
#define IMC_AT(id)	(0x22800 + (id) / 2 * 0x80000 + (id) % 2 * 0x8000)
#define READS		0xcf05
#define WRITES		0xf005

static void ask_for(struct dev *dev, uint32_t counters)
{
	struct cmt_counters arg = { .size = sizeof(arg), .counters = counters };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_COUNTERS, &arg), "counters %#x: %m",
	      counters);
}

/* A reader that wants CHANNEL records. */
static void open_reader(struct dev *dev, enum dev_from from)
{
	dev_open(dev, O_RDONLY);
	ask_for(dev, CMT_F_CHANNEL);
	dev_map(dev, from);
}

struct traffic {
	uint64_t ts[SOCKETS_MAX][CHANNELS];
	uint64_t bytes[SOCKETS_MAX][CHANNELS][2];
	uint32_t flags[SOCKETS_MAX][CHANNELS];
	uint32_t rebased, records;
};

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

static void take_channels(struct dev *dev, struct traffic *t)
{
	struct log log = { 0 };
	size_t i;

	dev_drain(dev, &log);
	for (i = 0; i < log.count; i++)
		if (log.records[i].type == CMT_REC_CHANNEL)
			note_channel(t, &log.records[i]);
	log_free(&log);
}

/* Of how many channels the last record is younger than @since. */
static uint32_t younger(struct dev *dev, struct traffic *t, uint64_t since)
{
	uint32_t s, c, n = 0;

	take_channels(dev, t);
	for (s = 0; s < SOCKETS_MAX; s++)
		for (c = 0; c < CHANNELS; c++)
			n += t->ts[s][c] > since;
	return n;
}

/* Until each of @n channels was read once more. */
static void wait_channels(struct dev *dev, struct traffic *t, uint32_t n)
{
	uint64_t since = now_ns();

	WAIT_FOR(younger(dev, t, since) >= n, 20000, "not %u channels", n);
}

static uint32_t nr_channels(void)
{
	return lab_get(LAB_CONFIG, LAB_C_L3S) * CHANNELS;
}

/* Touch all lines, @write or not, so often that each channel wraps. */
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

/* The model is off before and after: nothing moves while the two are compared. */
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
	dev_close(&dev);
	check_read_now(0, "no program asks");
}

/* CPU 0 is excluded: CPU 1 reads, and CPU 0 when there is no other. */
static void test_reader(void)
{
	struct traffic t = { 0 };
	struct dev dev;

	open_reader(&dev, FROM_NOW);
	wait_channels(&dev, &t, nr_channels());
	cpu_online(1, false);
	wait_channels(&dev, &t, nr_channels());
	cpu_online(1, true);
	wait_channels(&dev, &t, nr_channels());
	CHECK(!t.rebased, "%u records continue no other one", t.rebased);
	dev_close(&dev);
}

/* The registers of the first socket's boxes, as another program has them. */
static char *map_boxes(void)
{
	int fd = open(BOXES, O_RDWR | O_SYNC);
	char *at = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);

	CHECK(fd >= 0 && at != MAP_FAILED, "%s: %m", BOXES);
	close(fd);
	return at;
}

static volatile uint32_t *control(char *boxes, uint32_t id, uint32_t i)
{
	return (volatile uint32_t *)(boxes + IMC_AT(id) + 0x40 + 4 * i);
}

static volatile uint64_t *counter(char *boxes, uint32_t id, uint32_t i)
{
	return (volatile uint64_t *)(boxes + IMC_AT(id) + 8 + 8 * i);
}

static volatile uint32_t *unit(char *boxes, uint32_t id)
{
	return (volatile uint32_t *)(boxes + IMC_AT(id));
}

/* A reader does not make them: who asks does, as long as it does, and for all. */
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
	CHECK(!t.records, "%u records that nobody asked for", t.records);
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
	CHECK(!t.records, "%u records that nobody asks for", t.records);
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
	CHECK(*control(boxes, 1, 0) == READS && *control(boxes, 1, 1) == WRITES,
	      "controls %#x %#x", *control(boxes, 1, 0), *control(boxes, 1, 1));
	dev_close(&dev);
	for (i = 0; i < CHANNELS; i++)
		CHECK(!*unit(boxes, i) && !*control(boxes, i, 0) &&
		      !*control(boxes, i, 1), "box %u is not restored", i);
	CHECK(*counter(boxes, 1, 0) == 12345 && *counter(boxes, 1, 1) == 54321,
	      "the counters are others");
	CHECK(!lines_with("another program"), "a line in the log");
}

/* One box has another program, one is frozen, and one is taken meanwhile. */
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
	dev_close(&dev);
	CHECK(*control(boxes, 5, 1) == 0xff05 && *control(boxes, 3, 2) == 1 &&
	      *unit(boxes, 4) == 1, "registers of others are changed");
	CHECK(lines_with("uses 2 IMC boxes: their channels are not read") == 1 &&
	      lines_with("has programmed 1 IMC boxes") == 1, "not these lines");
	*control(boxes, 3, 2) = *control(boxes, 5, 0) = 0;
	*control(boxes, 5, 1) = *unit(boxes, 4) = 0;
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

/* What perf counts on the first channel, through the driver. */
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

/* The lab's boxes are such that Linux's own driver counts with them. */
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

/* As the driver left them, whatever is read here. */
static void check_untouched(char *boxes)
{
	uint32_t i;

	for (i = 0; i < CHANNELS; i++)
		CHECK(!*control(boxes, i, 0) && !*control(boxes, i, 1),
		      "box %u of the driver's is programmed", i);
}

/* The driver comes first, and keeps the boxes; without the driver they are read. */
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

/* The driver comes later, and resets the boxes: they are given up. */
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

#define UNCORE_TESTS(name, ...) \
	const struct test uncore_##name##_tests[] = { __VA_ARGS__, { 0 } }
#define LIE(lie) \
	UNCORE_TESTS(lie, { "uncore_" #lie "_is_refused", test_##lie, ALL, 60 })

UNCORE_TESTS(listing,
	     { "uncore_lists_the_boxes", test_listing, ALL, 60 },
	     { "uncore_arguments", test_arguments, ALL, 60 },
	     { "channels_of_an_unknown_model", test_unknown, ALL, 60 },
	     { "uncore_device_goes_away", test_unplugged, ALL, 60 },
	     { "uncore_is_left_out", test_left_out, ALL " uncore=0", 60 });
UNCORE_TESTS(channels,
	     { "channels_are_what_the_model_counts", test_traffic, ALL, 300 },
	     { "channels_are_asked_for", test_asked_for, SLOWLY, 60 },
	     { "channels_are_restored", test_restored, SLOWLY, 60 },
	     { "channels_in_use_are_left_alone", test_in_use, SLOWLY, 60 });
UNCORE_TESTS(reader, { "channels_have_a_reader", test_reader,
		       "scope=cpu exclude_cpus=0", 60 });
UNCORE_TESTS(driver,
	     { "lab_boxes_count_for_linux", test_lab_box, ALL, 60 },
	     { "channels_of_the_kernels_driver", test_driver, ALL, 60 },
	     { "channels_until_the_driver_comes", test_driver_later, ALL, 60 });
UNCORE_TESTS(none, { "uncore_says_why_there_is_none", test_no_table, ALL, 60 });
LIE(ones);
LIE(stride);
LIE(room);
LIE(bar);
LIE(no_bar);
LIE(offset);
LIE(loop);
LIE(access);
LIE(ram);
LIE(huge);
LIE(width);
LIE(twice);
LIE(differ);

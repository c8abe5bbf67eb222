// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The discovery tables of the uncore PMU: the module lists the lab's devices.  An
 * invalid table is refused, with a message that has the reason, and the module is
 * loaded.
 */
#include <cmt/cmt.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"
#include "uncore.h"

#define LIES	"uncore: 0000:00:1"

struct cmt_uncore uncore_of(struct cmt_box **boxes)
{
	struct cmt_uncore uncore = { .size = sizeof(uncore) };
	struct cmt_device *dev;
	int ret = cmt_device_open(&dev, NULL, 0);

	CHECK(!ret, "open: %s", cmt_strerror(ret));
	ret = cmt_device_uncore(dev, &uncore, boxes);
	CHECK(!ret, "cmt_device_uncore: %s", cmt_strerror(ret));
	cmt_device_close(dev);
	return uncore;
}

static char kernel_log[1 << 20];

unsigned int lines_with(const char *text)
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

/* Room, reserved and flags, as in every argument. */
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
	/* output-only members are not read */
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

/* The list stays as it was, and no reference to the device is kept. */
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

/* The complete table is refused, and that of the other socket, too. */
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

/* One box of each socket is refused, and all others are listed as before. */
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

/* The channels of the second socket differ from those of the first. */
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

#define LIE(lie) \
	UNCORE_TESTS(lie, { "uncore_" #lie "_is_refused", test_##lie, ALL, 60 })

UNCORE_TESTS(listing,
	     { "uncore_lists_the_boxes", test_listing, ALL, 60 },
	     { "uncore_arguments", test_arguments, ALL, 60 },
	     { "uncore_device_goes_away", test_unplugged, ALL, 60 },
	     { "uncore_is_left_out", test_left_out, ALL " uncore=0", 60 });
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ioctls: a valid argument, of which some words are changed.  No more is written than
 * the caller has room for, which the bytes behind it show.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "guestfuzz.h"

enum kind { END, RANGE, INTERVAL, ID, ROOM, BUFFER, TEXT_BYTES, TEXT, BITS, VALUES };

struct field {
	uint16_t at;
	uint8_t bytes;
	uint8_t kind;
	uint32_t from, to;	/* of a range; bytes of what there is room for */
};

static const struct command {
	uint8_t nr;
	bool control;		/* takes rights */
	uint16_t least;		/* size */
	uint16_t bytes;
	struct field fields[5];
} commands[] = {
	{ 0x00, false, CMT_INFO_SIZE, sizeof(struct cmt_info), { { 0, 0, END, 0, 0 } } },
	{ 0x01, false, CMT_STATS_SIZE, sizeof(struct cmt_stats), { { 0, 0, END, 0, 0 } } },
	{ 0x02, false, CMT_RMIDS_SIZE, sizeof(struct cmt_rmids),
	  { { 8, 4, ROOM, 0, 64 }, { 24, 8, BUFFER, 0, 0 } } },
	{ 0x03, false, CMT_RMIDS_SIZE, sizeof(struct cmt_rmids),
	  { { 8, 4, ROOM, 0, 64 }, { 24, 8, BUFFER, 0, 0 } } },
	{ 0x04, true, CMT_INTERVAL_SIZE, sizeof(struct cmt_interval),
	  { { 8, 4, INTERVAL, 0, 0 } } },
	{ 0x05, false, CMT_WATERMARK_SIZE, sizeof(struct cmt_watermark),
	  { { 8, 4, RANGE, 1, 128 } } },
	{ 0x06, true, CMT_SCOPE_SIZE, sizeof(struct cmt_scope),
	  { { 8, 4, RANGE, 1, 4 }, { 12, 4, TEXT_BYTES, 0, 0 }, { 16, 8, TEXT, 0, 0 } } },
	{ 0x07, false, CMT_PATTERNS_SIZE, sizeof(struct cmt_patterns),
	  { { 8, 4, ROOM, 0, 1 }, { 16, 8, BUFFER, 0, 0 } } },
	{ 0x08, true, CMT_ATTACH_SIZE, sizeof(struct cmt_attach),
	  { { 8, 4, RANGE, 1, 3 }, { 12, 4, RANGE, 0, 1 }, { 16, 8, ID, 0, 0 } } },
	{ 0x09, true, CMT_ATTACH_SIZE, sizeof(struct cmt_attach),
	  { { 8, 4, RANGE, 1, 3 }, { 16, 8, ID, 0, 0 } } },
	{ 0x0a, true, CMT_RESCTRL_SIZE, sizeof(struct cmt_resctrl),
	  { { 8, 4, RANGE, 1, 2 } } },
	{ 0x0b, false, CMT_CGROUP_PATH_SIZE, sizeof(struct cmt_cgroup_path),
	  { { 8, 8, ID, 0, 0 }, { 16, 8, BUFFER, 0, 0 }, { 24, 4, ROOM, 0, 1 } } },
	{ 0x0c, false, CMT_COUNTERS_SIZE, sizeof(struct cmt_counters),
	  { { 8, 4, BITS, 0, 0 } } },
	{ 0x0d, true, CMT_ATTACH_SIZE, sizeof(struct cmt_attach),
	  { { 8, 4, RANGE, 1, 3 }, { 12, 4, RANGE, 0, 1 }, { 16, 8, ID, 0, 0 } } },
	{ 0x0e, true, CMT_ATTACH_SIZE, sizeof(struct cmt_attach),
	  { { 8, 4, RANGE, 1, 3 }, { 16, 8, ID, 0, 0 } } },
	{ 0x0f, false, CMT_READ_SIZE, sizeof(struct cmt_read),
	  { { 8, 4, RANGE, 0, 3 }, { 12, 4, ROOM, 0, 64 }, { 16, 8, ID, 0, 0 },
	    { 24, 8, BUFFER, 0, 0 } } },
	{ 0x10, false, CMT_UNCORE_SIZE, sizeof(struct cmt_uncore),
	  { { 8, 4, ROOM, 0, sizeof(struct cmt_box) }, { 24, 8, BUFFER, 0, 0 } } },
	{ 0x11, false, CMT_VALUES_SIZE, sizeof(struct cmt_values),
	  { { 8, 4, VALUES, 0, 0 } } },
};

#define NR_COMMANDS	(sizeof(commands) / sizeof(commands[0]))
#define CANARY		64
#define CANARY_BYTE	0x5a
#define MOST_ROOM	200	/* records */

/* A call as it is made */
struct order {
	const struct command *command;
	char arg[4096];		/* what it is before the call */
	char *at;		/* where the kernel finds it */
	uint32_t size;		/* as the argument says */
	bool racy;		/* other threads write to the argument */
	char *canary, *arg_canary;	/* NULL: none */
};

static const char *const texts[] = {
	"docker-<id>.scope", "*.service", "!one.service *.service\n\tdocker-<id>.scope",
	"a/b/c one.service", "*", "*****************a", "<id", "!", "//", "<id><id>*<id>",
};

static uint64_t draw_id(struct fuzzer *f)
{
	switch (draw(f, 4)) {
	case 0:	return fuzz->parked[draw(f, NR_PARKED)];
	case 1:	return fuzz->groups[draw(f, NR_GROUPS)];
	case 2:	return draw(f, 4);
	}
	return draw_odd(f);
}

static uint64_t read_word(const char *from, unsigned int bytes)
{
	uint64_t word = 0;

	memcpy(&word, from, bytes);
	return word;
}

static void text_put(struct fuzzer *f, char *to, uint32_t bytes)
{
	const char *text = texts[draw(f, sizeof(texts) / sizeof(texts[0]))];

	strcpy(to, text);
	if (draw_one_in(f, 4) && bytes)
		to[draw(f, bytes)] = draw(f, 256);
}

/*
 * The room ends where the memory ends, or has bytes behind it; that of an argument
 * which other threads change is theirs, too.
 */
static uint64_t draw_buffer(struct fuzzer *f, const struct order *order, uint64_t bytes)
{
	static char racy[MOST_ROOM * sizeof(struct cmt_record)];

	if (order->racy)
		return (uintptr_t)racy;
	if (bytes > ARENA_NONE - ARENA_BUFFERS)
		bytes = 0;
	if (draw_one_in(f, 3))
		return (uintptr_t)(f->arena + ARENA_NONE - bytes);
	return (uintptr_t)f->arena + ARENA_BUFFERS + draw(f, 64) * 8;
}

static uint64_t draw_field(struct fuzzer *f, const struct field *field)
{
	static const uint32_t intervals_us[] = { 2000, 5000, 10000, 50000, 1000000 };

	switch (field->kind) {
	case RANGE:	return field->from + draw(f, field->to - field->from + 1);
	case INTERVAL:	return intervals_us[draw(f, 5)] * 1000;
	case ID:	return draw_id(f);
	case ROOM:	return draw(f, field->to == 1 ? 4096 : MOST_ROOM);
	case VALUES:	return CMT_F_OCCUPANCY * draw(f, 8);
	case BITS:	return CMT_F_CYCLES * draw(f, 16) | CMT_F_WAITED * draw(f, 2) |
			       CMT_F_CHANNEL * draw(f, 2);
	case TEXT_BYTES: return draw(f, 40);
	case TEXT:	text_put(f, f->arena + ARENA_TEXT, 40);
			return (uintptr_t)f->arena + ARENA_TEXT;
	}
	return 0;
}

static const struct field *field_of(const struct command *command, enum kind kind)
{
	const struct field *field;

	for (field = command->fields; field->kind; field++)
		if (field->kind == kind)
			return field;
	return NULL;
}

static uint64_t room_of(const struct order *order)
{
	const struct field *room = field_of(order->command, ROOM);

	return room ? read_word(order->arg + room->at, room->bytes) * room->to : 0;
}

static void order_fill(struct fuzzer *f, struct order *order)
{
	const struct field *field, *buffer = field_of(order->command, BUFFER);
	uint64_t word;

	for (field = order->command->fields; field->kind; field++) {
		word = draw_field(f, field);
		memcpy(order->arg + field->at, &word, field->bytes);
	}
	if (!buffer)
		return;
	word = draw_buffer(f, order, room_of(order));
	memcpy(order->arg + buffer->at, &word, buffer->bytes);
}

static uint32_t draw_size(struct fuzzer *f, const struct command *command)
{
	switch (draw(f, 8)) {
	case 0:	return command->least - 1 - draw(f, command->least);
	case 1:	return command->bytes + draw(f, 512);
	case 2:	return 4090 + draw(f, 12);
	case 3:	return draw_odd(f);
	case 4:	return command->least;
	}
	return command->bytes;
}

static void order_change(struct fuzzer *f, struct order *order)
{
	const struct field *field;
	uint32_t at = draw(f, order->command->bytes + 64);
	uint64_t word;

	switch (draw(f, 5)) {
	case 0:
		field = &order->command->fields[draw(f, 4)];
		if (!field->kind)
			break;
		word = field->kind == BUFFER || field->kind == TEXT ?
			draw_address(f) : draw_odd(f);
		memcpy(order->arg + field->at, &word, field->bytes);
		break;
	case 1:
		order->arg[at] ^= 1 << draw(f, 8);
		break;
	case 2:
		word = draw_odd(f);
		memcpy(order->arg + at / 4 * 4, &word, 4);
		break;
	case 3:
		order->size = draw_size(f, order->command);
		break;
	case 4:
		word = draw(f, 0);
		memcpy(order->arg + 4, &word, 4);	/* flags */
		break;
	}
}

/* A page that all threads of the process write to: it changes between two looks. */
static char *racy_page(void)
{
	static char page[8192] __attribute__((aligned(4096)));

	return page;
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The argument ends where memory ends, or has a canary behind it. */
static void order_place(struct fuzzer *f, struct order *order)
{
	uint32_t bytes = least(order->size, 4096);

	memcpy(order->arg, &order->size, 4);
	switch (draw(f, 5)) {
	case 0:
		order->at = f->arena + ARENA_NONE - bytes;
		break;
	case 1:
		order->at = f->arena + ARENA_NONE - bytes + draw(f, least(bytes, 64) + 1);
		bytes = least(bytes, f->arena + ARENA_NONE - order->at);
		break;
	default:
		order->at = f->arena + ARENA_ARGS + draw(f, 512) * 4;
		order->arg_canary = order->at + bytes;
	}
	if (order->racy) {
		order->at = racy_page();
		order->arg_canary = NULL;
		bytes = 4096;
	}
	memcpy(order->at, order->arg, bytes);
}

static void canaries_set(const struct fuzzer *f, struct order *order)
{
	const struct field *field = field_of(order->command, BUFFER);
	uint64_t at = field ? read_word(order->arg + field->at, 8) : 0;
	uint64_t begin = (uintptr_t)f->arena, room = room_of(order);

	if (at >= begin + ARENA_BUFFERS && at < begin + ARENA_BUFFERS + 1024 &&
	    room <= MOST_ROOM * sizeof(struct cmt_record))
		order->canary = (char *)(uintptr_t)(at + room);
	if (order->canary)
		memset(order->canary, CANARY_BYTE, CANARY);
	if (order->arg_canary)
		memset(order->arg_canary, CANARY_BYTE, CANARY);
}

static void canary_check(const char *canary, const char *what, uint64_t bytes,
			 const struct order *order)
{
	unsigned int i;

	for (i = 0; canary && i < CANARY; i++)
		CHECK(canary[i] == CANARY_BYTE,
		      "ioctl %u wrote behind %s of %llu bytes, at %u",
		      order->command->nr, what, (unsigned long long)bytes, i);
}

/* As a program of 32 bits calls it: system call 54 of i386 */
static long ioctl32(int fd, uint32_t cmd, uint32_t arg)
{
	long ret;

	asm volatile("int $0x80" : "=a" (ret) : "0" (54L), "b" ((long)fd),
		     "c" ((long)cmd), "d" ((long)arg)
		     : "memory", "cc", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static uint32_t draw_number(struct fuzzer *f, const struct command *command)
{
	uint32_t cmd = CMT_IOC(command->nr);

	if (!draw_one_in(f, 32))
		return cmd;
	return draw_one_in(f, 2) ? cmd ^ 1U << draw(f, 32) : CMT_IOC(draw(f, 256));
}

static void check_rights(const struct fuzzer *f, const struct order *order, uint32_t cmd,
			 long ret)
{
	bool is_it = cmd == CMT_IOC(order->command->nr);

	CHECK(ret < 0 || !is_it || !order->command->control || f->may_control,
	      "ioctl %u was done without the rights for it", order->command->nr);
}

/*
 * A descriptor that another thread has closed may be something else by now: what the
 * module must not do is judged only where it was not.
 */
long fuzz_ioctl(struct fuzzer *f)
{
	struct order order = { .command = &commands[draw(f, NR_COMMANDS)] };
	uint32_t n = draw_one_in(f, 2) ? 0 : 1 + draw(f, 3), slot = draw(f, NR_SLOTS), cmd;
	uint64_t before = slot_look(SLOTS_DEV, slot), address;
	long ret;

	order.size = order.command->bytes;
	order.racy = draw_one_in(f, 8);
	order_fill(f, &order);
	while (n--)
		order_change(f, &order);
	order_place(f, &order);
	canaries_set(f, &order);
	cmd = draw_number(f, order.command);
	address = draw_one_in(f, 40) ? draw_address(f) : (uintptr_t)order.at;
	if (address == (uint32_t)address && draw_one_in(f, 6))
		ret = ioctl32(slot_fd(before), cmd, address);
	else
		ret = ioctl(slot_fd(before), cmd, address) < 0 ? -errno : 0;
	if (slot_look(SLOTS_DEV, slot) == before && address == (uintptr_t)order.at) {
		canary_check(order.canary, "the room", room_of(&order), &order);
		canary_check(order.arg_canary, "an argument", order.size, &order);
		check_rights(f, &order, cmd, ret);
	}
	return ret;
}

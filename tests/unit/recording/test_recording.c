// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings: what goes in comes out, what is damaged is told, and files that are none. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include "recording/chunk.h"
#include "recording/crc.h"
#include "recording/index.h"
#include "recording/names.h"
#include "recording/reading.h"
#include "recording/sections.h"
#include "recording.h"
#include "unit.h"

static struct made made;
static const struct cmt_recording_item *item;

/* A second of the machine in chunks of 512 records, with a state in the middle. */
static void make(void)
{
	made_begin(&made, 512);
	for (uint64_t ms = 0; ms < 100; ms++) {
		made_tick(&made, ms);
		if (ms % 40 == 39)
			made_state(&made, ms);
	}
	made_end(&made);
}

static struct cmt_recording *open_bytes(const uint8_t *bytes, size_t n, int expected)
{
	struct cmt_recording *r = NULL;
	int fd = made_file(bytes, n);

	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), expected);
	close(fd);
	return r;
}

static struct cmt_recording *open_made(void)
{
	return open_bytes(made.bytes, made.nr_bytes, 0);
}

static int next(struct cmt_recording *r)
{
	return cmt_recording_next(r, &item);
}

START_TEST(all_records_come_back)
{
	uint32_t records = 0, names = 0, states = 0, owners = 0;
	struct cmt_recording *r;
	int ret;

	make();
	r = open_made();
	while ((ret = next(r)) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		names += item->type == CMT_RECORDING_NAME;
		states += item->type == CMT_RECORDING_STATE;
		owners += item->type == CMT_RECORDING_OWNERS;
		ck_assert(!item->nr_records ||
			  !memcmp(item->records, made.records + records,
				  item->nr_records * sizeof(*item->records)));
		records += item->nr_records;
	}
	ck_assert_int_eq(ret, 0);
	ck_assert_int_eq(cmt_recording_at_end(r), 1);
	ck_assert_uint_eq(records, made.nr_records);
	ck_assert_uint_ge(names, 40);
	ck_assert_uint_eq(states, 2);
	ck_assert_uint_eq(owners, 1);
	cmt_recording_close(r);
}
END_TEST

START_TEST(items_in_order)
{
	const struct cmt_culprit_cpu *cpu;
	struct cmt_recording *r;
	bool named = false;

	make();
	r = open_made();
	ck_assert(!memcmp(cmt_recording_info(r), &made_info, sizeof(made_info)));
	while (next(r) > 0 && item->type != CMT_RECORDING_STATE) {
		if (item->type == CMT_RECORDING_OWNERS) {
			ck_assert_uint_eq(item->owners->as_of, MADE_START - 1);
			ck_assert_uint_eq(item->owners->count, 20);
		}
		if (item->type != CMT_RECORDING_NAME)
			continue;
		named |= item->container->cgroup_id == MADE_CGROUP + 2 &&
			 !strcmp(item->container->path, "/system.slice/made2.service") &&
			 !strcmp(item->container->image, "image") &&
			 item->container->runtime == CMT_RUNTIME_SYSTEMD;
	}
	ck_assert(named);
	ck_assert_uint_eq(item->type, CMT_RECORDING_STATE);
	ck_assert_uint_eq(item->state->stats->ticks, 39);
	ck_assert_uint_eq(item->state->reader->late, 39);
	ck_assert_uint_eq(item->state->pending->count, 1);
	ck_assert_uint_eq(item->state->pending->records[0].owner.cgroup_id, MADE_CGROUP + 50);
	ck_assert_str_eq(item->state->uncore->channels_reason, "none here");
	ck_assert_str_eq(item->state->counters_reason, "why not");
	ck_assert_uint_eq(item->state->realtime_ns, 77 + 39);
	ck_assert_uint_eq(item->state->nr_cpus, 1);
	cpu = cmt_recording_cpu_at(item->state, 0);
	ck_assert_uint_eq(cpu->id, MADE_CGROUP + 1);
	ck_assert_uint_eq(cpu->start_ns, MADE_START + 1);
	ck_assert_uint_eq(cpu->end_ns, MADE_START + 39 * MADE_MS);
	ck_assert_uint_eq(cpu->valid, CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STOLEN);
	ck_assert_uint_eq(cpu->throttled_ns, 5);
	ck_assert_uint_eq(cpu->stolen_ns, 6);
	cmt_recording_close(r);
}
END_TEST

static struct cmt_recording_about about_of(struct cmt_recording *r)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };

	ck_assert_int_eq(cmt_recording_about(r, &about), 0);
	return about;
}

START_TEST(about_describes_recording)
{
	struct cmt_recording_about a, b;
	struct cmt_recording *r;

	make();
	r = open_made();
	a = about_of(r);
	cmt_recording_close(r);
	ck_assert_uint_eq(a.version, CMT_RECORDING_VERSION);
	ck_assert_uint_eq(a.flags, CMT_RECORDING_COMPLETE | CMT_RECORDING_INDEXED);
	ck_assert_uint_eq(a.records, made.nr_records);
	ck_assert_uint_eq(a.start_ns, made.records[0].ts);
	ck_assert_uint_eq(a.end_ns, made.records[made.nr_records - 1].ts);
	/* those of the first STATE */
	ck_assert_uint_eq(a.monotonic_ns, MADE_START + 39 * MADE_MS);
	ck_assert_uint_eq(a.realtime_ns, 77 + 39);
	ck_assert_str_eq(a.host, "made");
	ck_assert_str_eq(a.kernel, "6.1");
	ck_assert_str_eq(a.boot_id, "boot");
	ck_assert_str_eq(a.program, "test?1");
	/* without its end it is rebuilt */
	r = open_bytes(made.bytes, made.nr_bytes - 1, 0);
	b = about_of(r);
	cmt_recording_close(r);
	ck_assert_uint_eq(b.flags, 0);
	ck_assert_uint_eq(b.records, a.records);
	ck_assert_uint_eq(b.start_ns, a.start_ns);
	ck_assert_uint_eq(b.end_ns, a.end_ns);
}
END_TEST

/* Where there is no STATE that can be read, a file's clocks are HEAD's. */
START_TEST(clocks_without_state)
{
	const struct cmt_chunk_place *state = made.places;
	struct cmt_recording *r;
	uint8_t *bytes;

	make();
	while (state->kind != CMT_CHUNK_STATE)
		state++;
	r = open_bytes(made.bytes, state->offset, 0);
	ck_assert_uint_eq(about_of(r).monotonic_ns, MADE_START);
	ck_assert_uint_eq(about_of(r).realtime_ns, 77);
	cmt_recording_close(r);
	bytes = malloc(made.nr_bytes);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, made.bytes, made.nr_bytes);
	bytes[state->offset + state->nr_bytes - 1] ^= 1;
	r = open_bytes(bytes, made.nr_bytes, 0);
	ck_assert_uint_eq(about_of(r).realtime_ns, 77);
	cmt_recording_close(r);
	free(bytes);
}
END_TEST

/* The chunk of a sequence number. */
static uint32_t chunk_of(uint64_t sequence)
{
	uint32_t i;

	for (i = 0; i < made.nr_places && made.places[i].sequence != sequence; i++)
		;
	ck_assert_uint_lt(i, made.nr_places);
	return i;
}

static void check_records(void)
{
	uint32_t i = chunk_of(item->sequence);

	ck_assert_uint_eq(item->nr_records, made.places[i].records);
	ck_assert(!memcmp(item->records, made.records + made.first_record[i],
			  item->nr_records * sizeof(*item->records)));
}

START_TEST(seek_to_time)
{
	struct cmt_recording *r;

	make();
	for (int indexed = 0; indexed < 2; indexed++) {
		r = open_bytes(made.bytes, made.nr_bytes - !indexed, 0);
		for (uint64_t ms = 0; ms < 110; ms += 7) {
			uint64_t ts = MADE_START + ms * MADE_MS;
			uint32_t names = 0, states = 0, owners = 0;

			ck_assert_int_eq(cmt_recording_seek(r, ts), 0);
			while (next(r) > 0 && item->type != CMT_RECORDING_RECORDS) {
				/* at the end the tail is cut */
				ck_assert(item->type != CMT_RECORDING_DAMAGE || ms >= 100);
				names += item->type == CMT_RECORDING_NAME;
				states += item->type == CMT_RECORDING_STATE;
				owners += item->type == CMT_RECORDING_OWNERS;
			}
			if (ms >= 100) {
				ck_assert_uint_ne(cmt_recording_at_end(r), 0);
				continue;
			}
			check_records();
			ck_assert_uint_ge(item->to_ns, ts);
			ck_assert(item->sequence == 2 || item->from_ns <= ts ||
				  made.places[chunk_of(item->sequence) - 1].last_ns < ts);
			ck_assert_uint_ge(names, 20);
			ck_assert_uint_eq(states, ms >= 42);
			ck_assert_uint_eq(owners, 1);
		}
		cmt_recording_close(r);
	}
}
END_TEST

/* The first DATA chunk that ends at @ts or later. */
static uint32_t chunk_at(uint64_t ts)
{
	uint32_t i = 0;

	while (made.places[i].kind != CMT_CHUNK_DATA || made.places[i].last_ns < ts)
		i++;
	return i;
}

static uint64_t state_before(uint32_t chunk)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < chunk; i++)
		if (made.places[i].kind == CMT_CHUNK_STATE)
			ticks += 40;
	return ticks ? ticks - 1 : 0;
}

/* Names and the state are those of @ts; whole chunks may come before that of @ts. */
static void check_way(struct cmt_recording *r, uint64_t ts)
{
	uint32_t wanted = chunk_at(ts), names = 0, passed = 0;
	uint64_t ticks = 0, last = 0;

	ck_assert_int_eq(cmt_recording_seek(r, ts), 0);
	for (;;) {
		ck_assert_int_eq(next(r), 1);
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		names += item->type == CMT_RECORDING_NAME;
		if (item->type == CMT_RECORDING_STATE)
			ticks = item->state->stats->ticks;
		if (item->type != CMT_RECORDING_RECORDS)
			continue;
		check_records();
		ck_assert(!last || chunk_of(item->sequence) > last);
		last = chunk_of(item->sequence);
		if (item->to_ns >= ts)
			break;
		passed++;
	}
	ck_assert_uint_eq(chunk_of(item->sequence), wanted);
	ck_assert_uint_eq(ticks, state_before(wanted));
	ck_assert_uint_ge(names, 20);
	ck_assert_uint_lt(passed, r->places.step);
}

/* A file of more chunks than there may be marks is described, and read from any moment on. */
START_TEST(more_chunks_than_marks)
{
	struct cmt_recording_about all, about;
	struct cmt_recording *r;

	made_begin(&made, 64);
	for (uint64_t ms = 0; ms < 100; ms++) {
		made_tick(&made, ms);
		if (ms % 40 == 39)
			made_state(&made, ms);
	}
	made_end(&made);
	for (uint32_t i = 0; i < 4; i++) {
		r = open_bytes(made.bytes, made.nr_bytes - i % 2, 0);
		all = about_of(r);
		cmt_recording_close(r);
		r = open_bytes(made.bytes, made.nr_bytes - i % 2, 0);
		r->places.most = 2 + i / 2;
		about = about_of(r);
		ck_assert(!memcmp(&all, &about, sizeof(all)));
		ck_assert_uint_le(r->places.nr, r->places.most);
		ck_assert_uint_ge(r->places.step, 8);
		for (uint64_t us = 0; us < 99000; us += 4100)
			check_way(r, MADE_START + us * 1000);
		check_way(r, all.end_ns);
		ck_assert_int_eq(cmt_recording_seek(r, all.end_ns + 1), 0);
		while (next(r) > 0)
			ck_assert_uint_ne(item->type, CMT_RECORDING_RECORDS);
		cmt_recording_close(r);
	}
}
END_TEST

/* HEAD, and chunks that follow each other, in @bytes.  Returns how many bytes. */
static size_t select_chunks(uint32_t from, uint32_t to, uint8_t *bytes,
			    struct cmt_chunk_place *places)
{
	size_t n = 0;

	for (uint32_t i = 0; i < to; i++) {
		const struct cmt_chunk_place *p = &made.places[i];

		if (i && i < from)
			continue;
		memcpy(bytes + n, made.bytes + p->offset, p->nr_bytes);
		*places = *p;
		places++->offset = n;
		n += p->nr_bytes;
	}
	return n;
}

/* As the newest chunks of a buffer are saved, with an index for them. */
START_TEST(selected_chunks_with_index)
{
	struct cmt_chunk_place places[MADE_CHUNKS];
	uint8_t *bytes;
	uint32_t from = 7, to = 14, records = 0;
	struct cmt_recording_about a;
	struct cmt_recording *r;
	size_t n, was;

	make();
	was = made.nr_bytes;
	bytes = malloc(was * 2);
	n = select_chunks(from, to, bytes, places);
	ck_assert_int_eq(cmt_recorder_index(made.recorder, places, 1 + to - from), 0);
	memcpy(bytes + n, made.bytes + was, made.nr_bytes - was);
	r = open_bytes(bytes, n + made.nr_bytes - was, 0);
	a = about_of(r);
	ck_assert_uint_eq(a.flags, CMT_RECORDING_COMPLETE | CMT_RECORDING_INDEXED);
	while (next(r) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		if (item->type == CMT_RECORDING_RECORDS)
			check_records();
		records += item->nr_records;
	}
	ck_assert_int_eq(cmt_recording_at_end(r), 1);
	ck_assert_uint_eq(records, a.records);
	cmt_recording_close(r);
	places[1].offset++;
	ck_assert_int_eq(cmt_recorder_index(made.recorder, places, 1 + to - from), -EINVAL);
	free(bytes);
}
END_TEST

/* Chunks that are not there are told, and how many. */
START_TEST(missing_chunks_are_counted)
{
	uint8_t *bytes;
	uint64_t told = 0;
	struct cmt_recording *r;
	size_t n, at, end;

	make();
	bytes = malloc(made.nr_bytes);
	at = made.places[5].offset;
	end = made.places[8].offset;
	memcpy(bytes, made.bytes, at);
	n = made.nr_bytes - end;
	memcpy(bytes + at, made.bytes + end, n);
	r = open_bytes(bytes, at + n, 0);
	while (next(r) > 0) {
		if (item->type == CMT_RECORDING_RECORDS)
			check_records();
		if (item->type != CMT_RECORDING_DAMAGE)
			continue;
		ck_assert_uint_eq(item->damage, CMT_DAMAGE_MISSING);
		ck_assert_uint_lt(item->from_ns, item->to_ns);
		told += item->chunks;
	}
	for (uint32_t i = 5; i < 8; i++)
		told -= made.places[i].sequence != 0;
	ck_assert_uint_eq(told, 0);
	cmt_recording_close(r);
	free(bytes);
}
END_TEST

/* A file that grows: each chunk comes once it is complete, and nothing is damaged. */
START_TEST(growing_file_gives_complete_chunks)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };
	uint32_t records = 0, cuts = 0;
	struct cmt_recording *r = NULL;
	int fd, ret;

	make();
	fd = made_file(made.bytes, made.places[0].nr_bytes);
	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	for (size_t n = made.places[0].nr_bytes; n <= made.nr_bytes; n += 777) {
		size_t to = n + 777 > made.nr_bytes ? made.nr_bytes : n + 777;

		ck_assert_int_eq(pwrite(fd, made.bytes, to, 0), (ssize_t)to);
		while ((ret = next(r)) > 0) {
			ck_assert(item->type != CMT_RECORDING_DAMAGE ||
				  item->damage == CMT_DAMAGE_CUT);
			cuts += item->type == CMT_RECORDING_DAMAGE;
			ck_assert(!item->nr_records ||
				  !memcmp(item->records, made.records + records,
					  item->nr_records * sizeof(*item->records)));
			records += item->nr_records;
		}
		ck_assert_int_eq(ret, 0);
		ck_assert_int_eq(cmt_recording_at_end(r), to == made.nr_bytes ? 1 : 2);
	}
	ck_assert_uint_eq(records, made.nr_records);
	ck_assert_uint_ge(cuts, 1);
	ck_assert_int_eq(cmt_recording_about(r, &about), 0);
	ck_assert_uint_eq(about.damaged + about.damaged_bytes + about.missing, 0);
	cmt_recording_close(r);
	close(fd);
}
END_TEST

struct range {
	uint64_t begin, end;
};

static bool is_told(const struct range *told, uint32_t n, const struct cmt_chunk_place *p)
{
	for (uint32_t i = 0; i < n; i++)
		if (told[i].begin < p->offset + p->nr_bytes && told[i].end > p->offset)
			return true;
	return false;
}

/* Intact and told are all. */
static void check_damaged(const uint8_t *bytes, size_t n)
{
	static bool delivered[MADE_CHUNKS];
	struct range told[256];
	struct cmt_recording *r = NULL;
	uint32_t nr_told = 0;
	int fd = made_file(bytes, n), ret;

	memset(delivered, 0, sizeof(delivered));
	ret = cmt_recording_open_fd(&r, fd);
	close(fd);
	if (ret) {
		/* not one chunk is intact */
		ck_assert(ret == -EBADMSG || (ret == -ENODATA && !n));
		for (uint32_t i = 0; i < made.nr_places; i++)
			ck_assert(made.places[i].offset + made.places[i].nr_bytes > n ||
				  memcmp(made.bytes + made.places[i].offset,
					 bytes + made.places[i].offset,
					 made.places[i].nr_bytes));
		return;
	}
	while ((ret = next(r)) > 0) {
		if (item->type == CMT_RECORDING_RECORDS) {
			check_records();
			delivered[chunk_of(item->sequence)] = true;
		}
		if (item->type != CMT_RECORDING_DAMAGE)
			continue;
		ck_assert_uint_lt(nr_told, 256);
		told[nr_told++] = (struct range){ item->offset, item->offset + item->bytes };
	}
	ck_assert_int_eq(ret, 0);
	for (uint32_t i = 0; i < made.nr_places; i++) {
		const struct cmt_chunk_place *p = &made.places[i];
		bool intact = p->offset + p->nr_bytes <= n &&
			      !memcmp(made.bytes + p->offset, bytes + p->offset, p->nr_bytes);

		if (intact)
			ck_assert(delivered[i] || !p->records);
		else if (p->offset < n)
			ck_assert(is_told(told, nr_told, p));
		else
			ck_assert_int_eq(cmt_recording_at_end(r), 2);
	}
	cmt_recording_close(r);
}

#define DAMAGED 10000

START_TEST(damaged_chunks_are_reported)
{
	uint8_t *bytes;

	make();
	bytes = malloc(made.nr_bytes);
	for (unsigned int i = unit_rounds(DAMAGED); i; i--) {
		size_t n = made_any() % 3 ? made.nr_bytes : made_any() % (made.nr_bytes + 1);

		memcpy(bytes, made.bytes, made.nr_bytes);
		for (uint64_t flips = made_any() % 6; flips && n; flips--)
			bytes[made_any() % n] ^= (uint8_t)(1 << made_any() % 8);
		/* a block that was not written */
		if (n > 4096 && made_any() % 8 == 0)
			memset(bytes + made_any() % (n - 4096), 0, 4096);
		/* headers are small, and hit too rarely */
		if (made_any() % 2) {
			size_t at = made.places[made_any() % made.nr_places].offset +
				    made_any() % 96;

			bytes[at] ^= (uint8_t)(1 + made_any() % 255);
		}
		check_damaged(bytes, n);
	}
	free(bytes);
}
END_TEST

static void check_counts(struct cmt_recording *r, uint64_t ts, const struct cmt_recording_about *all)
{
	struct cmt_recording_about a;

	ck_assert_int_eq(cmt_recording_seek(r, ts), 0);
	while (next(r) > 0)
		;
	a = about_of(r);
	if (!all)
		return;
	ck_assert_uint_eq(a.damaged, all->damaged);
	ck_assert_uint_eq(a.damaged_bytes, all->damaged_bytes);
	ck_assert_uint_eq(a.missing, all->missing);
}

/* What is read again counts once, and what a seek went past counts when it is read. */
START_TEST(damage_counts_once)
{
	struct cmt_recording_about all;
	struct cmt_recording *r;
	uint8_t *bytes;

	make();
	bytes = malloc(made.nr_bytes);
	memcpy(bytes, made.bytes, made.nr_bytes);
	for (uint32_t i = 4; i < made.nr_places - 2; i += 3)
		bytes[made.places[i].offset + (i % 2 ? 5 : made.places[i].nr_bytes - 5)] ^= 1;
	r = open_bytes(bytes, made.nr_bytes, 0);
	while (next(r) > 0)
		;
	all = about_of(r);
	ck_assert_uint_ge(all.damaged, 4);
	ck_assert_uint_ge(all.missing, 2);
	check_counts(r, 0, &all);
	check_counts(r, MADE_START + 50 * MADE_MS, &all);
	cmt_recording_close(r);
	r = open_bytes(bytes, made.nr_bytes, 0);
	for (uint64_t ms = 90; ms; ms -= 15)
		check_counts(r, MADE_START + ms * MADE_MS, NULL);
	check_counts(r, 0, &all);
	cmt_recording_close(r);
	free(bytes);
}
END_TEST

/* More than is looked through at once, and a header on the border of that. */
START_TEST(header_on_search_border)
{
	/* ends of windows: the first one, and the first of all that have the full size */
	static const size_t ends[] = { 1 << 12, (1 << 20) - (1 << 12) };
	size_t at;
	struct cmt_recording *r;
	uint8_t *bytes;

	make();
	at = made.places[1].offset;
	bytes = calloc(1, made.nr_bytes + (2 << 20));
	for (size_t i = 0; i < 2 * 36; i++) {
		size_t gap = ends[i / 36] - 300 + i % 36 * 9;
		uint32_t records = 0, damaged = 0;

		memset(bytes + at, 0x89, gap);
		memcpy(bytes, made.bytes, at);
		memcpy(bytes + at + gap, made.bytes + at, made.nr_bytes - at);
		r = open_bytes(bytes, made.nr_bytes + gap, 0);
		while (next(r) > 0) {
			records += item->nr_records;
			damaged += item->type == CMT_RECORDING_DAMAGE &&
				   item->bytes == gap && item->offset == at;
		}
		ck_assert_uint_eq(records, made.nr_records);
		ck_assert_uint_eq(damaged, 1);
		cmt_recording_close(r);
	}
	free(bytes);
}
END_TEST

/* The crc of a header that a test has changed. */
static void sign(uint8_t *header)
{
	uint32_t crc = cmt_crc32c(header + 12, 96 - 12);

	memcpy(header + 8, &crc, sizeof(crc));
}

START_TEST(newer_major_version_is_refused)
{
	const uint32_t future = 2U << 16 | 7;
	char path[] = "/tmp/cmt-test-recording-future";
	uint32_t version = 0, damaged = 0;
	uint8_t *bytes;
	struct cmt_recording *r = NULL;
	int fd;

	make();
	bytes = malloc(made.nr_bytes);
	memcpy(bytes, made.bytes, made.nr_bytes);
	/* one chunk of a later version among others */
	memcpy(bytes + made.places[4].offset + 20, &future, sizeof(future));
	sign(bytes + made.places[4].offset);
	r = open_bytes(bytes, made.nr_bytes, 0);
	while (next(r) > 0)
		damaged += item->type == CMT_RECORDING_DAMAGE &&
			   item->damage == CMT_DAMAGE_VERSION && item->chunks == 1;
	ck_assert_uint_eq(damaged, 1);
	cmt_recording_close(r);
	/* all of it */
	memcpy(bytes + 20, &future, sizeof(future));
	sign(bytes);
	open_bytes(bytes, made.nr_bytes, -EPROTONOSUPPORT);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, bytes, made.nr_bytes), (ssize_t)made.nr_bytes);
	close(fd);
	ck_assert_int_eq(cmt_recording_version(path, &version), 0);
	ck_assert_uint_eq(version, future);
	ck_assert_int_eq(cmt_recording_open(&r, path), -EPROTONOSUPPORT);
	unlink(path);
	free(bytes);
}
END_TEST

/* Append the HEAD chunk at @from to @to, without its section 8: counter_bits. */
static void put_old_head(struct rec_buffer *to, const uint8_t *from)
{
	struct rec_buffer raw = { 0 };
	struct rec_header header;
	const struct rec_buffer *chunk;
	struct rec_packer *packer = rec_packer_new(1);

	ck_assert(rec_header_parse(&header, from, REC_HEADER));
	ck_assert_int_eq(rec_unpack(&header, from + header.bytes, &raw), 0);
	ck_assert_uint_gt(raw.nr, 6);
	ck_assert_int_eq(memcmp(raw.bytes + raw.nr - 6, "\x08\x04\0\0\0\0", 6), 0);
	raw.nr -= 6;
	ck_assert_int_eq(rec_pack(packer, &header, &raw, NULL, &chunk), 0);
	rec_put(to, chunk->bytes, chunk->nr);
	rec_packer_free(packer);
	rec_buffer_free(&raw);
}

/* A head comes back as it was, unless its device cannot be or is of another ABI. */
START_TEST(head_of_possible_device)
{
	static const struct {
		uint32_t abi_version, nr_cpus;
		int ret;
	} devices[] = {
		{ CMT_ABI_VERSION, MADE_CPUS, 0 },
		{ CMT_ABI_VERSION + 1, MADE_CPUS, 0 },
		{ CMT_ABI_VERSION, 0, -EBADMSG },
		{ (CMT_ABI_MAJOR + 1) << 16, MADE_CPUS, -EBADMSG },
		{ (CMT_ABI_MAJOR + 1) << 16, 0, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct rec_head head = {
			.info = made_info, .monotonic_ns = 1, .realtime_ns = 2, .counters = 3,
			.counter_bits = 4, .host = "host", .kernel = "kernel",
			.boot_id = "boot", .program = "program",
		}, back;
		struct rec_buffer raw = { 0 };

		head.info.abi_version = devices[i].abi_version;
		head.info.nr_cpus = devices[i].nr_cpus;
		rec_head_put(&head, &raw);
		ck_assert_int_eq(rec_head_get(&back, &raw), devices[i].ret);
		head.has_info = !devices[i].ret;
		ck_assert(!memcmp(&back, &head, sizeof(head)));
		rec_buffer_free(&raw);
	}
}
END_TEST

/* An older file does not say how exact counts are: they are exact. */
START_TEST(old_head_means_exact_counts)
{
	struct rec_buffer old = { 0 };
	struct cmt_recording_about about;
	struct cmt_recording *r;
	uint32_t heads = 0, records = 0;

	make();
	for (uint32_t i = 0; made.places[i].kind != CMT_CHUNK_INDEX; i++) {
		const struct cmt_chunk_place *place = &made.places[i];
		const uint8_t *bytes = made.bytes + place->offset;
		bool head = place->kind == CMT_CHUNK_HEAD;

		heads += head;
		if (head)
			put_old_head(&old, bytes);
		else
			rec_put(&old, bytes, place->nr_bytes);
	}
	ck_assert_uint_ge(heads, 2);
	r = open_bytes(old.bytes, old.nr, 0);
	while (next(r) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		ck_assert(!item->nr_records ||
			  !memcmp(item->records, made.records + records,
				  item->nr_records * sizeof(*item->records)));
		records += item->nr_records;
	}
	ck_assert_uint_eq(records, made.nr_records);
	about = about_of(r);
	ck_assert_uint_eq(about.counter_bits, 0);
	ck_assert_uint_eq(about.counters, CMT_F_CYCLES);
	ck_assert_str_eq(about.program, "test?1");
	cmt_recording_close(r);
	rec_buffer_free(&old);
}
END_TEST

/* The first HEAD is damaged: the next HEAD says the same. */
START_TEST(next_head_replaces_damaged_head)
{
	struct cmt_recording *r;

	make();
	ck_assert_int_eq(made.places[0].kind, CMT_CHUNK_HEAD);
	made.bytes[made.places[0].nr_bytes - 1] ^= 1;
	r = open_made();
	ck_assert(!memcmp(cmt_recording_info(r), &made_info, sizeof(made_info)));
	ck_assert_str_eq(about_of(r).program, "test?1");
	cmt_recording_close(r);
}
END_TEST

static uint32_t data_chunk(uint32_t from)
{
	while (made.places[from].kind != CMT_CHUNK_DATA)
		from++;
	return from;
}

/* The time of the last record before @place, but for chunk @damaged. */
static uint64_t time_before(uint32_t place, uint32_t damaged)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < place; i++)
		if (i != damaged && made.places[i].kind == CMT_CHUNK_DATA)
			ns = made.places[i].last_ns;
	return ns;
}

static uint64_t time_behind(uint32_t place)
{
	const struct cmt_chunk_place *next = &made.places[place + 1];

	return next->kind == CMT_CHUNK_DATA ? next->first_ns : UINT64_MAX;
}

static uint32_t last_state(void)
{
	uint32_t state = 0;

	for (uint32_t i = 0; i < made.nr_places; i++)
		if (made.places[i].kind == CMT_CHUNK_STATE)
			state = i;
	return state;
}

/*
 * A chunk whose header is damaged: it is said from when to when records are missing, and who
 * owns what comes again behind it.
 */
static void check_gap(struct cmt_recording *r, uint64_t from_ns, uint64_t to_ns)
{
	do
		ck_assert_int_eq(next(r), 1);
	while (item->type != CMT_RECORDING_DAMAGE);
	ck_assert_uint_eq(item->from_ns, from_ns);
	ck_assert_uint_eq(item->to_ns, to_ns);
	do {
		ck_assert_int_eq(next(r), 1);
		ck_assert_uint_ne(item->type, CMT_RECORDING_RECORDS);
	} while (item->type != CMT_RECORDING_OWNERS);
}

START_TEST(gaps_in_time)
{
	struct cmt_recording *r;
	uint32_t first, second, third;

	make();
	first = data_chunk(0);
	second = data_chunk(data_chunk(first + 1) + 1);
	third = data_chunk(last_state());
	made.bytes[made.places[first].offset] ^= 1;
	made.bytes[made.places[second].offset] ^= 1;
	made.bytes[made.places[third].offset] ^= 1;
	ck_assert_uint_gt(time_before(second, first), MADE_START);
	ck_assert_uint_ne(time_before(third, second), made.places[third - 1].last_ns);
	r = open_made();
	for (int i = 0; i < 2; i++) {
		check_gap(r, 0, time_behind(first));
		check_gap(r, time_before(second, first), time_behind(second));
		check_gap(r, time_before(third, second), time_behind(third));
		while (next(r) > 0)
			;
		ck_assert_int_eq(cmt_recording_seek(r, 0), 0);
	}
	cmt_recording_close(r);
}
END_TEST

/* Returns the number of damage items from @ns on, before the first records. */
static uint32_t damage_before_records(struct cmt_recording *r, uint64_t ns)
{
	uint32_t damaged = 0;

	ck_assert_int_eq(cmt_recording_seek(r, ns), 0);
	do {
		ck_assert_int_eq(next(r), 1);
		damaged += item->type == CMT_RECORDING_DAMAGE;
	} while (item->type != CMT_RECORDING_RECORDS);
	return damaged;
}

/* Chunk @at is damaged, and read on the way from the names to the chunks behind it. */
static void check_passed(uint32_t at, bool indexed)
{
	uint32_t next_at = data_chunk(at + 1), then = data_chunk(next_at + 1);
	struct cmt_recording *r;

	if (!indexed)
		made.bytes[made.nr_bytes - 1] ^= 1;
	r = open_made();
	ck_assert_uint_eq(damage_before_records(r, made.places[then].first_ns), 0);
	ck_assert_uint_eq(about_of(r).damaged, 1);
	/* what is not in the index may have been of the time before the chunk */
	ck_assert_uint_eq(damage_before_records(r, made.places[next_at].first_ns), !indexed);
	ck_assert_uint_eq(damage_before_records(r, made.places[at].first_ns), 1);
	ck_assert_uint_eq(about_of(r).damaged, 1);
	cmt_recording_close(r);
}

START_TEST(damage_before_sought_time_is_no_item)
{
	uint32_t at = 1;

	make();
	while (made.places[at].kind != CMT_CHUNK_HEAD)
		at++;
	at = data_chunk(at);
	ck_assert_int_eq(made.places[at - 1].kind, CMT_CHUNK_NAMES);
	made.bytes[made.places[at].offset] ^= 1;
	check_passed(at, true);
	check_passed(at, false);
}
END_TEST

/* Places that cannot be: one shorter than a header, and one beyond the file. */
START_TEST(impossible_index_places)
{
	struct cmt_chunk_place places[2] = {
		{ .nr_bytes = 200, .kind = CMT_CHUNK_HEAD },
		{ .nr_bytes = 300, .offset = 200, .kind = CMT_CHUNK_NAMES },
	};
	static const struct { uint32_t second; uint64_t bytes; int err; } cases[] = {
		{ 300, 500, 0 }, { 300, 499, -EBADMSG },
		{ REC_HEADER, 500, 0 }, { REC_HEADER - 1, 500, -EBADMSG },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rec_buffer out = { 0 };
		struct cmt_chunk_place *got = NULL;
		struct rec_cursor in;
		uint32_t n;

		places[1].nr_bytes = cases[i].second;
		rec_index_put(places, 2, &out);
		in = (struct rec_cursor){ .at = out.bytes, .end = out.bytes + out.nr };
		ck_assert_int_eq(rec_index_get(&in, cases[i].bytes, &got, &n), cases[i].err);
		ck_assert(cases[i].err || (n == 2 && got[1].offset == 200));
		free(got);
		rec_buffer_free(&out);
	}
}
END_TEST

/* Chunks that begin at the same time: each has its times in the index. */
START_TEST(index_of_equal_times)
{
	const struct cmt_chunk_place places[] = {
		{ .nr_bytes = 200, .kind = CMT_CHUNK_DATA, .records = 1, .first_ns = MADE_START,
		  .last_ns = MADE_START },
		{ .nr_bytes = 200, .kind = CMT_CHUNK_DATA, .records = 1, .first_ns = MADE_START,
		  .last_ns = MADE_START },
		{ .nr_bytes = 200, .kind = CMT_CHUNK_DATA, .records = 1, .first_ns = MADE_START,
		  .last_ns = MADE_START + MADE_MS },
		{ .nr_bytes = 200, .kind = CMT_CHUNK_NAMES },
		{ .nr_bytes = 200, .kind = CMT_CHUNK_DATA, .records = 1,
		  .first_ns = MADE_START - MADE_MS, .last_ns = MADE_START },
	};
	const uint32_t nr = sizeof(places) / sizeof(places[0]);
	struct cmt_chunk_place *got = NULL;
	struct rec_buffer out = { 0 };
	struct rec_cursor in;
	uint32_t n;

	rec_index_put(places, nr, &out);
	in = (struct rec_cursor){ .at = out.bytes, .end = out.bytes + out.nr };
	ck_assert_int_eq(rec_index_get(&in, 5000, &got, &n), 0);
	ck_assert_uint_eq(n, nr);
	for (uint32_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(got[i].last_ns, places[i].last_ns);
		ck_assert_uint_le(got[i].first_ns - places[i].first_ns, 2);
	}
	free(got);
	rec_buffer_free(&out);
}
END_TEST

static uint64_t read_bytes;

ssize_t __real_pread64(int fd, void *to, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t offset);

ssize_t __wrap_pread64(int fd, void *to, size_t n, off_t offset)
{
	ssize_t got = __real_pread64(fd, to, n, offset);

	read_bytes += got > 0 ? (uint64_t)got : 0;
	return got;
}

#define JUNK	2000U

/* Reading a hostile file, and seeking in it, takes a time that grows with its size. */
static void check_work(const uint8_t *bytes, size_t n)
{
	struct cmt_recording *r = open_bytes(bytes, n, 0);
	uint32_t records = 0;

	read_bytes = 0;
	while (next(r) > 0)
		records += item->nr_records;
	ck_assert_uint_eq(records, made.nr_records);
	ck_assert_uint_le(read_bytes, 64 * n);
	read_bytes = 0;
	ck_assert_int_eq(cmt_recording_seek(r, MADE_START + 50 * MADE_MS), 0);
	ck_assert_uint_le(read_bytes, 64 * n);
	cmt_recording_close(r);
}

/* Chunks of no payload, with a byte between them */
START_TEST(gaps_without_end)
{
	const uint32_t payload = 0, kind = 77;
	size_t n, size = 97;
	uint8_t *bytes;

	make();
	n = made.places[made.nr_places - 1].offset;
	bytes = calloc(1, n + JUNK * size);
	memcpy(bytes, made.bytes, n);
	for (uint32_t i = 0; i < JUNK; i++, n += size) {
		memcpy(bytes + n, made.bytes + made.places[made.nr_places - 1].offset, 96);
		memcpy(bytes + n + 16, &kind, sizeof(kind));
		memcpy(bytes + n + 28, &payload, sizeof(payload));
		memset(bytes + n + 32, 0, 8);
		sign(bytes + n);
	}
	check_work(bytes, n);
	free(bytes);
}
END_TEST

/* Headers of which each says that all others are its payload */
START_TEST(payloads_that_overlap)
{
	const uint32_t kind = 77, junk = 200000;
	size_t n;
	uint8_t *bytes;

	make();
	n = made.places[made.nr_places - 1].offset;
	bytes = calloc(1, n + JUNK * 96 + junk);
	memcpy(bytes, made.bytes, n);
	for (uint32_t i = 0; i < JUNK; i++, n += 96) {
		memcpy(bytes + n, made.bytes + made.places[made.nr_places - 1].offset, 96);
		memcpy(bytes + n + 16, &kind, sizeof(kind));
		memcpy(bytes + n + 28, &junk, sizeof(junk));
		memset(bytes + n + 32, 0, 8);
		sign(bytes + n);
	}
	memset(bytes + n, 0x11, junk);
	check_work(bytes, n + junk);
	free(bytes);
}
END_TEST

/* A kind and a minor version that are not known yet are no damage. */
START_TEST(unknown_kind_is_no_damage)
{
	const uint32_t minor = (1U << 16) + 5, kind = 77;
	struct cmt_recording *r;
	uint32_t records = 0;

	make();
	memcpy(made.bytes + 20, &minor, sizeof(minor));
	sign(made.bytes);
	for (uint32_t i = 0; i < made.nr_places; i++) {
		if (made.places[i].kind != CMT_CHUNK_STATE)
			continue;
		memcpy(made.bytes + made.places[i].offset + 16, &kind, sizeof(kind));
		sign(made.bytes + made.places[i].offset);
	}
	r = open_made();
	while (next(r) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		records += item->nr_records;
	}
	ck_assert_uint_eq(records, made.nr_records);
	cmt_recording_close(r);
}
END_TEST

/* A payload that would become more than a chunk may have. */
START_TEST(oversized_payload_is_damage)
{
	const uint32_t huge = 0xffffffff;
	struct cmt_recording *r;
	uint32_t damaged = 0;

	make();
	memcpy(made.bytes + made.places[4].offset + 56, &huge, sizeof(huge));
	sign(made.bytes + made.places[4].offset);
	r = open_made();
	while (next(r) > 0)
		damaged += item->type == CMT_RECORDING_DAMAGE &&
			   item->damage == CMT_DAMAGE_PAYLOAD;
	ck_assert_uint_eq(damaged, 1);
	cmt_recording_close(r);
}
END_TEST

/* A payload of some KB that becomes 20 MiB, of a kind that is not known. */
START_TEST(large_payload_of_unknown_kind)
{
	const uint32_t kind = 77, raw = 20 << 20, packed = 2;
	uint8_t *zeros, *bytes;
	struct cmt_recording *r;
	uint32_t head, size, crc;

	make();
	head = made.places[0].nr_bytes;
	bytes = malloc(head + 96 + 100000);
	zeros = calloc(1, raw);
	memcpy(bytes, made.bytes, head + 96);
	size = (uint32_t)ZSTD_compress(bytes + head + 96, 100000, zeros, raw, 1);
	ck_assert_uint_lt(size, 100000);
	crc = cmt_crc32c(bytes + head + 96, size);
	memcpy(bytes + head + 16, &kind, sizeof(kind));
	memcpy(bytes + head + 24, &packed, sizeof(packed));
	memcpy(bytes + head + 28, &size, sizeof(size));
	memcpy(bytes + head + 56, &raw, sizeof(raw));
	memcpy(bytes + head + 60, &crc, sizeof(crc));
	sign(bytes + head);
	r = open_bytes(bytes, head + 96 + size, 0);
	ck_assert_int_eq(next(r), 1);
	ck_assert_uint_eq(item->damage, CMT_DAMAGE_PAYLOAD);
	ck_assert_int_eq(next(r), 0);
	cmt_recording_close(r);
	free(bytes);
	free(zeros);
}
END_TEST

/* A chunk whose end is missing, and then another one. */
START_TEST(cut_within)
{
	const uint32_t part = 100;
	const struct cmt_chunk_place *tail;
	struct cmt_recording *r;
	uint32_t chunk = 0, damaged = 0;
	size_t at;

	make();
	tail = &made.places[made.nr_places - 1];
	for (uint32_t i = 0; i < made.nr_places / 2; i++)
		if (made.places[i].kind == CMT_CHUNK_DATA)
			chunk = i;
	at = made.places[chunk].offset + part;
	ck_assert_uint_gt(made.places[chunk].nr_bytes, part + tail->nr_bytes);
	memmove(made.bytes + at, made.bytes + tail->offset, tail->nr_bytes);
	r = open_bytes(made.bytes, at + tail->nr_bytes, 0);
	while (next(r) > 0) {
		if (item->type != CMT_RECORDING_DAMAGE)
			continue;
		damaged++;
		ck_assert_uint_eq(item->damage, CMT_DAMAGE_PAYLOAD);
		ck_assert_uint_eq(item->bytes, part);
		ck_assert_uint_eq(item->missing_records, made.places[chunk].records);
		ck_assert_uint_eq(item->sequence, made.places[chunk].sequence);
	}
	ck_assert_uint_eq(damaged, 1);
	ck_assert_int_eq(cmt_recording_at_end(r), 1);
	cmt_recording_close(r);
}
END_TEST

/* Two recorders on one file: the chunks of the other one are told. */
START_TEST(chunks_of_two_recorders)
{
	struct cmt_recording *r;
	uint64_t told = 0, records = 0;
	struct made first;
	uint8_t *bytes;

	make();
	first = made;
	make();
	bytes = malloc(first.nr_bytes + made.nr_bytes);
	memcpy(bytes, first.bytes, first.nr_bytes);
	memcpy(bytes + first.nr_bytes, made.bytes, made.nr_bytes);
	r = open_bytes(bytes, first.nr_bytes + made.nr_bytes, 0);
	while (next(r) > 0) {
		told += item->type == CMT_RECORDING_DAMAGE ? item->bytes : 0;
		records += item->nr_records;
	}
	ck_assert_uint_eq(records, first.nr_records);
	ck_assert_uint_eq(told, made.nr_bytes);
	cmt_recording_close(r);
	free(bytes);
	made_free(&first);
}
END_TEST

START_TEST(file_without_recording)
{
	char dir[64], path[128];
	struct cmt_recording *r = NULL;
	uint8_t zeros[5000] = { 0 };
	int fds = unit_open_fds();

	open_bytes(zeros, 0, -ENODATA);
	open_bytes(zeros, 1, -EBADMSG);
	open_bytes(zeros, sizeof(zeros), -EBADMSG);
	snprintf(dir, sizeof(dir), "/tmp/cmt-recording-%d", getpid());
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	ck_assert_int_eq(cmt_recording_open(&r, dir), -EISDIR);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(cmt_recording_open(&r, path), -ESPIPE);
	unlink(path);
	ck_assert_int_eq(cmt_recording_open(&r, path), -ENOENT);
	ck_assert_int_eq(cmt_recording_open(&r, "/dev/null"), -ESPIPE);
	ck_assert_int_eq(cmt_recording_open_fd(&r, -1), -EBADF);
	rmdir(dir);
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

/* A program that writes to the file goes on where it was. */
START_TEST(offset_of_caller_stays)
{
	struct cmt_recording *r;
	int fd;

	make();
	fd = made_file(made.bytes, made.nr_bytes);
	ck_assert_int_eq(lseek(fd, 12345, SEEK_SET), 12345);
	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	while (next(r) > 0)
		;
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 12345);
	cmt_recording_close(r);
	close(fd);
	made_free(&made);
}
END_TEST

/* 100 GB, of which nothing is there. */
START_TEST(sparse_file)
{
	struct cmt_recording *r = NULL;
	uint32_t records = 0;
	uint64_t told = 0;
	int fd;

	make();
	fd = made_file(made.bytes, made.nr_bytes);
	ck_assert_int_eq(ftruncate(fd, 100000000000), 0);
	ck_assert_int_eq(cmt_recording_open_fd(&r, fd), 0);
	while (next(r) > 0) {
		records += item->nr_records;
		told += item->type == CMT_RECORDING_DAMAGE ? item->bytes : 0;
	}
	ck_assert_uint_eq(records, made.nr_records);
	ck_assert_uint_eq(told, 100000000000 - made.nr_bytes);
	cmt_recording_close(r);
	close(fd);
}
END_TEST

/* A disk that is full: what was written is valid, and what is missing is known. */
START_TEST(full_disk_leaves_valid_file)
{
	struct cmt_recorder_counts counts = { .sz = sizeof(counts) };
	struct cmt_recording *r;
	uint64_t records = 0, missing = 0;

	made_begin(&made, 65536);
	made_tick(&made, 0);
	made_state(&made, 0);
	made.refuse = -ENOSPC;
	made_state(&made, 1);
	ck_assert_int_eq(cmt_recorder_end(made.recorder), -ENOSPC);
	cmt_recorder_counts(made.recorder, &counts);
	ck_assert_uint_eq(counts.refused, 2);
	made.refuse = 0;
	made_tick(&made, 2);
	made_end(&made);
	r = open_made();
	while (next(r) > 0) {
		records += item->nr_records;
		missing += item->chunks;
	}
	ck_assert_uint_eq(missing, 1);
	ck_assert_uint_eq(records, made.nr_records);
	cmt_recorder_counts(made.recorder, &counts);
	ck_assert_uint_eq(counts.records, counts.written + counts.dropped + counts.open +
					  counts.refused_records);
	ck_assert_uint_eq(counts.bytes, made.nr_bytes);
	cmt_recording_close(r);
}
END_TEST

START_TEST(recorder_options)
{
	struct cmt_recorder_opts good = { .sz = sizeof(good), .info = &made_info,
					  .write = (cmt_recorder_fn)abort };
	struct cmt_recorder_opts bad[9];
	struct cmt_recorder *recorder = NULL;

	for (int i = 0; i < 9; i++)
		bad[i] = good;
	bad[0].info = NULL;
	bad[1].write = NULL;
	bad[2].chunk_ns = 1;
	bad[3].chunk_records = 131073;
	bad[4].level = 10;
	bad[5].repeat = 4097;
	bad[6].max_names = 1;
	bad[7].flags = 4;
	bad[8].sz = 3;
	for (int i = 0; i < 9; i++)
		ck_assert_int_eq(cmt_recorder_new(&recorder, &bad[i]), -EINVAL);
	ck_assert_int_eq(cmt_recorder_new(&recorder, &good), 0);
	cmt_recorder_free(recorder);
	cmt_recorder_free(NULL);
	cmt_recording_close(NULL);
}
END_TEST

/* A file may say anything; names go to terminals. */
START_TEST(name_printable)
{
	struct rec_buffer raw = { .nr = 0 }, texts = { .nr = 0 };
	struct cmt_container c;
	struct rec_cursor in;

	for (int i = 0; i < 5; i++)
		rec_put_varint(&raw, 0);
	rec_put_text(&raw, "/a");
	for (int i = 0; i < 7; i++)
		rec_put_text(&raw, "x\033y");
	in = (struct rec_cursor){ .at = raw.bytes, .end = raw.bytes + raw.nr };
	ck_assert(rec_name_get(&in, &c, &texts));
	ck_assert_str_eq(c.path, "/a");
	ck_assert_str_eq(c.name, "x?y");
	ck_assert_str_eq(c.id, "x?y");
	ck_assert_str_eq(c.pod, "x?y");
	ck_assert_str_eq(c.container_name, "x?y");
	ck_assert_str_eq(c.image, "x?y");
	rec_buffer_free(&raw);
	rec_buffer_free(&texts);
}
END_TEST

/* Each part of a name is read as what it was written as. */
START_TEST(name_parts)
{
	const struct cmt_container put = {
		.sz = sizeof(put), .cgroup_id = 7, .runtime = CMT_RUNTIME_CRIO, .name = "name",
		.id = "id", .pod = "pod", .path = "/the/path", .container_name = "container",
		.pod_name = "pod's", .pod_namespace = "namespace", .image = "image",
		.own_len = 4, .flags = CMT_CONTAINER_OF_USER, .uid = 1000,
	};
	struct rec_buffer raw = { .nr = 0 }, texts = { .nr = 0 };
	struct rec_names names = { .max = 1 };
	struct cmt_container got;
	struct rec_cursor in;

	ck_assert_int_eq(rec_names_set(&names, &put), 0);
	ck_assert_uint_eq(rec_names_put(&names, true, 0, &raw), 1);
	in = (struct rec_cursor){ .at = raw.bytes, .end = raw.bytes + raw.nr };
	ck_assert(rec_name_get(&in, &got, &texts));
	ck_assert_ptr_eq(in.at, in.end);
	ck_assert_uint_eq(got.cgroup_id, put.cgroup_id);
	ck_assert_int_eq(got.runtime, put.runtime);
	ck_assert_uint_eq(got.own_len, put.own_len);
	ck_assert_uint_eq(got.flags, put.flags);
	ck_assert_uint_eq(got.uid, put.uid);
	ck_assert_str_eq(got.path, put.path);
	ck_assert_str_eq(got.name, put.name);
	ck_assert_str_eq(got.id, put.id);
	ck_assert_str_eq(got.pod, put.pod);
	ck_assert_str_eq(got.container_name, put.container_name);
	ck_assert_str_eq(got.pod_name, put.pod_name);
	ck_assert_str_eq(got.pod_namespace, put.pod_namespace);
	ck_assert_str_eq(got.image, put.image);
	rec_names_free(&names);
	rec_buffer_free(&raw);
	rec_buffer_free(&texts);
}
END_TEST

/* HEAD, and a chunk of names with this path, as a recorder with no limits would write it. */
static struct cmt_recording *open_path(size_t length)
{
	struct rec_buffer raw = { 0 }, file = { 0 };
	struct rec_header header;
	const struct rec_buffer *chunk;
	struct rec_packer *packer = rec_packer_new(1);
	const struct cmt_chunk_place *names = &made.places[1];
	char *path = calloc(1, length + 1);
	struct cmt_recording *r;

	ck_assert_uint_eq(names->kind, CMT_CHUNK_NAMES);
	ck_assert(rec_header_parse(&header, made.bytes + names->offset, REC_HEADER));
	memset(path, '/', length);
	for (int i = 0; i < 5; i++)
		rec_put_varint(&raw, 0);
	rec_put_text(&raw, path);
	for (int i = 0; i < 7; i++)
		rec_put_text(&raw, NULL);
	ck_assert_int_eq(rec_pack(packer, &header, &raw, NULL, &chunk), 0);
	rec_put(&file, made.bytes, names->offset);
	rec_put(&file, chunk->bytes, chunk->nr);
	r = open_bytes(file.bytes, file.nr, 0);
	rec_packer_free(packer);
	rec_buffer_free(&file);
	rec_buffer_free(&raw);
	free(path);
	return r;
}

/* Some bytes of a file become no more memory than a recorder's names have. */
START_TEST(long_name_is_damage)
{
	/* the 5 numbers, the length of the path and 7 texts that are none */
	const size_t most = 65536 - 5 - 3 - 7;
	struct cmt_recording *r;

	make();
	r = open_path(most);
	ck_assert_int_eq(next(r), 1);
	ck_assert_uint_eq(item->type, CMT_RECORDING_NAME);
	ck_assert_uint_eq(strlen(item->container->path), most);
	cmt_recording_close(r);
	for (int i = 0; i < 2; i++) {
		r = open_path(i ? 1 << 20 : most + 1);
		ck_assert_int_eq(next(r), 1);
		ck_assert_uint_eq(item->type, CMT_RECORDING_DAMAGE);
		ck_assert_uint_eq(item->damage, CMT_DAMAGE_PAYLOAD);
		ck_assert_int_eq(next(r), 0);
		cmt_recording_close(r);
	}
}
END_TEST

/* What a recorder may be given as a name can be read. */
START_TEST(longest_name_of_a_recorder)
{
	char *path = calloc(1, 65537);
	struct cmt_container c = { .sz = sizeof(c), .cgroup_id = 7, .path = path };
	struct cmt_recording *r;
	uint32_t found = 0;

	made_begin(&made, 512);
	memset(path, '/', 65536);
	ck_assert_int_eq(cmt_recorder_name(made.recorder, &c), -EINVAL);
	for (size_t n = 65535; n; n--) {
		path[n] = '\0';
		if (!cmt_recorder_name(made.recorder, &c))
			break;
	}
	ck_assert_uint_ge(strlen(path), 65000);
	made_tick(&made, 0);
	made_end(&made);
	r = open_made();
	while (next(r) > 0) {
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
		found += item->type == CMT_RECORDING_NAME &&
			 !strcmp(item->container->path, path);
	}
	ck_assert_uint_ge(found, 1);
	cmt_recording_close(r);
	free(path);
}
END_TEST

/* To open a file, no HEAD is unpacked that no recorder makes. */
START_TEST(large_head_is_passed)
{
	struct rec_buffer raw = { 0 }, file = { 0 };
	struct rec_header header;
	const struct rec_buffer *chunk;
	struct rec_packer *packer = rec_packer_new(1);
	uint8_t *zeros = calloc(1, 1 << 20);
	struct rec_head head = { .info = made_info, .program = "large" };
	struct cmt_recording *r;

	make();
	ck_assert(rec_header_parse(&header, made.bytes, REC_HEADER));
	rec_head_put(&head, &raw);
	rec_put_varint(&raw, 1000);
	rec_put_varint(&raw, 1 << 20);
	rec_put(&raw, zeros, 1 << 20);
	ck_assert_int_eq(rec_pack(packer, &header, &raw, NULL, &chunk), 0);
	rec_put(&file, chunk->bytes, chunk->nr);
	rec_put(&file, made.bytes, made.nr_bytes);
	r = open_bytes(file.bytes, file.nr, 0);
	ck_assert_str_eq(about_of(r).program, "test?1");
	while (next(r) > 0)
		ck_assert_uint_ne(item->type, CMT_RECORDING_DAMAGE);
	cmt_recording_close(r);
	rec_packer_free(packer);
	rec_buffer_free(&file);
	rec_buffer_free(&raw);
	free(zeros);
}
END_TEST

/* NULL stands for no memory, and for nothing else. */
#define COLUMN 32768U

static size_t packed_size(const struct rec_buffer *raw, const struct rec_cuts *cuts)
{
	struct rec_packer *packer = rec_packer_new(1);
	struct rec_header header = { .kind = CMT_CHUNK_DATA, .version = CMT_RECORDING_VERSION };
	const struct rec_buffer *chunk;
	size_t n;

	ck_assert_int_eq(rec_pack(packer, &header, raw, cuts, &chunk), 0);
	n = chunk->nr;
	rec_packer_free(packer);
	return n;
}

/* Columns of other symbols are packed apart, also behind one that is too short for that. */
START_TEST(packed_in_columns)
{
	struct rec_buffer raw = { 0 };
	struct rec_cuts cuts = { .nr = 3, .at = { 10, 10 + COLUMN, 10 + 2 * COLUMN } };

	for (uint32_t i = 0; i < 10 + 2 * COLUMN; i++) {
		uint8_t byte = (uint8_t)((i < 10 + COLUMN ? 0 : 128) + made_any() % 64);

		rec_put(&raw, &byte, 1);
	}
	ck_assert_uint_lt(packed_size(&raw, &cuts), packed_size(&raw, NULL) * 19 / 20);
	rec_buffer_free(&raw);
}
END_TEST

/* What other calls left where those after it have their variables */
static __attribute__((noinline)) void leave_bytes(void)
{
	volatile uint8_t bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0xa5;
}

/* The format has 0 there, and a file has nothing of the memory of its recorder. */
START_TEST(end_of_header_is_zero)
{
	static const uint8_t zero[8];
	struct rec_packer *packer = rec_packer_new(1);
	struct rec_header header = { .kind = CMT_CHUNK_HEAD };
	struct rec_buffer raw = { 0 };
	const struct rec_buffer *chunk;

	rec_put(&raw, "payload", 7);
	leave_bytes();
	ck_assert_int_eq(rec_pack(packer, &header, &raw, NULL, &chunk), 0);
	ck_assert_mem_eq(chunk->bytes + REC_HEADER - sizeof(zero), zero, sizeof(zero));
	rec_packer_free(packer);
	rec_buffer_free(&raw);
}
END_TEST

/* An address in a file is none of this program, and a size is that of its section. */
START_TEST(address_in_a_file_is_ignored)
{
	struct cmt_uncore uncore = { .size = sizeof(uncore), .channels_reason = "none here" };
	const struct cmt_recording_state from = { .sz = sizeof(from), .uncore = &uncore };
	struct rec_state state = { 0 };
	struct rec_buffer raw = { 0 };
	uint8_t *at;

	rec_state_put(&from, &raw);
	at = memmem(raw.bytes, raw.nr, "none here", 9);
	ck_assert_ptr_nonnull(at);
	at += (ptrdiff_t)offsetof(struct cmt_uncore, boxes) -
	      (ptrdiff_t)offsetof(struct cmt_uncore, channels_reason);
	memset(at, 0xff, sizeof(uncore.boxes));
	memset(at - offsetof(struct cmt_uncore, boxes), 0xff, sizeof(uncore.size));
	ck_assert_int_eq(rec_state_get(&state, &raw), 0);
	ck_assert_str_eq(state.uncore.channels_reason, "none here");
	ck_assert_uint_eq(state.uncore.boxes, 0);
	ck_assert_uint_eq(state.uncore.size, sizeof(uncore));
	rec_state_free(&state);
	rec_buffer_free(&raw);
}
END_TEST

/* A text with a NUL in it, and one whose end is missing, are damage. */
START_TEST(text_damaged)
{
	static const uint8_t good[] = "\4abc", nul[] = "\4a\0c", cut[] = "\5abc";
	const struct { const uint8_t *bytes; bool good; } cases[] = {
		{ good, true }, { nul, false }, { cut, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rec_cursor in = { .at = cases[i].bytes, .end = cases[i].bytes + 4 };
		struct rec_buffer texts = { 0 };
		size_t at;

		ck_assert(rec_get_text(&in, &texts, &at) == cases[i].good);
		ck_assert(in.bad == !cases[i].good);
		rec_buffer_free(&texts);
	}
}
END_TEST

START_TEST(recorder_without_room)
{
	struct rec_buffer buffer = { .nr = 0 };

	ck_assert_ptr_nonnull(rec_buffer_room(&buffer, 0));
	ck_assert(!buffer.failed);
	rec_buffer_free(&buffer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording");
	TCase *damaged_case = tcase_create("damaged");

	UNIT_CASE(suite, all_records_come_back);
	UNIT_CASE(suite, items_in_order);
	UNIT_CASE(suite, about_describes_recording);
	UNIT_CASE(suite, clocks_without_state);
	UNIT_CASE(suite, seek_to_time);
	UNIT_CASE(suite, more_chunks_than_marks);
	UNIT_CASE(suite, selected_chunks_with_index);
	UNIT_CASE(suite, missing_chunks_are_counted);
	UNIT_CASE(suite, growing_file_gives_complete_chunks);
	tcase_set_timeout(damaged_case, 300);
	tcase_add_test(damaged_case, damaged_chunks_are_reported);
	tcase_add_test(damaged_case, damage_counts_once);
	suite_add_tcase(suite, damaged_case);
	UNIT_CASE(suite, name_printable);
	UNIT_CASE(suite, long_name_is_damage);
	UNIT_CASE(suite, longest_name_of_a_recorder);
	UNIT_CASE(suite, large_head_is_passed);
	UNIT_CASE(suite, name_parts);
	UNIT_CASE(suite, text_damaged);
	UNIT_CASE(suite, packed_in_columns);
	UNIT_CASE(suite, end_of_header_is_zero);
	UNIT_CASE(suite, address_in_a_file_is_ignored);
	UNIT_CASE(suite, recorder_without_room);
	UNIT_CASE(suite, header_on_search_border);
	UNIT_CASE(suite, newer_major_version_is_refused);
	UNIT_CASE(suite, old_head_means_exact_counts);
	UNIT_CASE(suite, head_of_possible_device);
	UNIT_CASE(suite, next_head_replaces_damaged_head);
	UNIT_CASE(suite, gaps_in_time);
	UNIT_CASE(suite, damage_before_sought_time_is_no_item);
	UNIT_CASE(suite, impossible_index_places);
	UNIT_CASE(suite, index_of_equal_times);
	UNIT_CASE(suite, gaps_without_end);
	UNIT_CASE(suite, payloads_that_overlap);
	UNIT_CASE(suite, unknown_kind_is_no_damage);
	UNIT_CASE(suite, oversized_payload_is_damage);
	UNIT_CASE(suite, large_payload_of_unknown_kind);
	UNIT_CASE(suite, cut_within);
	UNIT_CASE(suite, chunks_of_two_recorders);
	UNIT_CASE(suite, file_without_recording);
	UNIT_CASE(suite, offset_of_caller_stays);
	UNIT_CASE(suite, sparse_file);
	UNIT_CASE(suite, full_disk_leaves_valid_file);
	UNIT_CASE(suite, recorder_options);
	return unit_run(suite);
}

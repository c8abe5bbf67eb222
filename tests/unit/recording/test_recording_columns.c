// SPDX-License-Identifier: GPL-2.0-or-later
/* Records to columns and back: bit for bit, in order; and bytes that are no columns. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/reader.h>

#include "recording/columns.h"
#include "recording/crc.h"
#include "recording/model.h"
#include "recording/round.h"
#include "unit.h"

#define MS 1000000ULL
#define MOST 4096U

static struct rec_model *model;
static struct rec_buffer buffer;
static struct rec_cuts cuts;
static struct cmt_record records[MOST], decoded[MOST];
static uint64_t seed;

static void setup(void)
{
	model = rec_model_new();
	ck_assert_ptr_nonnull(model);
	seed = 88172645463325252ULL;
}

static void teardown(void)
{
	rec_model_free(model);
	rec_buffer_free(&buffer);
}

static uint64_t any(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int decode(size_t nr_bytes, uint32_t n)
{
	struct rec_cursor in = { .at = buffer.bytes, .end = buffer.bytes + nr_bytes };
	int ret;

	memset(decoded, 0x5a, sizeof(decoded));
	ret = rec_columns_decode(model, &in, decoded, n);
	/* the columns are the rest of a payload */
	ck_assert(ret || in.at == in.end);
	return ret;
}

/* Before the columns are their lengths, varints: the last byte of each is below 128. */
static void check_cuts(void)
{
	const uint8_t *at = buffer.bytes + cuts.at[0];

	ck_assert_uint_eq(cuts.nr, REC_COLUMNS + 1);
	for (uint32_t i = 0, shift; i < REC_COLUMNS; i++) {
		uint32_t last = REC_COLUMNS - i, length = 0;

		ck_assert_uint_ge(cuts.at[last], cuts.at[last - 1]);
		for (shift = 1, at--; at[-1] & 0x80; at--)
			shift++;
		for (uint32_t k = 0; k < shift; k++)
			length |= (uint32_t)(at[k] & 0x7f) << 7 * k;
		ck_assert_uint_eq(length, cuts.at[last] - cuts.at[last - 1]);
	}
}

static void round_trip(uint32_t n, uint32_t unit)
{
	buffer.nr = 0;
	ck_assert_int_eq(rec_columns_encode(model, records, n, unit, &buffer,
					    &cuts), 0);
	check_cuts();
	ck_assert_int_eq(decode(buffer.nr, n), 0);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_msg(!memcmp(&records[i], &decoded[i], sizeof(records[i])),
			      "record %u of %u", i, n);
}

START_TEST(crc)
{
	uint8_t bytes[300];

	ck_assert_uint_eq(cmt_crc32c("123456789", 9), 0xe3069283);
	ck_assert_uint_eq(cmt_crc32c_table("123456789", 9), 0xe3069283);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)any();
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; from + n <= sizeof(bytes); n++)
			ck_assert_uint_eq(cmt_crc32c(bytes + from, n),
					  cmt_crc32c_table(bytes + from, n));
}
END_TEST

START_TEST(no_records)
{
	round_trip(0, 64);
}
END_TEST

/* Records of one time, in the order of their CPUs. */
START_TEST(equal_times_sorted_by_cpu)
{
	memset(records, 0, sizeof(records));
	for (uint32_t i = 0; i < 400; i++) {
		records[i].type = CMT_REC_TICK;
		records[i].cpu = i % 4;
		records[i].ts = MS * (i / 4);
		records[i].interval_ns = MS;
	}
	round_trip(400, 64);
}
END_TEST

static void any_bits(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t words[8];

		for (int w = 0; w < 8; w++) {
			uint64_t bits = any(), mask = any();

			words[w] = bits & mask >> any() % 64;
		}
		memcpy(&records[i], words, sizeof(words));
	}
}

/* Whatever bits there are, in any order. */
START_TEST(random_bits)
{
	for (uint32_t n = 1; n < MOST; n = n * 2 + 1) {
		any_bits(n);
		round_trip(n, 64);
		round_trip(n, 0);
	}
}
END_TEST

/* The extremes of each member. */
START_TEST(extreme_values)
{
	static const uint64_t extremes[] = { 0, 1, UINT64_MAX, 1ULL << 63, INT64_MAX, 255 };

	for (uint32_t i = 0; i < MOST; i++) {
		uint64_t words[8];

		for (int w = 0; w < 8; w++)
			words[w] = extremes[any() % 6];
		memcpy(&records[i], words, sizeof(words));
		records[i].type = (uint16_t)(16 + any() % 5);
		records[i].cpu = (uint16_t)(any() % 4);
	}
	round_trip(MOST, 65536);
}
END_TEST

static struct cmt_record reading(uint16_t type, uint64_t ts, uint16_t cpu, uint32_t rmid)
{
	struct cmt_record r = {
		.ts = ts, .type = type, .cpu = cpu, .rmid = rmid, .generation = rmid + 7,
		.domain = cpu / 2U,
	};

	return r;
}

/* As a machine gives them: 4 CPUs, each millisecond. */
static uint32_t machine(uint32_t most, uint32_t unit)
{
	uint64_t total[64] = { 0 };
	uint32_t n = 0;

	for (uint64_t ms = 1; n + 32 < most; ms++) {
		for (uint16_t cpu = 0; cpu < 4; cpu++) {
			for (uint32_t i = 0; i < 4; i++) {
				struct cmt_record r = reading(CMT_REC_SAMPLE,
					ms * MS + cpu * 100 + i * 20, cpu, 1 + cpu * 8 + i);

				total[r.rmid] += any() % 100;
				r.flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;
				r.sample.occupancy_bytes = (any() % 1000) * unit;
				r.sample.mbm_total_bytes = total[r.rmid] * unit;
				r.sample.mbm_local_bytes = total[r.rmid] / 2 * unit;
				records[n++] = r;
			}
			records[n++] = reading(CMT_REC_TICK, ms * MS + cpu * 100 + 90, cpu, 0);
		}
	}
	return n;
}

START_TEST(values_in_units)
{
	uint32_t n = machine(MOST, 65536);
	size_t in_units, in_bytes;

	round_trip(n, 65536);
	in_units = buffer.nr;
	round_trip(n, 0);
	in_bytes = buffer.nr;
	ck_assert_uint_lt(in_units, in_bytes);
	/* one value that is no whole unit: it comes out as it was */
	for (uint32_t i = 0; i < n; i++)
		if (records[i].type == CMT_REC_SAMPLE)
			records[i].sample.mbm_total_bytes += i == n / 2 || i == n / 2 + 1;
	round_trip(n, 65536);
}
END_TEST

/* What comes from @cpu in a millisecond. */
static uint32_t tick_of(uint32_t n, uint64_t ms, uint16_t cpu)
{
	uint64_t ts = ms * MS + cpu * 100;

	for (uint32_t i = 0; i < 4; i++) {
		struct cmt_record r = reading(CMT_REC_SAMPLE, ts + i * 20, cpu,
					      1 + (uint32_t)(any() % 24));

		r.flags = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
		r.flags |= any() % 16 ? 0 : CMT_F_REBASED;
		r.sample.occupancy_bytes = any() % 1000 * 64;
		r.sample.mbm_total_bytes = any() % 5000 * 64;
		r.sample.mbm_local_bytes = r.sample.mbm_total_bytes / 2;
		records[n++] = r;
		r = reading(CMT_REC_PERF, ts + i * 20 + 5, cpu, r.rmid);
		r.flags = CMT_F_CYCLES;
		r.ran_ns = (uint32_t)(any() % MS);
		r.perf.cycles = any() % 3000000;
		r.perf.instructions = any() % 6000000;
		records[n++] = r;
	}
	records[n] = reading(CMT_REC_ALLOC, ts + 90, cpu, 1 + (uint32_t)(any() % 24));
	records[n].owner.cgroup_id = any() % 100000;
	n += any() % 8 == 0;
	records[n] = reading(CMT_REC_TICK, ts + 95, cpu, 0);
	records[n].interval_ns = MS;
	records[n++].tick.busy_ns = ms * 3000;
	return n;
}

/*
 * The bytes are those of format 1 (docs/recording.md): whoever changes them changes what
 * older readers find in a file.
 */
START_TEST(bytes_are_those_of_the_format)
{
	uint32_t n = 0;

	for (uint64_t ms = 1; n + 64 < MOST; ms++)
		for (uint16_t cpu = 0; cpu < 4; cpu++)
			n = tick_of(n, ms, cpu);
	round_trip(n, 64);
	ck_assert_uint_eq(cmt_crc32c(buffer.bytes, buffer.nr), 0x4a16dba);
}
END_TEST

/* Each place has a count, counts rise with it, and rounding is at most 1 in 512 off. */
START_TEST(rounded_counts)
{
	for (uint64_t place = 0; place <= REC_PLACE_MAX; place++) {
		uint64_t count = rec_of_place(place);

		ck_assert_uint_eq(rec_place(count), place);
		ck_assert(rec_is_rounded(count));
		ck_assert_uint_eq(rec_round(count), count);
		ck_assert(!place || count > rec_of_place(place - 1));
	}
	ck_assert_uint_eq(rec_place(UINT64_MAX), REC_PLACE_MAX);
	ck_assert_uint_eq(rec_round(UINT64_MAX), rec_of_place(REC_PLACE_MAX));
	ck_assert_uint_eq(rec_round(511), 511);
	ck_assert(!rec_is_rounded(513));
	ck_assert_uint_eq(rec_round(1023), 1024);
	ck_assert_uint_eq(rec_round32(1023), 1024);
	ck_assert_uint_eq(rec_round32(UINT32_MAX), 511U << 23);
	for (int i = 0; i < 100000; i++) {
		uint64_t count = any() >> any() % 64, rounded = rec_round(count);
		uint64_t off = rounded > count ? rounded - count : count - rounded;

		ck_assert(rec_is_rounded(rounded));
		ck_assert_uint_le(off, count >> 9);
	}
}
END_TEST

/* A machine that counts: @round makes them what a recorder makes of them. */
static size_t counts(uint32_t n, bool round)
{
	for (uint32_t i = 0; i < n; i++) {
		struct cmt_record *r = &records[i];

		if (r->type != CMT_REC_SAMPLE && r->type != CMT_REC_PERF)
			continue;
		r->type = CMT_REC_PERF;
		r->ran_ns = 900000 + (uint32_t)(any() % 100000);
		r->perf.cycles = 3ULL * r->ran_ns + any() % 10000;
		r->perf.instructions = r->perf.cycles + any() % 300000;
		r->perf.waited_ns = 0;
		r->perf.llc_misses = (uint32_t)(any() % 2000);
		r->perf.llc_references = UINT32_MAX - (uint32_t)(any() % 100000);
		if (!round)
			continue;
		r->perf.cycles = rec_round(r->perf.cycles);
		r->perf.instructions = rec_round(r->perf.instructions);
		r->perf.llc_misses = rec_round32(r->perf.llc_misses);
		r->perf.llc_references = rec_round32(r->perf.llc_references);
	}
	round_trip(n, 64);
	return buffer.nr;
}

START_TEST(rounded_counts_of_records)
{
	uint32_t n = machine(MOST, 64);
	size_t exact = counts(n, false);

	ck_assert(!model->rounded);
	ck_assert_uint_lt(counts(n, true), exact * 9 / 10);
	ck_assert(model->rounded);
	ck_assert(!decode(buffer.nr, n));
	/* bits that nobody knows: the second byte says what the values are */
	buffer.bytes[1] |= 128;
	ck_assert_int_eq(decode(buffer.nr, n), -EBADMSG);
	/* one count of all is not: all come out as they were */
	for (uint32_t i = 0; i < n; i++)
		if (records[i].type == CMT_REC_PERF && i > n / 2) {
			records[i].perf.instructions |= 0x100001;
			break;
		}
	round_trip(n, 64);
	ck_assert(!model->rounded);
}
END_TEST

/* Waits of some of the counts.  Returns the index of the last one. */
static uint32_t waits(uint32_t n)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (records[i].type != CMT_REC_PERF)
			continue;
		records[i].perf.waited_ns = any() % 4 ? 0 : any() % 1000 * 1024;
		last = i;
	}
	round_trip(n, 64);
	return last;
}

/* Waits have a column only where there are some, and are in units where all can be. */
START_TEST(waits_of_records)
{
	uint32_t n = machine(MOST, 64), last;
	size_t without = counts(n, true);

	ck_assert_uint_eq(model->wait_unit, 0);
	last = waits(n);
	ck_assert_uint_eq(model->wait_unit, 1024);
	ck_assert_uint_lt(buffer.nr, without + n * 2);
	records[last].perf.waited_ns = UINT64_MAX;
	round_trip(n, 64);
	ck_assert_uint_eq(model->wait_unit, 1);
}
END_TEST

/*
 * A chunk as it was written when misses and references had 64 bits and there were no waits:
 * one record, of 2^33 references and 7 misses.
 */
START_TEST(older_chunk)
{
	static const uint8_t bytes[] = {
		0x00, 0x1f, 0x40, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01,
		0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x18, 0x03, 0x00, 0x04,
		0x18, 0x0b, 0x0c, 0x00, 0x04, 0x0e, 0x80, 0x96, 0x18, 0x01, 0x00, 0x00,
		0x85, 0xde, 0x1d, 0x06, 0xa0
	};
	const struct cmt_record *r = &decoded[0];

	rec_put(&buffer, bytes, sizeof(bytes));
	ck_assert_int_eq(decode(buffer.nr, 1), 0);
	ck_assert_uint_eq(r->type, CMT_REC_PERF);
	ck_assert_uint_eq(r->perf.cycles, 3000);
	ck_assert_uint_eq(r->perf.llc_misses, 7);
	ck_assert_uint_eq(r->perf.llc_references, 0);
	ck_assert_uint_eq(r->perf.waited_ns, 0);
	ck_assert_uint_eq(r->flags, CMT_F_CYCLES | CMT_F_LLC_MISSES);
}
END_TEST

/* A difference that leads behind the last place is no count. */
START_TEST(index_behind_last_is_refused)
{
	uint32_t n = 1;

	records[0] = reading(CMT_REC_PERF, MS, 0, 1);
	records[0].perf.cycles = 1000;
	records[0].perf.instructions = UINT64_MAX;
	round_trip(n, 64);
	ck_assert(!model->rounded);
	/* as if they had been rounded */
	buffer.bytes[1] |= 16;
	ck_assert_int_eq(decode(buffer.nr, n), -EBADMSG);
}
END_TEST

/* Boxes of a socket, @step from one to the next, each millisecond. */
static size_t channels(uint32_t n, uint32_t step)
{
	for (uint32_t i = 0; i < n; i++) {
		records[i] = reading(CMT_REC_CHANNEL, (1 + i / 8) * MS + i % 8, 0, 0);
		records[i].reserved = i % 8 * step;
	}
	round_trip(n, 64);
	return buffer.nr;
}

/* What follows as expected has no bits. */
START_TEST(channels_follow_each_other)
{
	ck_assert_uint_lt(channels(800, 1) + 60, channels(800, UINT32_MAX));
	ck_assert_uint_lt(channels(800, 1) + 60, channels(800, 3));
}
END_TEST

static void check_bytes(const char *of, uint32_t crc)
{
	uint32_t is = cmt_crc32c(buffer.bytes, buffer.nr);

	ck_assert_msg(is == crc, "%s: %#x", of, is);
}

/* As bytes_are_those_of_the_format, of each kind of records. */
START_TEST(bytes_of_each_kind)
{
	uint32_t n = machine(MOST, 65536);

	round_trip(n, 65536);
	check_bytes("samples", 0xea9f835d);
	counts(n, false);
	check_bytes("exact counts", 0x8f99b55b);
	counts(n, true);
	check_bytes("rounded counts", 0x61b47cb7);
	waits(n);
	check_bytes("waits", 0xd39e30f4);
	channels(800, 3);
	check_bytes("channels", 0x4f97712b);
	any_bits(800);
	round_trip(800, 64);
	check_bytes("any bits", 0x1a56f985);
}
END_TEST

/* A gap has the time of what was delivered before it, of whatever CPU. */
START_TEST(gap_record)
{
	uint32_t n = machine(MOST, 64);

	for (uint32_t i = 10; i < n; i += 500) {
		records[i].type = CMT_REC_LOST;
		records[i].cpu = 0;
		records[i].ts = records[i - 1].ts;
	}
	round_trip(n, 64);
}
END_TEST

/* What is cut is refused, and never read behind its end. */
START_TEST(cut_columns_are_refused)
{
	uint32_t n = machine(200, 64);

	round_trip(n, 64);
	for (size_t nr = 0; nr < buffer.nr; nr++) {
		uint8_t *bytes = malloc(nr + 1);
		struct rec_cursor in = { .at = bytes, .end = bytes + nr };

		memcpy(bytes, buffer.bytes, nr);
		ck_assert_int_eq(rec_columns_decode(model, &in, decoded, n), -EBADMSG);
		free(bytes);
	}
}
END_TEST

/* Foreign bytes: anything may come out, or nothing. */
START_TEST(random_columns)
{
	uint32_t n = machine(200, 64);
	uint8_t *was;
	size_t nr;

	round_trip(n, 64);
	nr = buffer.nr;
	was = malloc(nr);
	memcpy(was, buffer.bytes, nr);
	for (int i = 0; i < 2000; i++) {
		int ret;

		memcpy(buffer.bytes, was, nr);
		for (int flips = 1 + (int)(any() % 4); flips; flips--)
			buffer.bytes[any() % (any() % 2 ? nr : 200)] ^= (uint8_t)(1 << any() % 8);
		ret = decode(nr, n);
		ck_assert(!ret || ret == -EBADMSG);
	}
	free(was);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recording_columns");
	TCase *tcase = tcase_create("all");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, crc);
	tcase_add_test(tcase, no_records);
	tcase_add_test(tcase, equal_times_sorted_by_cpu);
	tcase_add_test(tcase, random_bits);
	tcase_add_test(tcase, extreme_values);
	tcase_add_test(tcase, values_in_units);
	tcase_add_test(tcase, bytes_are_those_of_the_format);
	tcase_add_test(tcase, rounded_counts);
	tcase_add_test(tcase, rounded_counts_of_records);
	tcase_add_test(tcase, waits_of_records);
	tcase_add_test(tcase, older_chunk);
	tcase_add_test(tcase, index_behind_last_is_refused);
	tcase_add_test(tcase, channels_follow_each_other);
	tcase_add_test(tcase, bytes_of_each_kind);
	tcase_add_test(tcase, gap_record);
	tcase_add_test(tcase, cut_columns_are_refused);
	tcase_add_test(tcase, random_columns);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}

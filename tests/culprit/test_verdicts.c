// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdicts on a scripted host of two caches, one by one: whom, whose, when, and with
 * which numbers.  The host is computed with integers, the same on every machine.  A
 * change of the method changes verdicts.txt: VERDICTS_WRITE=FILE writes the new one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/culprit.h>

#include "rng.h"
#include "unit.h"

#define MS	1000000ULL
#define KIB	1024ULL
#define OWNERS	12
#define OUTSIDE	11		/* as RMID 0: no victim, and not idle where it has no sample */
#define CACHE	(24 * 1024 * KIB)	/* of a domain */
#define PEAK	(20000 * KIB)	/* of a domain, a slot */
#define END	7501		/* ms */
#define READ	(CMT_CULPRIT_OCCUPANCY | CMT_CULPRIT_TRAFFIC)
#define COUNTED	(CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS | CMT_CULPRIT_MISSES)
#define LINES	256

/* In bytes; what it moves and holds is from the slot before. */
struct owner {
	uint64_t set;		/* that it uses again and again */
	uint64_t stream;	/* a slot, never used again */
	bool bypass;		/* the stream leaves nothing in the cache */
	bool runs;
	uint64_t held, moved;
	uint64_t unread;	/* moved since the last reading, */
	uint32_t span;		/* of so many slots */
};

/* From @from to before @to the owners in @who (bits) have this. */
static const struct change {
	uint32_t from, to, who;
	uint64_t set_kib, stream_kib;
	bool bypass;
} changes[] = {
	{ .from = 600, .to = 640, .who = 1U << 1, .stream_kib = 2500 },
	{ .from = 900, .to = 960, .who = 1U << 4, .stream_kib = 900 },
	{ .from = 1500, .to = 1560, .who = 0xcU << 1, .stream_kib = 400 },
	{ .from = 1900, .to = 1960, .who = 1U << 7, .stream_kib = 17000, .bypass = true },
	{ .from = 2100, .to = 2150, .who = 0x15U << 6, .stream_kib = 6000, .bypass = true },
	{ .from = 2300, .to = 2500, .who = 1U << 8, .set_kib = 12000 },
	{ .from = 2740, .to = 2840, .who = 1U << OUTSIDE, .stream_kib = 3000 },
	{ .from = 3100, .to = 3160, .who = 0x3f, .stream_kib = 500 },
	{ .from = 4300, .to = 4340, .who = 3U << 1, .stream_kib = 1200 },
	{ .from = 4700, .to = 4740, .who = 1U << 9, .stream_kib = 3000 },
	{ .from = 4710, .to = 4750, .who = 1U << 10, .stream_kib = 3000 },
	{ .from = 5000, .to = 5040, .who = 1U << 2, .stream_kib = 1500 },
	{ .from = 5500, .to = 5900, .who = 1U << 3, .set_kib = 20000 },
	{ .from = 6300, .to = 6340, .who = 1U << 4, .stream_kib = 700 },
};

static struct owner owners[OWNERS];
static struct cmt_culprit *culprit;
static struct rng rng;
static char lines[LINES][240];
static uint32_t nr_lines;

static uint32_t domain_of(uint32_t i)
{
	return i >= 6 && i != OUTSIDE;
}

static void change_all(uint32_t ms)
{
	for (uint32_t i = 0; i < OWNERS; i++) {
		owners[i].set = (i % 4 + 1) * 2000 * KIB;
		owners[i].stream = (20 + i) * KIB;
		owners[i].bypass = false;
		owners[i].runs = i != 5 || ms / 37 % 2;
	}
	for (uint32_t k = 0; k < sizeof(changes) / sizeof(changes[0]); k++) {
		const struct change *c = &changes[k];
		uint64_t part = ms - c->from < 100 ? ms - c->from : 100;

		for (uint32_t i = 0; i < OWNERS && ms >= c->from && ms < c->to; i++) {
			if (!(c->who >> i & 1))
				continue;
			if (c->set_kib)
				owners[i].set += (c->set_kib * KIB - owners[i].set) * part / 100;
			owners[i].stream += c->stream_kib * KIB;
			owners[i].bypass = c->bypass;
		}
	}
}

/* Each fetches an eighth of what is missing of its set, and its stream. */
static void move(struct owner *owner)
{
	uint64_t missing = owner->set > owner->held ? owner->set - owner->held : 0;
	uint64_t fetched = missing / 8 + rng_below(&rng, 16) * KIB;

	owner->moved = owner->runs ? fetched + owner->stream : 0;
	if (owner->runs)
		owner->held += fetched + (owner->bypass ? 0 : owner->stream);
	owner->unread += owner->moved;
	owner->span++;
}

/* What is too much leaves, of each its part. */
static uint64_t settle(uint32_t domain)
{
	uint64_t sum = 0, traffic = 0;

	for (uint32_t i = 0; i < OWNERS; i++) {
		if (domain_of(i) != domain)
			continue;
		sum += owners[i].held;
		traffic += owners[i].moved;
	}
	for (uint32_t i = 0; i < OWNERS && sum > CACHE; i++)
		if (domain_of(i) == domain)
			owners[i].held -= (sum - CACHE) / KIB * owners[i].held / sum * KIB;
	return traffic;
}

static void count(struct cmt_culprit_sample *sample, const struct owner *owner, bool busy)
{
	uint64_t misses = owner->moved / 64;

	sample->valid |= COUNTED | CMT_CULPRIT_REFERENCES;
	sample->references = 2 * misses + 1000;
	sample->cycles = 3000000;
	sample->misses = misses;
	sample->instructions = 2000000ULL * 10000 / (10000 + misses) * (busy ? 7 : 10) / 10 +
			       rng_below(&rng, 2000);
}

/* What a reader sees of an owner; false: no sample. */
static bool see(uint32_t i, bool part, bool busy, struct cmt_culprit_sample *sample)
{
	struct owner *owner = &owners[i];
	bool read = i == OUTSIDE || rng_below(&rng, 150) > 0;

	*sample = (struct cmt_culprit_sample){ .id = 100 + i, .domain = domain_of(i) };
	if (i == OUTSIDE)
		sample->flags = CMT_CULPRIT_NO_VICTIM | CMT_CULPRIT_NO_REST;
	if (!owner->runs) {
		sample->valid = CMT_CULPRIT_IDLE;
		return !part;
	}
	if (!read)
		return !part || i != OUTSIDE;
	sample->valid = READ;
	sample->occupancy_bytes = owner->held / (64 * KIB) * 64 * KIB;
	sample->traffic_bytes = owner->unread;
	sample->span = owner->span;
	owner->unread = 0;
	owner->span = 0;
	if (i % 2 && i != OUTSIDE)
		count(sample, owner, busy);
	return true;
}

static void add_line(const char *line)
{
	ck_assert_uint_lt(nr_lines, LINES);
	ck_assert_uint_lt(strlen(line), sizeof(lines[0]));
	strcpy(lines[nr_lines++], line);
}

static int hundredths(double value)
{
	return isnan(value) ? -1 : (int)(value * 100 + 0.5);
}

static void add_verdict(const struct cmt_culprit_verdict *v)
{
	char line[400];
	int n = snprintf(line, sizeof(line),
			 "%" PRIu64 " us kind %d of %" PRIu64 ".%u flags %u since %" PRIu64
			 " lost %" PRIu64 " of %" PRIu64 " now %" PRIu64
			 " refetched %" PRIu64 " sure %d cpi %d %d mpki %d %d cpu %d:",
			 v->ts_ns / 1000, v->kind, v->id, v->domain, v->flags, v->since_ns / 1000,
			 v->lost_bytes >> 14, v->occupancy_before >> 14,
			 v->occupancy_bytes >> 14, v->refetched_bytes >> 14,
			 hundredths(v->confidence), hundredths(v->cpi), hundredths(v->cpi_before),
			 hundredths(v->mpki), hundredths(v->mpki_before), hundredths(v->cpu_share));

	for (uint32_t i = 0; i < v->nr_suspects && i < 2; i++) {
		const struct cmt_culprit_suspect *s = &v->suspects[i];

		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      " %" PRIu64 " %d%% %" PRIu64 " %" PRIu64 "-%" PRIu64
			      " %" PRIu64 "-%" PRIu64, s->id, hundredths(s->share),
			      s->taken_bytes >> 14, s->occupancy_before >> 14,
			      s->occupancy_bytes >> 14, s->traffic_before >> 24,
			      s->traffic_bytes >> 24);
	}
	snprintf(line + n, sizeof(line) - (size_t)n, " /%u\n", v->nr_suspects);
	add_line(line);
}

static void add_slower(uint32_t ms)
{
	struct cmt_slowdown list[3];
	int nr = cmt_culprit_slowdown(culprit, list, 3);
	char line[240];
	int n = snprintf(line, sizeof(line), "%u ms slower:", ms);

	for (int i = 0; i < nr; i++)
		n += snprintf(line + n, sizeof(line) - (size_t)n,
			      " %" PRIu64 " by %" PRIu64 " %d%% %s,", list[i].id, list[i].by,
			      hundredths(list[i].share),
			      list[i].resource == CMT_SLOWDOWN_CACHE ? "cache" : "memory");
	snprintf(line + n, sizeof(line) - (size_t)n, "\n");
	add_line(line);
}

static void add_counts(uint32_t ms)
{
	struct cmt_culprit_counts c = { .sz = sizeof(c) };
	char line[240];

	ck_assert_int_eq(cmt_culprit_counts(culprit, &c), 0);
	snprintf(line, sizeof(line), "%u ms slots %" PRIu64 " samples %" PRIu64 " verdicts %"
		 PRIu64 " missing %" PRIu64 " owners %u learning %u\n", ms, c.slots, c.samples,
		 c.verdicts, c.missing, c.owners, c.learning);
	add_line(line);
}

static void add_cpu(uint32_t ms)
{
	const struct cmt_culprit_cpu cpu = {
		.sz = sizeof(cpu), .id = 100, .start_ns = (ms - 100) * MS, .end_ns = ms * MS,
		.throttled_ns = 10 * MS, .stolen_ns = 20 * MS,
		.valid = CMT_CULPRIT_CPU_THROTTLED | CMT_CULPRIT_CPU_STOLEN,
	};

	if (ms == 4300)
		ck_assert_int_eq(cmt_culprit_add_cpu(culprit, &cpu), 1);
}

static void step(uint32_t ms)
{
	struct cmt_culprit_sample samples[OWNERS];
	struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = ms * MS, .samples = samples,
		.sample_size = sizeof(samples[0]),
		.flags = ms % 8 ? CMT_CULPRIT_SLOT_PART | CMT_CULPRIT_SLOT_IDLE : 0,
	};
	const struct cmt_culprit_verdict *verdict;
	bool busy[2];

	change_all(ms);
	for (uint32_t i = 0; i < OWNERS; i++)
		move(&owners[i]);
	for (uint32_t d = 0; d < 2; d++)
		busy[d] = settle(d) > PEAK * 3 / 4;
	/* readers are away for some ms, and for more; an owner goes */
	if ((ms >= 3400 && ms < 3410) || (ms >= 3600 && ms < 3700))
		return;
	for (uint32_t i = 0; i < (ms < 4800 ? OWNERS : OWNERS - 1); i++)
		if (see(i, slot.flags, busy[domain_of(i)], &samples[slot.nr_samples]))
			slot.nr_samples++;
	ck_assert_int_ge(cmt_culprit_add(culprit, &slot), 0);
	add_cpu(ms);
	while (cmt_culprit_next(culprit, &verdict) > 0)
		add_verdict(verdict);
}

static void write_lines(void)
{
	const char *path = getenv("VERDICTS_WRITE");
	FILE *file = path ? fopen(path, "w") : NULL;

	for (uint32_t i = 0; file && i < nr_lines; i++)
		fputs(lines[i], file);
	if (file)
		fclose(file);
}

START_TEST(scripted_host)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .unit_bytes = 64 * KIB, .peak_bytes = PEAK * 1000,
	};
	FILE *file = fopen(VERDICTS, "r");
	char line[256];
	uint32_t n = 0;

	rng = (struct rng){ 7 };
	memset(owners, 0, sizeof(owners));
	nr_lines = 0;
	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	for (uint32_t ms = 1; ms < END; ms++) {
		step(ms);
		if (ms % 500 == 0) {
			add_slower(ms);
			add_counts(ms);
		}
	}
	cmt_culprit_free(culprit);
	write_lines();
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		ck_assert_uint_lt(n, nr_lines);
		ck_assert_str_eq(lines[n], line);
		n++;
	}
	fclose(file);
	ck_assert_uint_eq(n, nr_lines);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdicts");

	UNIT_CASE(suite, scripted_host);
	return unit_run(suite);
}

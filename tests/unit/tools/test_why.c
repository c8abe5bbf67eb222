// SPDX-License-Identifier: GPL-2.0-or-later
/* What cmtstat --why says of a verdict. */
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "why/why_view.h"

#define MS 1000000ULL

static struct why_state state;
static struct cmt_culprit_verdict verdict;
static struct why_names names;
static char *text;

static void prepare(enum cmt_culprit_kind kind)
{
	static struct clock_step step = { 0, 1700000000LL * 1000000000 };

	state = (struct why_state){ .clock = { &step, 1 } };
	verdict = (struct cmt_culprit_verdict){
		.id = 7, .kind = kind, .ts_ns = 20 * MS, .since_ns = 12 * MS,
		.confidence = 0.98, .occupancy_bytes = 1 << 20,
		.occupancy_before = 4 << 20, .lost_bytes = 3 << 20,
		.cpi = NAN, .cpi_before = NAN, .mpki = NAN, .mpki_before = NAN,
		.cpu_share = NAN,
	};
	names = (struct why_names){ .victim.label = "docker:web" };
}

static void suspect(const char *label)
{
	verdict.suspects[verdict.nr_suspects] = (struct cmt_culprit_suspect){
		.id = 8 + verdict.nr_suspects, .share = 0.75,
		.taken_bytes = 2 << 20, .occupancy_before = 1 << 10,
		.occupancy_bytes = 3 << 20, .traffic_before = 1000000,
		.traffic_bytes = 2500000000,
	};
	strcpy(names.suspects[verdict.nr_suspects++].label, label);
}

static const char *view(void)
{
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	ck_assert_int_eq(why_view_verdict(out, &state, &verdict, &names), 0);
	fclose(out);
	return text;
}

START_TEST(test_cache)
{
	prepare(CMT_CULPRIT_CACHE);
	suspect("docker:batch");
	suspect("docker:other");
	ck_assert_str_eq(view(),
		"2023-11-14T22:13:20.020000Z docker:web lost cache to docker:batch (confidence 0.98, no counters)\n"
		"    for 8 ms so far, in L3 domain 0\n"
		"    it held 4.0 MiB -> 1.0 MiB, fetched 0 B again\n"
		"    1. docker:batch: took 2.0 MiB, 75 % of all; held 1.0 KiB -> 3.0 MiB, moved 1.0 MB/s -> 2.5 GB/s\n"
		"    2. docker:other: took 2.0 MiB, 75 % of all; held 1.0 KiB -> 3.0 MiB, moved 1.0 MB/s -> 2.5 GB/s\n");
	verdict.flags = CMT_CULPRIT_COUNTED | CMT_CULPRIT_CLIPPED;
	verdict.cpi = 3.5;
	verdict.cpi_before = 1;
	ck_assert_ptr_nonnull(strstr(view(), "0.98, counters confirm)"));
	ck_assert_ptr_nonnull(strstr(text, "; cycles per instruction 1.00 -> 3.50,"));
	ck_assert_ptr_nonnull(strstr(text, "    and there may be more\n"));
}
END_TEST

/* Who that is, where it is the first suspect: by its id, and not by a name. */
START_TEST(test_outside)
{
	prepare(CMT_CULPRIT_CACHE);
	suspect("(unattributed)");
	verdict.ts_ns = 60 * MS;
	ck_assert_ptr_nonnull(strstr(view(),
		"    for 48 ms so far, in L3 domain 0\n    it held"));
	verdict.suspects[0].id = CMT_CULPRIT_NO_CGROUP | CMT_USAGE_UNATTRIBUTED;
	ck_assert_ptr_nonnull(strstr(view(),
		"    for 48 ms so far, in L3 domain 0\n"
		"    (unattributed): processes outside all containers and services, or the kernel\n"
		"    it held"));
}
END_TEST

/* Nothing of the cache is said of what the kernel told. */
START_TEST(test_cpu)
{
	prepare(CMT_CULPRIT_THROTTLED);
	verdict.confidence = 1;
	verdict.cpu_share = 0.37;
	ck_assert_str_eq(view(),
		"2023-11-14T22:13:20.020000Z docker:web is throttled by its own quota (37 % of the time)\n"
		"    for 8 ms so far\n");
	verdict.kind = CMT_CULPRIT_STOLEN;
	verdict.confidence = NAN;
	ck_assert_ptr_nonnull(strstr(view(), "(37 % of the time, an estimate)"));
	/* of a later library */
	verdict.kind = 99;
	ck_assert_ptr_nonnull(strstr(view(), "that this program does not know"));
}
END_TEST

/* What was taken of the cache is known of a verdict about the cache alone. */
START_TEST(test_bandwidth)
{
	prepare(CMT_CULPRIT_BANDWIDTH);
	suspect("docker:batch");
	verdict.suspects[0].taken_bytes = 0;
	state.json = true;
	ck_assert_ptr_nonnull(strstr(view(), "\"taken_bytes\":null,\"occupancy_bytes\":3145728,"));
	ck_assert_ptr_nonnull(strstr(text, "\"domain\":0,"));
	verdict.kind = CMT_CULPRIT_CACHE;
	ck_assert_ptr_nonnull(strstr(view(), "\"taken_bytes\":0,"));
}
END_TEST

/* Who has the CPU; its own tasks are nobody else. */
START_TEST(test_waits)
{
	prepare(CMT_CULPRIT_WAIT);
	verdict.confidence = 1;
	verdict.cpu_share = 0.5;
	verdict.since_ns = 0;
	verdict.ts_ns = 1000 * MS;
	verdict.waited_ns = 400 * MS;
	verdict.waited_self_ns = 60 * MS;
	verdict.waited_unknown_ns = 40 * MS;
	suspect("docker:batch");
	ck_assert_str_eq(view(),
		"2023-11-14T22:13:21.000000Z docker:web waits for a CPU, used by docker:batch (50 % of the time in which it could run)\n"
		"    for 1000 ms so far\n"
		"    its tasks waited 400 ms of the last second\n"
		"    1. docker:batch: 75 % of this\n"
		"    itself: 15 %\n"
		"    not known: 10 %\n");
	verdict.flags = CMT_CULPRIT_PARTIAL | CMT_CULPRIT_QUOTA;
	ck_assert_ptr_nonnull(strstr(view(), " waited at least 400 ms "));
	ck_assert_ptr_nonnull(strstr(text, "\n    it was out of its quota, too"));
	state.json = true;
	ck_assert_ptr_nonnull(strstr(view(), "\"waited_ns\":400000000,\"waited_self_ns\":60000000,"
				     "\"waited_unknown_ns\":40000000,\"partial\":true,\"quota\":true,"));
	ck_assert_ptr_nonnull(strstr(text, "\"taken_bytes\":null,"));
	ck_assert_ptr_nonnull(strstr(text, "\"domain\":null,"));
	state.json = false;
	verdict.nr_suspects = 0;
	verdict.waited_self_ns = 300 * MS;
	ck_assert_ptr_nonnull(strstr(view(), "waits for a CPU, used by its own tasks (50 %"));
	verdict.waited_self_ns = 100 * MS;
	ck_assert_ptr_nonnull(strstr(view(), "waits for a CPU (50 %"));
}
END_TEST

/* Names are the users'. */
START_TEST(test_hostile)
{
	struct json_object *object, *value;

	prepare(CMT_CULPRIT_CACHE);
	strcpy(names.victim.label, "a\033[31mb\n\xff");
	names.victim.path = "/x\n\xff\"";
	suspect("\xe2\x80\xaeright to left");
	ck_assert_ptr_null(strchr(view(), '\033'));
	ck_assert_ptr_nonnull(strstr(text, "a\\x1b[31mb\\x0a\\xff lost cache to"));
	ck_assert_ptr_null(strstr(text, "\xe2\x80\xae"));
	state.json = true;
	view();
	ck_assert_ptr_eq(strchr(text, '\n') + 1, text + strlen(text));
	ck_assert_ptr_null(strchr(text, '\033'));
	object = json_tokener_parse(text);
	ck_assert_ptr_nonnull(object);
	ck_assert(json_object_object_get_ex(object, "cgroup_hex", &value));
	ck_assert_str_eq(json_object_get_string(value), "2f780aff22");
	ck_assert(json_object_object_get_ex(object, "cpi", &value));
	ck_assert_ptr_null(value);
	ck_assert(json_object_object_get_ex(object, "suspects", &value));
	ck_assert_uint_eq(json_object_array_length(value), 1);
	json_object_put(object);
}
END_TEST

START_TEST(test_one_owner_has_no_suspect)
{
	size_t len;
	FILE *out;

	prepare(CMT_CULPRIT_NONE);
	state.owners = 1;
	free(text);
	out = open_memstream(&text, &len);
	ck_assert_int_eq(why_view_begin(out, &state), 0);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "Verdicts need two or more"));
	ck_assert_ptr_null(strstr(text, "EMULATED"));
}
END_TEST

static const char *view_incident(const struct why_incident *incident, bool is_event)
{
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	ck_assert_int_eq(why_view_incident(out, &state, incident, is_event), 0);
	fclose(out);
	return text;
}

enum known { OF_CPU, OF_MEMORY, OF_SOME, OF_ALL };

static struct why_little little;

static const char *view_slower(const struct slower *list, uint32_t n, bool any, enum known known)
{
	const struct cmt_culprit_counts counts = {
		.counted = known == OF_CPU ? 0 : 3,
		.referenced = known == OF_ALL ? 3 : known == OF_SOME ? 2 : 0,
	};
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	ck_assert_int_eq(why_view_slower(out, &state, list, n, any, &little, &counts), 0);
	fclose(out);
	return text;
}

START_TEST(test_slower)
{
	const struct slower list[] = { {
		.id = 7, .name.label = "docker:w\033b", .share = 0.184, .low = 0.07,
		.high = 0.41, .nr_parts = 3,
		.parts = {
			{ .by_id = 8, .by.label = "docker:batch", .domain = 2,
			  .resource = CMT_SLOWDOWN_CACHE, .share = 0.16 },
			{ .by_id = 9, .by.label = "docker:\xff", .domain = 2,
			  .resource = CMT_SLOWDOWN_CPU, .share = 0.02 },
			{ .by_id = 8, .by.label = "docker:batch", .domain = 2,
			  .resource = CMT_SLOWDOWN_MEMORY, .share = 0.004 },
		},
	} };
	struct json_object *object, *value;

	prepare(CMT_CULPRIT_NONE);
	ck_assert_str_eq(view_slower(list, 1, true, OF_ALL),
			 "docker:w\\x1bb is 18 % slower because of its neighbours (estimate: 7 to 41 %)\n"
			 "    docker:batch: 16 %, cache of L3 domain 2\n"
			 "    docker:\\xff: 2 %, CPU\n");
	ck_assert_str_eq(view_slower(NULL, 0, false, OF_ALL),
			 "No container is slower by 1 % or more because of its neighbours.\n");
	/* what is not known is not said to be nothing */
	ck_assert_ptr_nonnull(strstr(view_slower(NULL, 0, false, OF_CPU),
				     "by cache and memory is not known"));
	ck_assert_ptr_null(strstr(text, "No container"));
	ck_assert_str_eq(view_slower(NULL, 0, false, OF_MEMORY),
			 "Slowdown by cache is not known: it needs a counter of references.\n");
	ck_assert_ptr_nonnull(strstr(view_slower(list, 1, true, OF_SOME),
		"\nSlowdown by cache is not known of 1 of 3 owners: it needs a counter of references.\n"));
	state.json = true;
	object = json_tokener_parse(view_slower(list, 1, true, OF_ALL));
	ck_assert(json_object_object_get_ex(object, "because_of", &value));
	ck_assert_uint_eq(json_object_array_length(value), 3);
	value = json_object_array_get_idx(value, 1);
	ck_assert(json_object_object_get_ex(value, "domain", &value));
	ck_assert_ptr_null(value);
	json_object_put(object);
	ck_assert_str_eq(view_slower(NULL, 0, false, OF_CPU), "");
}
END_TEST

START_TEST(test_slower_too_little)
{
	const struct slower list[] = { { .id = 7, .name.label = "docker:web", .share = 0.07,
		.low = 0.07, .high = 0.07, .too_little = true } };
	struct json_object *object, *value;
	char *next;

	prepare(CMT_CULPRIT_NONE);
	for (little.nr = 0; little.nr < 6; little.nr++) {
		little.list[little.nr].id = 7 + little.nr;
		strcpy(little.list[little.nr].name.label, little.nr ? "docker:\033" : "docker:web");
	}
	ck_assert_str_eq(view_slower(NULL, 0, false, OF_ALL),
		"No container is slower by 1 % or more because of its neighbours.\n"
		"Too little time to tell by cache and memory: docker:web, docker:\\x1b, docker:\\x1b, docker:\\x1b and 2 more\n");
	little.nr = 2;
	state.json = true;
	view_slower(list, 1, true, OF_ALL);
	next = strchr(text, '\n');
	ck_assert_ptr_nonnull(next);
	ck_assert_ptr_nonnull(strstr(text, "0.070"));
	object = json_tokener_parse(next + 1);
	ck_assert(json_object_object_get_ex(object, "id", &value));
	ck_assert_int_eq(json_object_get_int(value), 8);
	ck_assert(json_object_object_get_ex(object, "share", &value));
	ck_assert_ptr_null(value);
	ck_assert(json_object_object_get_ex(object, "too_little", &value));
	ck_assert(json_object_get_boolean(value));
	ck_assert_ptr_null(strchr(strchr(next + 1, '\n') + 1, '\n'));
	json_object_put(object);
	little.nr = 0;
}
END_TEST

/* Told at 1,000 s: of the cache, which is an estimate, and of the CPU. */
static const struct cmt_incident incident = {
	.number = 7, .id = 7, .flags = CMT_INCIDENT_OPEN | CMT_INCIDENT_LOST,
	.nr_parts = 3, .begin_ns = 990000000000ULL, .end_ns = 1000000000000ULL,
	.share = 0.2, .low = 0.1, .high = 0.4, .worst = 0.25, .lost_ns = 2140000000ULL,
	.cpi = 2, .cpi_without = 1.676, .mpki = 12.5,
	.parts = {
		{ .by = 8, .domain = 2, .resource = CMT_SLOWDOWN_CACHE, .share = 0.15,
		  .lost_ns = 1600000000ULL },
		{ .by = 9, .resource = CMT_SLOWDOWN_CPU, .share = 0.05,
		  .lost_ns = 530000000ULL },
		{ .by = 9, .domain = 2, .resource = CMT_SLOWDOWN_MEMORY, .share = 0.004,
		  .lost_ns = 10000000ULL },
	},
};

#define CROWD	40U	/* owners, with more pairs than an estimate has */
#define VICTIM	7U

/* Owner VICTIM and others, which press on it and more on each other */
static void crowd_slot(struct cmt_culprit *culprit, uint64_t ms)
{
	struct cmt_culprit_sample samples[CROWD];
	const struct cmt_culprit_slot slot = {
		.sz = sizeof(slot), .start_ns = ms * MS, .sample_size = sizeof(samples[0]),
		.nr_samples = CROWD, .samples = samples,
	};

	for (uint32_t i = 0; i < CROWD; i++) {
		uint64_t misses = (i ? 3 : 2) * (500 + 130 * (ms % 5));

		samples[i] = (struct cmt_culprit_sample){
			.id = VICTIM + i, .valid = CMT_CULPRIT_OCCUPANCY |
				CMT_CULPRIT_CYCLES | CMT_CULPRIT_INSTRUCTIONS |
				CMT_CULPRIT_MISSES | CMT_CULPRIT_REFERENCES,
			.occupancy_bytes = (i ? 1 : 13) << 20, .misses = misses,
			.references = 15000, .instructions = 2000000,
			.cycles = 1000000 + 100 * misses,
		};
	}
	ck_assert_int_ge(cmt_culprit_add(culprit, &slot), 0);
}

/* The first open incident of VICTIM, which there must be */
static const struct cmt_incident *incident_of(const struct cmt_culprit *culprit)
{
	const struct cmt_incident *incident;
	uint32_t i = 0;

	while ((incident = cmt_culprit_incident_at(culprit, i)) && incident->id != VICTIM)
		i++;
	ck_assert_ptr_nonnull(incident);
	return incident;
}

/* The list and the incidents say the same of a victim. */
START_TEST(test_slower_as_incident)
{
	static struct slower list[SLOWER_MOST];
	const struct cmt_culprit_opts opts = { .sz = sizeof(opts) };
	const struct cmt_incident *incident;
	struct cmt_culprit *culprit;
	int n, at = 0;

	ck_assert_int_eq(cmt_culprit_new(&culprit, &opts), 0);
	for (uint64_t ms = 1000; ms < 5000; ms++)
		crowd_slot(culprit, ms);
	incident = incident_of(culprit);
	n = slower_list(culprit, list);
	while (at < n && list[at].id != VICTIM)
		at++;
	ck_assert_int_lt(at, n);
	ck_assert_double_eq_tol(list[at].share, incident->share, 1e-9);
	ck_assert_double_eq_tol(list[at].low, incident->low, 1e-9);
	ck_assert_double_eq_tol(list[at].high, incident->high, 1e-9);
	ck_assert_double_eq_tol(list[at].parts[0].share, incident->parts[0].share, 1e-9);
	cmt_culprit_free(culprit);
}
END_TEST

START_TEST(test_incident)
{
	struct cmt_incident told = incident;
	struct why_incident one = {
		.told = &told, .victim.label = "docker:w\033b",
		.parts = { { .label = "docker:batch" }, { .label = "docker:\xff" },
			   { .label = "docker:\xff" } },
	};

	prepare(CMT_CULPRIT_NONE);
	ck_assert_ptr_nonnull(strstr(view_incident(&one, true),
		" docker:w\\x1bb is 20 % slower because of its neighbours (estimate: 10 to 40 %), since "));
	ck_assert_ptr_nonnull(strstr(text, "\n    docker:batch: 15 %, cache of L3 domain 2\n"
		"    docker:\\xff: 5 %, CPU\n"
		"    cycles per instruction 2.00, 1.68 without them; misses per 1,000 instructions 12.50\n"));
	ck_assert_ptr_null(strstr(text, "lost"));
	ck_assert_ptr_null(strstr(text, "as root"));
	one.nr_remedies = 1;
	one.remedies[0].part = 1;
	strcpy(one.remedies[0].remedy.what, "take less");
	strcpy(one.remedies[0].remedy.commands, "echo 1 > a");
	ck_assert_ptr_nonnull(strstr(view_incident(&one, true),
		"    to end it, as root:\n      docker:\\xff: take less\n        echo 1 > a\n"));
	one.nr_remedies = 0;
	told.flags |= CMT_INCIDENT_BEFORE;
	ck_assert_str_eq(strchr(view_incident(&one, false), ','),
		", since before the start; at worst 25 %; 2.1 s of CPU time lost\n"
		"    docker:batch: 15 %, cache of L3 domain 2\n"
		"    docker:\\xff: 5 %, CPU\n"
		"    cycles per instruction 2.00, 1.68 without them; misses per 1,000 instructions 12.50\n");
}
END_TEST

START_TEST(test_incident_ended)
{
	struct cmt_incident told = incident;
	struct why_incident one = {
		.told = &told, .victim.label = "web",
		.parts = { { .label = "batch" }, { .label = "db" }, { .label = "db" } },
	};

	prepare(CMT_CULPRIT_NONE);
	told.flags &= ~CMT_INCIDENT_OPEN;
	ck_assert_ptr_nonnull(strstr(view_incident(&one, true),
		" web is no longer slower because of its neighbours, after 10.0 s; at worst 25 %; 2.1 s of CPU time lost\n"
		"    batch: 1.6 s, cache of L3 domain 2\n"
		"    db: 530 ms, CPU\n"));
	/* nothing is said of a loss that is not known, but because of whom it was */
	told.flags = CMT_INCIDENT_BEFORE;
	told.nr_parts = 2;
	ck_assert_str_eq(strchr(view_incident(&one, true), ','),
		", after at least 10.0 s; at worst 25 %\n"
		"    batch, cache of L3 domain 2\n"
		"    db, CPU\n");
	told.flags = CMT_INCIDENT_UNKNOWN;
	ck_assert_ptr_nonnull(strstr(view_incident(&one, true),
		" web is not known to be still slower because of its neighbours, after 10.0 s;"));
}
END_TEST

static const char *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	ck_assert(json_object_object_get_ex(object, name, &value));
	return value ? json_object_to_json_string(value) : "null";
}

START_TEST(test_incident_json)
{
	struct cmt_incident told = incident;
	struct why_incident one = { .told = &told, .victim.label = "web" };
	struct json_object *object;

	prepare(CMT_CULPRIT_NONE);
	state.json = true;
	object = json_tokener_parse(view_incident(&one, true));
	ck_assert_str_eq(member(object, "event"), "\"begin\"");
	ck_assert_str_eq(member(object, "lost_ns"), "2140000000");
	ck_assert_str_eq(member(object, "began_before"), "false");
	json_object_put(object);
	told.flags = CMT_INCIDENT_BEFORE;
	told.cpi = NAN;
	object = json_tokener_parse(view_incident(&one, true));
	ck_assert_str_eq(member(object, "event"), "\"end\"");
	ck_assert_str_eq(member(object, "lost_ns"), "null");
	ck_assert_str_eq(member(object, "cpi"), "null");
	ck_assert_str_eq(member(object, "cpi_without"), "1.676");
	ck_assert_str_eq(member(object, "began_before"), "true");
	json_object_put(object);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("why");
	int ret;

	UNIT_CASE(suite, test_cache);
	UNIT_CASE(suite, test_outside);
	UNIT_CASE(suite, test_cpu);
	UNIT_CASE(suite, test_bandwidth);
	UNIT_CASE(suite, test_waits);
	UNIT_CASE(suite, test_hostile);
	UNIT_CASE(suite, test_slower);
	UNIT_CASE(suite, test_slower_too_little);
	UNIT_CASE(suite, test_slower_as_incident);
	UNIT_CASE(suite, test_incident);
	UNIT_CASE(suite, test_incident_ended);
	UNIT_CASE(suite, test_incident_json);
	UNIT_CASE(suite, test_one_owner_has_no_suspect);
	ret = unit_run(suite);
	free(text);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include <check.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmtctl/cmtctl.h"
#include "cmtstat/cmtstat.h"
#include "unit.h"

static char *said;
static size_t said_len;

/* Parse words as cmtstat does; what it said is in @said. */
static enum options_result parse(struct config *config, const char *words)
{
	char copy[256], *argv[16] = { "cmtstat" }, *word;
	enum options_result result;
	FILE *err;
	int argc = 1;

	strcpy(copy, words);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	free(said);
	err = open_memstream(&said, &said_len);
	*config = cmtstat_defaults;
	result = options_parse(&cmtstat_program, config, argc, argv, err);
	fclose(err);
	return result;
}

START_TEST(test_options_parse_defaults)
{
	struct config config;

	ck_assert_int_eq(parse(&config, ""), OPTIONS_RUN);
	ck_assert_int_eq(config.by, VIEW_CONTAINER);
	ck_assert_int_eq(config.output, OUTPUT_TABLE);
	ck_assert_uint_eq(config.interval_ns, 1000000000);
	ck_assert_uint_eq(config.count, 0);
	ck_assert_uint_eq(said_len, 0);
}
END_TEST

START_TEST(test_options_parse_all)
{
	struct config config;

	ck_assert_int_eq(parse(&config, "--by=process -i 0.25 -n3 --json -s "
			       "total -t 5 --device /x -p"), OPTIONS_RUN);
	ck_assert_int_eq(config.by, VIEW_PROCESS);
	ck_assert_uint_eq(config.interval_ns, 250000000);
	ck_assert_uint_eq(config.count, 3);
	ck_assert_int_eq(config.output, OUTPUT_JSON);
	ck_assert_int_eq(config.sort, SORT_TOTAL);
	ck_assert_uint_eq(config.top, 5);
	ck_assert(config.plain);
	ck_assert(config.interval_given);
	ck_assert(!config.light);
	ck_assert(!config.why);
}
END_TEST

START_TEST(test_options_parse_help_and_version)
{
	struct config config;

	ck_assert_int_eq(parse(&config, "-h"), OPTIONS_HELP);
	ck_assert_int_eq(parse(&config, "--version"), OPTIONS_VERSION);
}
END_TEST

static const char *const bad[][2] = {
	{ "-i 0", "--interval: '0' is not a number of seconds" },
	{ "-i 0.0009", "0.001 to 3600" },
	{ "-i 3601", "0.001 to 3600" },
	{ "-i 1s", "'1s' is not" },
	{ "-i -1", "'-1' is not" },
	{ "-i nan", "'nan' is not" },
	{ "-n 0", "--count: '0'" },
	{ "-n 1x", "--count: '1x'" },
	{ "-n 99999999999999999999", "--count" },
	{ "--by pod", "container, process, cpu, domain or channel" },
	{ "--sort size", "--sort: 'size'" },
	{ "--json --csv", "--csv: not together with --json" },
	{ "--csv -j", "--json: not together with --csv" },
	{ "--nonsense", "--nonsense: unknown or ambiguous option" },
	{ "-x", "-x: unknown option" },
	{ "--interval", "--interval: needs a value (SECONDS)" },
	{ "-n", "--count: needs a value (N)" },
	{ "--json=yes", "--json: takes no value" },
	{ "--peak 999k", "bytes a second from 1M to 1000T" },
	{ "-P 40GB", "--peak: '40GB'" },
	{ "-P 1001T", "--peak: '1001T'" },
	{ "-P -1G", "--peak: '-1G'" },
	{ "-P 0", "--peak: '0'" },
};

START_TEST(test_options_parse_bad)
{
	struct config config;

	ck_assert_int_eq(parse(&config, bad[_i][0]), OPTIONS_BAD);
	ck_assert_msg(strstr(said, bad[_i][1]) != NULL, "%s: %s", bad[_i][0],
		      said);
	ck_assert_ptr_nonnull(strstr(said, "\nusage: cmtstat [options] [CONTAINER | -- COMMAND [ARGS]]\n"));
}
END_TEST

START_TEST(test_options_help_has_every_option)
{
	static const struct program *const programs[] = {
		&cmtstat_program, &cmtctl_program,
	};
	const struct option_spec *spec;
	char *text, want[64];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	options_help(programs[_i], out);
	fclose(out);
	for (spec = programs[_i]->options; spec->name; spec++) {
		char letter[8] = "    ";

		if (spec->key < OPTION_LONG_ONLY)
			snprintf(letter, sizeof(letter), "-%c, ", spec->key);
		snprintf(want, sizeof(want), "%s--%s%s%s ", letter,
			 spec->name, spec->arg ? " " : "",
			 spec->arg ? spec->arg : "");
		ck_assert_msg(strstr(text, want) != NULL, "no '%s'", want);
	}
	free(text);
}
END_TEST

/* Its reader has gone, and lines are written one by one. */
START_TEST(test_options_end_closed)
{
	int ends[2], out = dup(STDOUT_FILENO), ret;

	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	fflush(stdout);
	dup2(ends[1], STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	ret = options_end(&cmtstat_program, "cmtstat", OPTIONS_HELP);
	dup2(out, STDOUT_FILENO);
	clearerr(stdout);
	close(out);
	close(ends[1]);
	ck_assert_int_eq(ret, 0);
}
END_TEST

START_TEST(test_parse_duration_units)
{
	uint64_t ns = 7;

	ck_assert_int_eq(parse_duration("1ms", &ns), 0);
	ck_assert_uint_eq(ns, 1000000);
	ck_assert_int_eq(parse_duration("500us", &ns), 0);
	ck_assert_uint_eq(ns, 500000);
	ck_assert_int_eq(parse_duration("1s", &ns), 0);
	ck_assert_uint_eq(ns, 1000000000);
	ck_assert_int_eq(parse_duration("1.5ms", &ns), 0);
	ck_assert_uint_eq(ns, 1500000);
	ck_assert_int_eq(parse_duration("250ns", &ns), 0);
	ck_assert_uint_eq(ns, 250);
	ck_assert_int_eq(parse_duration("0.2500000000000s", &ns), 0);
	ck_assert_uint_eq(ns, 250000000);
	ck_assert_int_eq(parse_duration("0.10s", &ns), 0);
	ck_assert_uint_eq(ns, 100000000);
}
END_TEST

START_TEST(test_parse_bytes)
{
	static const char *const bad[] = {
		"", ".", "G", "1g", "1Gi", "1 G", "0x1", "1.5", "1.0005k",
		"99", "10.1k", "18446744073709551616", "99999999999999999999T",
	};
	uint64_t n = 0;

	ck_assert_int_eq(parse_bytes("40G", 100, UINT64_MAX, &n), 0);
	ck_assert_uint_eq(n, 40000000000);
	ck_assert_int_eq(parse_bytes("1.5k", 100, 10000, &n), 0);
	ck_assert_uint_eq(n, 1500);
	ck_assert_int_eq(parse_bytes("100", 100, 10000, &n), 0);
	ck_assert_int_eq(parse_bytes("0.01M", 100, 10000, &n), 0);
	ck_assert_uint_eq(n, 10000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(parse_bytes(bad[i], 100, 10000, &n) == -EINVAL,
			      "%s", bad[i]);
	ck_assert_uint_eq(n, 10000);
}
END_TEST

static const char *const bad_durations[] = {
	"", "1", "ms", ".ms", "1.2.3ms", "-1ms", "+1ms", "1 ms", "1m", "1msx",
	"0.5ns", "1.0005us", "18446744074s", "99999999999999999999ns", "1e3ms",
	"0.00000000001s", "1.00000000009s",
};

START_TEST(test_parse_duration_bad)
{
	uint64_t ns = 7;

	ck_assert_msg(parse_duration(bad_durations[_i], &ns) == -EINVAL,
		      "%s", bad_durations[_i]);
	ck_assert_uint_eq(ns, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, test_options_parse_defaults);
	tcase_add_test(tc, test_options_parse_all);
	tcase_add_test(tc, test_options_parse_help_and_version);
	tcase_add_test(tc, test_options_end_closed);
	tcase_add_loop_test(tc, test_options_parse_bad, 0,
			    sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(tc, test_options_help_has_every_option, 0, 2);
	tcase_add_test(tc, test_parse_duration_units);
	tcase_add_test(tc, test_parse_bytes);
	tcase_add_loop_test(tc, test_parse_duration_bad, 0,
			    sizeof(bad_durations) / sizeof(bad_durations[0]));
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command lines of all programs that take options, one word a line; the first byte says
 * of which program.
 */
#include <getopt.h>

#include "cmtctl/cmtctl.h"
#include "cmtstat/subcommands.h"
#include "common/options.h"
#include "exporter/exporter.h"
#include "fuzz.h"

#define WORDS 16

extern const struct program cmtstat_program;

/* As large as the largest configuration, and aligned for all. */
static union {
	struct ctl_config ctl;
	char bytes[65536];
	long double aligned;
} config;

static const struct program *const programs[] = {
	&cmtstat_program, &cmtctl_program, &exporter_program,
#define SUBCOMMAND_PROGRAM(name, help) &name##_program,
	CMTSTAT_SUBCOMMANDS(SUBCOMMAND_PROGRAM)
#undef SUBCOMMAND_PROGRAM
};

#define NR_PROGRAMS (sizeof(programs) / sizeof(programs[0]))

static void parse_numbers(const char *text)
{
	uint64_t value;

	if (!parse_u64(text, 1, 1000, &value))
		FUZZ_CHECK(value >= 1 && value <= 1000);
	if (!parse_seconds(text, 1, UINT64_MAX, &value))
		FUZZ_CHECK(value >= 1);
	parse_duration(text, &value);
	if (!parse_span(text, 1, 1ULL << 60, &value))
		FUZZ_CHECK(value >= 1 && value <= 1ULL << 60);
	if (!parse_bytes(text, PEAK_MIN, PEAK_MAX, &value))
		FUZZ_CHECK(value >= PEAK_MIN && value <= PEAK_MAX);
	if (!parse_size(text, 1, UINT64_MAX, &value))
		FUZZ_CHECK(value >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *argv[WORDS + 1] = { "program" }, *save, *word;
	int argc = 1;

	if (!size)
		return 0;
	text = fuzz_text(data + 1, size - 1);
	for (word = strtok_r(text, "\n", &save); word && argc < WORDS;
	     word = strtok_r(NULL, "\n", &save)) {
		parse_numbers(word);
		argv[argc++] = word;
	}
	memset(&config, 0, sizeof(config));
	optind = 0;
	options_parse(programs[*data % NR_PROGRAMS], &config, argc, argv, fuzz_messages());
	if (programs[*data % NR_PROGRAMS] == &cmtctl_program)
		patterns_free(&config.ctl.patterns);
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"

#include <cmt/recording.h>
#include <errno.h>

#include "config/config.h"

#define SECOND_NS	1000000000ULL
#define DURATION_MAX_NS	(366 * 86400 * SECOND_NS)
#define SIZE_MIN	(1ULL << 16)
#define SIZE_MAX_BYTES	(1ULL << 50)

/* cmtstat_defaults.counters */
const struct record_config record_defaults = {
	.seccomp = true,
	.max_files = 8,
	.max_memory = 32 << 20,
	.distance_ns = 60 * SECOND_NS,
	.counters = CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES |
		    CMT_F_LLC_REFERENCES | CMT_F_WAITED | CMT_F_CHANNEL,
	.recorder_flags = CMT_RECORDER_ROUND,
};

static int set_output(void *config, const char *value)
{
	((struct record_config *)config)->output = value;
	return *value ? 0 : -EINVAL;
}

static int set_force(void *config, const char *value)
{
	(void)value;
	((struct record_config *)config)->force = true;
	return 0;
}

static int set_duration(void *config, const char *value)
{
	return parse_span(value, 1000000, DURATION_MAX_NS,
			  &((struct record_config *)config)->duration_ns);
}

static int set_max_size(void *config, const char *value)
{
	return parse_size(value, SIZE_MIN, SIZE_MAX_BYTES,
			  &((struct record_config *)config)->max_bytes);
}

static int set_max_files(void *config, const char *value)
{
	((struct record_config *)config)->max_files_given = true;
	return parse_u64(value, 1, 9999,
			 &((struct record_config *)config)->max_files);
}

/* What tasks wait is the kernel's count, not the processor's. */
static int set_no_counters(void *config, const char *value)
{
	struct record_config *to = config;

	(void)value;
	if (to->counters & CMT_F_COUNTERS_FIRST)
		return -EINVAL;
	to->counters = CMT_F_WAITED;
	return 0;
}

/* Before other programs: without counters this has no meaning. */
static int set_counters_first(void *config, const char *value)
{
	struct record_config *to = config;

	(void)value;
	to->counters |= CMT_F_COUNTERS_FIRST;
	return to->counters & CMT_F_CYCLES ? 0 : -EINVAL;
}

static int set_device(void *config, const char *value)
{
	((struct record_config *)config)->device = value;
	return *value ? 0 : -EINVAL;
}

static int set_source(void *config, const char *value)
{
	return origin_parse(value, &((struct record_config *)config)->origin);
}

static int set_quiet(void *config, const char *value)
{
	(void)value;
	((struct record_config *)config)->quiet = true;
	return 0;
}

static int set_no_seccomp(void *config, const char *value)
{
	(void)value;
	((struct record_config *)config)->seccomp = false;
	return 0;
}

static int set_keep(void *config, const char *value)
{
	return parse_span(value, SECOND_NS, 86400 * SECOND_NS,
			  &((struct record_config *)config)->keep_ns);
}

static int set_max_memory(void *config, const char *value)
{
	((struct record_config *)config)->flight_given = true;
	return parse_size(value, 1 << 20, 1ULL << 40,
			  &((struct record_config *)config)->max_memory);
}

static int set_directory(void *config, const char *value)
{
	((struct record_config *)config)->flight_given = true;
	((struct record_config *)config)->directory = value;
	return *value ? 0 : -EINVAL;
}

static int set_socket(void *config, const char *value)
{
	((struct record_config *)config)->flight_given = true;
	((struct record_config *)config)->socket = value;
	return *value ? 0 : -EINVAL;
}

static int set_distance(void *config, const char *value)
{
	((struct record_config *)config)->flight_given = true;
	return parse_span(value, SECOND_NS, 30 * 86400 * SECOND_NS,
			  &((struct record_config *)config)->distance_ns);
}

static int set_exact(void *config, const char *value)
{
	(void)value;
	((struct record_config *)config)->recorder_flags &= ~CMT_RECORDER_ROUND;
	return 0;
}

static int set_peak(void *config, const char *value)
{
	((struct record_config *)config)->flight_given = true;
	return parse_bytes(value, PEAK_MIN, PEAK_MAX,
			   &((struct record_config *)config)->peak_bytes);
}

/* Errors in a rule are reported after all options were read. */
static int add_rule(void *config, const char *value)
{
	struct record_config *to = config;
	const char *why = "there are too many";

	to->flight_given = true;
	if (to->nr_rules < RULES)
		why = rule_parse(value, &to->rules[to->nr_rules++]);
	if (why && !to->bad_rule)
		to->bad_rule = why;
	return 0;
}

enum {
	KEY_KEEP = OPTION_LONG_ONLY + 1,
	KEY_MAX_MEMORY,
	KEY_SAVE_TO,
	KEY_ON,
	KEY_DISTANCE,
	KEY_SOCKET,
	KEY_MAX_FILES,
	KEY_SOURCE,
	KEY_NO_SECCOMP,
	KEY_COUNTERS_FIRST,
};

static const struct option_spec options[] = {
	{ 'o', "output", "FILE", "the file to record to", "a path", set_output,
	  WORDS_FILES },
	{ 'f', "force", NULL, "replace files that are there",
	  NULL, set_force, NULL },
	{ 't', "duration", "TIME", "end after 90, 90s, 10m, 2h",
	  "a time such as 90s, 10m or 2h, of at most 366 days", set_duration,
	  NULL },
	{ 'm', "max-size", "SIZE",
	  "of a file; then FILE becomes FILE.1, FILE.1 becomes FILE.2, and FILE is new",
	  "a size such as 64M or 2G, of at least 64K", set_max_size, NULL },
	{ KEY_MAX_FILES, "max-files", "N",
	  "with --max-size: keep N files, FILE included, default 8; with --keep: N for rules, N for requests",
	  "a whole number from 1 to 9999", set_max_files, NULL },
	{ KEY_KEEP, "keep", "TIME",
	  "no -o: keep the last TIME in memory, and save it when asked: SIGUSR1, cmtctl save, --on",
	  "a time such as 10m, from 1s to 1d", set_keep, NULL },
	{ KEY_MAX_MEMORY, "max-memory", "SIZE",
	  "with --keep: in at most so much memory, default 32M",
	  "a size such as 32M, of at least 1M", set_max_memory, NULL },
	{ KEY_SAVE_TO, "save-to", "DIRECTORY",
	  "with --keep: where files are saved; the newest stay, see --max-files",
	  "a path", set_directory, WORDS_FILES },
	{ KEY_ON, "on", "RULE",
	  "with --keep: save when it begins to hold: culprit, 'occupancy GLOB > 20M', 'bandwidth GLOB < 1G', 'slower GLOB > 10%'",
	  "a rule", add_rule, "culprit" },
	{ KEY_DISTANCE, "distance", "TIME",
	  "with --on: save no more often than that, default 1m",
	  "a time such as 5m, from 1s to 30d", set_distance, NULL },
	{ 'P', "peak", "BYTES",
	  "for --on culprit: the greatest traffic of a cache's memory, bytes a second, such as 40G",
	  PEAK_EXPECTS, set_peak, NULL },
	{ KEY_SOCKET, "socket", "PATH", "with --keep: where cmtctl save asks",
	  "a path", set_socket, WORDS_FILES },
	{ 'C', "no-counters", NULL,
	  "do not use the processor's counters and the memory channels",
	  "not together with --counters-first", set_no_counters, NULL },
	{ KEY_COUNTERS_FIRST, "counters-first", NULL,
	  "keep the counters, also where other programs need them",
	  "not together with --no-counters", set_counters_first, NULL },
	{ 'x', "exact", NULL,
	  "keep all bits of the processor's counters; default: nine significant ones",
	  NULL, set_exact, NULL },
	{ 'd', "device", "PATH", "read PATH instead of /dev/cmt", "a path",
	  set_device, WORDS_FILES },
	{ KEY_SOURCE, "source", "SOURCE", ORIGIN_HELP, ORIGIN_WANTED, set_source,
	  ORIGIN_WORDS },
	{ KEY_NO_SECCOMP, "no-seccomp", NULL,
	  "load no seccomp filter: all system calls stay allowed",
	  NULL, set_no_seccomp, NULL },
	{ 'q', "quiet", NULL, "no progress and no summary: errors only",
	  NULL, set_quiet, NULL },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL, NULL },
	{ .name = NULL },
};

const struct program record_program = {
	.name = RECORD_NAME,
	.synopsis = "-o FILE | --keep TIME [options] [-- COMMAND [ARGS]]",
	.about = "Keep all that is measured in a file, for cmtstat replay; until Ctrl-C, or while COMMAND runs.\n",
	.strict = true,
	.options = options,
	.more = "The sampling interval is the module's: see cmtctl interval.\n",
};

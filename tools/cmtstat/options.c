// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtstat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "subcommands.h"
#include "table/columns.h"

#define MIN_INTERVAL_NS 1000000ULL
#define MAX_INTERVAL_NS 3600000000000ULL

const struct config cmtstat_defaults = {
	.by = VIEW_CONTAINER,
	.counters = CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES |
		    CMT_F_LLC_REFERENCES | CMT_F_WAITED | CMT_F_CHANNEL,
	.interval_ns = 1000000000,
	.marks = true,
};

static int set_by(void *config, const char *value)
{
	((struct config *)config)->by_given = true;
	return by_parse(value, &((struct config *)config)->by);
}

static int set_expand(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->expand = true;
	return 0;
}

static int set_interval(void *config, const char *value)
{
	((struct config *)config)->interval_given = true;
	return parse_seconds(value, MIN_INTERVAL_NS, MAX_INTERVAL_NS,
			     &((struct config *)config)->interval_ns);
}

static int set_count(void *config, const char *value)
{
	return parse_u64(value, 1, UINT32_MAX,
			 &((struct config *)config)->count);
}

/* One output format at a time; the same one twice does no harm. */
static int set_output(struct config *config, enum output output)
{
	if (config->output != OUTPUT_TABLE && config->output != output)
		return -EINVAL;
	config->output = output;
	return 0;
}

static int set_json(void *config, const char *value)
{
	(void)value;
	return set_output(config, OUTPUT_JSON);
}

static int set_csv(void *config, const char *value)
{
	(void)value;
	return set_output(config, OUTPUT_CSV);
}

static int set_plain(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->plain = true;
	return 0;
}

static int set_no_color(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->no_color = true;
	return 0;
}

static int set_light(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->light = true;
	return 0;
}

static int set_why(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->why = true;
	return 0;
}

static int set_peak(void *config, const char *value)
{
	return parse_bytes(value, PEAK_MIN, PEAK_MAX,
			   &((struct config *)config)->peak_bytes);
}

static int set_no_marks(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->marks = false;
	return 0;
}

static int set_slower(void *config, const char *value)
{
	(void)value;
	((struct config *)config)->slower = true;
	return 0;
}

/* What tasks wait is the kernel's count, not the processor's. */
static int set_no_counters(void *config, const char *value)
{
	struct config *to = config;

	(void)value;
	if (to->counters & CMT_F_COUNTERS_FIRST)
		return -EINVAL;
	to->counters = CMT_F_WAITED;
	return 0;
}

/* Before other programs: without counters this has no meaning. */
static int set_counters_first(void *config, const char *value)
{
	struct config *to = config;

	(void)value;
	to->counters |= CMT_F_COUNTERS_FIRST;
	return to->counters & CMT_F_CYCLES ? 0 : -EINVAL;
}

static int set_sort(void *config, const char *value)
{
	struct config *to = config;
	int ret = sort_key_parse(value, &to->sort);

	to->slower |= to->sort == SORT_SLOWER;
	return ret;
}

static int set_top(void *config, const char *value)
{
	return parse_u64(value, 1, UINT32_MAX,
			 &((struct config *)config)->top);
}

static int set_filter(void *config, const char *value)
{
	((struct config *)config)->filter = value;
	return *value ? 0 : -EINVAL;
}

static int set_device(void *config, const char *value)
{
	((struct config *)config)->device = value;
	return *value ? 0 : -EINVAL;
}

static int set_source(void *config, const char *value)
{
	return origin_parse(value, &((struct config *)config)->origin);
}

static int set_from(void *config, const char *value)
{
	return replay_time_parse(value, &((struct config *)config)->from);
}

static int set_to(void *config, const char *value)
{
	return replay_time_parse(value, &((struct config *)config)->to);
}

/* "max" is as fast as it goes. */
static int set_speed(void *config, const char *value)
{
	struct config *to = config;
	char *end;

	to->speed_given = true;
	to->speed = 0;
	if (!strcmp(value, "max"))
		return 0;
	if (value[strspn(value, "0123456789.")])
		return -EINVAL;
	to->speed = strtod(value, &end);
	return *value && !*end && to->speed > 0 && to->speed <= REPLAY_SPEED_MAX ?
	       0 : -EINVAL;
}

/* Options about tables and rows, for a device and for a recording */
#define VIEW_OPTIONS \
	{ 'b', "by", "VIEW", "rows are: container (default), process, cpu, domain, channel", \
	  "container, process, cpu, domain or channel", set_by, \
	  "container process cpu domain channel" }, \
	{ 'e', "expand", NULL, "show the processes of each container", \
	  NULL, set_expand, NULL }, \
	{ 'i', "interval", "SECONDS", "time between tables, 0.001 to 3600, default 1", \
	  "a number of seconds from 0.001 to 3600", set_interval, NULL }, \
	{ 'n', "count", "N", "end after N tables", \
	  "a whole number of at least 1", set_count, NULL }, \
	{ 'j', "json", NULL, "print JSON: an object for each interval, then one for each row", \
	  "not together with --csv", set_json, NULL }, \
	{ 'c', "csv", NULL, "print comma-separated values", \
	  "not together with --json", set_csv, NULL }, \
	{ 'p', "plain", NULL, "no full screen, print table after table", \
	  NULL, set_plain, NULL }, \
	{ KEY_NO_COLOR, "no-color", NULL, \
	  "no colour, bold or reverse text on the full screen, as with NO_COLOR set", \
	  NULL, set_no_color, NULL }, \
	{ 's', "sort", "KEY", "occupancy, total, local, name, number, rmids, busy, cpu, wait, ipc, mpki, slower", \
	  "one of occupancy, total, local, name, number, rmids, busy, cpu, wait, ipc, mpki, slower", \
	  set_sort, "occupancy total local name number rmids busy cpu wait ipc mpki slower" }, \
	{ 't', "top", "N", "show the first N rows only", \
	  "a whole number of at least 1", set_top, NULL }, \
	{ 'f', "filter", "GLOB", "show only rows whose name matches", \
	  "a pattern", set_filter, NULL }

#define WHY_OPTIONS \
	{ 'w', "why", NULL, \
	  "print verdicts: which container takes cache, bandwidth or CPUs from which", \
	  NULL, set_why, NULL }, \
	{ 'P', "peak", "BYTES", \
	  "for verdicts: the greatest traffic of a cache's memory, bytes a second, such as 40G", \
	  PEAK_EXPECTS, set_peak, NULL }, \
	{ 'm', "no-marks", NULL, \
	  "no verdicts and no slowdown in tables", \
	  NULL, set_no_marks, NULL }, \
	{ KEY_SLOWER, "slower", NULL, \
	  "with --json, --csv: how much slower each container is, because of which others", \
	  NULL, set_slower, NULL }

#define END_OPTIONS \
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL }, \
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL, NULL }, \
	{ .name = NULL }

enum {
	KEY_FROM = OPTION_LONG_ONLY,
	KEY_TO,
	KEY_SPEED,
	KEY_SOURCE,
	KEY_COUNTERS_FIRST,
	KEY_SLOWER,
	KEY_NO_COLOR,
};

static const struct option_spec options[] = {
	VIEW_OPTIONS,
	{ 'C', "no-counters", NULL,
	  "do not use the processor's counters: no IPC, MPKI and memory channels",
	  "not together with --counters-first", set_no_counters, NULL },
	{ KEY_COUNTERS_FIRST, "counters-first", NULL,
	  "keep the counters, also where other programs need them",
	  "not together with --no-counters", set_counters_first, NULL },
	{ 'l', "light", NULL,
	  "read twice a second, or each -i, without any sampling",
	  NULL, set_light, NULL },
	WHY_OPTIONS,
	{ 'd', "device", "PATH", "read PATH instead of /dev/cmt",
	  "a path", set_device, WORDS_FILES },
	{ KEY_SOURCE, "source", "SOURCE", ORIGIN_HELP, ORIGIN_WANTED, set_source,
	  ORIGIN_WORDS },
	END_OPTIONS,
};

static const struct option_spec replay_options[] = {
	{ KEY_FROM, "from", "TIME",
	  "begin at +90s, at 5m before the end (-5m), at 12:30:05, or at a date and time",
	  "a moment such as +90s, -5m, 12:30:05 or 2026-11-23T12:30:05Z (UTC)",
	  set_from, NULL },
	{ KEY_TO, "to", "TIME", "end there",
	  "a moment such as +90s, -5m, 12:30:05 or 2026-11-23T12:30:05Z (UTC)",
	  set_to, NULL },
	{ KEY_SPEED, "speed", "N",
	  "1: as recorded (default on a full screen); max: as fast as it goes (default else)",
	  "max, or a number above 0, up to 1000000", set_speed, "1 10 100 max" },
	VIEW_OPTIONS,
	WHY_OPTIONS,
	END_OPTIONS,
};

const struct program replay_program = {
	.name = REPLAY_NAME,
	.synopsis = "[options] FILE",
	.about = "Show a recording as cmtstat shows a device.\n",
	.options = replay_options,
	.more = "Times of day are UTC, as in tables.  With --why it goes as fast as it can.\n",
};

static const struct subprogram subprograms[] = {
#define SUBPROGRAM(name, help) { #name, &name##_program, help },
	CMTSTAT_SUBCOMMANDS(SUBPROGRAM)
#undef SUBPROGRAM
	{ .name = NULL },
};

const struct program cmtstat_program = {
	.name = "cmtstat",
	.synopsis = "[options] [CONTAINER | -- COMMAND [ARGS]]",
	.about = "Show last-level cache occupancy and memory bandwidth per container, process, CPU or cache;\n"
		 "or run COMMAND, and print its occupancy and traffic at its end.\n",
	.strict = true,
	.options = options,
	.subprograms = subprograms,
	.more = "With --why: the name or a pattern of CONTAINER may follow; -n ends it after so many -i.\n"
		"With COMMAND: -i (time between readings, at most 0.5, default 0.01), -j and -d.\n"
		"On a terminal, q quits, ? shows all keys, and o options that are kept.  A value with > before it is a lower bound, - is not measured.\n",
};

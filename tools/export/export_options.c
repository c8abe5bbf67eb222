// SPDX-License-Identifier: GPL-2.0-or-later
#include "export.h"

#include <errno.h>
#include <string.h>

#include "table/columns.h"

static int set_format(void *config, const struct export_format *format)
{
	struct export_config *to = config;

	if (to->format && to->format != format)
		return -EINVAL;
	to->format = format;
	return 0;
}

static int set_csv(void *config, const char *value)
{
	(void)value;
	return set_format(config, &export_csv);
}

static int set_ndjson(void *config, const char *value)
{
	(void)value;
	return set_format(config, &export_ndjson);
}

static int set_perfetto(void *config, const char *value)
{
	(void)value;
	return set_format(config, &export_perfetto);
}

static int set_clickhouse(void *config, const char *value)
{
	(void)value;
	return set_format(config, &export_clickhouse);
}

static int set_by(void *config, const char *value)
{
	struct export_config *to = config;
	enum view by;

	to->incidents = !strcmp(value, "incident");
	if (to->incidents)
		return 0;
	if (by_parse(value, &by) || by == VIEW_CHANNEL)
		return -EINVAL;
	to->span.by = by;
	return 0;
}

static int set_grain(void *config, const char *value)
{
	return parse_seconds(value, SPAN_MIN_GRAIN_NS, SPAN_MAX_GRAIN_NS,
			     &((struct export_config *)config)->span.grain_ns);
}

static const struct option_spec options[] = {
	{ 'c', "csv", NULL, "comma-separated values, with the columns of pqos first",
	  "one format only", set_csv, NULL },
	{ 'n', "ndjson", NULL, "a JSON object a line, one for each row",
	  "one format only", set_ndjson, NULL },
	{ 'p', "perfetto", NULL, "a trace for ui.perfetto.dev, curves for each row",
	  "one format only", set_perfetto, NULL },
	{ 'C', "clickhouse", NULL, "RowBinary, for INSERT INTO cmt.usage FORMAT RowBinary; incidents: cmt.incidents",
	  "one format only", set_clickhouse, NULL },
	{ 'b', "by", "VIEW", "rows are: container (default), process, cpu, domain, incident",
	  "container, process, cpu, domain or incident", set_by,
	  "container process cpu domain incident" },
	{ 'g', "grain", "SECONDS",
	  "length of an interval, 0.001 to 3600; default 1, 0.001 with --perfetto",
	  "a number of seconds from 0.001 to 3600", set_grain, NULL },
	{ 'f', "from", "TIME", EXCERPT_FROM_HELP,
	  EXCERPT_WANTED, excerpt_set_from, NULL },
	{ 't', "to", "TIME", "end at this time",
	  EXCERPT_WANTED, excerpt_set_to, NULL },
	{ 'o', "output", "FILE", "write to FILE instead of standard output",
	  "a path", excerpt_set_output, WORDS_FILES },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL, NULL },
	{ .name = NULL },
};

const struct program export_program = {
	.name = "cmtstat export",
	.synopsis = "--csv | --ndjson | --perfetto | --clickhouse [options] FILE",
	.about = "Write the intervals of a recording, or its incidents, in a format that other programs read.\n",
	.options = options,
	.more = "Unknown values are empty or null, never 0.\n",
};

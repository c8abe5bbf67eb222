// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"
#include "common/options.h"

#define SIZE_LEAST (1ULL << 20)
#define SIZE_MOST  (1ULL << 30)

static int set_size(void *config, const char *value)
{
	return parse_size(value, SIZE_LEAST, SIZE_MOST,
			  &((struct report_config *)config)->size);
}

enum { KEY_FROM = OPTION_LONG_ONLY, KEY_TO, KEY_SIZE };

static const struct option_spec report_options[] = {
	{ 'o', "output", "PAGE", "where the page goes; -: standard output",
	  "the name of a file", excerpt_set_output, WORDS_FILES },
	{ KEY_FROM, "from", "TIME", EXCERPT_FROM_HELP,
	  EXCERPT_WANTED, excerpt_set_from, NULL },
	{ KEY_TO, "to", "TIME", "end there", EXCERPT_WANTED, excerpt_set_to, NULL },
	{ KEY_SIZE, "size", "BYTES", "room for the timelines in the page, default 64M: beyond it the points are coarser",
	  "a number of bytes from 1M to 1G", set_size, "16M 64M 256M" },
	{ 'h', "help", NULL, "show this help", NULL, NULL, NULL },
	{ 'V', "version", NULL, "show the version", NULL, NULL, NULL },
	{ .name = NULL },
};

const struct program report_program = {
	.name = REPORT_NAME,
	.synopsis = "[options] FILE -o PAGE",
	.about = "Make one HTML page of a recording: timelines that zoom to a millisecond, culprits, and\n"
		 "what was not measured.  The page loads nothing.\n",
	.options = report_options,
};

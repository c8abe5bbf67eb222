// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/signals.h"
#include "common/text.h"
#include "table/screen.h"

static void print_table(const struct report *report, unsigned int width, FILE *out)
{
	const struct table_opts opts = { .width = width };
	struct screen screen = {
		.put = screen_print, .to = out, .opts = &opts,
	};

	view_table(&screen, report);
	fputc('\n', out);
}

static int print_report(enum output output, const struct report *report,
			unsigned int width, FILE *out)
{
	if (output == OUTPUT_JSON)
		return view_json(out, report);
	if (output == OUTPUT_CSV)
		view_csv(out, report);
	else
		print_table(report, width, out);
	return 0;
}

/* The whole interval is in memory before its first byte is written. */
int tables_print(const struct config *config, const struct report *report,
		 unsigned int width)
{
	static const char NONE[] = "cmtstat: no readings in this interval\n";
	struct text text;
	int ret = text_open(&text);

	if (ret)
		return ret;
	ret = text_close(&text, print_report(config->output, report, width, text.out));
	if (ret)
		goto out;
	ret = signals_write(STDOUT_FILENO, text.bytes, text.len);
	if (!ret && config->output == OUTPUT_CSV && report->frame.unread)
		ret = signals_write(STDERR_FILENO, NONE, sizeof(NONE) - 1);
out:
	free(text.bytes);
	return ret;
}

int tables_begin(enum view by)
{
	struct text text;
	int ret = text_open(&text);

	if (ret)
		return ret;
	view_csv_header(text.out, by);
	return text_write(&text, STDOUT_FILENO, 0);
}

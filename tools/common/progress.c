// SPDX-License-Identifier: GPL-2.0-or-later
#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

#define FIRST_NS	2000000000ULL
#define TERMINAL_NS	200000000ULL
#define LOG_NS		10000000000ULL	/* a file of lines has fewer of them */

void progress_begin(struct progress *progress, const char *what)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	*progress = (struct progress){
		.what = what, .begin_ns = now, .next_ns = now + FIRST_NS,
		.terminal = isatty(STDERR_FILENO),
	};
}

void progress_show(struct progress *progress, uint64_t done, uint64_t all)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	unsigned int percent = all ? (unsigned int)(100 * (double)done / (double)all) : 0;

	if (!progress->what || now < progress->next_ns)
		return;
	percent = percent > 99 ? 99 : percent;
	progress->next_ns = now + (progress->terminal ? TERMINAL_NS : LOG_NS);
	progress->shown = true;
	fprintf(stderr, progress->terminal ? "\r%s: %u %%, %.0f s" : "%s: %u %%, %.0f s\n",
		progress->what, percent, (double)(now - progress->begin_ns) / 1e9);
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->shown && progress->terminal)
		fputs("\r\033[K", stderr);
}

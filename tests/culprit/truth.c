// SPDX-License-Identifier: GPL-2.0-or-later
#include "truth.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "score.h"

static _Noreturn void usage(const char *name, bool kinds)
{
	fprintf(stderr, "usage: %s [-d] [-v] %s[-n HOSTS]\n-d the deciding set\n", name,
		kinds ? "[-k KIND] " : "");
	exit(2);
}

void truth_options(int argc, char **argv, struct truth_opts *opts)
{
	int c;

	opts->seed = opts->reported;
	while ((c = getopt(argc, argv, opts->kinds ? "dvn:k:" : "dvn:")) != -1)
		switch (c) {
		case 'd':
			opts->seed = opts->deciding;
			break;
		case 'v':
			score_verbose++;
			break;
		case 'k':
			opts->kind = (uint32_t)atoi(optarg);
			break;
		case 'n':
			opts->hosts = (uint32_t)atoi(optarg);
			break;
		default:
			usage(argv[0], opts->kinds);
		}
	setlinebuf(stdout);
}

double truth_percent(uint32_t n, uint32_t of)
{
	return of ? 100.0 * n / of : 0;
}

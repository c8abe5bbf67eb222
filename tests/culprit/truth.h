/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs have in common that compare estimates with the truth of many hosts. */
#ifndef CULPRIT_TRUTH_H
#define CULPRIT_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

struct truth_opts {
	uint64_t deciding, reported;	/* the first seeds of the two sets */
	uint64_t seed;		/* that of the set that is asked for */
	uint32_t hosts;		/* the default, until others are asked for */
	uint32_t kind;		/* the same */
	bool kinds;		/* whether one can be asked for */
};

/* Sets score_verbose, too.  Ends the program where @argv is wrong. */
void truth_options(int argc, char **argv, struct truth_opts *opts);

/* @n of @of; 0 where there are none. */
double truth_percent(uint32_t n, uint32_t of);

#endif

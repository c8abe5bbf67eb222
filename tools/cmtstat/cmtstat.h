/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cmtstat and of cmtstat replay */
#ifndef TOOLS_CMTSTAT_H
#define TOOLS_CMTSTAT_H

#include "config/config.h"

extern const struct config cmtstat_defaults;
extern const struct program cmtstat_program, replay_program;

/* As main(), with argv[0] "replay". */
int replay_main(int argc, char **argv);

#endif

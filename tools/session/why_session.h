/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmtstat --why: print verdicts. */
#ifndef TOOLS_WHY_SESSION_H
#define TOOLS_WHY_SESSION_H

#include "config/config.h"
#include "replay/replay.h"

/* NULL, or why the options do not go with --why; @replay: of those that replay has */
const char *why_misplaced(const struct config *config, bool replay);

/* Run until the time is up or a signal comes.  Returns the exit status. */
int why_run(const struct config *config, struct cmt_device *dev);

/* The same of a recording, from its from_ns to its to_ns. */
int why_replay(const struct config *config, struct replay *replay);

#endif

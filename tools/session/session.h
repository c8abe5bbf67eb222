/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session: table after table, or their replacement, of a device or of a recording. */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include "config/config.h"
#include "replay/replay.h"

/* Returns the exit status. */
int session_device(const struct config *config);

/* @replay is open. */
int session_replay(const struct config *config, struct replay *replay);

#endif

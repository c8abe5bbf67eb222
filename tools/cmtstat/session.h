/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table after table, or what stands in its place, of a device or of a recording. */
#ifndef TOOLS_SESSION_H
#define TOOLS_SESSION_H

#include "cmtstat.h"
#include "replay.h"

/* Returns what to exit with. */
int session_device(const struct config *config);

/* @replay is open. */
int session_replay(const struct config *config, struct replay *replay);

#endif

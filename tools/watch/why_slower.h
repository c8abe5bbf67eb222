/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --why says of slowdown: all that is slower now, and incidents that begin and end. */
#ifndef TOOLS_WHY_SLOWER_H
#define TOOLS_WHY_SLOWER_H

#include "watch.h"
#include "why/why_view.h"

/* Does @name match, with or without the runtime?  NULL: each does */
bool why_is_wanted(const char *filter, const struct why_name *name);

/*
 * As far as it is of the wanted part, with the names of its owners, in which paths are of the
 * last frame; without remedies
 */
struct why_incident why_named(const struct watch *watch, const struct cmt_incident *told);

/*
 * Of a recording: each incident that ended since the last call, and at the end each that goes
 * on.  Return what @take returns, until it is not 0.
 */
typedef int (*why_take)(void *ctx, const struct why_incident *incident);
int why_take_ended(const struct watch *watch, why_take take, void *ctx);
int why_take_open(const struct watch *watch, why_take take, void *ctx);

/* Both write to standard output.  Return 0 or -errno. */
int why_slower_now(struct watch *watch, const struct why_state *state, const char *filter);
int why_slower_events(struct watch *watch, const struct why_state *state, const char *filter);

#endif

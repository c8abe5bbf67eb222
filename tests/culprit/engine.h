/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine on a simulated host, with occupancies or from counters alone. */
#ifndef CULPRIT_ENGINE_H
#define CULPRIT_ENGINE_H

#include <cmt/culprit.h>

#include "host.h"

struct cmt_culprit *engine_new(const struct host *host);

/* Adds millisecond @ms of @host.  @rdt: occupancies and traffic are known. */
void engine_add(struct cmt_culprit *culprit, const struct host *host, uint32_t ms, bool rdt);

#endif

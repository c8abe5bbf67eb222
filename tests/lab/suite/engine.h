/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The culprit engine, fed with the module's records, as cmtstat --why is. */
#ifndef CMT_LAB_ENGINE_H
#define CMT_LAB_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include <cmt/culprit.h>
#include <cmt/device.h>
#include <cmt/usage.h>

struct engine {
	struct cmt_device *dev;
	struct cmt_usage *usage;
	struct cmt_culprit *culprit;
};

/* @counters: of cmt_usage_opts */
void engine_open(struct engine *engine, uint32_t counters);
void engine_close(struct engine *engine);

/* Add the next frame to the engine.  False: there is none yet.  A lost record fails. */
bool engine_next(struct engine *engine);

#endif

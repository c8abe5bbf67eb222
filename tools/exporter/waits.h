/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For whom tasks waited, by victim and by who ran on the CPU */
#ifndef EXPORTER_WAITS_H
#define EXPORTER_WAITS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

#include "pairs.h"

/* Begins as zeroes, but for pairs.window_ns. */
struct waits {
	struct pairs pairs;	/* ns */
	uint64_t others_ns[2];	/* small parts, and pairs without room; [1]: of a model */
};

/* A frame without CMT_USAGE_WAITS changes nothing. */
void waits_add(struct waits *waits, const struct cmt_usage_frame *frame, bool emulated);

#endif

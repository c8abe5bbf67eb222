/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the module's constants */
#ifndef TOOLS_NAMES_H
#define TOOLS_NAMES_H

#include <cmt/culprit.h>
#include <stdint.h>

/* "hardware", "emulated", "software", or "unknown"; of CMT_BACKEND_* */
const char *backend_name(uint32_t backend);

/* "intel", "amd", "hygon" or "other", of CMT_VENDOR_*; and as people write it */
const char *vendor_name(uint32_t vendor);
const char *vendor_title(uint32_t vendor);

/* "cache", "bandwidth" and so on; "unknown": it is of a later version. */
const char *culprit_kind_name(enum cmt_culprit_kind kind);

/*
 * Why a value is unknown or partial, of CMT_USAGE_WHY_*: the first bit that is set, in
 * the order of importance.  NULL: no bit is set.
 */
const char *usage_why_name(uint32_t why);

#endif

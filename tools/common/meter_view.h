/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a meter, as text and as JSON */
#ifndef TOOLS_METER_VIEW_H
#define TOOLS_METER_VIEW_H

#include "meter.h"

#define METER_TEXT_LEN 40

/* "4.0 MiB", "> 4.0 MiB" for a lower bound, "-" for an unknown value. */
const char *meter_text_bytes(char buf[METER_TEXT_LEN], struct measure value);
const char *meter_text_rate(char buf[METER_TEXT_LEN], struct measure value);

struct json_object;

/* Add the values of the span to @object.  Returns 0 or -ENOMEM. */
int meter_json(struct json_object *object, const struct meter *meter,
	       const struct cmt_info *info);

/*
 * Why the machine has no values, or no bandwidth, escaped; "": it has.  The missing
 * value is put before the reason.
 */
#define METER_REASON_LEN 512
const char *meter_missing(char buf[METER_REASON_LEN],
			  const struct cmt_info *info);

#endif

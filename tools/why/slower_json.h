/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much slower a row's container is, and because of whom: in JSON. */
#ifndef TOOLS_SLOWER_JSON_H
#define TOOLS_SLOWER_JSON_H

#include "common/rows.h"

struct json_object;

/* Returns 0, with NULL where it is not known, or -ENOMEM. */
int slower_json(const struct row *row, struct json_object **value);

#endif

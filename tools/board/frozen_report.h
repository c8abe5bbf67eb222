/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report that stays while the next intervals are read: a frozen screen's. */
#ifndef TOOLS_FROZEN_REPORT_H
#define TOOLS_FROZEN_REPORT_H

#include "frame/history.h"
#include "table/view.h"

struct frozen_report {
	struct report report;	/* valid until frozen_report_drop() */
	struct row *rows;
	struct cmt_container *containers;	/* of the rows, with texts of their own */
	uint32_t nr_containers;
	struct row_part *parts;
	struct trail *trails;	/* of rows, then of caches */
	struct slower *slower;
};

/*
 * Copy @from with its rows, children, parts, containers, trails and slowdowns.  Returns 0 or
 * -ENOMEM: there is nothing to drop then.
 */
int frozen_report_copy(struct frozen_report *frozen, const struct report *from);
void frozen_report_drop(struct frozen_report *frozen);

#endif

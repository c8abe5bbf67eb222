/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The containers of a model, by id. */
#ifndef REPORT_MEMBERS_H
#define REPORT_MEMBERS_H

#include "model.h"

/* Find or make the member of a row; its name becomes that of the row.  Returns its number
 *  or -ENOMEM.
 */
int64_t members_of(struct model *model, const struct cmt_usage_frame *frame,
		   const struct cmt_usage_row *row);

/* Find or make the member of @kind, MEMBER_*, and @id.  Returns as members_of(). */
int64_t members_make(struct model *model, uint64_t id, uint32_t kind, const char *label);
void members_free(struct model *model);

#endif

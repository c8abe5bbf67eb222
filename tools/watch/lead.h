/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine reads a recording from before the wanted part on.  What an incident cost before
 * the part is not of the part.
 */
#ifndef TOOLS_LEAD_H
#define TOOLS_LEAD_H

#include <stdbool.h>
#include <stdint.h>

#include <cmt/cmt.h>

struct lead;

/* @from_ns: begin of the part.  NULL: no memory.  Free it with free(3). */
struct lead *lead_new(uint64_t from_ns);

/* The engine has judged a further frame, which ends at @end_ns. */
void lead_follow(struct lead *lead, const struct cmt_culprit *culprit, uint64_t end_ns);

/* Is it of before the part only?  @lead may be NULL: there is no part. */
bool lead_is_over(const struct lead *lead, const struct cmt_incident *told);

/*
 * @told, as far as it is of the part: valid until the next call.  @lead may be NULL: then all
 * of it is.
 */
const struct cmt_incident *lead_cut(struct lead *lead, const struct cmt_incident *told);

#endif

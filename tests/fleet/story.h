/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A made-up machine on which batch slows down web, for pictures: made.h's option "story". */
#ifndef TEST_STORY_H
#define TEST_STORY_H

#include <cmt/cmt.h>
#include <stdint.h>

#define STORY_CONTAINERS	12U

/* @rmid: from 1 on */
const char *story_name(uint32_t rmid);

/* What it holds of the cache in that millisecond, in bytes. */
uint64_t story_held(uint64_t ms, uint32_t rmid, uint32_t noise);

/* Counters of that millisecond: what web does not hold it misses, and it waits for each miss. */
void story_count(struct cmt_record *record, uint64_t ms, uint32_t rmid, uint32_t noise);

#endif

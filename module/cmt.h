/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all rooms use.  ROOMS lists the rooms from the top down; NAME/NAME.h is what a
 * room has for the rooms above it.
 *
 * Locks: docs/architecture.md has their order.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <linux/types.h>

#include "uapi/cmt.h"

#define CMT_INTERVAL_MIN_NS	100000
#define CMT_INTERVAL_MAX_NS	1000000000

/* For a store of two or more members of a record at once, from @member on */
typedef u64 __attribute__((__may_alias__)) cmt_record_u64;
typedef u32 __attribute__((__may_alias__)) cmt_record_u32;

#define cmt_record_put64(member, value) (*(cmt_record_u64 *)(member) = (value))
#define cmt_record_put32(member, value) (*(cmt_record_u32 *)(member) = (value))

/*
 * A test build waits here, to widen the window of a race; @wait is msleep or mdelay.
 */
#ifdef CMT_TEST_DELAY
#define cmt_test_delay(wait, times)	wait((times) * CMT_TEST_DELAY)
#else
#define cmt_test_delay(wait, times)	do { } while (0)
#endif

#endif

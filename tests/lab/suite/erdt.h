/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the ERDT table of the lab says: tests/lab/erdt-table.c, and what is tested of it. */
#ifndef CMT_LAB_ERDT_H
#define CMT_LAB_ERDT_H

/* RAM of the guest that its kernel leaves alone: memmap= in tests/lab/check */
#define ERDT_BASE	0x10000000ULL
#define ERDT_RMIDS	64
#define ERDT_WIDTH	24		/* bits of a counter of traffic */
#define ERDT_FACTOR	(5U << 14)	/* 1.25 */
/* as tests/unit/erdt_maker.h has them */
#define ERDT_CMRC	0x10000U
#define ERDT_MMRC	0x20000U
#define ERDT_CMRC_UNIT	65536ULL
#define ERDT_MMRC_UNIT	64ULL
#define ERDT_REGIONS	4		/* no MRRM table says how many there are */

#endif

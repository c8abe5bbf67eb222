/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab processor is: read from the environment variable CMT_LAB, a
 * list of name=value with commas, which docs/lab.md describes.
 */
#ifndef CMT_LAB_OPTIONS_H
#define CMT_LAB_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_IN_QEMU
#include "cmt-lab-abi.h"

#define LAB_CLOSIDS_MAX  16
#define LAB_COUNTERS_MAX 8

/* What is wrong with the discovery table; LAB_LIE_NONE: nothing. */
enum lab_lie {
    LAB_LIE_NONE,
    LAB_LIE_STRIDE,  /* entries of no bytes */
    LAB_LIE_FAR,     /* entries so far apart that they are outside the BAR */
    LAB_LIE_UNITS,   /* 1023 boxes, for which the BAR has no room */
    LAB_LIE_OUTSIDE, /* a box in RAM */
    LAB_LIE_HUGE,    /* a box at the end of what 64 bits can address */
    LAB_LIE_ACCESS,  /* a box of access type 3 */
    LAB_LIE_WIDTH,   /* a box with counters of 65 bits */
    LAB_LIE_TWICE,   /* two boxes of one name */
    LAB_LIE_DIFFER,  /* socket 1 has other counters than socket 0 */
    LAB_LIE_ONES,    /* the device does not answer */
    LAB_LIE_BAR,     /* a table in BAR 6, which there cannot be */
    LAB_LIE_NO_BAR,  /* a table in a BAR that the device does not have */
    LAB_LIE_OFFSET,  /* a table beyond its BAR */
    LAB_LIE_LOOP,    /* capabilities that lead to each other */
    LAB_LIES,
};

struct lab_plan {
    uint32_t period; /* 0: no such faults */
    uint32_t burst;
};

struct lab_options {
    uint32_t rmids;      /* what CPUID says, physical ones */
    uint32_t limit;      /* RMIDs from here on are refused */
    uint32_t width;      /* bits of an MBM counter */
    uint32_t upscale;    /* bytes */
    uint32_t events;     /* bit 0 occupancy, 1 total, 2 local */
    uint32_t size;       /* bytes of one L3 */
    uint32_t ways;
    uint32_t line;       /* bytes */
    uint32_t closids;    /* 0: no allocation */
    uint32_t snc;        /* nodes per L3 */
    uint32_t spaces;
    uint32_t evictions;  /* spaces whose evictions are told apart; 0: none */
    uint32_t agent_rmid; /* what the other agent writes to PQR_ASSOC */
    uint32_t signature;  /* CPUID leaf 1 EAX; 0: QEMU's */
    uint32_t amd;
    uint32_t pti;        /* user space's root is the kernel's with bit 12 set */
    uint32_t on;         /* the model is on from reset */
    uint32_t abmc;       /* AMD's assignable counters: 1 there, 2 and on */
    uint32_t abmc_counters; /* of an L3 */
    uint32_t abmc_lie;   /* plain readings are garbage then, and not 0 */
    uint32_t erdt;       /* registers in memory, LAB_ERDT_BASE */
    uint32_t tracked;    /* RMIDs with MBM counters at a time; 0: all */
    uint32_t plza;       /* AMD's register of what level 0 counts as */
    uint32_t overflow;   /* CTR bit 61: the counter has wrapped */
    uint32_t pmu;        /* Intel's architectural PMU, version 2 */
    uint32_t counters;   /* programmable ones of a CPU */
    uint32_t penalty;    /* cycles of an LLC miss */
    uint32_t pmon;       /* the uncore PMU and its discovery table */
    uint32_t pmon_width; /* bits of its counters */
    enum lab_lie pmon_lie;
    struct lab_plan plans[LAB_FAULTS];
};

/* false: @error says, in one line, what is wrong. */
bool lab_options_parse(struct lab_options *o, const char *text, char *error,
                       size_t size);

#endif

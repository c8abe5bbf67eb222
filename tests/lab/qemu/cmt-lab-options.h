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
    uint32_t agent_rmid; /* what the other agent writes to PQR_ASSOC */
    uint32_t signature;  /* CPUID leaf 1 EAX; 0: QEMU's */
    uint32_t amd;
    uint32_t pti;        /* user space's root is the kernel's with bit 12 set */
    uint32_t on;         /* the model is on from reset */
    uint32_t abmc;       /* AMD's assignable counters: 1 there, 2 and on */
    uint32_t overflow;   /* CTR bit 61: the counter has wrapped */
    uint32_t pmu;        /* Intel's architectural PMU, version 2 */
    uint32_t counters;   /* programmable ones of a CPU */
    uint32_t penalty;    /* cycles of an LLC miss */
    struct lab_plan plans[LAB_FAULTS];
};

/* false: @error says, in one line, what is wrong. */
bool lab_options_parse(struct lab_options *o, const char *text, char *error,
                       size_t size);

#endif

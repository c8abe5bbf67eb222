/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The uncore PMU as Sapphire Rapids has it: a PCI device for each socket, whose
 * discovery table lists the boxes, and the boxes themselves.
 */
#ifndef CMT_LAB_PMON_H
#define CMT_LAB_PMON_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_PMON_SOCKETS 8
#define LAB_CHANNELS     8 /* of a socket, two to a memory controller */

/* Types of boxes, as Sapphire Rapids numbers them. */
#define LAB_PMON_CHA 0
#define LAB_PMON_PCU 4
#define LAB_PMON_IMC 6
#define LAB_PMON_UPI 8
#define LAB_PMON_CXL 12

/* Where the boxes are in BAR 2. */
#define LAB_PMON_IMC_AT   0x22800
#define LAB_PMON_IMC_STEP 0x8000  /* the other channel of the controller */
#define LAB_PMON_MC_STEP  0x80000 /* the next controller */
#define LAB_PMON_CXL_AT   0x24000

#define LAB_IMC_COUNTERS 4
#define LAB_IMC_CTR      8    /* from the box's control, 8 bytes each */
#define LAB_IMC_CTL      0x40 /* 4 bytes each */
#define LAB_IMC_BYTES    0x60

/* Accessed with QEMU's lock held. */
struct lab_imc {
    uint32_t socket, channel;
    uint32_t unit;
    uint32_t ctl[LAB_IMC_COUNTERS];
    uint64_t value[LAB_IMC_COUNTERS];
    uint64_t start[LAB_IMC_COUNTERS]; /* what the event was at value */
};

/* One box of the table, in the table's own layout. */
struct lab_unit {
    uint64_t geometry;
    uint64_t ctl;
    uint64_t name;
};

/* cmt-lab-imc.c */

/* A line goes from memory to an L3, or back: of lab_cache_on_memory(). */
void lab_imc_moved(void *unused, uint32_t line, bool write);
/* Bytes read; bytes written. */
void lab_channel(uint32_t socket, uint32_t channel, uint64_t bytes[2]);
/* Cycles in which no read was pending in the first half; in which some was. */
void lab_channel_idle(uint32_t socket, uint32_t channel, uint64_t cycles[2]);
void lab_imc_reset(struct lab_imc *imc, uint32_t socket, uint32_t channel);
/* @size: 4 or 8; @offset: of its multiples, from the box's control */
uint64_t lab_imc_read(struct lab_imc *imc, uint32_t offset, unsigned size);
void lab_imc_write(struct lab_imc *imc, uint32_t offset, uint64_t value,
                   unsigned size);

/* cmt-lab-table.c */

/* @bar: where the device's boxes are; false: there is no box @i. */
bool lab_table_unit(uint32_t socket, uint32_t i, uint64_t bar, uint32_t devfn,
                    struct lab_unit *unit);
/* What the table has at @offset, which is a multiple of 8. */
uint64_t lab_table_word(uint32_t socket, uint64_t offset, uint64_t bar,
                        uint32_t devfn);

/* cmt-lab-pmon.c */

/* The table's box @i as the device of @socket gives it now. */
bool lab_pmon_unit(uint32_t socket, uint32_t i, struct lab_unit *unit);
bool lab_pmon_is_msr(uint32_t msr);
uint64_t *lab_pmon_msr(uint32_t socket, uint32_t msr);

#endif

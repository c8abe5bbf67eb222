/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The discovery table of the uncore PMU: the global unit and then one entry for
 * each box, in the layout of Linux's uncore_discovery.h; and its lies.
 */
#include "qemu/osdep.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define STRIDE      4 /* 8 bytes each */
#define GLOBAL_MSR  0x2ff0
#define PCI_REGISTERS 0x318

enum access { MSR, MMIO, PCI, UNKNOWN };

/* A type of boxes: those of one socket are alike. */
static const struct type {
    uint32_t number;
    enum access access;
    uint32_t boxes, regs, ctl, ctr, status;
    uint64_t at;
    uint32_t step;
} types[] = {
    { LAB_PMON_CHA, MSR, 4, 4, 2, 8, 1, 0x2000, 0x10 },
    { LAB_PMON_PCU, MSR, 1, 4, 2, 8, 1, 0x2fc0, 0 },
    { LAB_PMON_IMC, MMIO, LAB_CHANNELS, LAB_IMC_COUNTERS, LAB_IMC_CTL,
      LAB_IMC_CTR, 0x5c, LAB_PMON_IMC_AT, LAB_PMON_IMC_STEP },
    { LAB_PMON_UPI, PCI, 1, 4, 0x38, 8, 4, PCI_REGISTERS, 0 },
    { LAB_PMON_CXL, MMIO, 1, 8, 0x10, 0x50, 4, LAB_PMON_CXL_AT, 0 },
};

static uint32_t count(void)
{
    uint32_t i, n = 0;

    for (i = 0; i < ARRAY_SIZE(types); i++) {
        n += types[i].boxes;
    }
    return n;
}

/* The type of box @i, and which one of the type it is; NULL: there is none. */
static const struct type *find(uint32_t i, uint32_t *id)
{
    const struct type *t;

    for (t = types; t < types + ARRAY_SIZE(types); t++) {
        if (i < t->boxes) {
            *id = i;
            return t;
        }
        i -= t->boxes;
    }
    return NULL;
}

static uint64_t address(const struct type *t, uint32_t id, uint64_t bar,
                        uint32_t devfn)
{
    switch (t->access) {
    case MMIO:
        /* the two channels of a memory controller, and the controllers */
        return bar + t->at + id / 2 * LAB_PMON_MC_STEP + id % 2 * t->step;
    case PCI:
        return (uint64_t)devfn << 12 | t->at;
    default:
        return t->at + id * t->step;
    }
}

static bool lies(enum lab_lie lie, uint32_t socket)
{
    return lab.o.pmon_lie == lie &&
           (lie != LAB_LIE_DIFFER || socket == 1);
}

/* Box 3 of the IMCs is the one that is wrong. */
static void bend(struct lab_unit *unit, uint32_t socket, uint32_t number,
                 uint32_t id)
{
    if (number != LAB_PMON_IMC) {
        return;
    }
    if (lies(LAB_LIE_DIFFER, socket)) {
        unit->geometry = deposit64(unit->geometry, 16, 8, 32);
    }
    if (id != 3) {
        return;
    }
    if (lies(LAB_LIE_ACCESS, socket)) {
        unit->geometry = deposit64(unit->geometry, 62, 2, UNKNOWN);
    } else if (lies(LAB_LIE_OUTSIDE, socket)) {
        unit->ctl = 0x100000;
    } else if (lies(LAB_LIE_HUGE, socket)) {
        unit->ctl = -0x10ULL;
    } else if (lies(LAB_LIE_WIDTH, socket)) {
        unit->geometry = deposit64(unit->geometry, 16, 8, 65);
    } else if (lies(LAB_LIE_TWICE, socket)) {
        unit->name = LAB_PMON_IMC | 2ULL << 16;
    }
}

bool lab_table_unit(uint32_t socket, uint32_t i, uint64_t bar, uint32_t devfn,
                    struct lab_unit *unit)
{
    const struct type *t;
    uint32_t id;

    t = find(i, &id);
    if (!t) {
        return false;
    }
    unit->geometry = t->regs | t->ctl << 8 | lab.o.pmon_width << 16 |
                     (uint64_t)t->ctr << 24 | (uint64_t)t->status << 32 |
                     (uint64_t)t->access << 62;
    unit->ctl = address(t, id, bar, devfn);
    unit->name = t->number | (uint64_t)id << 16;
    bend(unit, socket, t->number, id);
    return true;
}

static uint32_t stride(uint32_t socket)
{
    return lies(LAB_LIE_STRIDE, socket) ? 0 :
           lies(LAB_LIE_FAR, socket) ? 255 : STRIDE;
}

static uint64_t global_word(uint32_t socket, uint32_t word)
{
    uint64_t units = lies(LAB_LIE_UNITS, socket) ? 1023 : count();

    switch (word) {
    case 0:
        return (uint64_t)stride(socket) << 8 | units << 16;
    case 1:
        return GLOBAL_MSR;
    case 2:
        return 1 | 2 << 8;
    }
    return 0;
}

uint64_t lab_table_word(uint32_t socket, uint64_t offset, uint64_t bar,
                        uint32_t devfn)
{
    uint64_t entry_bytes = (stride(socket) ?: STRIDE) * 8;
    uint64_t entry = offset / entry_bytes, word = offset % entry_bytes / 8;
    struct lab_unit unit;

    if (lies(LAB_LIE_ONES, socket)) {
        return UINT64_MAX;
    }
    if (!entry) {
        return global_word(socket, word);
    }
    if (!lab_table_unit(socket, entry - 1, bar, devfn, &unit)) {
        return 0;
    }
    return word == 0 ? unit.geometry : word == 1 ? unit.ctl :
           word == 2 ? unit.name : 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of Enhanced RDT, in memory, one block of them for each L3: RDT_CTRL,
 * occupancy (CMRC) and traffic by region of memory (MMRC), laid out as the table of
 * tests/lab/erdt-table.c says.  A counter reads what the L3 counts at that instant.
 *
 * In MSR mode the registers of traffic have garbage, without a flag; when the mode for
 * memory returns, their counters begin at 0.
 */
#include "qemu/osdep.h"
#include "exec/address-spaces.h"
#include "hw/core/cpu.h"

#include "cmt-lab-int.h"

#define REGISTER_BYTES  8
#define SETS            4 /* of 8 RMIDs each, in turn */
#define SET_RMIDS       8
#define SET_BYTES       (4 * 4096)
#define REGION_BYTES    2048
#define FACTOR_ONE      (1ULL << 16)
#define GARBAGE         0xbadbadULL

/* A counter's register. */
struct where {
    uint32_t event;
    uint32_t rmid;
    uint32_t region; /* of memory */
};

static MemoryRegion regions[LAB_L3S_MAX];

static bool find_occupancy(struct where *w, uint32_t at)
{
    uint32_t i = at % LAB_ERDT_STRIDE / REGISTER_BYTES;

    *w = (struct where) {
        .event = LAB_EVENT_OCCUPANCY,
        .rmid = at / LAB_ERDT_STRIDE * LAB_ERDT_CLUMP + i,
    };
    return i < LAB_ERDT_CLUMP && w->rmid < lab.o.rmids;
}

static bool find_traffic(struct where *w, uint32_t at)
{
    uint32_t i = at % REGION_BYTES / REGISTER_BYTES;

    *w = (struct where) {
        .event = LAB_EVENT_TOTAL,
        .rmid = (i / SET_RMIDS * SETS + at / SET_BYTES) * SET_RMIDS +
                i % SET_RMIDS,
        .region = at % SET_BYTES / REGION_BYTES,
    };
    return w->region < LAB_ERDT_REGIONS && w->rmid < lab.o.rmids;
}

static bool find(struct where *w, hwaddr at)
{
    if (at - LAB_ERDT_CMRC < LAB_ERDT_BYTES) {
        return find_occupancy(w, at - LAB_ERDT_CMRC);
    }
    return at - LAB_ERDT_MMRC < LAB_ERDT_BYTES &&
           find_traffic(w, at - LAB_ERDT_MMRC);
}

/* Traffic is counted too low by the factor that it is to be corrected with. */
static uint64_t traffic_units(const struct lab_traffic *t, const struct where *w)
{
    return t->region[w->region] * FACTOR_ONE /
           (LAB_ERDT_FACTOR(w->rmid) ?: FACTOR_ONE) / LAB_ERDT_MBM_UNIT;
}

/* Of the counters; the caller holds last_lock. */
static uint64_t units(struct lab_l3 *l3, const struct where *w)
{
    struct lab_traffic now;

    if (w->event == LAB_EVENT_OCCUPANCY) {
        return lab_cache_of_rmid(l3->cache, w->rmid) / LAB_ERDT_UNIT;
    }
    now = lab_cache_traffic(l3->cache, w->rmid);
    return traffic_units(&now, w);
}

/* What a register has whose counter has @units; the caller holds last_lock. */
static uint64_t register_of(struct lab_l3 *l3, const struct where *w,
                            uint64_t units)
{
    uint64_t *wraps = &l3->wraps[w->rmid][w->region];
    uint64_t value;

    if (w->event == LAB_EVENT_OCCUPANCY) {
        return units;
    }
    units -= traffic_units(&l3->reset_at[w->rmid], w);
    value = units & MAKE_64BIT_MASK(0, LAB_ERDT_WIDTH);
    if (units >> LAB_ERDT_WIDTH != *wraps) {
        value |= LAB_ERDT_OVERFLOW;
    }
    *wraps = units >> LAB_ERDT_WIDTH;
    return value;
}

static bool is_for_msrs(const struct lab_l3 *l3)
{
    return l3->planted_mode || l3->control & LAB_ERDT_MSR_MODE;
}

/* The caller holds last_lock. */
static void set_mode(struct lab_l3 *l3, uint64_t control, bool planted)
{
    bool before = is_for_msrs(l3);

    l3->control = control;
    l3->planted_mode = planted;
    if (before && !is_for_msrs(l3)) {
        lab_mbm_reset_locked(l3);
    }
}

/* What the register gives in place of @clean, and which fault that is. */
static uint64_t planted(const struct lab_l3 *l3, const struct where *w,
                        uint64_t clean, enum lab_fault *fault)
{
    if (lab_fault_due(LAB_FAULT_ERROR)) {
        *fault = LAB_FAULT_ERROR;
        return LAB_ERDT_ONES;
    }
    if (lab_fault_due(LAB_FAULT_UNAVAILABLE)) {
        *fault = LAB_FAULT_UNAVAILABLE;
        return LAB_ERDT_UNAVAILABLE | GARBAGE;
    }
    if (w->event != LAB_EVENT_OCCUPANCY && is_for_msrs(l3)) {
        *fault = LAB_FAULT_ERDT_MODE;
        return GARBAGE;
    }
    *fault = LAB_FAULT_NONE;
    return clean;
}

/* A reading of traffic is complete with that of its last region. */
static void keep_last(struct lab_l3 *l3, const struct where *w,
                      const struct lab_reading *reading, uint64_t number)
{
    if (w->event == LAB_EVENT_OCCUPANCY || w->region == LAB_ERDT_REGIONS - 1) {
        l3->last[w->rmid][w->event] = (struct lab_last) {
            .value = reading->gave, .units = reading->ought,
            .number = number + 1,
        };
    }
}

static uint64_t read_counter(struct lab_l3 *l3, const struct where *w)
{
    CPUX86State *env = &X86_CPU(current_cpu)->env;
    struct lab_reading reading = { 0 };
    enum lab_fault fault;

    qemu_mutex_lock(&l3->last_lock);
    set_mode(l3, l3->control, lab_fault_due(LAB_FAULT_ERDT_MODE));
    reading.ought = units(l3, w);
    reading.gave = planted(l3, w, register_of(l3, w, reading.ought), &fault);
    reading.tsc = lab_cpu(env)->tsc;
    reading.what = lab_log_what(env, l3 - lab.l3s,
                                (uint64_t)w->rmid << 32 | w->event, fault) |
                   (uint64_t)w->region << 58;
    keep_last(l3, w, &reading, lab_log_add(&reading));
    qemu_mutex_unlock(&l3->last_lock);
    return reading.gave;
}

static uint64_t read_control(struct lab_l3 *l3)
{
    uint64_t value;

    if (lab_fault_due(LAB_FAULT_ERDT_CONTROL)) {
        return LAB_ERDT_ONES;
    }
    qemu_mutex_lock(&l3->last_lock);
    value = l3->control | (l3->planted_mode ? LAB_ERDT_MSR_MODE : 0);
    qemu_mutex_unlock(&l3->last_lock);
    return value;
}

static uint64_t erdt_read(void *opaque, hwaddr at, unsigned size)
{
    struct where w;

    if (!at) {
        return read_control(opaque);
    }
    return current_cpu && find(&w, at) ? read_counter(opaque, &w) :
                                         LAB_ERDT_ONES;
}

static void erdt_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    struct lab_l3 *l3 = opaque;

    if (at) {
        return; /* counters cannot be written */
    }
    qemu_mutex_lock(&l3->last_lock);
    set_mode(l3, value, l3->planted_mode);
    qemu_mutex_unlock(&l3->last_lock);
}

static const MemoryRegionOps erdt_ops = {
    .read = erdt_read,
    .write = erdt_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 8, .max_access_size = 8 },
    .impl = { .min_access_size = 8, .max_access_size = 8 },
};

void lab_erdt_init(void)
{
    uint32_t i;

    for (i = 0; lab.o.erdt && i < lab.nr_l3s; i++) {
        memory_region_init_io(&regions[i], NULL, &erdt_ops, &lab.l3s[i],
                              "cmt-lab-erdt", LAB_ERDT_STEP);
        memory_region_add_subregion(get_system_memory(),
                                    LAB_ERDT_BASE + i * LAB_ERDT_STEP,
                                    &regions[i]);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers: IA32_QM_EVTSEL, IA32_QM_CTR, IA32_PQR_ASSOC, the L3 masks
 * and RMID_SNC_CONFIG (SDM vol. 3B 18.18 and 18.19).
 */
#include "qemu/osdep.h"
#include "exec/exec-all.h"
#include "tcg/helper-tcg.h"

#include "cmt-lab-int.h"

#define QM_EVTSEL       0xc8d
#define QM_CTR          0xc8e
#define PQR_ASSOC       0xc8f
#define L3_MASK_0       0xc90
#define RMID_SNC_CONFIG 0xca0

#define EVTSEL_EVENT(v)    ((uint32_t)((v) & 0xff))
#define EVTSEL_RMID(v)     ((uint32_t)((v) >> 32 & 0x3ff))
#define EVTSEL_RESERVED    (~0x3ff000000ffULL)
#define EVTSEL_NO_EVENT    0xffULL
/* RMID 0, occupancy; or total, where that would change nothing */
#define EVTSEL_OF_AGENT(v) ((v) == 1 ? 2ULL : 1ULL)
#define PQR_CLOSID(v)      ((uint32_t)((v) >> 32))
#define PQR_RMID(v)        ((uint32_t)(v))

#define EVENT_OCCUPANCY 1
#define EVENT_TOTAL     2
#define GARBAGE         0x2badbadbadULL

uint64_t *lab_evtsel(struct lab_cpu *cpu)
{
    return lab.o.amd ? &cpu->l3->evtsel : &cpu->evtsel;
}

static bool exists(uint64_t selection)
{
    uint32_t event = EVTSEL_EVENT(selection);

    return event >= 1 && event <= LAB_EVENTS_MAX &&
           lab.o.events >> (event - 1) & 1 &&
           EVTSEL_RMID(selection) < lab.o.limit;
}

/* Of something that exists; not cut to the counter's width. */
static uint64_t units(struct lab_l3 *l3, uint64_t selection)
{
    uint32_t rmid = EVTSEL_RMID(selection);
    struct lab_traffic traffic;

    if (EVTSEL_EVENT(selection) == EVENT_OCCUPANCY) {
        return lab_cache_of_rmid(l3->cache, rmid) / lab_unit();
    }
    traffic = lab_cache_traffic(l3->cache, rmid);
    return (EVTSEL_EVENT(selection) == EVENT_TOTAL ? traffic.total
                                                   : traffic.local) /
           lab_unit();
}

static uint64_t counter(uint64_t units)
{
    return units & MAKE_64BIT_MASK(0, lab.o.width);
}

/* The value, with the overflow bit where the counter wrapped since. */
static uint64_t ought(struct lab_l3 *l3, uint64_t selection, uint64_t now)
{
    struct lab_last *last = &l3->last[EVTSEL_RMID(selection)]
                                     [EVTSEL_EVENT(selection)];
    uint64_t value = counter(now);

    if (lab.o.overflow && now >> lab.o.width != last->units >> lab.o.width) {
        value |= CTR_OVERFLOW;
    }
    return value;
}

/* What the register gives in place of @clean, and which fault that is. */
static uint64_t planted(struct lab_cpu *cpu, uint64_t clean,
                        enum lab_fault *fault)
{
    uint64_t *selected = lab_evtsel(cpu);
    uint64_t agents = EVTSEL_OF_AGENT(qatomic_read(selected));

    if (lab_fault_due(LAB_FAULT_EVTSEL)) {
        *fault = LAB_FAULT_EVTSEL;
        qatomic_set(selected, agents);
        return exists(agents) ? counter(units(cpu->l3, agents)) : CTR_ERROR;
    }
    if (lab_fault_due(LAB_FAULT_EVTSEL_ERROR)) {
        *fault = LAB_FAULT_EVTSEL_ERROR;
        qatomic_set(selected, EVTSEL_NO_EVENT);
        return CTR_ERROR;
    }
    if (lab_fault_due(LAB_FAULT_ERROR)) {
        *fault = LAB_FAULT_ERROR;
        return CTR_ERROR | GARBAGE;
    }
    if (lab_fault_due(LAB_FAULT_UNAVAILABLE)) {
        *fault = LAB_FAULT_UNAVAILABLE;
        return CTR_UNAVAILABLE | GARBAGE;
    }
    *fault = LAB_FAULT_NONE;
    return clean;
}

static uint64_t what(CPUX86State *env, const struct lab_cpu *cpu,
                     uint64_t selection, enum lab_fault fault)
{
    return (uint64_t)EVTSEL_RMID(selection) |
           (uint64_t)EVTSEL_EVENT(selection) << 16 | (uint64_t)fault << 24 |
           (uint64_t)env_cpu(env)->cpu_index << 32 |
           (uint64_t)cpu->l3_index << 48;
}

static uint64_t read_ctr(CPUX86State *env, struct lab_cpu *cpu)
{
    uint64_t selection = qatomic_read(lab_evtsel(cpu));
    struct lab_l3 *l3 = cpu->l3;
    struct lab_reading reading = { .ought = CTR_ERROR };
    bool good = exists(selection);
    enum lab_fault fault;
    uint64_t now = 0;

    qemu_mutex_lock(&l3->last_lock);
    if (good) {
        now = units(l3, selection);
        reading.ought = ought(l3, selection, now);
    }
    reading.gave = planted(cpu, reading.ought, &fault);
    reading.tsc = cpu->tsc;
    reading.what = what(env, cpu, selection, fault);
    if (good) {
        l3->last[EVTSEL_RMID(selection)][EVTSEL_EVENT(selection)] =
            (struct lab_last) {
                .value = reading.gave, .units = now,
                .number = lab_log_add(&reading) + 1,
            };
    } else {
        lab_log_add(&reading);
    }
    qemu_mutex_unlock(&l3->last_lock);
    return reading.gave;
}

static bool write_pqr(struct lab_cpu *cpu, uint64_t value)
{
    if (PQR_RMID(value) >= lab.o.limit ||
        PQR_CLOSID(value) >= MAX(lab.o.closids, 1)) {
        return false;
    }
    qatomic_set(&cpu->pqr, value);
    qatomic_inc(&lab.pqr_writes);
    if (lab_fault_due(LAB_FAULT_PQR)) {
        lab_overwrite_pqr(cpu);
    }
    return true;
}

/* One run of ones within the ways, and not empty. */
static bool good_mask(uint64_t mask)
{
    uint64_t low = mask & -mask;

    return mask && !(mask >> lab.o.ways) && !(mask & (mask + low));
}

static bool is_mask(uint32_t msr)
{
    return msr - L3_MASK_0 < lab.o.closids;
}

static bool is_ours(uint32_t msr)
{
    return msr == QM_EVTSEL || msr == QM_CTR || msr == PQR_ASSOC ||
           is_mask(msr) || (msr == RMID_SNC_CONFIG && lab.o.snc > 1);
}

/* false: #GP */
static bool try_write(struct lab_cpu *cpu, uint32_t msr, uint64_t value)
{
    if (msr <= PQR_ASSOC && lab_fault_due(LAB_FAULT_GP)) {
        return false;
    }
    switch (msr) {
    case QM_EVTSEL:
        if (value & EVTSEL_RESERVED) {
            return false;
        }
        qatomic_set(lab_evtsel(cpu), value);
        return true;
    case QM_CTR:
        return false;
    case PQR_ASSOC:
        return write_pqr(cpu, value);
    case RMID_SNC_CONFIG:
        qatomic_set(&cpu->l3->snc_config, value);
        return true;
    default:
        if (!good_mask(value)) {
            return false;
        }
        qatomic_set(&cpu->l3->masks[msr - L3_MASK_0], value);
        return true;
    }
}

static bool try_read(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                     uint64_t *value)
{
    if (msr <= PQR_ASSOC && lab_fault_due(LAB_FAULT_GP)) {
        return false;
    }
    switch (msr) {
    case QM_EVTSEL:
        *value = qatomic_read(lab_evtsel(cpu));
        break;
    case QM_CTR:
        *value = read_ctr(env, cpu);
        break;
    case PQR_ASSOC:
        *value = qatomic_read(&cpu->pqr);
        break;
    case RMID_SNC_CONFIG:
        *value = qatomic_read(&cpu->l3->snc_config);
        break;
    default:
        *value = qatomic_read(&cpu->l3->masks[msr - L3_MASK_0]);
    }
    return true;
}

bool cmt_lab_wrmsr(CPUX86State *env, uint32_t msr, uint64_t value, uintptr_t ra)
{
    if (!lab.present || !is_ours(msr)) {
        return false;
    }
    if (!try_write(lab_cpu(env), msr, value)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    return true;
}

bool cmt_lab_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *value,
                   uintptr_t ra)
{
    if (!lab.present || !is_ours(msr)) {
        return false;
    }
    if (!try_read(env, lab_cpu(env), msr, value)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    return true;
}

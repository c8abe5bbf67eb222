/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers: IA32_QM_EVTSEL, IA32_QM_CTR, IA32_PQR_ASSOC, the L3 masks
 * and RMID_SNC_CONFIG (SDM vol. 3B 18.18 and 18.19); L3_QOS_EXT_CFG,
 * L3_QOS_ABMC_CFG and L3_QOS_ABMC_DSC (AMD's APM vol. 2 19.3.3); PQR_PLZA_ASSOC
 * (patches for Linux of 2026).
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "exec/exec-all.h"
#include "tcg/helper-tcg.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define QM_EVTSEL       0xc8d
#define QM_CTR          0xc8e
#define PQR_ASSOC       0xc8f
#define L3_MASK_0       0xc90
#define RMID_SNC_CONFIG 0xca0
#define PQR_PLZA_ASSOC  0xc00003fc
#define L3_QOS_ABMC_CFG 0xc00003fd
#define L3_QOS_ABMC_DSC 0xc00003fe
#define L3_QOS_EXT_CFG  0xc00003ff

#define EVTSEL_EVENT(v)    ((uint32_t)((v) & 0xff))
#define EVTSEL_RMID(v)     ((uint32_t)((v) >> 32 & 0xfff))
#define EVTSEL_RESERVED    (lab.o.amd ? ~0xfff000000ffULL : ~0x3ff000000ffULL)
#define EVTSEL_EXTENDED    (1ULL << 31) /* AMD: of a counter, not of an RMID */
#define EVTSEL_COUNTER     1            /* the event then */
#define EVTSEL_NO_EVENT    0xffULL
/* RMID 0, occupancy; or total, where that would change nothing */
#define EVTSEL_OF_AGENT(v) ((v) == 1 ? 2ULL : 1ULL)
#define PQR_CLOSID(v)      ((uint32_t)((v) >> 32))
#define PQR_RMID(v)        ((uint32_t)(v))
#define PLZA_RMID(v)       ((uint32_t)((v) & 0xfff))
#define PLZA_RMID_EN       (1ULL << 31)
#define PLZA_CLOSID(v)     ((uint32_t)((v) >> 32 & 0xf))
#define PLZA_CLOSID_EN     (1ULL << 47)
#define PLZA_EN            (1ULL << 63)
#define PLZA_RESERVED      (~0x8000800f80000fffULL)

#define GARBAGE         0x2badbadbadULL

uint64_t *lab_evtsel(struct lab_cpu *cpu)
{
    return lab.o.amd ? &cpu->l3->evtsel : &cpu->evtsel;
}

static bool is_extended(uint64_t selection)
{
    return selection & EVTSEL_EXTENDED;
}

static bool exists(struct lab_l3 *l3, uint64_t selection)
{
    uint32_t event = EVTSEL_EVENT(selection);

    if (is_extended(selection)) {
        return event == EVTSEL_COUNTER && lab_abmc_on(l3) &&
               EVTSEL_RMID(selection) < lab.o.abmc_counters;
    }
    return event >= 1 && event <= LAB_EVENTS_MAX &&
           lab.o.events >> (event - 1) & 1 &&
           EVTSEL_RMID(selection) < lab.o.limit;
}

static uint64_t of_event(struct lab_traffic traffic, uint64_t selection)
{
    return EVTSEL_EVENT(selection) == LAB_EVENT_TOTAL ? traffic.total
                                                      : traffic.local;
}

/* Of an RMID that exists; not cut to the counter's width. */
static uint64_t units(struct lab_l3 *l3, uint64_t selection, uint64_t *truth)
{
    uint32_t rmid = EVTSEL_RMID(selection);

    if (EVTSEL_EVENT(selection) == LAB_EVENT_OCCUPANCY) {
        *truth = lab_cache_of_rmid(l3->cache, rmid);
        return *truth / lab_unit();
    }
    *truth = of_event(lab_cache_traffic(l3->cache, rmid), selection);
    if (lab_abmc_on(l3)) {
        return lab.o.abmc_lie ? GARBAGE : 0; /* the assigned ones are counted */
    }
    return (*truth - of_event(l3->reset_at[rmid], selection)) / lab_unit();
}

void lab_mbm_reset_locked(struct lab_l3 *l3)
{
    uint32_t rmid, event;

    memset(l3->wraps, 0, sizeof(l3->wraps));
    for (rmid = 0; rmid < lab.o.rmids; rmid++) {
        l3->reset_at[rmid] = lab_cache_traffic(l3->cache, rmid);
        for (event = LAB_EVENT_TOTAL; event <= LAB_EVENTS_MAX; event++) {
            l3->last[rmid][event].units = 0;
        }
    }
}

static void mbm_reset_l3(struct lab_l3 *l3)
{
    qemu_mutex_lock(&l3->last_lock);
    lab_mbm_reset_locked(l3);
    qemu_mutex_unlock(&l3->last_lock);
}

static QEMUTimer *mbm_timer;
static uint64_t mbm_resets;

static void mbm_reset_now(void *opaque)
{
    uint32_t i;

    for (i = 0; i < lab.nr_l3s; i++) {
        mbm_reset_l3(&lab.l3s[i]);
    }
    qatomic_inc(&mbm_resets);
}

uint64_t lab_mbm_reset(uint32_t in_us)
{
    if (in_us) {
        timer_mod(mbm_timer, qemu_clock_get_us(QEMU_CLOCK_VIRTUAL) + in_us);
    } else {
        mbm_reset_now(NULL);
    }
    return lab_mbm_resets();
}

uint64_t lab_mbm_resets(void)
{
    return qatomic_read(&mbm_resets);
}

void lab_msr_init(void)
{
    mbm_timer = timer_new_us(QEMU_CLOCK_VIRTUAL, mbm_reset_now, NULL);
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
    uint64_t agents = EVTSEL_OF_AGENT(qatomic_read(selected)), truth;

    if (lab_fault_due(LAB_FAULT_EVTSEL)) {
        *fault = LAB_FAULT_EVTSEL;
        qatomic_set(selected, agents);
        return exists(cpu->l3, agents) ? counter(units(cpu->l3, agents, &truth))
                                       : CTR_ERROR;
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

uint64_t lab_log_what(CPUX86State *env, uint32_t l3, uint64_t selection,
                      enum lab_fault fault)
{
    return (uint64_t)EVTSEL_RMID(selection) |
           (uint64_t)EVTSEL_EVENT(selection) << 16 | (uint64_t)fault << 24 |
           (uint64_t)env_cpu(env)->cpu_index << 32 |
           (uint64_t)l3 << 48;
}

/*
 * What is selected has a value; else *status is what QM_CTR gives.  A counter's is
 * known under its RMID and event from here on.
 */
static bool select_value(struct lab_l3 *l3, uint64_t *selection, uint64_t *now,
                         uint64_t *truth, uint64_t *status)
{
    *status = CTR_ERROR;
    if (!exists(l3, *selection)) {
        return false;
    }
    *status = CTR_UNAVAILABLE;
    if (is_extended(*selection)) {
        return lab_abmc_units(l3, EVTSEL_RMID(*selection), now, truth,
                              selection);
    }
    if (!lab_track_read(l3, EVTSEL_RMID(*selection),
                        EVTSEL_EVENT(*selection))) {
        return false;
    }
    *now = units(l3, *selection, truth);
    return true;
}

/* What the model gives by itself and no test has asked for. */
static enum lab_fault natural(struct lab_l3 *l3, uint64_t selection,
                              uint64_t status)
{
    if (status == CTR_UNAVAILABLE) {
        return lab_fault_happened(LAB_FAULT_UNCOUNTED);
    }
    if (!is_extended(selection) && lab_abmc_on(l3) &&
        EVTSEL_EVENT(selection) != LAB_EVENT_OCCUPANCY) {
        return lab_fault_happened(LAB_FAULT_LIE);
    }
    return LAB_FAULT_NONE;
}

static uint64_t read_ctr(CPUX86State *env, struct lab_cpu *cpu)
{
    uint64_t selected = qatomic_read(lab_evtsel(cpu)), selection = selected;
    struct lab_l3 *l3 = cpu->l3;
    struct lab_reading reading = { 0 };
    enum lab_fault fault;
    uint64_t now = 0;
    uint32_t counted, rmid = EVTSEL_RMID(selected);
    uint8_t first;
    bool good;

    qemu_mutex_lock(&l3->last_lock);
    if (is_extended(selection) ||
        EVTSEL_EVENT(selection) != LAB_EVENT_OCCUPANCY) {
        lab_abmc_agents(l3, is_extended(selection), EVTSEL_RMID(selection));
    }
    counted = is_extended(selected) ? 0
                                    : lab_counted(l3, EVTSEL_RMID(selected));
    first = l3->first[rmid];
    good = select_value(l3, &selection, &now, &reading.truth, &reading.ought);
    if (good) {
        reading.ought = ought(l3, selection, now);
    }
    reading.gave = planted(cpu, reading.ought, &fault);
    if (fault == LAB_FAULT_EVTSEL || fault == LAB_FAULT_EVTSEL_ERROR) {
        l3->first[rmid] = first; /* it was not read */
    }
    if (fault == LAB_FAULT_NONE) {
        fault = natural(l3, selected, good ? 0 : reading.ought);
    }
    reading.tsc = cpu->tsc;
    reading.what = lab_log_what(env, cpu->l3_index, selection, fault) |
                   (uint64_t)counted << 56;
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
    if (qatomic_xchg(&cpu->pqr_taken, false)) {
        qatomic_inc(&lab.pqr_unseen);
    }
    qatomic_inc(&lab.pqr_writes);
    lab_track(cpu->l3, PQR_RMID(value));
    if (lab_fault_due(LAB_FAULT_PQR)) {
        lab_overwrite_rmid(cpu, lab.o.agent_rmid);
    }
    return true;
}

static bool write_plza(struct lab_cpu *cpu, uint64_t value)
{
    if (value & PLZA_RESERVED || PLZA_RMID(value) >= lab.o.limit ||
        PLZA_CLOSID(value) >= MAX(lab.o.closids, 1)) {
        return false;
    }
    qatomic_set(&cpu->plza, value);
    return true;
}

uint64_t lab_plza_set(struct lab_cpu *cpu, uint32_t rmid, uint32_t enables)
{
    if (lab.o.plza) {
        write_plza(cpu, rmid | (enables & LAB_PLZA_RMID ? PLZA_RMID_EN : 0) |
                            (enables & LAB_PLZA_ON ? PLZA_EN : 0));
    }
    return qatomic_read(&cpu->plza);
}

uint64_t lab_pqr(const struct lab_cpu *cpu, bool above_level_0)
{
    uint64_t pqr = qatomic_read(&cpu->pqr), plza = qatomic_read(&cpu->plza);
    uint64_t closid = PQR_CLOSID(pqr);

    if (above_level_0 || !(plza & PLZA_EN)) {
        return pqr;
    }
    if (plza & PLZA_CLOSID_EN) {
        closid = PLZA_CLOSID(plza);
    }
    return closid << 32 |
           (plza & PLZA_RMID_EN ? PLZA_RMID(plza) : PQR_RMID(pqr));
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

static bool is_abmc(uint32_t msr)
{
    return lab.o.abmc && msr >= L3_QOS_ABMC_CFG && msr <= L3_QOS_EXT_CFG;
}

static bool is_monitoring(uint32_t msr)
{
    return msr >= QM_EVTSEL && msr <= PQR_ASSOC;
}

static bool is_ours(uint32_t msr)
{
    return is_monitoring(msr) || is_mask(msr) || is_abmc(msr) ||
           lab_pmu_is_msr(msr) || lab_pmon_is_msr(msr) ||
           (msr == RMID_SNC_CONFIG && lab.o.snc > 1) ||
           (msr == PQR_PLZA_ASSOC && lab.o.plza);
}

/* false: #GP */
static bool try_write(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                      uint64_t value)
{
    if (lab_pmu_is_msr(msr)) {
        return lab_pmu_write(env, cpu, msr, value);
    }
    if (lab_pmon_is_msr(msr)) {
        qatomic_set(lab_pmon_msr(cpu->l3_index, msr), value);
        return true;
    }
    if ((is_monitoring(msr) || is_abmc(msr) || msr == PQR_PLZA_ASSOC) &&
        lab_fault_due(LAB_FAULT_GP)) {
        return false;
    }
    switch (msr) {
    case QM_EVTSEL:
        if (value & EVTSEL_RESERVED & ~(lab.o.abmc ? EVTSEL_EXTENDED : 0)) {
            return false;
        }
        qatomic_set(lab_evtsel(cpu), value);
        return true;
    case QM_CTR:
        return false;
    case PQR_ASSOC:
        return write_pqr(cpu, value);
    case PQR_PLZA_ASSOC:
        return write_plza(cpu, value);
    case RMID_SNC_CONFIG:
        qatomic_set(&cpu->l3->snc_config, value);
        return true;
    case L3_QOS_ABMC_CFG:
        return lab_abmc_write(cpu, value);
    case L3_QOS_ABMC_DSC:
        return false;
    case L3_QOS_EXT_CFG:
        lab_ext_cfg_write(cpu->l3, value);
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
    if (lab_pmu_is_msr(msr)) {
        return lab_pmu_read(env, cpu, msr, value);
    }
    if (lab_pmon_is_msr(msr)) {
        *value = qatomic_read(lab_pmon_msr(cpu->l3_index, msr));
        return true;
    }
    if ((is_monitoring(msr) || is_abmc(msr) || msr == PQR_PLZA_ASSOC) &&
        lab_fault_due(LAB_FAULT_GP)) {
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
        if (qatomic_xchg(&cpu->pqr_taken, false)) {
            qatomic_inc(&lab.pqr_seen);
        }
        break;
    case PQR_PLZA_ASSOC:
        *value = qatomic_read(&cpu->plza);
        break;
    case RMID_SNC_CONFIG:
        *value = qatomic_read(&cpu->l3->snc_config);
        break;
    case L3_QOS_ABMC_CFG:
    case L3_QOS_ABMC_DSC:
        return lab_abmc_read(cpu, msr == L3_QOS_ABMC_DSC, value);
    case L3_QOS_EXT_CFG:
        *value = qatomic_read(&cpu->l3->ext_cfg);
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
    if (is_monitoring(msr)) {
        qatomic_inc(&lab.msr_writes[msr - QM_EVTSEL]);
    } else if (msr == PQR_PLZA_ASSOC) {
        qatomic_inc(&lab.plza_writes);
    }
    if (!try_write(env, lab_cpu(env), msr, value)) {
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
    if (is_monitoring(msr)) {
        qatomic_inc(&lab.msr_reads[msr - QM_EVTSEL]);
    } else if (msr == PQR_PLZA_ASSOC) {
        qatomic_inc(&lab.plza_reads);
    }
    if (!try_read(env, lab_cpu(env), msr, value)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    return true;
}

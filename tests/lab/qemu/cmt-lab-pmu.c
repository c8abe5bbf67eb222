/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel's architectural performance monitoring, version 2 (SDM vol. 3B 20.2),
 * with full-width writes.  A counter costs nothing while it runs: it holds the
 * value of its last update, and what its event had counted by then.
 *
 * So an overflow is found at an update only.  A timer updates, at ever shorter
 * intervals before an overflow: the interrupt comes some ten microseconds late,
 * never early.
 */
#include "qemu/osdep.h"
#include "exec/exec-all.h"
#include "hw/i386/apic_internal.h"
#include "tcg/helper-tcg.h"

#include "cmt-lab-int.h"

#define PMC_0             0x0c1
#define PERFEVTSEL_0      0x186
#define FIXED_CTR_0       0x309
#define PERF_CAPABILITIES 0x345
#define FIXED_CTR_CTRL    0x38d
#define GLOBAL_STATUS     0x38e
#define GLOBAL_CTRL       0x38f
#define GLOBAL_OVF_CTRL   0x390
#define A_PMC_0           0x4c1

#define VERSION           2
#define WIDTH             48
#define FIXED             3
#define EVENTS            7
#define NO_BRANCH_EVENTS  (1U << 5 | 1U << 6)
#define CAP_FULL_WIDTH    (1ULL << 13)

#define SEL_EVENT(v)      ((uint32_t)((v) & 0xffff)) /* with its unit mask */
#define SEL_USR           (1ULL << 16)
#define SEL_OS            (1ULL << 17)
#define SEL_EDGE          (1ULL << 18)
#define SEL_INT           (1ULL << 20)
#define SEL_EN            (1ULL << 22)
#define SEL_INV           (1ULL << 23)
#define SEL_CMASK         0xff000000ULL
#define FIXED_OS          1
#define FIXED_USR         2
#define FIXED_PMI         8
#define FIXED_CTRL_BITS   0xfffULL
#define OVF_CTRL_BITS     (3ULL << 62)

#define RDPMC_FIXED       (1U << 30)

#define CHECK_MIN_NS      10000
#define CHECK_IDLE_NS     1000000 /* a halted CPU counts nothing */
#define CHECK_MAX_NS      1000000000
#define NS_PER_MISS       10 /* at least, on the host */

/* What a counter counts, and at which privilege levels; neither: nothing. */
struct selection {
    enum lab_metric metric;
    bool os;
    bool usr;
    bool interrupts;
};

static uint64_t present(void)
{
    return MAKE_64BIT_MASK(0, lab.o.counters) |
           MAKE_64BIT_MASK(LAB_PMU_FIXED, FIXED);
}

void lab_pmu_cpuid(uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    *eax = VERSION | lab.o.counters << 8 | WIDTH << 16 | EVENTS << 24;
    *ebx = NO_BRANCH_EVENTS;
    *ecx = 0;
    *edx = FIXED | WIDTH << 5;
}

static enum lab_metric metric_of_event(uint32_t event)
{
    switch (event) {
    case 0x00c0:
        return LAB_INSNS;
    case 0x003c: /* core cycles */
    case 0x013c: /* reference cycles: there is one clock */
        return LAB_CYCLES;
    case 0x4f2e:
        return LAB_REFS;
    case 0x412e:
        return LAB_MISSES;
    default:
        return LAB_METRICS;
    }
}

static struct selection programmed(uint64_t sel)
{
    struct selection s = {
        .metric = metric_of_event(SEL_EVENT(sel)),
        .os = sel & SEL_OS, .usr = sel & SEL_USR,
        .interrupts = sel & SEL_INT,
    };

    if (!(sel & SEL_EN) || sel & (SEL_EDGE | SEL_INV | SEL_CMASK) ||
        s.metric == LAB_METRICS) {
        s.os = s.usr = false;
    }
    return s;
}

static struct selection selection(const struct lab_pmu *pmu, uint32_t bit)
{
    struct selection s = { .metric = LAB_INSNS };

    if (!(pmu->global_ctrl >> bit & 1)) {
        return s;
    }
    if (bit >= LAB_PMU_FIXED) {
        uint64_t ctrl = pmu->fixed_ctrl >> 4 * (bit - LAB_PMU_FIXED);

        s.metric = bit == LAB_PMU_FIXED ? LAB_INSNS : LAB_CYCLES;
        s.os = ctrl & FIXED_OS;
        s.usr = ctrl & FIXED_USR;
        s.interrupts = ctrl & FIXED_PMI;
        return s;
    }
    return programmed(pmu->evtsel[bit]);
}

static uint64_t counted(CPUX86State *env, struct selection s)
{
    return (s.os ? lab_count(&env->cmt_lab, s.metric, false) : 0) +
           (s.usr ? lab_count(&env->cmt_lab, s.metric, true) : 0);
}

/* The values of all counters, and the overflow bits, as of now. */
static void counters_update(CPUX86State *env, struct lab_pmu *pmu)
{
    uint32_t bit;

    for (bit = 0; bit < LAB_PMU_BITS; bit++) {
        struct lab_counter *c = &pmu->counters[bit];
        struct selection s;
        uint64_t now;

        if (!(present() >> bit & 1)) {
            continue;
        }
        s = selection(pmu, bit);
        now = counted(env, s);
        c->value += now - c->start;
        c->start = now;
        if (c->value >> WIDTH) {
            c->value &= MAKE_64BIT_MASK(0, WIDTH);
            pmu->global_status |= 1ULL << bit;
            pmu->interrupt |= s.interrupts;
        }
    }
}

/* The least time in which a counter can overflow and interrupt. */
static int64_t overflow_ns(const struct lab_pmu *pmu)
{
    int64_t least = INT64_MAX;
    uint32_t bit;

    for (bit = 0; bit < LAB_PMU_BITS; bit++) {
        struct selection s = selection(pmu, bit);
        int64_t ns;

        if (!s.interrupts || !(s.os || s.usr)) {
            continue;
        }
        /* an instruction takes the host a nanosecond or more */
        ns = (1LL << WIDTH) - pmu->counters[bit].value;
        if (s.metric == LAB_CYCLES && cmt_lab_tracing) {
            ns /= 1 + lab.o.penalty / NS_PER_MISS;
        }
        least = MIN(least, ns);
    }
    return least;
}

/* From now to the next check for overflows; INT64_MAX: none is needed. */
static int64_t next_check_ns(const struct lab_pmu *pmu)
{
    int64_t ns = overflow_ns(pmu);

    if (ns == INT64_MAX) {
        return ns;
    }
    return MAX(MIN(ns, CHECK_MAX_NS), CHECK_MIN_NS);
}

/* The local APIC's entry is masked by the interrupt, until it is handled. */
static void pmi_deliver(CPUState *cs)
{
    APICCommonState *apic = APIC_COMMON(X86_CPU(cs)->apic_state);
    uint32_t *lvt = &apic->lvt[APIC_LVT_PERFORM];

    if (!(*lvt & APIC_LVT_MASKED) && (*lvt >> 8 & 7) == APIC_DM_NMI) {
        *lvt |= APIC_LVT_MASKED;
        cpu_interrupt(cs, CPU_INTERRUPT_NMI);
    }
}

/*
 * On the CPU's thread, between two blocks of code: within one, icount does not
 * let the clock be read.
 */
static void overflow_check(CPUState *cs, run_on_cpu_data unused)
{
    struct lab_pmu *pmu = &lab.cpus[cs->cpu_index].pmu;
    int64_t ns;

    pmu->check_queued = false;
    counters_update(cs->env_ptr, pmu);
    if (pmu->interrupt) {
        pmu->interrupt = false;
        pmi_deliver(cs);
    }
    ns = MAX(next_check_ns(pmu), cs->halted ? CHECK_IDLE_NS : 0);
    if (ns < INT64_MAX) {
        timer_mod(pmu->timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns);
    }
}

static void on_timer(void *opaque)
{
    async_run_on_cpu(opaque, overflow_check, RUN_ON_CPU_NULL);
}

/* Counters that are far from an overflow need only a timer that runs. */
static void overflow_check_queue(CPUX86State *env, struct lab_pmu *pmu)
{
    int64_t ns = next_check_ns(pmu);
    bool due = pmu->interrupt || ns < CHECK_MAX_NS ||
               (ns < INT64_MAX && !timer_pending(pmu->timer));

    if (due && !pmu->check_queued) {
        pmu->check_queued = true;
        async_run_on_cpu(env_cpu(env), overflow_check, RUN_ON_CPU_NULL);
    }
}

void lab_pmu_init(CPUX86State *env, struct lab_pmu *pmu)
{
    pmu->global_ctrl = MAKE_64BIT_MASK(0, lab.o.counters);
    pmu->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, on_timer, env_cpu(env));
}

/* After a change of what is counted; the values are up to date. */
static void counters_rebase(CPUX86State *env, struct lab_pmu *pmu)
{
    uint32_t bit;

    for (bit = 0; bit < LAB_PMU_BITS; bit++) {
        pmu->counters[bit].start = counted(env, selection(pmu, bit));
    }
    overflow_check_queue(env, pmu);
}

/* The counter that an MSR reads and writes; NULL: it is none. */
static struct lab_counter *counter_of_msr(struct lab_pmu *pmu, uint32_t msr)
{
    if (msr - PMC_0 < lab.o.counters) {
        return &pmu->counters[msr - PMC_0];
    }
    if (msr - A_PMC_0 < lab.o.counters) {
        return &pmu->counters[msr - A_PMC_0];
    }
    if (msr - FIXED_CTR_0 < FIXED) {
        return &pmu->counters[LAB_PMU_FIXED + msr - FIXED_CTR_0];
    }
    return NULL;
}

static bool is_evtsel(uint32_t msr)
{
    return msr - PERFEVTSEL_0 < lab.o.counters;
}

bool lab_pmu_is_msr(uint32_t msr)
{
    static struct lab_pmu any;

    return lab.o.pmu &&
           (counter_of_msr(&any, msr) || is_evtsel(msr) ||
            msr == PERF_CAPABILITIES ||
            (msr >= FIXED_CTR_CTRL && msr <= GLOBAL_OVF_CTRL));
}

static bool write_counter(struct lab_counter *c, uint32_t msr, uint64_t value)
{
    if (msr - PMC_0 < lab.o.counters) {
        value = (int32_t)value; /* the legacy MSRs extend 32 bits by the sign */
    } else if (value >> WIDTH) {
        return false;
    }
    c->value = value & MAKE_64BIT_MASK(0, WIDTH);
    return true;
}

/* false: #GP */
static bool write_control(struct lab_pmu *pmu, uint32_t msr, uint64_t value)
{
    switch (msr) {
    case FIXED_CTR_CTRL:
        if (value & ~FIXED_CTRL_BITS) {
            return false;
        }
        pmu->fixed_ctrl = value;
        return true;
    case GLOBAL_CTRL:
        if (value & ~present()) {
            return false;
        }
        pmu->global_ctrl = value;
        return true;
    case GLOBAL_OVF_CTRL:
        if (value & ~(present() | OVF_CTRL_BITS)) {
            return false;
        }
        pmu->global_status &= ~value;
        return true;
    default:
        if (!is_evtsel(msr) || value >> 32) {
            return false;
        }
        pmu->evtsel[msr - PERFEVTSEL_0] = value;
        return true;
    }
}

bool lab_pmu_write(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                   uint64_t value)
{
    struct lab_counter *c = counter_of_msr(&cpu->pmu, msr);
    bool good;

    counters_update(env, &cpu->pmu);
    good = c ? write_counter(c, msr, value)
             : write_control(&cpu->pmu, msr, value);
    counters_rebase(env, &cpu->pmu);
    return good;
}

bool lab_pmu_read(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                  uint64_t *value)
{
    struct lab_pmu *pmu = &cpu->pmu;
    struct lab_counter *c = counter_of_msr(pmu, msr);

    counters_update(env, pmu);
    if (c) {
        *value = c->value;
        return true;
    }
    switch (msr) {
    case PERF_CAPABILITIES:
        *value = CAP_FULL_WIDTH;
        break;
    case FIXED_CTR_CTRL:
        *value = pmu->fixed_ctrl;
        break;
    case GLOBAL_STATUS:
        *value = pmu->global_status;
        break;
    case GLOBAL_CTRL:
        *value = pmu->global_ctrl;
        break;
    case GLOBAL_OVF_CTRL:
        *value = 0;
        break;
    default:
        *value = pmu->evtsel[msr - PERFEVTSEL_0];
    }
    return true;
}

bool cmt_lab_rdpmc(CPUX86State *env, uint32_t index, uint64_t *value,
                   uintptr_t ra)
{
    bool fixed = index & RDPMC_FIXED;
    struct lab_pmu *pmu;

    if (!cmt_lab_counting) {
        return false;
    }
    index &= ~RDPMC_FIXED;
    if (index >= (fixed ? FIXED : lab.o.counters)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    pmu = &lab_cpu(env)->pmu;
    counters_update(env, pmu);
    *value = pmu->counters[index + (fixed ? LAB_PMU_FIXED : 0)].value;
    return true;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults, planted where and when a test asks for them. */
#include "qemu/osdep.h"
#include "qemu/timer.h"

#include "cmt-lab-int.h"

#define PQR_RMID 0xffffffffULL

struct fault {
    struct lab_plan plan;
    uint64_t occasions;
    uint64_t planted;
};

static struct fault faults[LAB_FAULTS];
static QEMUTimer *pqr_timer;

bool lab_fault_due(enum lab_fault fault)
{
    struct fault *f = &faults[fault];
    uint64_t occasion = qatomic_fetch_inc(&f->occasions);
    uint32_t period = qatomic_read(&f->plan.period);

    if (!period || occasion % period >= qatomic_read(&f->plan.burst)) {
        return false;
    }
    qatomic_inc(&f->planted);
    return true;
}

enum lab_fault lab_fault_happened(enum lab_fault fault)
{
    qatomic_inc(&faults[fault].occasions);
    qatomic_inc(&faults[fault].planted);
    return fault;
}

/* Returns what was there. */
static uint64_t overwrite(struct lab_cpu *cpu, uint64_t keep, uint64_t with)
{
    uint64_t old, seen = qatomic_read(&cpu->pqr);

    do {
        old = seen;
        seen = qatomic_cmpxchg(&cpu->pqr, old, (old & keep) | with);
    } while (seen != old);
    return old;
}

void lab_overwrite_rmid(struct lab_cpu *cpu, uint32_t rmid)
{
    uint64_t old = overwrite(cpu, ~PQR_RMID, rmid);

    if ((old & PQR_RMID) != rmid) {
        qatomic_set(&cpu->pqr_taken, true);
    }
}

void lab_overwrite_closid(struct lab_cpu *cpu, uint32_t closid)
{
    if (closid < MAX(lab.o.closids, 1)) {
        overwrite(cpu, PQR_RMID, (uint64_t)closid << 32);
    }
}

static void pqr_timer_arm(void)
{
    uint32_t us = qatomic_read(&faults[LAB_FAULT_PQR_TIMER].plan.period);

    if (us) {
        timer_mod(pqr_timer, qemu_clock_get_us(QEMU_CLOCK_VIRTUAL) + us);
    } else {
        timer_del(pqr_timer);
    }
}

static void pqr_timer_fired(void *opaque)
{
    struct fault *f = &faults[LAB_FAULT_PQR_TIMER];
    uint32_t i;

    for (i = 0; i < LAB_CPUS_MAX; i++) {
        if (qatomic_read(&lab.cpus[i].l3)) {
            lab_overwrite_rmid(&lab.cpus[i], lab.o.agent_rmid);
            qatomic_inc(&f->planted);
        }
    }
    qatomic_inc(&f->occasions);
    pqr_timer_arm();
}

void lab_fault_set(enum lab_fault fault, uint32_t period, uint32_t burst)
{
    if (fault <= LAB_FAULT_NONE || fault >= LAB_FAULTS) {
        return;
    }
    qatomic_set(&faults[fault].plan.burst, burst);
    qatomic_set(&faults[fault].plan.period, period);
    if (fault == LAB_FAULT_PQR_TIMER) {
        pqr_timer_arm();
    }
}

uint64_t lab_fault_planted(uint32_t fault)
{
    return fault < LAB_FAULTS ? qatomic_read(&faults[fault].planted) : 0;
}

uint64_t lab_fault_occasions(uint32_t fault)
{
    return fault < LAB_FAULTS ? qatomic_read(&faults[fault].occasions) : 0;
}

void lab_faults_init(void)
{
    enum lab_fault fault;

    pqr_timer = timer_new_us(QEMU_CLOCK_VIRTUAL, pqr_timer_fired, NULL);
    for (fault = LAB_FAULT_NONE + 1; fault < LAB_FAULTS; fault++) {
        const struct lab_plan *plan = &lab.o.plans[fault];

        lab_fault_set(fault, plan->period, plan->burst);
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was executed, by address space: the truth that a reading of the PMU is
 * compared with.  It depends on no register of the PMU and on no RMID.
 *
 * A CPU's counts are charged to a space when CR3 changes.  Only roots that have
 * a name then are told apart, all others are space 0: a boot loads more roots
 * than there are names.
 */
#include "qemu/osdep.h"
#include "qemu/thread.h"
#include "hw/core/cpu.h"

#include "cmt-lab-int.h"

/*
 * Protects of_space, and count_root, count_space and counted of every CPU.  A
 * CPU's cmt_lab is written by that CPU only, without the lock.
 */
static QemuMutex counts_lock;
static struct cmt_lab_counts *of_space;

void lab_counts_init(void)
{
    qemu_mutex_init(&counts_lock);
    of_space = g_new0(struct cmt_lab_counts, lab.o.spaces);
}

uint64_t lab_count(const struct cmt_lab_counts *counts, enum lab_metric metric,
                   bool user)
{
    switch (metric) {
    case LAB_INSNS:
        return qatomic_read(&counts->insns[user]);
    case LAB_REFS:
        return qatomic_read(&counts->refs[user]);
    case LAB_MISSES:
        return qatomic_read(&counts->misses[user]);
    default:
        return qatomic_read(&counts->insns[user]) +
               lab.o.penalty * qatomic_read(&counts->misses[user]);
    }
}

/* The lock is held. */
static void charge(CPUX86State *env, struct lab_cpu *cpu)
{
    struct cmt_lab_counts *to = &of_space[cpu->count_space];
    int user;

    for (user = 0; user < 2; user++) {
        to->insns[user] += env->cmt_lab.insns[user] - cpu->counted.insns[user];
        to->refs[user] += env->cmt_lab.refs[user] - cpu->counted.refs[user];
        to->misses[user] += env->cmt_lab.misses[user] -
                            cpu->counted.misses[user];
    }
    cpu->counted = env->cmt_lab;
}

void cmt_lab_cr3(CPUX86State *env)
{
    uint64_t root = lab_root(env->cr[3]);
    struct lab_cpu *cpu;

    if (!cmt_lab_counting) {
        return;
    }
    cpu = lab_cpu(env);
    if (root == cpu->count_root) {
        return;
    }
    qemu_mutex_lock(&counts_lock);
    charge(env, cpu);
    cpu->count_root = root;
    cpu->count_space = lab_space_find(root);
    qemu_mutex_unlock(&counts_lock);
}

void lab_counts_new(CPUX86State *env, struct lab_cpu *cpu, uint32_t space)
{
    if (!cmt_lab_counting) {
        return;
    }
    qemu_mutex_lock(&counts_lock);
    charge(env, cpu);
    memset(&of_space[space], 0, sizeof(of_space[space]));
    cpu->count_space = space;
    qemu_mutex_unlock(&counts_lock);
}

uint64_t lab_count_of_space(uint32_t space, enum lab_metric metric, bool user)
{
    uint64_t sum = 0;
    CPUState *cs;

    if (!cmt_lab_counting || space >= lab.o.spaces) {
        return 0;
    }
    qemu_mutex_lock(&counts_lock);
    sum = lab_count(&of_space[space], metric, user);
    CPU_FOREACH(cs) {
        struct lab_cpu *cpu = &lab.cpus[cs->cpu_index];
        CPUX86State *env = cs->env_ptr;

        if (cpu->count_space == space) {
            sum += lab_count(&env->cmt_lab, metric, user) -
                   lab_count(&cpu->counted, metric, user);
        }
    }
    qemu_mutex_unlock(&counts_lock);
    return sum;
}

void cmt_lab_not_retired(CPUX86State *env, uint32_t tb_flags, int insns)
{
    if (cmt_lab_counting) {
        env->cmt_lab.insns[(tb_flags & HF_CPL_MASK) != 0] -= insns;
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab processor: RDT monitoring and allocation for TCG's x86 CPUs.  What
 * QEMU's own files call.
 */
#ifndef CMT_LAB_QEMU_H
#define CMT_LAB_QEMU_H

/* Set while the model is on; changes only while no CPU runs. */
extern bool cmt_lab_tracing;
/* The processor has a PMU; set before any code is translated. */
extern bool cmt_lab_counting;

struct PCIBus;
struct ArchCPU;
struct CPUState;
struct CPUArchState;

/* Of one CPU since its start; [0]: at privilege level 0, [1]: above. */
struct cmt_lab_counts {
    uint64_t insns[2];
    uint64_t refs[2]; /* lines of memory that loads and stores touched */
    uint64_t misses[2];
};

/* A CPU is made.  Reads the options at the first; bad ones end QEMU. */
void cmt_lab_realize(struct ArchCPU *cpu);

/* The PCI devices of the lab, on the root bus of a machine with PCI Express. */
void cmt_lab_pmon_create(struct PCIBus *bus);

/* After QEMU's own CPUID: what the lab processor says instead. */
void cmt_lab_cpuid(struct CPUArchState *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* false: not one of its registers.  #GP is raised with @ra. */
bool cmt_lab_wrmsr(struct CPUArchState *env, uint32_t msr, uint64_t value,
                   uintptr_t ra);
bool cmt_lab_rdmsr(struct CPUArchState *env, uint32_t msr, uint64_t *value,
                   uintptr_t ra);

/* false: the processor has no PMU.  #GP is raised with @ra. */
bool cmt_lab_rdpmc(struct CPUArchState *env, uint32_t index, uint64_t *value,
                   uintptr_t ra);

/*
 * The last @insns instructions of a block with these flags do not retire: the
 * first of them faults, or is started again.
 */
void cmt_lab_not_retired(struct CPUArchState *env, uint32_t tb_flags,
                         int insns);

/* CR3 has changed. */
void cmt_lab_cr3(struct CPUArchState *env);

/* The CPU has just read its TSC. */
void cmt_lab_rdtsc(struct CPUArchState *env, uint64_t value);

/* The CPU has just loaded (1), stored (2) or both (3) at @addr. */
void cmt_lab_access(struct CPUArchState *env, uint64_t addr, uint32_t oi,
                    uint32_t rw);

static inline void cmt_lab_trace(struct CPUArchState *env, uint64_t addr,
                                 uint32_t oi, uint32_t rw)
{
    if (cmt_lab_tracing) {
        cmt_lab_access(env, addr, oi, rw);
    }
}

#endif

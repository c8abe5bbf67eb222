/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the lab processor share. */
#ifndef CMT_LAB_INT_H
#define CMT_LAB_INT_H

#include "cpu.h"
#include "qemu/timer.h"

#include "cmt-lab-cache.h"
#include "cmt-lab-options.h"
#include "cmt-lab-space.h"
#include "cmt-lab.h"

#define LAB_L3S_MAX    80   /* LAB_ARG names 64 of them */
#define LAB_CPUS_MAX   256
#define LAB_RMIDS_MAX  4096
#define LAB_EVENTS_MAX 3
#define LAB_ABMC_MAX   32   /* what CtrID has room for */

#define LAB_EVENT_OCCUPANCY 1
#define LAB_EVENT_TOTAL     2
#define LAB_EVENT_LOCAL     3

/* Counters of the PMU, by their bit in IA32_PERF_GLOBAL_CTRL. */
#define LAB_PMU_FIXED  32
#define LAB_PMU_BITS   35

#define CTR_ERROR       (1ULL << 63)
#define CTR_UNAVAILABLE (1ULL << 62)
#define CTR_OVERFLOW    (1ULL << 61)

/* The monitoring registers, which are counted; QM_EVTSEL is MSR 0xc8d. */
enum lab_msr { LAB_MSR_EVTSEL, LAB_MSR_CTR, LAB_MSR_PQR, LAB_MSRS };

/* What QM_CTR last gave for an RMID and event. */
struct lab_last {
    uint64_t value;
    uint64_t units; /* not cut to the counter's width */
    uint64_t number; /* in the log + 1; 0: never read */
};

/* A counter that is assigned to an RMID, or to none. */
struct lab_assigned {
    uint64_t config;          /* L3_QOS_ABMC_DSC; 0: since the mode is on, none */
    struct lab_traffic start; /* of its RMID, when it was configured */
    uint64_t configured;      /* how often */
};

struct lab_l3 {
    struct lab_cache *cache;
    uint64_t evtsel;     /* AMD: one for all CPUs of the L3 */
    uint64_t snc_config; /* MSR 0xCA0 */
    uint64_t masks[LAB_CLOSIDS_MAX];
    uint64_t ext_cfg;    /* AMD: MSR L3_QOS_EXT_CFG */
    QemuMutex last_lock; /* of all below */
    struct lab_traffic reset_at[LAB_RMIDS_MAX]; /* of LAB_MBM_RESET */
    struct lab_last last[LAB_RMIDS_MAX][LAB_EVENTS_MAX + 1];
    struct lab_assigned assigned[LAB_ABMC_MAX];
    uint32_t taken;      /* the counter that LAB_FAULT_TAKE took last + 1 */
    uint64_t loads;      /* of an RMID to a CPU, with tracked= */
    uint64_t tracked_at[LAB_RMIDS_MAX]; /* its last one; 0: it is not tracked */
    uint8_t first[LAB_RMIDS_MAX];       /* events not read since: bits */
    uint64_t control;    /* erdt=: RDT_CTRL, as it was written */
    bool planted_mode;   /* it is in MSR mode in any case */
    uint64_t wraps[LAB_RMIDS_MAX][LAB_REGIONS]; /* of traffic, as last read */
};

/* value is what the counter had when what it counts was start. */
struct lab_counter {
    uint64_t value;
    uint64_t start;
};

/* Accessed by its own CPU's thread only. */
struct lab_pmu {
    uint64_t evtsel[LAB_COUNTERS_MAX];
    uint64_t fixed_ctrl;
    uint64_t global_ctrl;
    uint64_t global_status;
    struct lab_counter counters[LAB_PMU_BITS];
    bool interrupt;   /* a counter with its interrupt on has overflowed */
    bool check_queued;
    QEMUTimer *timer; /* before the next overflow */
};

/* Written by its own CPU's thread, but for pqr and evtsel. */
struct lab_cpu {
    struct lab_l3 *l3; /* NULL: not yet set up */
    uint32_t l3_index;
    uint32_t node;     /* of the socket's, 0 without SNC */
    uint64_t pqr;      /* the fault timer writes it too */
    bool pqr_taken;    /* another agent wrote it, and nobody has read it since */
    uint64_t evtsel;   /* Intel */
    uint64_t tsc;      /* what it last read */
    uint64_t abmc_cfg; /* AMD: L3_QOS_ABMC_CFG, one in each CPU */
    uint64_t plza;     /* AMD: PQR_PLZA_ASSOC */

    /* what cr3 was found to be */
    uint64_t cr3;
    uint32_t epoch;
    uint32_t space;

    uint64_t accesses;
    uint64_t unresolved;

    struct lab_pmu pmu;
    /* cmt-lab-count.c: */
    uint64_t count_root;
    uint32_t count_space;
    struct cmt_lab_counts counted; /* what spaces have of the CPU's counts */
} QEMU_ALIGNED(64);

struct lab {
    bool present; /* CMT_LAB was set: all below is valid */
    struct lab_options o;
    uint32_t nr_l3s;
    uint64_t below_4g;
    uint64_t node_bytes; /* memory of one node */
    uint64_t pqr_writes;
    uint64_t pqr_seen, pqr_unseen; /* overwritten RMIDs that RDMSR gave, or none */
    uint64_t msr_reads[LAB_MSRS]; /* executed, refused ones included */
    uint64_t msr_writes[LAB_MSRS];
    uint64_t plza_reads, plza_writes;
    struct lab_l3 l3s[LAB_L3S_MAX];
    struct lab_cpu cpus[LAB_CPUS_MAX];
};

extern struct lab lab;

/* The CPU's state, set up at its first use. */
struct lab_cpu *lab_cpu(CPUX86State *env);
/* Of the page tables in use. */
uint32_t lab_cpu_space(struct lab_cpu *cpu, CPUX86State *env);
uint64_t lab_root(uint64_t cr3);

/* The RMID whose counts a CPU's logical one goes to. */
uint32_t lab_physical_rmid(const struct lab_cpu *cpu, uint32_t rmid);
/* What PQR_ASSOC is in effect, at privilege level 0 or above. */
uint64_t lab_pqr(const struct lab_cpu *cpu, bool above_level_0);
/* LAB_PLZA_SET; the register's value. */
uint64_t lab_plza_set(struct lab_cpu *cpu, uint32_t rmid, uint32_t enables);
/* Where this CPU selects what QM_CTR counts. */
uint64_t *lab_evtsel(struct lab_cpu *cpu);
/* The node that an address of memory is of, counted over all sockets. */
uint32_t lab_home(uint64_t phys);
/* What QM_CTR counts in. */
uint32_t lab_unit(void);
void lab_msr_init(void);
/* All MBM counters of all L3s begin at 0 again; returns how often they did. */
uint64_t lab_mbm_reset(uint32_t in_us);
uint64_t lab_mbm_resets(void);
/* The same of one L3, whose last_lock the caller holds. */
void lab_mbm_reset_locked(struct lab_l3 *l3);

/* cmt-lab-abmc.c */

bool lab_abmc_on(struct lab_l3 *l3);
/* L3_QOS_EXT_CFG: when the mode changes, no counter is assigned; off, all are 0. */
void lab_ext_cfg_write(struct lab_l3 *l3, uint64_t value);
/* Assignable counters on or off; the register's value, all ones: not there. */
uint64_t lab_abmc_set(struct lab_l3 *l3, uint32_t on);
/* L3_QOS_ABMC_CFG, and L3_QOS_ABMC_DSC where @description; false: #GP */
bool lab_abmc_write(struct lab_cpu *cpu, uint64_t value);
bool lab_abmc_read(struct lab_cpu *cpu, bool description, uint64_t *value);
/* LAB_ABMC_COUNTER, LAB_ABMC_ASSIGN */
void lab_abmc_counter(struct lab_l3 *l3, uint32_t id, uint64_t answer[2]);
void lab_abmc_assign(struct lab_l3 *l3, uint32_t rmid, uint32_t what);
/*
 * What a counter has, the bytes that its RMID ever moved, and the plain selection that
 * it stands for; false: the counter is of no RMID.
 */
bool lab_abmc_units(struct lab_l3 *l3, uint32_t id, uint64_t *units,
                    uint64_t *truth, uint64_t *as);
/*
 * QM_CTR is about to be read for an MBM event: LAB_FAULT_MODE and its like.  The caller
 * holds last_lock.
 */
void lab_abmc_agents(struct lab_l3 *l3, bool extended, uint32_t id);
/* Which MBM events of an RMID have a value now: bit 0 total, bit 1 local; likewise. */
uint32_t lab_counted(struct lab_l3 *l3, uint32_t rmid);

/* tracked=: an RMID is loaded on a CPU of the L3, which has it already. */
void lab_track(struct lab_l3 *l3, uint32_t rmid);
/* An event is read; false: Unavailable. */
bool lab_track_read(struct lab_l3 *l3, uint32_t rmid, uint32_t event);
uint64_t lab_track_is(struct lab_l3 *l3, uint32_t rmid);

/* cmt-lab-erdt.c: registers in memory, of each L3 */

void lab_erdt_init(void);

/* cmt-lab-fault.c */

void lab_faults_init(void);
/* One more occasion: is the fault planted here? */
bool lab_fault_due(enum lab_fault fault);
/* One that is not planted is there; returns it. */
enum lab_fault lab_fault_happened(enum lab_fault fault);
void lab_fault_set(enum lab_fault fault, uint32_t period, uint32_t burst);
uint64_t lab_fault_planted(uint32_t fault);
uint64_t lab_fault_occasions(uint32_t fault);
/* Another agent writes an RMID, or a CLOSID, to this CPU's PQR_ASSOC. */
void lab_overwrite_rmid(struct lab_cpu *cpu, uint32_t rmid);
void lab_overwrite_closid(struct lab_cpu *cpu, uint32_t closid);

/* cmt-lab-log.c: the readings of QM_CTR */

struct lab_reading {
    uint64_t gave;
    uint64_t ought; /* to have given */
    uint64_t truth; /* bytes: in the cache, or moved since the start */
    uint64_t tsc;   /* see LAB_LOG_WHAT */
    uint64_t what;  /* LAB_LOG_* */
};

/* What an L3 was asked for, as lab_reading.what has it. */
uint64_t lab_log_what(CPUX86State *env, uint32_t l3, uint64_t selection,
                      enum lab_fault fault);
void lab_log_init(void);
/* Returns the reading's number. */
uint64_t lab_log_add(const struct lab_reading *reading);
uint64_t lab_log_head(void);
uint32_t lab_log_kept(void);
/* @number: modulo 2^32. */
bool lab_log_get(uint32_t number, struct lab_reading *reading);

/* cmt-lab-count.c: instructions, LLC references and misses, and cycles */

enum lab_metric { LAB_INSNS, LAB_REFS, LAB_MISSES, LAB_CYCLES, LAB_METRICS };

void lab_counts_init(void);
uint64_t lab_count(const struct cmt_lab_counts *counts, enum lab_metric metric,
                   bool user);
/* From now on the counts of this CPU and its root are those of a new space. */
void lab_counts_new(CPUX86State *env, struct lab_cpu *cpu, uint32_t space);
/* Of all CPUs; those which run are at most one block of code ahead. */
uint64_t lab_count_of_space(uint32_t space, enum lab_metric metric, bool user);

/* cmt-lab-pmu.c */

void lab_pmu_init(CPUX86State *env, struct lab_pmu *pmu);
bool lab_pmu_is_msr(uint32_t msr);
/* false: #GP */
bool lab_pmu_write(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                   uint64_t value);
bool lab_pmu_read(CPUX86State *env, struct lab_cpu *cpu, uint32_t msr,
                  uint64_t *value);
void lab_pmu_cpuid(uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* cmt-lab-ask.c */

void lab_ask(CPUX86State *env, uint32_t command, uint32_t arg,
             uint64_t answer[2]);

#endif

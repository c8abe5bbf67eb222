/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab processor: how it comes to be, and what its CPUID says. */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "hw/boards.h"
#include "hw/i386/x86.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define LEVEL_MIN      0x10
#define XLEVEL_MIN_AMD 0x8000001e
#define LEAF_AMD_QOS   0x80000020
#define QOS_EBX_ABMC   (1U << 5)
#define QOS_EBX_PLZA   (1U << 9)
#define QOS_ECX_TYPES  0x7f      /* of traffic that can be counted */
#define QOS_TYPES      7
#define LEAF7_EBX_PQM  (1U << 12)
#define LEAF7_EBX_PQE  (1U << 15)
#define ECX_TOPOEXT    (1U << 22)
#define CACHE_LEVEL_OF(eax) ((eax) >> 5 & 7)
#define AMD_SIGNATURE  0x00830f10 /* family 17h, model 31h */
#define AMD_WIDTH      44         /* where CPUID gives no width */

#define VENDOR_EDX 1
#define VENDOR_ECX 2

bool cmt_lab_tracing;
bool cmt_lab_counting;
struct lab lab;

static bool space_in_use(uint32_t space)
{
    uint32_t i;

    for (i = 0; i < lab.nr_l3s; i++) {
        if (lab_cache_of_space(lab.l3s[i].cache, space)) {
            return true;
        }
    }
    return false;
}

static void l3_init(struct lab_l3 *l3)
{
    uint32_t i;

    l3->cache = lab_cache_new(lab.o.size / lab.o.line / lab.o.ways, lab.o.ways,
                              lab.o.line, lab.o.rmids, lab.o.spaces);
    if (lab.o.evictions) {
        lab_cache_track(l3->cache, lab.o.evictions);
    }
    if (lab.o.pmon) {
        lab_cache_on_memory(l3->cache, lab_imc_moved, NULL);
    }
    l3->snc_config = 1;
    l3->ext_cfg = lab.o.abmc == 2;
    l3->tracked_at[0] = ++l3->loads;
    for (i = 0; i < LAB_CLOSIDS_MAX; i++) {
        l3->masks[i] = MAKE_64BIT_MASK(0, lab.o.ways);
    }
    qemu_mutex_init(&l3->last_lock);
}

static void lab_init(const char *text)
{
    char error[160];
    uint32_t i;

    if (!lab_options_parse(&lab.o, text, error, sizeof(error))) {
        error_report("CMT_LAB: %s", error);
        exit(1);
    }
    lab.nr_l3s = current_machine->smp.sockets;
    if (lab.nr_l3s > LAB_L3S_MAX ||
        current_machine->smp.max_cpus > LAB_CPUS_MAX) {
        error_report("CMT_LAB: at most %d sockets and %d CPUs", LAB_L3S_MAX,
                     LAB_CPUS_MAX);
        exit(1);
    }
    if (lab.o.pmon && (lab.nr_l3s > LAB_PMON_SOCKETS ||
                       !strstr(MACHINE_GET_CLASS(current_machine)->name,
                               "q35"))) {
        error_report("CMT_LAB: pmon=1 needs -machine q35 and at most %d "
                     "sockets", LAB_PMON_SOCKETS);
        exit(1);
    }
    for (i = 0; i < lab.nr_l3s; i++) {
        l3_init(&lab.l3s[i]);
    }
    lab_spaces_init(lab.o.spaces, space_in_use);
    lab_log_init();
    lab_faults_init();
    lab_msr_init();
    lab_erdt_init();
    lab_counts_init();
    cmt_lab_counting = lab.o.pmu;
    cmt_lab_tracing = lab.o.on;
    lab.present = true;
}

static void set_vendor(CPUX86State *env)
{
    const char *vendor = lab.o.amd ? CPUID_VENDOR_AMD : CPUID_VENDOR_INTEL;
    uint32_t words[3];

    memcpy(words, vendor, sizeof(words));
    env->cpuid_vendor1 = words[0];
    env->cpuid_vendor2 = words[VENDOR_EDX];
    env->cpuid_vendor3 = words[VENDOR_ECX];
}

void cmt_lab_realize(X86CPU *cpu)
{
    const char *text = getenv("CMT_LAB");

    if (!text) {
        return;
    }
    if (!lab.present) {
        lab_init(text);
    }
    set_vendor(&cpu->env);
    if (lab.o.amd) {
        cpu->env.cpuid_xlevel = MAX(cpu->env.cpuid_xlevel,
                                    lab.o.abmc || lab.o.plza
                                        ? LEAF_AMD_QOS
                                        : XLEVEL_MIN_AMD);
    }
}

/* Memory is only known when all of the machine is. */
static void memory_init(void)
{
    MachineState *ms = current_machine;

    lab.below_4g = X86_MACHINE(ms)->below_4g_mem_size;
    lab.node_bytes = ms->ram_size / (lab.nr_l3s * lab.o.snc);
}

static void cpu_init(struct lab_cpu *cpu, CPUX86State *env)
{
    X86CPU *x86 = env_archcpu(env);
    uint32_t cores = current_machine->smp.cores * current_machine->smp.dies;
    uint32_t socket = MAX(x86->socket_id, 0);
    uint32_t core = MAX(x86->core_id, 0) +
                    MAX(x86->die_id, 0) * current_machine->smp.cores;

    memory_init();
    cpu->l3_index = MIN(socket, lab.nr_l3s - 1);
    cpu->node = MIN(core * lab.o.snc / cores, lab.o.snc - 1);
    cpu->epoch = lab_space_epoch() - 1;
    lab_pmu_init(env, &cpu->pmu);
    cpu->l3 = &lab.l3s[cpu->l3_index];
}

struct lab_cpu *lab_cpu(CPUX86State *env)
{
    struct lab_cpu *cpu = &lab.cpus[env_cpu(env)->cpu_index];

    if (unlikely(!cpu->l3)) {
        cpu_init(cpu, env);
    }
    return cpu;
}

uint32_t lab_unit(void)
{
    return lab.o.upscale / lab.o.snc;
}

/*
 * With Sub-NUMA clusters and RMID sharing (bit 0 of RMID_SNC_CONFIG clear)
 * every node has its own part of the physical RMIDs.
 */
uint32_t lab_physical_rmid(const struct lab_cpu *cpu, uint32_t rmid)
{
    if (qatomic_read(&cpu->l3->snc_config) & 1) {
        return rmid;
    }
    return (rmid + cpu->node * (lab.o.rmids / lab.o.snc)) % lab.o.rmids;
}

static void cpuid_monitoring(uint32_t subleaf, uint32_t *eax, uint32_t *ebx,
                             uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (subleaf == 0) {
        *ebx = lab.o.rmids - 1;
        *edx = 1 << 1; /* L3 */
    } else if (subleaf == 1) {
        if (!lab.o.amd || lab.o.width != AMD_WIDTH) {
            *eax = lab.o.width - 24;
        }
        *eax |= lab.o.overflow << 8;
        *ebx = lab.o.upscale;
        *ecx = lab.o.rmids - 1;
        *edx = lab.o.events;
    }
}

static void cpuid_allocation(uint32_t subleaf, uint32_t *eax, uint32_t *ebx,
                             uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (!lab.o.closids) {
        return;
    }
    if (subleaf == 0) {
        *ebx = 1 << 1; /* L3 */
    } else if (subleaf == 1) {
        *eax = lab.o.ways - 1;
        *edx = lab.o.closids - 1;
    }
}

/* AMD's extended features: what they are, and how many counters there are. */
static void cpuid_amd_qos(uint32_t subleaf, uint32_t *eax, uint32_t *ebx,
                          uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (subleaf == 0) {
        *ebx = (lab.o.abmc ? QOS_EBX_ABMC : 0) | (lab.o.plza ? QOS_EBX_PLZA : 0);
    } else if (!lab.o.abmc) {
        return;
    } else if (subleaf == 3) {
        *ebx = QOS_TYPES;
        *ecx = QOS_ECX_TYPES;
    } else if (subleaf == 5) {
        *eax = AMD_WIDTH - 24;
        *ebx = lab.o.abmc_counters - 1;
    }
}

/* QEMU's own description of an L3, of another size. */
static void cpuid_cache(uint32_t eax, uint32_t *ebx, uint32_t *ecx)
{
    if ((eax & 0x1f) && CACHE_LEVEL_OF(eax) == 3) {
        *ebx = (lab.o.line - 1) | (lab.o.ways - 1) << 22;
        *ecx = lab.o.size / lab.o.line / lab.o.ways - 1;
    }
}

static void cpuid_signature(uint32_t *eax)
{
    if (lab.o.signature) {
        *eax = lab.o.signature;
    } else if (lab.o.amd) {
        *eax = AMD_SIGNATURE;
    }
}

void cmt_lab_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    uint64_t answer[2];

    if (!lab.present) {
        return;
    }
    if (leaf - LAB_LEAF < LAB_LEAVES) {
        lab_ask(env, leaf - LAB_LEAF, subleaf, answer);
        *eax = answer[0];
        *ebx = answer[0] >> 32;
        *ecx = answer[1];
        *edx = answer[1] >> 32;
        return;
    }
    switch (leaf) {
    case 0:
        *eax = MAX(*eax, LEVEL_MIN);
        break;
    case 1:
    case 0x80000001:
        cpuid_signature(eax);
        if (leaf != 1 && lab.o.amd) {
            *ecx |= ECX_TOPOEXT;
        }
        if (leaf == 1 && lab.o.pmu) {
            *ecx |= CPUID_EXT_PDCM;
        }
        break;
    case 4:
    case 0x8000001d:
        cpuid_cache(*eax, ebx, ecx);
        break;
    case 7:
        if (subleaf == 0) {
            *ebx |= (lab.o.events ? LEAF7_EBX_PQM : 0) |
                    (lab.o.closids ? LEAF7_EBX_PQE : 0);
        }
        break;
    case 0xa:
        if (lab.o.pmu) {
            lab_pmu_cpuid(eax, ebx, ecx, edx);
        }
        break;
    case 0xf:
        cpuid_monitoring(subleaf, eax, ebx, ecx, edx);
        break;
    case 0x10:
        cpuid_allocation(subleaf, eax, ebx, ecx, edx);
        break;
    case LEAF_AMD_QOS:
        if (lab.o.abmc || lab.o.plza) {
            cpuid_amd_qos(subleaf, eax, ebx, ecx, edx);
        }
        break;
    }
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every load and store of the guest, after it was done, goes to the L3 of the
 * CPU's socket.  Not seen: instruction fetch, page-table walks and devices.
 */
#include "qemu/osdep.h"
#include "exec/exec-all.h"
#include "exec/cpu_ldst.h"
#include "exec/helper-proto.h"
#include "exec/memopidx.h"

#include "cmt-lab-int.h"

#define ACCESS_STORE 2
#define GIB_4        (1ULL << 32)
#define ADDRESS_OF_KERNEL (1ULL << 63)
#define CR3_ADDRESS  0x000ffffffffff000ULL
#define CR3_PTI_USER 0x1000ULL

uint64_t lab_root(uint64_t cr3)
{
    return cr3 & CR3_ADDRESS & ~(lab.o.pti ? CR3_PTI_USER : 0);
}

uint32_t lab_cpu_space(struct lab_cpu *cpu, CPUX86State *env)
{
    uint32_t epoch = lab_space_epoch();

    if (cpu->cr3 != env->cr[3] || cpu->epoch != epoch) {
        cpu->space = lab_space_of(lab_root(env->cr[3]));
        cpu->cr3 = env->cr[3];
        cpu->epoch = epoch;
    }
    return cpu->space;
}

/* Memory is dealt out to the nodes in equal parts, in the order of addresses. */
uint32_t lab_home(uint64_t phys)
{
    if (phys >= GIB_4) {
        phys -= GIB_4 - lab.below_4g;
    }
    return MIN(phys / lab.node_bytes, lab.nr_l3s * lab.o.snc - 1);
}

static bool above_level_0(const CPUX86State *env)
{
    return env->hflags & HF_CPL_MASK;
}

static void fill(CPUX86State *env, struct lab_cpu *cpu, uint32_t line,
                 bool write, bool user)
{
    uint64_t pqr = lab_pqr(cpu, above_level_0(env));
    struct lab_filler who = {
        .rmid = lab_physical_rmid(cpu, (uint32_t)pqr),
        .space = lab_cpu_space(cpu, env),
        .way_mask = qatomic_read(&cpu->l3->masks[pqr >> 32]),
        .user = user,
    };
    bool local = lab_home((uint64_t)line * lab.o.line) ==
                 cpu->l3_index * lab.o.snc + cpu->node;

    if (lab_cache_fill(cpu->l3->cache, line, write, local, &who)) {
        env->cmt_lab.misses[above_level_0(env)]++;
    }
}

/* One writer at a time, or any number of readers. */
static void snoop(const struct lab_cpu *cpu, uint32_t line, bool write)
{
    uint32_t i;

    for (i = 0; i < lab.nr_l3s; i++) {
        if (i != cpu->l3_index) {
            lab_cache_snoop(lab.l3s[i].cache, line, !write);
        }
    }
}

static void touch(CPUX86State *env, struct lab_cpu *cpu, uint32_t line,
                  bool write, bool user)
{
    enum lab_hit hit = lab_cache_touch(cpu->l3->cache, line, write);

    cpu->accesses++;
    env->cmt_lab.refs[above_level_0(env)]++;
    if (likely(hit == LAB_HIT)) {
        return;
    }
    snoop(cpu, line, write);
    if (hit == LAB_MISS) {
        fill(env, cpu, line, write, user);
    }
}

/* The TLB was filled by the access itself.  false: not memory, or not there. */
static bool physical(CPUX86State *env, struct lab_cpu *cpu, target_ulong addr,
                     uint32_t idx, bool write, uint64_t *phys)
{
    CPUTLBEntry *entry = tlb_entry(env, idx, addr);
    target_ulong found = write ? tlb_addr_write(entry) : entry->addr_read;

    if (unlikely(!tlb_hit(found, addr))) {
        cpu->unresolved++;
        return false;
    }
    if (unlikely(found & TLB_MMIO)) {
        return false;
    }
    *phys = env_tlb(env)->d[idx].fulltlb[tlb_index(env, idx, addr)].phys_addr |
            (addr & ~TARGET_PAGE_MASK);
    return true;
}

void cmt_lab_access(CPUX86State *env, uint64_t addr, uint32_t oi, uint32_t rw)
{
    uint32_t idx = get_mmuidx(oi);
    uint32_t last = memop_size(get_memop(oi)) - 1;
    bool write = rw & ACCESS_STORE;
    bool user = !(addr & ADDRESS_OF_KERNEL);
    struct lab_cpu *cpu = lab_cpu(env);
    uint32_t shift = ctz32(lab.o.line);
    uint64_t phys;

    if (!physical(env, cpu, addr, idx, write, &phys)) {
        return;
    }
    touch(env, cpu, phys >> shift, write, user);
    if (unlikely(((addr + last) ^ addr) >> shift) &&
        physical(env, cpu, addr + last, idx, write, &phys)) {
        touch(env, cpu, phys >> shift, write, user);
    }
}

void HELPER(cmt_lab_access)(CPUX86State *env, target_ulong addr, uint32_t oi,
                            uint32_t rw)
{
    cmt_lab_access(env, addr, oi, rw);
}

void cmt_lab_rdtsc(CPUX86State *env, uint64_t value)
{
    if (lab.present) {
        lab_cpu(env)->tsc = value;
    }
}

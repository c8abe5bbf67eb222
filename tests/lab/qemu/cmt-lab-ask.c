/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The side channel: the commands of tests/lab/lab.h. */
#include "qemu/osdep.h"
#include "exec/exec-all.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

static void do_switch(CPUState *cs, run_on_cpu_data on)
{
    cmt_lab_tracing = on.host_int;
    tb_flush(cs);
}

static uint64_t config(uint32_t which)
{
    switch (which) {
    case LAB_C_RMIDS:   return lab.o.rmids;
    case LAB_C_WIDTH:   return lab.o.width;
    case LAB_C_UPSCALE: return lab.o.upscale;
    case LAB_C_EVENTS:  return lab.o.events;
    case LAB_C_SIZE:    return lab.o.size;
    case LAB_C_WAYS:    return lab.o.ways;
    case LAB_C_LINE:    return lab.o.line;
    case LAB_C_AMD:     return lab.o.amd;
    case LAB_C_CLOSIDS: return lab.o.closids;
    case LAB_C_SNC:     return lab.o.snc;
    case LAB_C_L3S:     return lab.nr_l3s;
    case LAB_C_SPACES:  return lab.o.spaces;
    case LAB_C_LIMIT:   return lab.o.limit;
    case LAB_C_OVERFLOW: return lab.o.overflow;
    case LAB_C_PTI:     return lab.o.pti;
    case LAB_C_ABMC:    return !!lab.o.abmc;
    case LAB_C_ABMC_COUNTERS: return lab.o.abmc ? lab.o.abmc_counters : 0;
    case LAB_C_TRACKED: return lab.o.tracked;
    case LAB_C_PMU:     return lab.o.pmu;
    case LAB_C_COUNTERS: return lab.o.counters;
    case LAB_C_PENALTY: return lab.o.penalty;
    case LAB_C_PMON:    return lab.o.pmon;
    case LAB_C_PMON_WIDTH: return lab.o.pmon_width;
    case LAB_C_EVICTIONS: return lab.o.evictions;
    case LAB_C_ERDT:    return lab.o.erdt;
    case LAB_C_PLZA:    return lab.o.plza;
    }
    return 0;
}

static uint64_t of_cache(struct lab_cache *cache, uint32_t which)
{
    return which == LAB_S_FILLS ? lab_cache_fills(cache) :
           which == LAB_S_WRITEBACKS ? lab_cache_writebacks(cache) :
           lab_cache_evictions(cache);
}

static uint64_t statistic(uint32_t which)
{
    uint64_t sum = 0;
    uint32_t i;

    switch (which) {
    case LAB_S_ACCESSES:
    case LAB_S_UNRESOLVED:
        for (i = 0; i < LAB_CPUS_MAX; i++) {
            sum += which == LAB_S_ACCESSES
                       ? qatomic_read(&lab.cpus[i].accesses)
                       : qatomic_read(&lab.cpus[i].unresolved);
        }
        break;
    case LAB_S_FILLS:
    case LAB_S_WRITEBACKS:
    case LAB_S_EVICTIONS:
        for (i = 0; i < lab.nr_l3s; i++) {
            sum += of_cache(lab.l3s[i].cache, which);
        }
        break;
    case LAB_S_SPACES_LOST:
        return lab_spaces_lost();
    case LAB_S_PQR_WRITES:
        return qatomic_read(&lab.pqr_writes);
    case LAB_S_CTR_READS:
        return lab_log_head();
    case LAB_S_PQR_RDMSR:
        return qatomic_read(&lab.msr_reads[LAB_MSR_PQR]);
    case LAB_S_PQR_WRMSR:
        return qatomic_read(&lab.msr_writes[LAB_MSR_PQR]);
    case LAB_S_EVTSEL_RDMSR:
        return qatomic_read(&lab.msr_reads[LAB_MSR_EVTSEL]);
    case LAB_S_EVTSEL_WRMSR:
        return qatomic_read(&lab.msr_writes[LAB_MSR_EVTSEL]);
    case LAB_S_CTR_RDMSR:
        return qatomic_read(&lab.msr_reads[LAB_MSR_CTR]);
    case LAB_S_PQR_SEEN:
        return qatomic_read(&lab.pqr_seen);
    case LAB_S_PQR_UNSEEN:
        return qatomic_read(&lab.pqr_unseen);
    case LAB_S_PLZA_RDMSR:
        return qatomic_read(&lab.plza_reads);
    case LAB_S_PLZA_WRMSR:
        return qatomic_read(&lab.plza_writes);
    case LAB_S_MBM_RESETS:
        return lab_mbm_resets();
    }
    return sum;
}

static void flush(void)
{
    uint32_t i;

    for (i = 0; i < lab.nr_l3s; i++) {
        lab_cache_flush(lab.l3s[i].cache);
    }
}

static void expect(uint32_t space, uint32_t rmid)
{
    uint32_t i;

    for (i = 0; i < lab.nr_l3s; i++) {
        lab_cache_expect(lab.l3s[i].cache, space, rmid);
    }
}

static void last(struct lab_l3 *l3, uint32_t arg, uint64_t answer[2])
{
    uint32_t event = LAB_ARG_SPACE(arg);

    if (event > LAB_EVENTS_MAX) {
        return;
    }
    qemu_mutex_lock(&l3->last_lock);
    answer[0] = l3->last[LAB_ARG_RMID(arg)][event].value;
    answer[1] = l3->last[LAB_ARG_RMID(arg)][event].number;
    qemu_mutex_unlock(&l3->last_lock);
}

/* What is asked of one L3, RMID and space. */
static void ask_l3(uint32_t command, uint32_t arg, uint64_t answer[2])
{
    uint32_t rmid = LAB_ARG_RMID(arg), space = LAB_ARG_SPACE(arg);
    struct lab_traffic traffic;
    struct lab_evicted evicted;
    struct lab_wrong wrong;
    struct lab_l3 *l3;

    if (LAB_ARG_L3(arg) >= lab.nr_l3s) {
        return;
    }
    l3 = &lab.l3s[LAB_ARG_L3(arg)];
    switch (command) {
    case LAB_OF_SPACE:
        answer[0] = lab_cache_of_space(l3->cache, space);
        break;
    case LAB_OF_RMID:
        answer[0] = lab_cache_of_rmid(l3->cache, rmid);
        break;
    case LAB_OF_PAIR:
        answer[0] = lab_cache_of_pair(l3->cache, rmid, space);
        break;
    case LAB_OF_USER:
        answer[0] = lab_cache_of_user(l3->cache, rmid, space, &answer[1]);
        break;
    case LAB_WRONG:
        wrong = lab_cache_wrong(l3->cache);
        answer[0] = wrong.now;
        answer[1] = wrong.borrowed;
        break;
    case LAB_WRONG_MOST:
        wrong = lab_cache_wrong(l3->cache);
        answer[0] = wrong.most;
        answer[1] = wrong.judged;
        break;
    case LAB_WRONG_RESET:
        lab_cache_wrong_reset(l3->cache);
        break;
    case LAB_TRAFFIC:
        traffic = lab_cache_traffic(l3->cache, rmid);
        answer[0] = traffic.total;
        answer[1] = traffic.local;
        break;
    case LAB_EVICTED:
        evicted = lab_cache_evicted(l3->cache, rmid, space);
        answer[0] = evicted.lines;
        answer[1] = evicted.user;
        break;
    case LAB_EVICTED_RESET:
        answer[0] = lab_cache_evicted_reset(l3->cache);
        break;
    case LAB_LAST:
        last(l3, arg, answer);
        break;
    case LAB_ABMC_SET:
        answer[0] = lab_abmc_set(l3, space);
        break;
    case LAB_ABMC_ASSIGN:
        lab_abmc_assign(l3, rmid, space);
        break;
    case LAB_ABMC_COUNTER:
        lab_abmc_counter(l3, space, answer);
        break;
    case LAB_TRACKED:
        answer[0] = lab_track_is(l3, rmid);
        break;
    }
}

/* What is asked of a socket's uncore PMU. */
static void ask_pmon(uint32_t command, uint32_t arg, uint64_t answer[2])
{
    struct lab_unit unit;

    if (command == LAB_CHANNEL) {
        lab_channel(LAB_ARG_L3(arg), LAB_ARG_RMID(arg), answer);
        return;
    }
    if (command == LAB_CHANNEL_IDLE) {
        lab_channel_idle(LAB_ARG_L3(arg), LAB_ARG_RMID(arg), answer);
        return;
    }
    if (!lab_pmon_unit(LAB_ARG_L3(arg), LAB_ARG_RMID(arg), &unit)) {
        return;
    }
    answer[0] = command == LAB_PMON_UNIT ? unit.geometry : unit.name;
    answer[1] = unit.ctl;
}

static void ask_log(uint32_t command, uint32_t number, uint64_t answer[2])
{
    struct lab_reading reading;

    answer[0] = answer[1] = UINT64_MAX;
    if (!lab_log_get(number, &reading)) {
        return;
    }
    answer[0] = command == LAB_LOG_VALUE ? reading.gave :
                command == LAB_LOG_TRUTH ? reading.truth : reading.tsc;
    answer[1] = command == LAB_LOG_VALUE ? reading.ought : reading.what;
}

void lab_ask(CPUX86State *env, uint32_t command, uint32_t arg,
             uint64_t answer[2])
{
    struct lab_cpu *cpu = lab_cpu(env);

    answer[0] = answer[1] = 0;
    switch (command) {
    case LAB_INFO:
        answer[0] = LAB_MAGIC;
        answer[1] = cmt_lab_tracing;
        break;
    case LAB_CONFIG:
        answer[0] = config(arg);
        break;
    case LAB_SWITCH:
        async_safe_run_on_cpu(env_cpu(env), do_switch,
                              RUN_ON_CPU_HOST_INT(arg & 1));
        break;
    case LAB_FLUSH:
        flush();
        break;
    case LAB_SPACE_NEW:
        answer[0] = lab_space_new(lab_root(env->cr[3]));
        lab_counts_new(env, cpu, answer[0]);
        expect(answer[0], 0);
        break;
    case LAB_SPACE_SELF:
        answer[0] = lab_cpu_space(cpu, env);
        answer[1] = lab_root(env->cr[3]);
        break;
    case LAB_EXPECT:
        expect(LAB_ARG_SPACE(arg), LAB_ARG_RMID(arg));
        break;
    case LAB_PQR:
        answer[0] = qatomic_read(&cpu->pqr);
        answer[1] = cpu->l3_index;
        break;
    case LAB_EVTSEL:
        answer[0] = qatomic_read(lab_evtsel(cpu));
        break;
    case LAB_EVTSEL_SET:
        qatomic_set(lab_evtsel(cpu), (uint64_t)LAB_ARG_RMID(arg) << 32 |
                                     LAB_ARG_SPACE(arg));
        break;
    case LAB_PLZA_SET:
        answer[0] = lab_plza_set(cpu, LAB_ARG_RMID(arg), LAB_ARG_SPACE(arg));
        break;
    case LAB_RMID_SET:
        lab_overwrite_rmid(cpu, LAB_ARG_RMID(arg));
        break;
    case LAB_CLOSID_SET:
        lab_overwrite_closid(cpu, arg);
        break;
    case LAB_MBM_RESET:
        answer[0] = lab_mbm_reset(arg);
        break;
    case LAB_STAT:
        answer[0] = statistic(arg);
        break;
    case LAB_LOG_HEAD:
        answer[0] = lab_log_head();
        answer[1] = lab_log_kept();
        break;
    case LAB_LOG_VALUE:
    case LAB_LOG_WHAT:
    case LAB_LOG_TRUTH:
        ask_log(command, arg, answer);
        break;
    case LAB_FAULT_SET:
        lab_fault_set(LAB_FAULT_KIND(arg), LAB_FAULT_PERIOD(arg),
                      LAB_FAULT_BURST(arg));
        break;
    case LAB_FAULT_COUNT:
        answer[0] = lab_fault_planted(arg);
        answer[1] = lab_fault_occasions(arg);
        break;
    case LAB_SPACE_INSNS:
    case LAB_SPACE_REFS:
    case LAB_SPACE_MISSES:
    case LAB_SPACE_CYCLES:
        answer[0] = lab_count_of_space(arg, command - LAB_SPACE_INSNS, true);
        answer[1] = lab_count_of_space(arg, command - LAB_SPACE_INSNS, false);
        break;
    case LAB_CHANNEL:
    case LAB_CHANNEL_IDLE:
    case LAB_PMON_UNIT:
    case LAB_PMON_NAME:
        ask_pmon(command, arg, answer);
        break;
    default:
        ask_l3(command, arg, answer);
    }
}

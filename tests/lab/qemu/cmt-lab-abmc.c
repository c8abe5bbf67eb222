/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What AMD counts memory traffic with.  With assignable counters switched on
 * (ABMC, APM vol. 2 19.3.3.3): few counters, each of one RMID.  Without: a
 * counter for every RMID, of which with tracked=N only N are kept at a time.
 */
#include "qemu/osdep.h"

#include "cmt-lab-int.h"

#define CFG_CONFIGURE  (1ULL << 63)
#define CFG_ENABLE     (1ULL << 62)
#define CFG_IS_CLOS    (1ULL << 47)
#define CFG_ID(v)      ((uint32_t)((v) >> 48 & 0x1f))
#define CFG_SOURCE(v)  ((uint32_t)((v) >> 32 & 0xfff))
#define CFG_TYPES(v)   ((uint32_t)(v))
#define CFG_RESERVED   (0x1ffULL << 53 | 7ULL << 44)
#define TYPES          0x7f
#define TYPES_LOCAL    0x15 /* fills, non-temporal stores, slow memory */
#define TYPES_REMOTE   0x6a /* the same, and victims */
#define TYPES_OF_AGENT 0x01 /* which nobody else asks for */

#define EXT_CFG_ABMC   1ULL

bool lab_abmc_on(struct lab_l3 *l3)
{
    return qatomic_read(&l3->ext_cfg) & EXT_CFG_ABMC;
}

/* Caller holds last_lock, here and where it says so. */
static void ext_cfg_set(struct lab_l3 *l3, uint64_t value)
{
    if (!(value & EXT_CFG_ABMC)) {
        lab_mbm_reset_locked(l3);
    }
    if ((l3->ext_cfg ^ value) & EXT_CFG_ABMC) {
        memset(l3->assigned, 0, sizeof(l3->assigned));
    }
    qatomic_set(&l3->ext_cfg, value);
}

void lab_ext_cfg_write(struct lab_l3 *l3, uint64_t value)
{
    qemu_mutex_lock(&l3->last_lock);
    ext_cfg_set(l3, value);
    qemu_mutex_unlock(&l3->last_lock);
}

uint64_t lab_abmc_set(struct lab_l3 *l3, uint32_t on)
{
    if (!lab.o.abmc) {
        return UINT64_MAX;
    }
    if (on <= 1) {
        lab_ext_cfg_write(l3, on * EXT_CFG_ABMC);
    }
    return qatomic_read(&l3->ext_cfg);
}

/* Caller holds last_lock. */
static void counter_set(struct lab_l3 *l3, uint64_t value)
{
    struct lab_assigned *a = &l3->assigned[CFG_ID(value)];

    a->config = value & ~CFG_CONFIGURE;
    a->start = lab_cache_traffic(l3->cache, CFG_SOURCE(value));
    a->configured++;
}

static void configure(struct lab_l3 *l3, uint64_t value)
{
    qemu_mutex_lock(&l3->last_lock);
    counter_set(l3, value);
    qemu_mutex_unlock(&l3->last_lock);
}

static uint64_t taken_by_agent(uint32_t id)
{
    return CFG_ENABLE | (uint64_t)id << 48 |
           (uint64_t)lab.o.agent_rmid << 32 | TYPES_OF_AGENT;
}

/* The agent has one counter at a time. */
static void take(struct lab_l3 *l3, uint32_t id)
{
    uint32_t before = l3->taken - 1;

    if (l3->taken && l3->assigned[before].config == taken_by_agent(before)) {
        counter_set(l3, (uint64_t)before << 48);
    }
    counter_set(l3, taken_by_agent(id));
    l3->taken = id + 1;
}

void lab_abmc_agents(struct lab_l3 *l3, bool extended, uint32_t id)
{
    if (!lab.o.abmc) {
        return;
    }
    if (lab_fault_due(LAB_FAULT_MODE)) {
        ext_cfg_set(l3, l3->ext_cfg ^ EXT_CFG_ABMC);
    }
    if (lab_fault_due(LAB_FAULT_MODE_TWICE)) {
        ext_cfg_set(l3, l3->ext_cfg ^ EXT_CFG_ABMC);
        ext_cfg_set(l3, l3->ext_cfg ^ EXT_CFG_ABMC);
    }
    if (extended && id < lab.o.abmc_counters && lab_abmc_on(l3) &&
        l3->assigned[id].config & CFG_ENABLE &&
        lab_fault_due(LAB_FAULT_TAKE)) {
        take(l3, id);
    }
}

bool lab_abmc_write(struct lab_cpu *cpu, uint64_t value)
{
    if (!lab_abmc_on(cpu->l3) || value & CFG_RESERVED ||
        CFG_ID(value) >= lab.o.abmc_counters || CFG_TYPES(value) & ~TYPES ||
        CFG_SOURCE(value) >= lab.o.rmids || value & CFG_IS_CLOS) {
        return false;
    }
    cpu->abmc_cfg = value;
    if (value & CFG_CONFIGURE) {
        configure(cpu->l3, value);
    }
    return true;
}

bool lab_abmc_read(struct lab_cpu *cpu, bool description, uint64_t *value)
{
    uint32_t id = CFG_ID(cpu->abmc_cfg);

    if (!lab_abmc_on(cpu->l3)) {
        return false;
    }
    *value = description ? qatomic_read(&cpu->l3->assigned[id].config) |
                               (uint64_t)id << 48
                         : cpu->abmc_cfg;
    return true;
}

void lab_abmc_counter(struct lab_l3 *l3, uint32_t id, uint64_t answer[2])
{
    if (id < lab.o.abmc_counters) {
        answer[0] = qatomic_read(&l3->assigned[id].config);
        answer[1] = qatomic_read(&l3->assigned[id].configured);
    }
}

void lab_abmc_assign(struct lab_l3 *l3, uint32_t rmid, uint32_t what)
{
    uint32_t id = LAB_ABMC_ID(what);

    if (lab_abmc_on(l3) && id < lab.o.abmc_counters && rmid < lab.o.rmids) {
        configure(l3, (what & LAB_ABMC_ENABLE ? CFG_ENABLE : 0) |
                          (uint64_t)id << 48 | (uint64_t)rmid << 32 |
                          LAB_ABMC_TYPES(what));
    }
}

/* Caller holds last_lock. */
bool lab_abmc_units(struct lab_l3 *l3, uint32_t id, uint64_t *units,
                    uint64_t *truth, uint64_t *as)
{
    const struct lab_assigned *a = &l3->assigned[id];
    struct lab_traffic now;
    uint64_t bytes = 0;
    bool total = CFG_TYPES(a->config) & TYPES_REMOTE;

    if (!(a->config & CFG_ENABLE)) {
        return false;
    }
    now = lab_cache_traffic(l3->cache, CFG_SOURCE(a->config));
    if (CFG_TYPES(a->config) & TYPES_LOCAL) {
        bytes += now.local - a->start.local;
    }
    if (CFG_TYPES(a->config) & TYPES_REMOTE) {
        bytes += now.total - now.local - (a->start.total - a->start.local);
    }
    *units = bytes / lab_unit();
    *truth = total ? now.total : now.local;
    *as = (uint64_t)CFG_SOURCE(a->config) << 32 |
          (total ? LAB_EVENT_TOTAL : LAB_EVENT_LOCAL);
    return true;
}

/* tracked=N */

static bool is_loaded(const struct lab_l3 *l3, uint32_t rmid)
{
    uint32_t i;

    for (i = 0; i < LAB_CPUS_MAX; i++) {
        if (lab.cpus[i].l3 == l3 &&
            (uint32_t)qatomic_read(&lab.cpus[i].pqr) == rmid) {
            return true;
        }
    }
    return false;
}

/* Of the tracked RMIDs that no CPU has, the one that none has had for longest. */
static uint32_t track_victim(struct lab_l3 *l3, uint32_t *n)
{
    uint32_t rmid, victim = LAB_RMIDS_MAX;

    *n = 0;
    for (rmid = 0; rmid < lab.o.rmids; rmid++) {
        if (!l3->tracked_at[rmid]) {
            continue;
        }
        (*n)++;
        if ((victim == LAB_RMIDS_MAX ||
             l3->tracked_at[rmid] < l3->tracked_at[victim]) &&
            !is_loaded(l3, rmid)) {
            victim = rmid;
        }
    }
    return victim;
}

/* What was counted before is gone, and the first reading of each event says so. */
static void track_begin(struct lab_l3 *l3, uint32_t rmid)
{
    uint32_t n, victim = track_victim(l3, &n);

    if (n >= lab.o.tracked && victim < LAB_RMIDS_MAX) {
        l3->tracked_at[victim] = 0;
    }
    l3->reset_at[rmid] = lab_cache_traffic(l3->cache, rmid);
    l3->first[rmid] = 1U << LAB_EVENT_TOTAL | 1U << LAB_EVENT_LOCAL;
}

void lab_track(struct lab_l3 *l3, uint32_t rmid)
{
    if (!lab.o.tracked || rmid >= lab.o.rmids) {
        return;
    }
    qemu_mutex_lock(&l3->last_lock);
    if (!l3->tracked_at[rmid]) {
        track_begin(l3, rmid);
    }
    qatomic_set(&l3->tracked_at[rmid], ++l3->loads);
    qemu_mutex_unlock(&l3->last_lock);
}

/* Caller holds last_lock. */
bool lab_track_read(struct lab_l3 *l3, uint32_t rmid, uint32_t event)
{
    bool first = l3->first[rmid] & 1U << event;

    if (!lab.o.tracked || event == LAB_EVENT_OCCUPANCY) {
        return true;
    }
    l3->first[rmid] &= ~(1U << event);
    if (first && l3->tracked_at[rmid] && lab_fault_due(LAB_FAULT_READ)) {
        return true;
    }
    return l3->tracked_at[rmid] && !first;
}

static bool is_tracked(struct lab_l3 *l3, uint32_t rmid, uint32_t event)
{
    return !lab.o.tracked ||
           (l3->tracked_at[rmid] && !(l3->first[rmid] & 1U << event));
}

static bool is_assigned(struct lab_l3 *l3, uint32_t rmid, uint32_t types)
{
    uint32_t id;

    for (id = 0; id < lab.o.abmc_counters; id++) {
        uint64_t config = l3->assigned[id].config;

        if (config & CFG_ENABLE && CFG_SOURCE(config) == rmid &&
            CFG_TYPES(config) == types) {
            return true;
        }
    }
    return false;
}

uint32_t lab_counted(struct lab_l3 *l3, uint32_t rmid)
{
    if (rmid >= lab.o.limit) {
        return 0;
    }
    if (lab_abmc_on(l3)) {
        return is_assigned(l3, rmid, TYPES) |
               is_assigned(l3, rmid, TYPES_LOCAL) << 1;
    }
    return is_tracked(l3, rmid, LAB_EVENT_TOTAL) |
           is_tracked(l3, rmid, LAB_EVENT_LOCAL) << 1;
}

uint64_t lab_track_is(struct lab_l3 *l3, uint32_t rmid)
{
    return !lab.o.tracked || qatomic_read(&l3->tracked_at[rmid]);
}

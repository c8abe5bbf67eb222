/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmt-lab-cache.h"

/*
 * A set's most recent line, and whether it is dirty: touching that line again
 * changes nothing, and is answered without the lock.
 */
#define RECENT(line, dirty) ((uint64_t)(line) << 1 | (dirty))
#define RECENT_NONE         UINT64_MAX

#define PAGE_BYTES          4096

struct lab_set {
    uint64_t recent; /* RECENT(); read without the lock */
    uint32_t lock;   /* protects the set's ways; outside the counts' */
    uint32_t clock;  /* the largest in used[] */
};

struct lab_way {
    uint16_t rmid;
    uint16_t space;
    bool dirty;
    bool local;
    bool user;
};

struct lab_cache {
    uint32_t nr_sets;
    uint32_t nr_ways;
    uint32_t line_bytes;
    uint32_t nr_rmids;
    uint32_t nr_spaces;
    struct lab_set *sets;
    uint32_t *tags; /* by set and way: line + 1; 0: empty */
    uint32_t *used; /* by set and way: the set's clock at its last use */
    struct lab_way *ways;

    lab_memory_fn *on_memory;
    void *opaque;        /* on_memory's */

    uint32_t lock;       /* protects the counts */
    uint32_t *of_rmid;   /* lines */
    uint32_t *of_space;
    uint32_t *of_pair;   /* by RMID and space */
    uint32_t *of_user;   /* by both, filled through user addresses */
    uint16_t *expected;  /* RMID, by space; 0: none in particular */
    uint64_t wrong;      /* lines that have another one than expected */
    uint64_t wrong_most;
    uint64_t judged;     /* fills of spaces with an expected one */
    struct lab_traffic *traffic;
    uint64_t fills;
    uint64_t writebacks;
    uint64_t evictions;
    uint32_t tracked;    /* spaces of evicted[]; 0: it is not kept */
    struct lab_evicted *evicted; /* by victim and evictor */
};

/* A virtual CPU may lose its host's CPU with a lock: do not spin for long. */
static void lock(uint32_t *word)
{
    int tries = 0;

    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(word, __ATOMIC_RELAXED)) {
            if (++tries > 100) {
                sched_yield();
            }
        }
    }
}

static void unlock(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static void set_recent(struct lab_set *set, uint64_t recent)
{
    __atomic_store_n(&set->recent, recent, __ATOMIC_RELAXED);
}

static void *table(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        abort();
    }
    return p;
}

struct lab_cache *lab_cache_new(uint32_t sets, uint32_t ways,
                                uint32_t line_bytes, uint32_t rmids,
                                uint32_t spaces)
{
    struct lab_cache *c = table(1, sizeof(*c));
    size_t lines = (size_t)sets * ways;
    uint32_t i;

    c->nr_sets = sets;
    c->nr_ways = ways;
    c->line_bytes = line_bytes;
    c->nr_rmids = rmids;
    c->nr_spaces = spaces;
    c->sets = table(sets, sizeof(*c->sets));
    c->tags = table(lines, sizeof(*c->tags));
    c->used = table(lines, sizeof(*c->used));
    c->ways = table(lines, sizeof(*c->ways));
    c->of_rmid = table(rmids, sizeof(*c->of_rmid));
    c->of_space = table(spaces, sizeof(*c->of_space));
    c->of_pair = table((size_t)rmids * spaces, sizeof(*c->of_pair));
    c->of_user = table((size_t)rmids * spaces, sizeof(*c->of_user));
    c->expected = table(spaces, sizeof(*c->expected));
    c->traffic = table(rmids, sizeof(*c->traffic));
    for (i = 0; i < sets; i++) {
        c->sets[i].recent = RECENT_NONE;
    }
    return c;
}

void lab_cache_on_memory(struct lab_cache *c, lab_memory_fn *fn, void *opaque)
{
    c->on_memory = fn;
    c->opaque = opaque;
}

void lab_cache_free(struct lab_cache *c)
{
    free(c->sets);
    free(c->tags);
    free(c->used);
    free(c->ways);
    free(c->of_rmid);
    free(c->of_space);
    free(c->of_pair);
    free(c->of_user);
    free(c->expected);
    free(c->traffic);
    free(c->evicted);
    free(c);
}

/* The way of a line in its set, or nr_ways. */
static uint32_t find(const struct lab_cache *c, size_t base, uint32_t line)
{
    const uint32_t *tags = c->tags + base;
    uint32_t way;

    for (way = 0; way < c->nr_ways; way++) {
        if (tags[way] == line + 1) {
            break;
        }
    }
    return way;
}

/* The clock is full: keep the order, with numbers from 1. */
static void renumber(struct lab_cache *c, struct lab_set *set, size_t base)
{
    uint32_t rank[LAB_CACHE_WAYS_MAX];
    uint32_t i, j;

    for (i = 0; i < c->nr_ways; i++) {
        rank[i] = 1;
        for (j = 0; j < c->nr_ways; j++) {
            rank[i] += c->used[base + j] < c->used[base + i];
        }
    }
    memcpy(c->used + base, rank, c->nr_ways * sizeof(rank[0]));
    set->clock = c->nr_ways;
}

static void use(struct lab_cache *c, struct lab_set *set, size_t base,
                uint32_t way, bool write)
{
    struct lab_way *w = &c->ways[base + way];

    if (set->clock == UINT32_MAX) {
        renumber(c, set, base);
    }
    c->used[base + way] = ++set->clock;
    w->dirty |= write;
    set_recent(set, RECENT(c->tags[base + way] - 1, w->dirty));
}

enum lab_hit lab_cache_touch(struct lab_cache *c, uint32_t line, bool write)
{
    uint32_t index = line & (c->nr_sets - 1);
    struct lab_set *set = &c->sets[index];
    size_t base = (size_t)index * c->nr_ways;
    uint64_t recent = __atomic_load_n(&set->recent, __ATOMIC_RELAXED);
    enum lab_hit hit = LAB_MISS;
    uint32_t way;

    if (recent == RECENT(line, true) ||
        (!write && recent == RECENT(line, false))) {
        return LAB_HIT;
    }
    lock(&set->lock);
    way = find(c, base, line);
    if (way < c->nr_ways) {
        hit = write && !c->ways[base + way].dirty ? LAB_HIT_DIRTIED : LAB_HIT;
        use(c, set, base, way, write);
    }
    unlock(&set->lock);
    return hit;
}

static size_t pair(const struct lab_cache *c, uint32_t rmid, uint32_t space)
{
    return (size_t)rmid * c->nr_spaces + space;
}

/* See lab_cache_expect(). */
static bool is_wrong(const struct lab_cache *c, const struct lab_way *w)
{
    uint32_t expected = c->expected[w->space];

    return expected && w->rmid != expected && (w->rmid || w->user);
}

static void note_most(struct lab_cache *c)
{
    if (c->wrong > c->wrong_most) {
        c->wrong_most = c->wrong;
    }
}

/* The counts' lock is held. */
static void count_line(struct lab_cache *c, const struct lab_way *w, int by)
{
    size_t i = pair(c, w->rmid, w->space);

    c->of_rmid[w->rmid] += by;
    c->of_space[w->space] += by;
    c->of_pair[i] += by;
    if (w->user) {
        c->of_user[i] += by;
    }
    if (is_wrong(c, w)) {
        c->wrong += by;
        note_most(c);
    }
}

static uint32_t region(const struct lab_cache *c, size_t at)
{
    uint64_t address = (uint64_t)(c->tags[at] - 1) * c->line_bytes;

    return !c->ways[at].local + (address / PAGE_BYTES % 2) * 2;
}

static void count_traffic(struct lab_cache *c, size_t at)
{
    struct lab_traffic *t = &c->traffic[c->ways[at].rmid];

    t->total += c->line_bytes;
    t->region[region(c, at)] += c->line_bytes;
    if (c->ways[at].local) {
        t->local += c->line_bytes;
    }
}

static void tell_memory(struct lab_cache *c, size_t at, bool write)
{
    if (c->on_memory) {
        c->on_memory(c->opaque, c->tags[at] - 1, write);
    }
}

/* A write-back is the traffic of who filled the line. */
static void count_writeback(struct lab_cache *c, size_t at)
{
    c->writebacks++;
    count_traffic(c, at);
    tell_memory(c, at, true);
}

static uint32_t victim(const struct lab_cache *c, size_t base, uint32_t mask)
{
    uint32_t best = c->nr_ways;
    uint32_t way;

    for (way = 0; way < c->nr_ways; way++) {
        if (!(mask >> way & 1)) {
            continue;
        }
        if (!c->tags[base + way]) {
            return way;
        }
        if (best == c->nr_ways || c->used[base + way] < c->used[base + best]) {
            best = way;
        }
    }
    return best;
}

static size_t evicted_at(const struct lab_cache *c, uint32_t victim,
                         uint32_t by)
{
    victim = victim < c->tracked ? victim : 0;
    by = by < c->tracked ? by : 0;
    return (size_t)victim * c->tracked + by;
}

/* The counts' lock is held. */
static void count_eviction(struct lab_cache *c, const struct lab_way *old,
                           const struct lab_way *new)
{
    struct lab_evicted *e;

    c->evictions++;
    if (!c->tracked) {
        return;
    }
    e = &c->evicted[evicted_at(c, old->space, new->space)];
    e->lines++;
    e->user += old->user && new->user;
}

/* The set's lock is held. */
static void replace(struct lab_cache *c, size_t at, uint32_t line,
                    const struct lab_way *new)
{
    struct lab_way *w = &c->ways[at];

    lock(&c->lock);
    if (c->tags[at]) {
        count_line(c, w, -1);
        count_eviction(c, w, new);
        if (w->dirty) {
            count_writeback(c, at);
        }
    }
    *w = *new;
    c->tags[at] = line + 1;
    c->fills++;
    c->judged += c->expected[w->space] != 0;
    count_line(c, w, 1);
    count_traffic(c, at);
    tell_memory(c, at, false);
    unlock(&c->lock);
}

bool lab_cache_fill(struct lab_cache *c, uint32_t line, bool write, bool local,
                    const struct lab_filler *who)
{
    uint32_t index = line & (c->nr_sets - 1);
    struct lab_set *set = &c->sets[index];
    size_t base = (size_t)index * c->nr_ways;
    struct lab_way new = {
        .rmid = who->rmid, .space = who->space, .local = local,
        .user = who->user,
    };
    uint32_t way;
    bool miss;

    lock(&set->lock);
    way = find(c, base, line); /* another CPU may have been faster */
    miss = way == c->nr_ways;
    if (miss) {
        way = victim(c, base, who->way_mask);
        if (way < c->nr_ways) {
            replace(c, base + way, line, &new);
        }
    }
    if (way < c->nr_ways) {
        use(c, set, base, way, write);
    }
    unlock(&set->lock);
    return miss;
}

/* The set's lock is held. */
static void clean(struct lab_cache *c, size_t at, bool keep)
{
    struct lab_way *w = &c->ways[at];

    lock(&c->lock);
    if (w->dirty) {
        count_writeback(c, at);
    }
    w->dirty = false;
    if (!keep) {
        count_line(c, w, -1);
        c->tags[at] = 0;
        c->used[at] = 0;
    }
    unlock(&c->lock);
}

void lab_cache_snoop(struct lab_cache *c, uint32_t line, bool keep)
{
    uint32_t index = line & (c->nr_sets - 1);
    struct lab_set *set = &c->sets[index];
    size_t base = (size_t)index * c->nr_ways;
    uint32_t way;

    lock(&set->lock);
    way = find(c, base, line);
    if (way < c->nr_ways && (!keep || c->ways[base + way].dirty)) {
        clean(c, base + way, keep);
        set_recent(set, RECENT_NONE);
    }
    unlock(&set->lock);
}

void lab_cache_flush(struct lab_cache *c)
{
    uint32_t index, way;

    for (index = 0; index < c->nr_sets; index++) {
        struct lab_set *set = &c->sets[index];
        size_t base = (size_t)index * c->nr_ways;

        lock(&set->lock);
        for (way = 0; way < c->nr_ways; way++) {
            if (c->tags[base + way]) {
                clean(c, base + way, false);
            }
        }
        set_recent(set, RECENT_NONE);
        unlock(&set->lock);
    }
}

static uint64_t bytes(struct lab_cache *c, const uint32_t *lines)
{
    uint64_t n;

    lock(&c->lock);
    n = *lines;
    unlock(&c->lock);
    return n * c->line_bytes;
}

uint64_t lab_cache_of_rmid(struct lab_cache *c, uint32_t rmid)
{
    return rmid < c->nr_rmids ? bytes(c, &c->of_rmid[rmid]) : 0;
}

uint64_t lab_cache_of_space(struct lab_cache *c, uint32_t space)
{
    return space < c->nr_spaces ? bytes(c, &c->of_space[space]) : 0;
}

uint64_t lab_cache_of_pair(struct lab_cache *c, uint32_t rmid, uint32_t space)
{
    if (rmid >= c->nr_rmids || space >= c->nr_spaces) {
        return 0;
    }
    return bytes(c, &c->of_pair[pair(c, rmid, space)]);
}

struct lab_traffic lab_cache_traffic(struct lab_cache *c, uint32_t rmid)
{
    struct lab_traffic t = { 0 };

    if (rmid < c->nr_rmids) {
        lock(&c->lock);
        t = c->traffic[rmid];
        unlock(&c->lock);
    }
    return t;
}

uint64_t lab_cache_fills(struct lab_cache *c)
{
    return __atomic_load_n(&c->fills, __ATOMIC_RELAXED);
}

uint64_t lab_cache_writebacks(struct lab_cache *c)
{
    return __atomic_load_n(&c->writebacks, __ATOMIC_RELAXED);
}

uint64_t lab_cache_evictions(struct lab_cache *c)
{
    return __atomic_load_n(&c->evictions, __ATOMIC_RELAXED);
}

void lab_cache_track(struct lab_cache *c, uint32_t spaces)
{
    c->tracked = spaces < c->nr_spaces ? spaces : c->nr_spaces;
    c->evicted = table((size_t)c->tracked * c->tracked, sizeof(*c->evicted));
}

struct lab_evicted lab_cache_evicted(struct lab_cache *c, uint32_t victim,
                                     uint32_t by)
{
    struct lab_evicted e = { 0, 0 };

    if (victim < c->tracked && by < c->tracked) {
        lock(&c->lock);
        e = c->evicted[evicted_at(c, victim, by)];
        unlock(&c->lock);
    }
    return e;
}

uint64_t lab_cache_evicted_reset(struct lab_cache *c)
{
    uint64_t evictions;

    lock(&c->lock);
    if (c->tracked) {
        memset(c->evicted, 0,
               (size_t)c->tracked * c->tracked * sizeof(*c->evicted));
    }
    evictions = c->evictions;
    unlock(&c->lock);
    return evictions;
}

uint64_t lab_cache_of_user(struct lab_cache *c, uint32_t rmid, uint32_t space,
                           uint64_t *all)
{
    uint64_t lines, sum = 0;
    uint32_t i;

    *all = 0;
    if (rmid >= c->nr_rmids || space >= c->nr_spaces) {
        return 0;
    }
    lock(&c->lock);
    lines = c->of_user[pair(c, rmid, space)];
    for (i = 0; i < c->nr_rmids; i++) {
        sum += c->of_user[pair(c, i, space)];
    }
    unlock(&c->lock);
    *all = sum * c->line_bytes;
    return lines * c->line_bytes;
}

/* The counts' lock is held. */
static uint64_t borrowed_lines(const struct lab_cache *c, uint32_t space)
{
    if (!c->expected[space]) {
        return 0;
    }
    return c->of_pair[pair(c, 0, space)] - c->of_user[pair(c, 0, space)];
}

static uint64_t wrong_lines(const struct lab_cache *c, uint32_t space)
{
    uint32_t rmid = c->expected[space];

    if (!rmid) {
        return 0;
    }
    return c->of_space[space] - c->of_pair[pair(c, rmid, space)] -
           borrowed_lines(c, space);
}

void lab_cache_expect(struct lab_cache *c, uint32_t space, uint32_t rmid)
{
    if (space >= c->nr_spaces || rmid >= c->nr_rmids) {
        return;
    }
    lock(&c->lock);
    c->wrong -= wrong_lines(c, space);
    c->expected[space] = rmid;
    c->wrong += wrong_lines(c, space);
    note_most(c);
    unlock(&c->lock);
}

struct lab_wrong lab_cache_wrong(struct lab_cache *c)
{
    struct lab_wrong w = { 0, 0, 0, 0 };
    uint32_t space;

    lock(&c->lock);
    for (space = 0; space < c->nr_spaces; space++) {
        w.borrowed += borrowed_lines(c, space) * c->line_bytes;
    }
    w.now = c->wrong * c->line_bytes;
    w.most = c->wrong_most * c->line_bytes;
    w.judged = c->judged;
    unlock(&c->lock);
    return w;
}

void lab_cache_wrong_reset(struct lab_cache *c)
{
    lock(&c->lock);
    c->wrong_most = c->wrong;
    c->judged = 0;
    unlock(&c->lock);
}

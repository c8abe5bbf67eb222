/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One last-level cache: set-associative, write-back, write-allocate, exact
 * LRU.  Every line carries the RMID and the address space that filled it, and
 * every count is of these tags.  Knows nothing of QEMU or of x86.
 *
 * Any number of threads may call at the same time.  Counts agree with the
 * lines and with each other at every instant.
 */
#ifndef CMT_LAB_CACHE_H
#define CMT_LAB_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_CACHE_WAYS_MAX 32

struct lab_cache;

/* Who fills a line. */
struct lab_filler {
    uint16_t rmid;
    uint16_t space;
    uint32_t way_mask; /* where it may fill */
    bool user;         /* through an address of user space */
};

/*
 * Regions of memory, as if every other page were of a second kind: local, remote, and
 * both of that kind.
 */
#define LAB_REGIONS 4

struct lab_traffic {
    uint64_t total; /* bytes */
    uint64_t local;
    uint64_t region[LAB_REGIONS]; /* the same bytes as the total */
};

struct lab_cache *lab_cache_new(uint32_t sets, uint32_t ways,
                                uint32_t line_bytes, uint32_t rmids,
                                uint32_t spaces);
void lab_cache_free(struct lab_cache *c);

/*
 * Called for every line that is filled, and (write) that is written back, with
 * locks of the cache held.  Set before the cache is used.
 */
typedef void lab_memory_fn(void *opaque, uint32_t line, bool write);
void lab_cache_on_memory(struct lab_cache *c, lab_memory_fn *fn, void *opaque);

enum lab_hit {
    LAB_MISS,        /* not there: lab_cache_fill() it */
    LAB_HIT,
    LAB_HIT_DIRTIED, /* was clean, so that others may have it */
};

/* Lines are addresses divided by the line size. */
enum lab_hit lab_cache_touch(struct lab_cache *c, uint32_t line, bool write);
/*
 * @local: of the line's memory.  A line that is there is only touched: false, it
 * is no miss.
 */
bool lab_cache_fill(struct lab_cache *c, uint32_t line, bool write, bool local,
                    const struct lab_filler *who);

/* Another cache wants the line: write it back, and keep a copy or do not. */
void lab_cache_snoop(struct lab_cache *c, uint32_t line, bool keep);
void lab_cache_flush(struct lab_cache *c);

uint64_t lab_cache_of_rmid(struct lab_cache *c, uint32_t rmid);
uint64_t lab_cache_of_space(struct lab_cache *c, uint32_t space);
uint64_t lab_cache_of_pair(struct lab_cache *c, uint32_t rmid, uint32_t space);
struct lab_traffic lab_cache_traffic(struct lab_cache *c, uint32_t rmid);
uint64_t lab_cache_fills(struct lab_cache *c);
uint64_t lab_cache_writebacks(struct lab_cache *c);
/* Lines that had to go for a fill; not those that were snooped or flushed away. */
uint64_t lab_cache_evictions(struct lab_cache *c);

/*
 * From now on count who evicts whose lines, by the spaces below @spaces; all others
 * are space 0 there.  Before the cache is used.
 */
void lab_cache_track(struct lab_cache *c, uint32_t spaces);

struct lab_evicted {
    uint64_t lines;
    uint64_t user; /* of these: both were filled through user addresses */
};

/* Lines of space @victim that went for fills of space @by; 0: not tracked. */
struct lab_evicted lab_cache_evicted(struct lab_cache *c, uint32_t victim,
                                     uint32_t by);
/* All of these are 0 again; returns lab_cache_evictions() of the same instant. */
uint64_t lab_cache_evicted_reset(struct lab_cache *c);

/* Bytes of both that were filled through user addresses; *all: of any RMID. */
uint64_t lab_cache_of_user(struct lab_cache *c, uint32_t rmid, uint32_t space,
                           uint64_t *all);

/*
 * The lines of @space ought to have @rmid; 0: whatever they have.  Wrong are
 * those that have another one; but for RMID 0 only those filled through user
 * addresses: a kernel thread borrows page tables, and fills under RMID 0.
 */
void lab_cache_expect(struct lab_cache *c, uint32_t space, uint32_t rmid);

struct lab_wrong {
    uint64_t now;      /* bytes */
    uint64_t most;     /* at any instant since the reset */
    uint64_t judged;   /* fills of spaces of which a RMID is expected, since */
    uint64_t borrowed; /* bytes under RMID 0 which are not wrong, now */
};

struct lab_wrong lab_cache_wrong(struct lab_cache *c);
void lab_cache_wrong_reset(struct lab_cache *c);

#endif

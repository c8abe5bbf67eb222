/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of owner/ have for each other, from the top down:
 *
 *	owner.c		how an owner is found, its users and its members
 *	assign.c	which RMID an owner has
 *	queue.c		the pending queue
 *	lifecycle.c	the records of an RMID's lifecycle
 *	table.c		the owners, the RMIDs, and the lock of both
 *	rmid.c		the states of an RMID
 *
 * With the owner lock, but for init and exit.
 */
#ifndef CMT_OWNER_INTERNAL_H
#define CMT_OWNER_INTERNAL_H

#include "owner.h"

/* assign.c */

/* An owner has no RMID and no owner number, or still no RMID: write an ALLOC_FAIL. */
void owner_fail(struct cmt_owner *owner);

/*
 * The owner becomes pending.  Until it has a dedicated RMID, it shares the RMID of the
 * overflow owner.  @why: CMT_WHY_*, if no RMID is left for the owner.
 */
void owner_pending_enqueue(struct cmt_owner *owner, u32 why);

/* The owner has no RMID any more, and is not pending.  Returns whether one was freed. */
bool owner_clear(struct cmt_owner *owner);

/* queue.c */

/*
 * The pending queue has one list for each class of owners, in the order in which the
 * classes are served; in a list the owner that has been pending longest is the first one,
 * whatever class it was of meanwhile.  The next list has the services that have an RMID.
 * If no RMID is left for an owner of a higher class, the service that became pending last
 * loses its RMID.  All lists are parts of one tree: a change takes some 30 steps at most,
 * however many owners are pending.
 */
enum {
	LIST_NONE,
	LIST_OVERFLOW,		/* the overflow owner */
	LIST_NAMED,		/* attached or held */
	LIST_SCOPED,		/* containers, processes, CPUs */
	LIST_SERVICES,
	LIST_RECLAIMABLE,
	NR_LISTS,
};

void owner_queue_set(struct cmt_owner *owner, bool pending);
/* After a change of a user or of the RMID: move the owner to the list of its class. */
void owner_relist(struct cmt_owner *owner);
/* The pending owner that is served next, or NULL. */
struct cmt_owner *owner_queue_first(void);
/* The number of pending owners of the classes that are served before those of this list. */
u32 owner_queue_before(u32 list);
/* The service that loses its RMID next, or NULL. */
struct cmt_owner *owner_queue_reclaimable(void);

/* lifecycle.c */

/* cmt_record.flags, and tgid or owner_cpu */
u32 owner_flags(const struct cmt_owner *owner);
u32 owner_tgid(const struct cmt_owner *owner);

/* What the records of an RMID say of its owner. */
void owner_describe(struct cmt_rmid *r, const struct cmt_owner *owner);

void owner_emit(u16 type, u64 ts, const struct cmt_rmid *r);

/*
 * Copy the assignment of an RMID to the snapshot that is under way, unless it was copied
 * before.  Each lifecycle event calls this before it changes the RMID, so the snapshot
 * has the assignment at the time of its begin.  A record with type FREE has no owner.
 */
void owner_snapshot_keep(u32 rmid);

/* Write the postponed UPDATE of an owner, unless the owner is as before. */
void owner_update_write(struct cmt_owner *owner);
/* The time at which postponed UPDATEs must be written; U64_MAX: there are none. */
u64 owner_update_due(void);

/* table.c */

extern struct cmt_pool owner_pool;
extern raw_spinlock_t owner_lock;

int owner_tables_alloc(void);

/* The longest hold of the lock */
u64 owner_lock_held_ns(void);

/* An owner whose number is not used; NULL: none is left, or none for a @service. */
struct cmt_owner *owner_unused(bool service);
/* Make the number of an owner available again, if no process and no RMID needs it. */
void owner_end(struct cmt_owner *owner);

static inline struct cmt_owner *owner_overflow(void)
{
	return &cmt_owners[CMT_OVERFLOW_OWNER];
}

static inline bool owner_is_overflow(const struct cmt_owner *owner)
{
	return owner == owner_overflow();
}

#endif

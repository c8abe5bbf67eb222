/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Owners have RMIDs.  An owner is a process, a cgroup with all below it, or a CPU.
 * Owners are elements of a fixed array, so that a probe can make one without an
 * allocation.  Two arrays say with which RMID a process runs:
 *
 *	process id -> owner number	cmt_owner_table, written where membership
 *					changes: fork, exit, moves, scope, attach
 *	owner number -> RMID		cmt_owner_rmids, written where an owner gets
 *					or loses an RMID: one store, and no walk
 *
 * Owner 0 is none.  Owner 1 is the overflow owner: pending owners, which wait for
 * a dedicated RMID, share its RMID.
 */
#ifndef CMT_OWNER_H
#define CMT_OWNER_H

#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "rmid.h"
#include "uapi/cmt.h"

struct irq_work;

#define CMT_NR_OWNERS		16384U
#define CMT_OVERFLOW_OWNER	1U
/* Values of cmt_owner.kind beside CMT_OWNER_* */
#define CMT_OWNER_OVERFLOW	0U

/* Levels of cgroups from this one on count as one; containers have lower ones. */
#define CMT_LEVEL_DEEP		33U

/* An element of cmt_owner_rmids: the RMID of the overflow owner */
#define CMT_RMID_OVERFLOW	0xffffU

/* Written with cmt_owner_lock, read in any context. */
extern u16 *cmt_owner_table;
extern u16 cmt_owner_rmids[CMT_NR_OWNERS];
extern struct cmt_owner *cmt_owners;	/* by number */
/* The owner of the CPU's tasks that have no other owner; written with cmt_owner_lock */
DECLARE_PER_CPU(u32, cmt_cpu_owner);

/* The RMID of an owner, 0: none. */
static __always_inline u32 cmt_owner_rmid(u32 owner)
{
	u32 rmid = READ_ONCE(cmt_owner_rmids[owner]);

	if (unlikely(rmid == CMT_RMID_OVERFLOW))
		rmid = READ_ONCE(cmt_owner_rmids[CMT_OVERFLOW_OWNER]);
	return rmid;
}

/* The users of an owner.  The owner is released with its last user. */
enum cmt_by {
	CMT_BY_SCOPE,
	CMT_BY_SERVICE,		/* the scope, for an owner of the lower class */
	CMT_BY_ATTACH,		/* CMT_IOC_ATTACH */
	CMT_BY_HOLD,		/* cmt_hold(), any number of times */
};

struct cmt_owner {
	struct hlist_node hash;	/* by kind and id; unhashed: released */
	union {
		struct rb_node queued;	/* in the list @listed */
		struct list_head unused;	/* kind 0: in the list of unused owners */
	};
	struct list_head postponed;	/* in the list of postponed UPDATEs */
	u64 id;			/* process id, cgroup id, CPU */
	u64 cgroup_id;
	u64 pending_since;	/* ns: constant while queued, and unique */
	u64 next_update;	/* ns: no UPDATE of a new name or cgroup before */
	u64 serial;		/* unique: no other owner ever had this serial */
	u32 kind;		/* CMT_OWNER_*; 0 also while the number is not used */
	u32 rmid;		/* the dedicated RMID; 0: none */
	u32 members;		/* processes in cmt_owner_table with this owner */
	u32 holders;		/* number of users CMT_BY_HOLD */
	u32 level;		/* of a cgroup, at most CMT_LEVEL_DEEP */
	u32 listed;		/* one of the lists of queue.c; 0: none */
	u8 why;			/* CMT_WHY_*: constant while pending */
	bool attached;
	bool scoped;
	bool service;		/* scoped, and of the lower class */
	bool children;		/* processes that members fork become members */
	bool pending;		/* in the pending queue */
	bool failed;		/* ALLOC_FAIL was written */
	bool giving;		/* an RMID is taken for the owner and not given yet */
	bool released;		/* released: the owner ends with its last member */
	bool ended;		/* the process has ended: another one may get its id */
	bool grouped;		/* some resctrl group was the owner's sole group */
	char comm[CMT_COMM_LEN];
};

/*
 * Attached or held: served before owners of the scope, and no member of another owner.
 * Such an owner is not of the lower class, whatever its pattern says.
 */
static inline bool cmt_owner_is_named(const struct cmt_owner *owner)
{
	return owner->attached || owner->holders;
}

/* The owner with a number, in any context; NULL for number 0. */
static inline struct cmt_owner *cmt_owner_at(u32 number)
{
	return number && number < CMT_NR_OWNERS ? &cmt_owners[number] : NULL;
}

static inline u32 cmt_owner_number(const struct cmt_owner *owner)
{
	return owner ? owner - cmt_owners : 0;
}

int cmt_owners_init(void);
void cmt_owners_exit(void);

/*
 * The owner lock: the pool, the owners, both arrays, the scope.  No MSR is read
 * or written under it, nothing is printed, and nothing is walked.  Returns the
 * interrupt flags.
 */
unsigned long cmt_owners_lock(void);
void cmt_owners_unlock(unsigned long flags);

/* With the owner lock, from here on. */

/*
 * The time of a lifecycle event.  It is strictly increasing, so the order of times is
 * the order of events, in whichever ring a record is.
 */
u64 cmt_owner_now(void);

struct cmt_owner *cmt_owner_find(u32 kind, u64 id);

/*
 * The attached owner of a process that had this id and has ended, with members that are
 * left; the youngest one.  NULL: there is none.
 */
struct cmt_owner *cmt_owner_find_ended(u64 tgid);

/* Is there an owner of this kind that can be found? */
bool cmt_owners_any(u32 kind);
/* The level of a cgroup that is a new owner; no owner that is a cgroup is deeper. */
void cmt_owner_set_level(struct cmt_owner *owner, u32 level);
u32 cmt_owners_level(void);
/* The number of processes with an owner; racy without the owner lock. */
u32 cmt_owners_joined(void);

/*
 * Make a pending owner without members, with one user @by.  NULL: all numbers are used.
 * @cgroup_id: of a process or a cgroup.  The caller calls cmt_pending_serve() next.
 */
struct cmt_owner *cmt_owner_new(u32 kind, u64 id, u64 cgroup_id,
				const char *comm, enum cmt_by by);

/* The owner of a process, NULL: none. */
struct cmt_owner *cmt_owner_of(u32 tgid);

/*
 * Make the process a member of @owner, or of none.  The owner that the process leaves
 * ends with its last member, if it is released or a process.  Returns whether an RMID
 * was freed.  If so, the caller then calls cmt_rmids_freed().
 */
bool cmt_owner_join(u32 tgid, struct cmt_owner *owner);

/* A process for which no owner number is left counts in the overflow RMID. */
bool cmt_owner_join_overflow(u32 tgid, u64 cgroup_id, const char *comm);

/* Add a user of the owner. */
void cmt_owner_want(struct cmt_owner *owner, enum cmt_by by);

/*
 * Remove a user of the owner; the owner is released with the last one.  Returns as
 * cmt_owner_join().
 */
bool cmt_owner_unwant(struct cmt_owner *owner, enum cmt_by by);

/* The name, the cgroup or the flags of the owner have changed: write an UPDATE. */
void cmt_owner_update(struct cmt_owner *owner);

/*
 * As cmt_owner_update(), for changes that any process can make as often as it wants: at
 * most one UPDATE of an owner in a millisecond.  Returns whether the UPDATE was
 * postponed.  If so, the caller then calls cmt_pending_later().  A later FREE has the
 * last name in any case.
 */
bool cmt_owner_update_limited(struct cmt_owner *owner);

/*
 * Release the owner: it can no longer be found, and loses its RMID.  Its number is used
 * again when the last member has left.  The overflow owner, and a number that is not
 * used, stay unchanged.  Returns as cmt_owner_join().
 */
bool cmt_owner_release(struct cmt_owner *owner);

/* The process has ended: cmt_owner_find() does not find the owner any more. */
void cmt_owner_forget_id(struct cmt_owner *owner);

/*
 * The RMID is used by resctrl or another agent, or by the kernel's own accesses (@flag:
 * CMT_F_OWNER_RESCTRL, _KERNEL).  An owner with this RMID becomes pending.  Returns 1
 * if an owner lost the RMID, 0 if none did, or -EAGAIN: call again.
 */
int cmt_rmid_exclude(u32 rmid, u32 flag);
/* No other agent uses the RMID any more. */
void cmt_rmid_include(u32 rmid);
/*
 * Write an UPDATE of a foreign RMID of resctrl's, if its records say something else: the
 * group belongs to @sole; or @flags, @tgid and @comm are those of a member.  The first
 * function returns whether it did not belong to @sole before.
 */
bool cmt_rmid_describe_sole(u32 rmid, struct cmt_owner *sole);
void cmt_rmid_describe(u32 rmid, u32 flags, u32 tgid, const char *comm);
bool cmt_rmid_is_foreign(u32 rmid);
/* Is the RMID foreign, and was it excluded with this flag? */
bool cmt_rmid_has_flag(u32 rmid, u32 flag);

/* For pending.c: the next owner to serve, with an RMID for the owner; or NULL. */
struct cmt_owner *cmt_owner_take(struct cmt_rmid **r);
/*
 * Give the RMID @r, whose residue was read, to the owner.  False: the owner has ended.
 */
bool cmt_owner_give(struct cmt_owner *owner, struct cmt_rmid *r);
/* The number of an RMID. */
u32 cmt_owner_rmid_number(const struct cmt_rmid *r);
/*
 * Write the ALLOC_FAIL of a pending owner, with the reason, and the time since when it is
 * pending.
 */
void cmt_owner_fill_fail(struct cmt_record *record,
			 const struct cmt_owner *owner);

/* Without the owner lock, from here on. */

/*
 * For pending.c.  Owners that are served before services may need more RMIDs than are
 * free or in limbo.  Then a service loses its RMID and becomes pending.  Returns
 * whether one did.
 */
bool cmt_owners_reclaim(void);
/*
 * The time at which the pending work must run, ns, 0: now; U64_MAX: not needed.  The
 * second function: the time at which the work must drain.
 */
u64 cmt_owners_due(void);
u64 cmt_owners_drain_due(void);
/* CPUs must load their RMID again: the work drains, as soon as the limit permits. */
void cmt_owners_want_drain(void);
/* Returns the time for cmt_owners_drained(). */
u64 cmt_owners_drain_begin(void);
/* Every CPU has loaded its RMID again since @until. */
void cmt_owners_drained(u64 until);
/*
 * Write the postponed UPDATEs that are due at @until, a bounded number in one call.
 * Returns whether there may be more.
 */
bool cmt_owners_update_postponed(u64 until);

/*
 * foreign.c.  Note that another agent uses this RMID; the first function also queues a scan,
 * unless the RMID is known to be foreign.  Any context.
 */
void cmt_foreign_see(u32 rmid);
void cmt_foreign_note(u32 rmid);

/*
 * Queue a scan: a CPU has an RMID that cmt did not load, or a group has lost its owner.  Any
 * context.
 */
void cmt_foreign_queue_scan(void);

/*
 * For foreign.c of scope/, which scans: a queued scan calls @scan, in a hard interrupt.
 */
void cmt_foreign_events_begin(void (*scan)(struct irq_work *event));
void cmt_foreign_events_end(void);
bool cmt_foreign_was_seen(u32 rmid);
void cmt_foreign_forget(u32 rmid);

/* Racy, in any context. */
u32 cmt_owners_active(void);
u32 cmt_owners_pending(void);
/* The number of processes that got no owner number. */
u32 cmt_owners_unnumbered(void);

/* Fill the pool's part of the statistics. */
void cmt_owners_stats(struct cmt_stats *stats);

/*
 * The assignments at one instant, as EXISTING records, oldest first.
 * @records: zeroed, with room for as many as there are RMIDs.  Returns their number, or
 * -EINTR: the caller is being killed.  Process context.
 */
int cmt_owners_snapshot(struct cmt_record *records, u64 *as_of);

/* The RMIDs to read, one bit each: 0, and published RMIDs.  Racy. */
const unsigned long *cmt_table_readable(void);

/* The generation of an RMID while it has an owner, else 0.  Any context. */
u32 cmt_table_generation(u32 rmid);

/* By RMID: as cmt_table_generation(). */
const u32 *cmt_table_generations(void);

/* The time of the ALLOC of an RMID that has an owner, ns; racy. */
u64 cmt_table_since(u32 rmid);

#endif

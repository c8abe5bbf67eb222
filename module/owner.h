/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files offer each other that decide who gets an RMID: from table.c up
 * to scope.c.  Others use what is in cmt.h.
 *
 * cmt_owner_lock is held around all of it, unless it says otherwise.
 */
#ifndef CMT_OWNER_H
#define CMT_OWNER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "pattern.h"
#include "rmid.h"
#include "uapi/cmt.h"

/*
 * An entry of the owner table, and what a CPU has: an RMID; or one of these,
 * for who waits for one; or 0.
 */
#define CMT_WAITS	0x8000U		/* | number of the object */
#define CMT_WAITS_ALONE	0xffffU		/* a process that is no object's */

/*
 * An owner that is more than a process: a cgroup, a CPU, or what was attached.
 * A process that has its RMID by the scope alone is in the table alone.
 */
struct cmt_object {
	struct hlist_node hash;	/* unhashed: not found by its id any more */
	struct list_head list;	/* of those who wait, or of the unused ones */
	u32 kind;		/* CMT_OWNER_* */
	u64 id;			/* process id, cgroup id, CPU */
	u64 cgroup_id;
	u64 waits_since;	/* ns */
	u32 rmid;		/* 0: it waits */
	u32 members;		/* entries of the table that lead here */
	bool attached;		/* CMT_IOC_ATTACH made it, */
	bool scoped;		/* the scope, or both */
	bool children;		/* what its processes fork is in it */
	bool ending;		/* when its last member goes, it is gone */
	char comm[CMT_COMM_LEN];
};

/* table.c: what is read without the lock, and written with it */

extern raw_spinlock_t cmt_owner_lock;
extern struct cmt_pool cmt_pool;

u16 cmt_table_get(u32 tgid);

/* For cmt_entry_set() */
void cmt_table_write(u32 tgid, u16 entry);

void cmt_table_set_rest(u32 rmid);

/* While something is settled, see cmt_settle_begin() */
enum cmt_settler {
	CMT_SETTLE_ALL,		/* who holds cmt_scope_mutex */
	CMT_SETTLE_MOVES,	/* processes moved by probes, */
	CMT_SETTLE_MOVED,	/* those that are being settled */
	CMT_NR_SETTLERS
};

/* @since: ns, U64_MAX: it is over */
void cmt_table_settle(enum cmt_settler who, u64 since);
u64 cmt_table_settles(enum cmt_settler who);

/* owner.c: RMIDs */

/* Nobody has it yet: cmt_owner_begin() is to follow; NULL: none is free. */
struct cmt_rmid *cmt_owner_take(void);

/* The owner is noted: tell everybody.  Returns the RMID's number. */
u32 cmt_owner_begin(struct cmt_rmid *r);

/* Back to the pool; nobody is told any more to run under it. */
void cmt_owner_free(u32 rmid);

struct cmt_rmid *cmt_owner_rmid_of(u32 rmid);
u32 cmt_owner_number(const struct cmt_rmid *r);
void cmt_owner_exclude(u32 rmid);
void cmt_owner_include(u32 rmid);

/* Something of the owner has changed. */
void cmt_owner_update(struct cmt_rmid *r);

/* Give those who wait an RMID in common, if they have none and one is free. */
void cmt_owner_take_rest(void);
void cmt_owner_evict_rest(void);

/* Somebody finds no RMID, as the record says. */
void cmt_owner_fail(const struct cmt_record *record);
void cmt_owner_fill_fail(struct cmt_record *record, u64 ts, u16 flags, u32 tgid,
			 u64 cgroup_id, const char *comm);

/* One more waits; one less does; for it got one. */
void cmt_owner_waits(void);
void cmt_owner_waits_no_more(void);
void cmt_owner_served(void);

u64 cmt_owner_now(void);
u64 cmt_owner_cgroup(struct task_struct *task);

/* When an RMID can be had for those who wait; U64_MAX: not as things are. */
u64 cmt_owner_next_free(void);

/* object.c: objects; they are never allocated, there is a number of them */

int cmt_objects_init(void);
void cmt_objects_exit(void);

/* The @i-th, whether in use or not; NULL: there are no more.  Any context. */
struct cmt_object *cmt_object_at(u32 i);

struct cmt_object *cmt_object_find(u32 kind, u64 id);
bool cmt_objects_any(u32 kind);

/* A new one, which has no RMID and does not wait for one; NULL: all are used. */
struct cmt_object *cmt_object_new(u32 kind, u64 id);

/*
 * Give it an RMID, another one if it has one, or let it stand in line; false:
 * it waits.
 */
bool cmt_object_assign(struct cmt_object *object);
void cmt_object_give(struct cmt_object *object, struct cmt_rmid *r);

/* The RMID of the only member becomes the object's. */
void cmt_object_adopt(struct cmt_object *object, struct cmt_rmid *r);

/* Is attached from now on, or is not. */
void cmt_object_attach(struct cmt_object *object, bool attached);

/* From now on nobody finds it; it is gone with its last member. */
void cmt_object_release(struct cmt_object *object);

/* Not found by its id any more, for that belongs to somebody else now. */
void cmt_object_forget_id(struct cmt_object *object);

/* The first of those who wait, attached ones before others, or NULL. */
struct cmt_object *cmt_object_first_waiting(void);

/* Copy up to @room ALLOC_FAIL records; returns how many there are. */
u32 cmt_objects_waiting(struct cmt_record *records, u32 room);

/* The object that an entry of the table leads to, or NULL.  Any context, racy. */
struct cmt_object *cmt_entry_object(u16 entry);
u16 cmt_object_entry(const struct cmt_object *object);

/*
 * The process has another entry from now on.  What it leaves is freed if nobody
 * else has it: an RMID that was its own, an object without members.
 */
void cmt_entry_set(u32 tgid, u16 entry);

/* place.c */

/*
 * Held around all that looks at all processes, so that only one does and the
 * scope stays what it is meanwhile.  Process context; outside cmt_owner_lock.
 */
extern struct mutex cmt_scope_mutex;

/* While the scope changes: nobody is an owner. */
#define CMT_SCOPE_NONE	0

/* Without cmt_owner_lock, with cmt_scope_mutex. */
void cmt_scope_switch(u32 to);

/* When that was, ns */
u64 cmt_scope_since(void);

/* Where the process belongs.  @walk: by one who looks at all of them. */
enum cmt_place {
	CMT_PLACE_SAME,		/* it is where it was, or is dying */
	CMT_PLACE_CHANGED,
	CMT_PLACE_QUEUED,	/* it found no RMID and waits from now on */
	CMT_PLACE_WAITS,	/* the same, and did so before */
};

enum cmt_place cmt_place(struct task_struct *leader, bool walk);

/* It belongs there, whatever cmt_place() would say. */
enum cmt_place cmt_place_at(struct task_struct *leader, u16 entry);

/* An object that was attached as a process, and has its processes for good? */
bool cmt_holds(const struct cmt_object *object);

/*
 * Place all processes; returns whether one has changed.  @until_waits: the rest
 * are not looked at when one of them finds no RMID.  Without cmt_owner_lock,
 * with cmt_scope_mutex.
 */
bool cmt_place_all(bool until_waits);

/* ALLOC_FAIL of a process that waits alone since @ts, ns */
void cmt_place_fill_fail(struct cmt_record *record, u64 ts,
			 struct task_struct *leader);

/* serve.c: those who wait; without cmt_owner_lock, any context */
void cmt_serve_init(void);
void cmt_serve_stop(void);
void cmt_serve_later(void);
void cmt_serve_warn(const char *kind, u64 id, const char *comm);

/* container.c: with cmt_scope_mutex */

/* @set is container.c's from now on. */
void cmt_containers_set(struct cmt_pattern_set *set);

/* Those that are there. */
void cmt_containers_add(void);
void cmt_containers_exit(void);

/* scope.c */

/*
 * While RMIDs are taken away from owners that live on, threads of theirs may
 * still have them in task_struct::rmid, and CPUs may run under them.  From
 * begin to end nothing that was freed meanwhile is handed out again, and what a
 * thread has of that is not taken for resctrl's.  cmt_settle_end() makes the
 * CPUs and threads let go.  Process context, cmt_scope_mutex held.
 */
void cmt_settle_begin(void);
void cmt_settle_end(void);

/* foreign.c */

extern unsigned long cmt_foreign[];	/* bits of RMIDs seen; evict.c clears */

/* @look: what to do when one was seen, and then every second */
void cmt_foreign_init(work_func_t look);
void cmt_foreign_stop(void);

/* For @look, at its end */
void cmt_foreign_look_again(void);

/* evict.c */
void cmt_evict_init(void);

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Objects, the lines of those who wait, and the entries of the table that lead
 * to them.  A probe can make an object, so they are allocated when the module is
 * loaded.
 *
 * Every change of an entry goes through cmt_entry_set(), which knows when an
 * RMID has nobody any more.  So nothing is freed that is still in the table.
 */
#include <linux/hash.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "cmt.h"
#include "owner.h"

#define NR_OBJECTS	16384U
#define HASH_BITS	12

static struct cmt_object *objects;
static struct hlist_head *buckets;
static LIST_HEAD(unused);
static LIST_HEAD(waiting_attached);
static LIST_HEAD(waiting_scoped);
static u32 nr_hashed[CMT_OWNER_CPU + 1];	/* by kind */

static struct hlist_head *bucket(u32 kind, u64 id)
{
	return &buckets[hash_64(id ^ (u64)kind << 56, HASH_BITS)];
}

struct cmt_object *cmt_object_at(u32 i)
{
	return i < NR_OBJECTS ? &objects[i] : NULL;
}

struct cmt_object *cmt_object_find(u32 kind, u64 id)
{
	struct cmt_object *object;

	lockdep_assert_held(&cmt_owner_lock);
	hlist_for_each_entry(object, bucket(kind, id), hash)
		if (object->kind == kind && object->id == id)
			return object;
	return NULL;
}

bool cmt_objects_any(u32 kind)
{
	return nr_hashed[kind];
}

struct cmt_object *cmt_object_new(u32 kind, u64 id)
{
	struct cmt_object *object;

	lockdep_assert_held(&cmt_owner_lock);
	object = list_first_entry_or_null(&unused, struct cmt_object, list);
	if (!object) {
		pr_warn_ratelimited("more than %u owners: %llu is not followed\n",
				    NR_OBJECTS, id);
		return NULL;
	}
	list_del_init(&object->list);
	object->kind = kind;
	object->id = id;
	object->cgroup_id = kind == CMT_OWNER_CGROUP ? id : 0;
	object->rmid = CMT_RMID_NONE;
	object->attached = false;
	object->scoped = false;
	object->children = false;
	object->ending = false;
	memset(object->comm, 0, sizeof(object->comm));
	hlist_add_head(&object->hash, bucket(kind, id));
	nr_hashed[kind]++;
	return object;
}

void cmt_object_forget_id(struct cmt_object *object)
{
	if (hlist_unhashed(&object->hash))
		return;
	hlist_del_init(&object->hash);
	nr_hashed[object->kind]--;
}

static bool is_waiting(const struct cmt_object *object)
{
	return !list_empty(&object->list);
}

/* The CPU runs under it, whoever has no other owner there. */
static void tell_cpu(const struct cmt_object *object, u16 entry)
{
	if (object->kind == CMT_OWNER_CPU)
		WRITE_ONCE(per_cpu(cmt_cpus, object->id).owner, entry);
}

static u16 flags_of(const struct cmt_object *object)
{
	static const u16 flags[] = {
		[CMT_OWNER_PROCESS] = 0,
		[CMT_OWNER_CGROUP] = CMT_F_OWNER_CGROUP,
		[CMT_OWNER_CPU] = CMT_F_OWNER_CPU,
	};

	return flags[object->kind] | (object->attached ? CMT_F_ATTACHED : 0);
}

static void set_rmid(struct cmt_object *object, struct cmt_rmid *r)
{
	r->object = object;
	r->flags = flags_of(object);
	r->tgid = object->kind == CMT_OWNER_CGROUP ? 0 : object->id;
	r->cgroup_id = object->cgroup_id;
	memcpy(r->comm, object->comm, CMT_COMM_LEN);
}

void cmt_object_give(struct cmt_object *object, struct cmt_rmid *r)
{
	if (is_waiting(object)) {
		list_del_init(&object->list);
		cmt_owner_waits_no_more();
		cmt_owner_served();
	}
	set_rmid(object, r);
	object->rmid = cmt_owner_begin(r);
	tell_cpu(object, object->rmid);
}

static void fill_fail(struct cmt_record *record,
		      const struct cmt_object *object)
{
	cmt_owner_fill_fail(record, object->waits_since,
			    flags_of(object),
			    object->kind == CMT_OWNER_CGROUP ? 0 : object->id,
			    object->cgroup_id, object->comm);
}

static void queue(struct cmt_object *object)
{
	struct cmt_record record;

	object->rmid = CMT_RMID_NONE;
	list_add_tail(&object->list, object->attached ? &waiting_attached :
							&waiting_scoped);
	object->waits_since = cmt_owner_now();
	cmt_owner_waits();
	fill_fail(&record, object);
	cmt_owner_fail(&record);
	tell_cpu(object, cmt_object_entry(object));
}

/* Who was attached goes before those who were not. */
bool cmt_object_assign(struct cmt_object *object)
{
	struct cmt_rmid *r = NULL;

	if (object->attached ? list_empty(&waiting_attached) :
			       !cmt_owner_waiting())
		r = cmt_owner_take();
	if (r)
		cmt_object_give(object, r);
	else
		queue(object);
	return r;
}

void cmt_object_adopt(struct cmt_object *object, struct cmt_rmid *r)
{
	set_rmid(object, r);
	object->rmid = cmt_owner_number(r);
	object->members++;
	cmt_owner_update(r);
}

void cmt_object_attach(struct cmt_object *object, bool attached)
{
	object->attached = attached;
	if (is_waiting(object))
		list_move_tail(&object->list, attached ? &waiting_attached :
							 &waiting_scoped);
	if (!object->rmid)
		return;
	set_rmid(object, cmt_owner_rmid_of(object->rmid));
	cmt_owner_update(cmt_owner_rmid_of(object->rmid));
}

static void end(struct cmt_object *object)
{
	if (object->rmid)
		cmt_owner_free(object->rmid);
	object->rmid = CMT_RMID_NONE;
	list_add_tail(&object->list, &unused);
}

void cmt_object_release(struct cmt_object *object)
{
	lockdep_assert_held(&cmt_owner_lock);
	if (object->ending)
		return;
	object->ending = true;
	cmt_object_forget_id(object);
	if (is_waiting(object)) {
		list_del_init(&object->list);
		cmt_owner_waits_no_more();
	}
	tell_cpu(object, 0);
	if (!object->members)
		end(object);
}

/* A cgroup and a CPU may be empty; an attached process may not. */
static void leave(struct cmt_object *object)
{
	if (--object->members)
		return;
	if (object->ending)
		end(object);
	else if (object->kind == CMT_OWNER_PROCESS)
		cmt_object_release(object);
}

u16 cmt_object_entry(const struct cmt_object *object)
{
	return object->rmid ?: CMT_WAITS | (object - objects);
}

struct cmt_object *cmt_entry_object(u16 entry)
{
	if (entry == CMT_WAITS_ALONE)
		return NULL;
	if (entry & CMT_WAITS)
		return cmt_object_at(entry & ~CMT_WAITS);
	return READ_ONCE(cmt_owner_rmid_of(entry)->object);
}

void cmt_entry_set(u32 tgid, u16 entry)
{
	u16 old = cmt_table_get(tgid);
	struct cmt_object *from = cmt_entry_object(old);
	struct cmt_object *to = cmt_entry_object(entry);

	lockdep_assert_held(&cmt_owner_lock);
	if (old == entry)
		return;
	cmt_table_write(tgid, entry);
	if (to)
		to->members++;
	if (entry == CMT_WAITS_ALONE)
		cmt_owner_waits();
	if (from)
		leave(from);
	else if (old == CMT_WAITS_ALONE)
		cmt_owner_waits_no_more();
	else if (old)
		cmt_owner_free(old);
}

struct cmt_object *cmt_object_first_waiting(void)
{
	struct cmt_object *first;

	lockdep_assert_held(&cmt_owner_lock);
	first = list_first_entry_or_null(&waiting_attached, struct cmt_object,
					 list);
	return first ?: list_first_entry_or_null(&waiting_scoped,
						 struct cmt_object, list);
}

static u32 copy_waiting(const struct list_head *line,
			struct cmt_record *records, u32 n, u32 room)
{
	const struct cmt_object *object;

	list_for_each_entry(object, line, list) {
		if (n < room)
			fill_fail(&records[n], object);
		n++;
	}
	return n;
}

u32 cmt_objects_waiting(struct cmt_record *records, u32 room)
{
	u32 n;

	lockdep_assert_held(&cmt_owner_lock);
	n = copy_waiting(&waiting_attached, records, 0, room);
	return copy_waiting(&waiting_scoped, records, n, room);
}

int cmt_objects_init(void)
{
	u32 i;

	objects = vcalloc(NR_OBJECTS, sizeof(*objects));
	buckets = vcalloc(1 << HASH_BITS, sizeof(*buckets));
	if (!objects || !buckets) {
		cmt_objects_exit();
		return -ENOMEM;
	}
	for (i = 0; i < NR_OBJECTS; i++) {
		objects[i].ending = true;
		list_add_tail(&objects[i].list, &unused);
	}
	return 0;
}

void cmt_objects_exit(void)
{
	vfree(buckets);
	vfree(objects);
}

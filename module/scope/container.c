// SPDX-License-Identifier: GPL-2.0
/*
 * Container scope: cgroups that are owners by their names.  The probe of mkdir adds new
 * cgroups.  A walk adds the existing cgroups, and begins when the probe already runs.
 */
#include <linux/cgroup.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat.h"
#include "owner/owner.h"
#include "scope.h"

/*
 * The deepest path that patterns are compared with.  The probe of mkdir compares with
 * interrupts off, and whoever may make cgroups chooses depth and names.
 */
#define MAX_DEPTH	32
static_assert(MAX_DEPTH < CMT_LEVEL_DEEP);

#define WALK_CHUNK	16	/* cgroups that are looked at without a pause */

static struct cmt_pattern_set __rcu *patterns;	/* written with cmt_scope_mutex */

static enum cmt_class cgroup_class(const struct cmt_pattern_set *set,
				   struct cgroup *cgroup)
{
	const char *names[MAX_DEPTH];
	int i;

	if (!set || !cgroup->level || cgroup->level > MAX_DEPTH)
		return CMT_CLASS_NONE;
	for (i = 0; i < cgroup->level; i++)
		names[i] = cmt_cgroup_name(cgroup->ancestors[i + 1]);
	return cmt_pattern_class(set, names, cgroup->level);
}

/* Returns whether the container is a new owner. */
static bool add_container(struct cgroup *cgroup, enum cmt_class class)
{
	enum cmt_by by = class == CMT_CLASS_SERVICE ? CMT_BY_SERVICE :
						      CMT_BY_SCOPE;
	struct cmt_owner *owner;
	u64 id = cgroup_id(cgroup);

	/* cgroup_destroy_locked() clears the flag before the rmdir probe is called */
	if (!(READ_ONCE(cgroup->self.flags) & CSS_ONLINE))
		return false;
	owner = cmt_owner_find(CMT_OWNER_CGROUP, id);
	if (owner) {
		cmt_owner_want(owner, by);
		return false;
	}
	owner = cmt_owner_new(CMT_OWNER_CGROUP, id, id, cmt_cgroup_name(cgroup), by);
	if (owner)
		cmt_owner_set_level(owner, cgroup->level);
	return owner;
}

/*
 * Both the probe and the walk over all cgroups add a cgroup; the second call has no
 * effect.  If the patterns have changed since the caller read them, a walk follows and
 * adds the cgroup.
 */
static void container_add(struct cgroup *cgroup, enum cmt_class class,
			  const struct cmt_pattern_set *set)
{
	unsigned long flags;
	bool added = false;

	preempt_disable();	/* as in cmt_scope_exit() */
	flags = cmt_owners_lock();
	if (cmt_scope() == CMT_SCOPE_CONTAINER && set == rcu_access_pointer(patterns))
		added = add_container(cgroup, class);
	cmt_owners_unlock(flags);
	if (added) {
		cmt_pending_serve(1);
		cmt_pending_later();	/* an RMID of a service may be reclaimed */
	}
	preempt_enable();
}

void cmt_probe_mkdir(void *data, struct cgroup *cgroup, const char *path)
{
	const struct cmt_pattern_set *set;
	enum cmt_class class;

	if (cgroup->root != &cgrp_dfl_root || cmt_scope() != CMT_SCOPE_CONTAINER)
		return;
	rcu_read_lock();
	set = rcu_dereference(patterns);
	class = cgroup_class(set, cgroup);
	if (class != CMT_CLASS_NONE)
		container_add(cgroup, class, set);
	rcu_read_unlock();
}

void cmt_probe_rmdir(void *data, struct cgroup *cgroup, const char *path)
{
	struct cmt_owner *owner;
	unsigned long flags;
	bool freed = false;

	if (cgroup->root != &cgrp_dfl_root)
		return;
	preempt_disable();	/* as in cmt_scope_exit() */
	flags = cmt_owners_lock();
	owner = cmt_owner_find(CMT_OWNER_CGROUP, cgroup_id(cgroup));
	if (owner)
		freed = cmt_owner_release(owner);
	cmt_owners_unlock(flags);
	if (freed)
		cmt_rmids_freed();
	if (owner)
		cmt_probes_owner_ended();
	preempt_enable();
}

/*
 * Users choose how many cgroups there are, so other tasks get the CPU in between.  A
 * reference keeps the place to go on from; a cgroup that is being freed gives none.
 */
static void add_existing(enum cmt_class class)
{
	struct cgroup_subsys_state *css;
	const struct cmt_pattern_set *set;
	u32 n = 0;

	rcu_read_lock();
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		set = rcu_dereference(patterns);
		if (cgroup_class(set, css->cgroup) == class)
			container_add(css->cgroup, class, set);
		if (++n < WALK_CHUNK || !css_tryget(css))
			continue;
		n = 0;
		rcu_read_unlock();
		cond_resched();
		rcu_read_lock();
		css_put(css);
	}
	rcu_read_unlock();
}

/*
 * Containers first: otherwise a service might get an RMID that a container then
 * reclaims.
 */
void cmt_containers_add(void)
{
	add_existing(CMT_CLASS_CONTAINER);
	add_existing(CMT_CLASS_SERVICE);
}

/* Called when no container is an owner. */
void cmt_containers_set(struct cmt_pattern_set *set)
{
	set = rcu_replace_pointer(patterns, set,
				  lockdep_is_held(&cmt_scope_mutex));
	synchronize_rcu();
	kvfree(set);
}

u32 cmt_containers_patterns(char *text)
{
	const struct cmt_pattern_set *set;
	u32 bytes;

	rcu_read_lock();
	set = rcu_dereference(patterns);
	bytes = set->bytes;
	memcpy(text, set->text, bytes);
	rcu_read_unlock();
	return bytes;
}

void cmt_containers_exit(void)
{
	kvfree(rcu_dereference_protected(patterns, 1));
}

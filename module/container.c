// SPDX-License-Identifier: GPL-2.0
/*
 * Container scope: cgroups that are owners by their names.  They are found where
 * they are made, by the probe, and those that are there already by a walk, which
 * begins when the probe finds them, too.
 */
#include <linux/cgroup.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cmt.h"
#include "compat.h"
#include "owner.h"
#include "pattern.h"

/* Components of a path that patterns are tried on. */
#define MAX_DEPTH	64

static struct cmt_pattern_set __rcu *patterns;	/* written with cmt_scope_mutex */

/* Is it the first container on its path?  It says nothing of those above it. */
static bool is_container(const struct cmt_pattern_set *set,
			 struct cgroup *cgroup)
{
	const char *names[MAX_DEPTH];
	int i;

	if (!set || !cgroup->level || cgroup->level > MAX_DEPTH)
		return false;
	for (i = 0; i < cgroup->level; i++)
		names[i] = cmt_cgroup_name(cgroup->ancestors[i + 1]);
	return cmt_pattern_first(set, names, cgroup->level) == cgroup->level;
}

/* false: it has to wait for an RMID. */
static bool add_container(struct cgroup *cgroup)
{
	u64 id = cgroup_id(cgroup);
	struct cmt_object *object = cmt_object_find(CMT_OWNER_CGROUP, id);

	/* cgroup_destroy_locked() clears it before the rmdir probe is called */
	if (object || !(READ_ONCE(cgroup->self.flags) & CSS_ONLINE))
		return true;
	object = cmt_object_new(CMT_OWNER_CGROUP, id);
	if (!object)
		return true;
	object->scoped = true;
	strscpy_pad(object->comm, cmt_cgroup_name(cgroup), CMT_COMM_LEN);
	return cmt_object_assign(object);
}

/*
 * Who sees a cgroup first, this or the walk over all of them, adds it.  When the
 * patterns have been changed in between, the walk is still to come.
 */
static void container_add(struct cgroup *cgroup,
			  const struct cmt_pattern_set *set)
{
	unsigned long flags;
	bool given = true;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	if (cmt_scope() == CMT_SCOPE_CONTAINER && set == rcu_access_pointer(patterns))
		given = add_container(cgroup);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);
	if (!given)
		cmt_serve_warn("cgroup", cgroup_id(cgroup),
			       cmt_cgroup_name(cgroup));
}

void cmt_container_mkdir(struct cgroup *cgroup)
{
	const struct cmt_pattern_set *set;

	if (cmt_scope() != CMT_SCOPE_CONTAINER)
		return;
	rcu_read_lock();
	set = rcu_dereference(patterns);
	if (is_container(set, cgroup))
		container_add(cgroup, set);
	rcu_read_unlock();
}

void cmt_container_rmdir(struct cgroup *cgroup)
{
	struct cmt_object *object;
	unsigned long flags;

	raw_spin_lock_irqsave(&cmt_owner_lock, flags);
	object = cmt_object_find(CMT_OWNER_CGROUP, cgroup_id(cgroup));
	if (object)
		cmt_object_release(object);
	raw_spin_unlock_irqrestore(&cmt_owner_lock, flags);

	if (object && cmt_owner_waiting())
		cmt_serve_later();
}

void cmt_containers_add(void)
{
	struct cgroup_subsys_state *css;
	const struct cmt_pattern_set *set;

	rcu_read_lock();
	set = rcu_dereference(patterns);
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self)
		if (is_container(set, css->cgroup))
			container_add(css->cgroup, set);
	rcu_read_unlock();
}

/* No container is an owner yet, or any more. */
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

	mutex_lock(&cmt_scope_mutex);
	set = rcu_dereference_protected(patterns,
					lockdep_is_held(&cmt_scope_mutex));
	bytes = set->bytes;
	memcpy(text, set->text, bytes);
	mutex_unlock(&cmt_scope_mutex);
	return bytes;
}

void cmt_containers_exit(void)
{
	kvfree(rcu_dereference_protected(patterns, 1));
}

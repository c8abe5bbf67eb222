// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The groups and L3 domains of resctrl.
 *
 * A group is its directory: a path and an inode number.  A new group of the same name
 * has another inode, and is another owner.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

/* A walk over the tree, and its first error */
struct walk {
	int root;
	cmt_resctrl_group_fn *fn;
	void *ctx;
	const char *control;	/* of the groups in the directory that is listed */
	int err;
};

/* A scan for groups, a walk of which each group is met */
struct scan {
	struct resctrl *r;
	/* index of the last control group, which is not in the order yet, or RESCTRL_NONE */
	uint32_t parent;
	uint32_t nr_order;	/* in r->next_order */
};

static bool same_directory(const struct resctrl_group *group, const struct stat *st)
{
	return group->ino == st->st_ino && group->dev == st->st_dev;
}

bool cmt_resctrl_group_is_gone(const struct resctrl *r, const struct resctrl_group *group)
{
	struct stat st;

	return fstatat(r->root, group->path, &st, AT_SYMLINK_NOFOLLOW) ||
	       !same_directory(group, &st);
}

void cmt_resctrl_owner_record(const struct resctrl *r, uint32_t index,
			  struct cmt_record *record)
{
	const struct resctrl_group *group = &r->groups[index];

	*record = (struct cmt_record){
		.flags = CMT_F_OWNER_RESCTRL, .rmid = index,
		.generation = group->generation, .ts = group->since,
		.domain = r->domains[0],
		.owner.cgroup_id = CMT_RESCTRL_GROUP | group->ino,
	};
	memcpy(record->owner.comm, group->name + 1,
	       strnlen(group->name + 1, sizeof(record->owner.comm)));
}

/* The default group is no owner: tasks in no other group are unattributed. */
static void put_owner(struct resctrl *r, uint32_t index, uint16_t type)
{
	bool alloc = type == CMT_REC_ALLOC;
	struct cmt_record record;

	if (!index)
		return;
	cmt_resctrl_owner_record(r, index, &record);
	record.type = type;
	cmt_resctrl_put(r, &record);
	if (alloc)
		r->groups[index].since = record.ts;
	r->stats.allocs += alloc;
	r->stats.frees += !alloc;
	r->stats.rmids_active = (uint32_t)(r->stats.allocs - r->stats.frees);
}

static void cells_free(struct resctrl *r, struct resctrl_group *group)
{
	for (uint32_t d = 0; group->cells && d < r->nr_domains; d++)
		cmt_resctrl_cell_close(r, &group->cells[d]);
	free(group->cells);
	group->cells = NULL;
}

static int cells_new(struct resctrl *r, struct resctrl_group *group)
{
	group->cells = calloc(r->nr_domains + 1, sizeof(*group->cells));
	if (!group->cells)
		return -ENOMEM;
	for (uint32_t d = 0; d < r->nr_domains; d++)
		for (uint32_t v = 0; v < NR_RESCTRL_VALUES; v++)
			group->cells[d].files[v].fd = -1;
	return 0;
}

static void group_clear(struct resctrl *r, struct resctrl_group *group)
{
	cells_free(r, group);
	free(group->path);
	free(group->name);
	group->path = NULL;
	group->name = NULL;
	group->used = false;
}

void cmt_resctrl_group_drop(struct resctrl *r, uint32_t index)
{
	struct resctrl_group *group = &r->groups[index];

	if (group->parent != RESCTRL_NONE)
		r->groups[group->parent].rebase = true;
	put_owner(r, index, CMT_REC_FREE);
	group_clear(r, group);
}

void cmt_resctrl_groups_free(struct resctrl *r)
{
	for (uint32_t i = 0; r->groups && i < r->info.nr_rmids; i++)
		group_clear(r, &r->groups[i]);
	free(r->groups);
	free(r->order);
	free(r->next_order);
}

char *cmt_resctrl_name(const char *control, const char *path)
{
	bool top = !control || !strcmp(control, ".");
	char *name;
	int n;

	if (top)
		n = asprintf(&name, "/%s", strcmp(path, ".") ? path : "");
	else
		n = asprintf(&name, "/%s%s", control, strrchr(path, '/'));
	return n < 0 ? NULL : name;
}

static int set_names(struct resctrl_group *group, const struct resctrl_group *parent,
		     const char *path)
{
	group->path = strdup(path);
	group->name = cmt_resctrl_name(parent ? parent->path : NULL, path);
	return group->path && group->name ? 0 : -ENOMEM;
}

/*
 * The index that is free for longest, so that a reader can distinguish owners by RMID
 * as long as possible
 */
static uint32_t free_index(struct resctrl *r)
{
	for (uint32_t i = 0; i < r->info.nr_rmids - 1; i++) {
		uint32_t index = r->next;

		r->next = r->next + 1 < r->info.nr_rmids ? r->next + 1 : 1;
		if (!r->groups[index].used)
			return index;
	}
	return RESCTRL_NONE;
}

static int group_new(struct resctrl *r, uint32_t index, uint32_t parent,
		     const char *path, const struct stat *st)
{
	struct resctrl_group *group = &r->groups[index];
	int err;

	*group = (struct resctrl_group){
		.used = true, .parent = parent, .generation = group->generation + 1,
		.dev = st->st_dev, .ino = st->st_ino,
	};
	err = set_names(group, parent == RESCTRL_NONE ? NULL : &r->groups[parent], path);
	if (!err)
		err = cells_new(r, group);
	if (err) {
		group_clear(r, group);
		return err;
	}
	put_owner(r, index, CMT_REC_ALLOC);
	return 0;
}

static uint32_t find_group(const struct resctrl *r, const char *path,
			   const struct stat *st)
{
	for (uint32_t i = 0; i < r->info.nr_rmids; i++) {
		const struct resctrl_group *group = &r->groups[i];

		if (group->used && same_directory(group, st) &&
		    !strcmp(group->path, path))
			return i;
	}
	return RESCTRL_NONE;
}

/*
 * A group is there, known or new.  Returns 0 with its index, or with RESCTRL_NONE: there is
 * no room for it; or -ENOMEM.
 */
static int meet_group(struct resctrl *r, uint32_t parent, const char *path,
		      const struct stat *st, uint32_t *index)
{
	int err;

	*index = find_group(r, path, st);
	if (*index == RESCTRL_NONE) {
		*index = strcmp(path, ".") ? free_index(r) : 0;
		if (*index == RESCTRL_NONE) {
			r->stats.alloc_fails++;
			return 0;
		}
		err = group_new(r, *index, parent, path, st);
		if (err)
			return err;
	}
	r->groups[*index].seen = true;
	return 0;
}

static void put_in_order(struct scan *scan, uint32_t index)
{
	if (index != RESCTRL_NONE)
		scan->r->next_order[scan->nr_order++] = index;
}

/* Monitoring groups come before their control group: see struct resctrl. */
static int scan_group(void *ctx, const char *control, const char *path,
		      const struct stat *st)
{
	struct scan *scan = ctx;
	uint32_t index;
	int err;

	if (!control)
		put_in_order(scan, scan->parent);
	err = meet_group(scan->r, control ? scan->parent : RESCTRL_NONE, path, st,
			 &index);
	if (control)
		put_in_order(scan, err ? RESCTRL_NONE : index);
	else
		scan->parent = err ? RESCTRL_NONE : index;
	return err ? err : !control && index == RESCTRL_NONE;
}

typedef void entry_fn(struct walk *walk, const char *path, const char *name);

/* Call @fn for each entry of the directory @path.  Returns 0 or -errno. */
static int list(struct walk *walk, const char *path, entry_fn *fn)
{
	int fd = openat(walk->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
			O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int err = dir ? 0 : -errno;

	if (!dir && fd >= 0)
		close(fd);
	if (!dir)
		return err;
	errno = 0;
	while (!walk->err && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			fn(walk, path, entry->d_name);
		errno = 0;
	}
	err = -errno;
	closedir(dir);
	return err;
}

/* "@path/@name", without a "./" before it; false: it is too long. */
static bool join(char joined[PATH_MAX], const char *path, const char *name)
{
	bool top = !strcmp(path, ".");

	return snprintf(joined, PATH_MAX, "%s%s%s", top ? "" : path, top ? "" : "/",
			name) < PATH_MAX;
}

/* A directory with mon_data; the kernel has other directories beside groups. */
static bool is_group(int root, const char *path, struct stat *st)
{
	char data[PATH_MAX];
	struct stat below;

	return !fstatat(root, path, st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st->st_mode) &&
	       join(data, path, "mon_data") &&
	       !fstatat(root, data, &below, AT_SYMLINK_NOFOLLOW) &&
	       S_ISDIR(below.st_mode);
}

static void walk_monitoring(struct walk *walk, const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	if (join(path, directory, name) && is_group(walk->root, path, &st))
		walk->err = walk->fn(walk->ctx, walk->control, path, &st);
}

/* Groups that cannot be listed have not ended, unless their control group has. */
static void walk_below(struct walk *walk, const char *groups)
{
	int err = list(walk, groups, walk_monitoring);

	if (!walk->err && err != -ENOENT && err != -ENOTDIR)
		walk->err = err;
}

static void walk_control(struct walk *walk, const char *path)
{
	char groups[PATH_MAX];
	struct stat st;
	int ret;

	if (!is_group(walk->root, path, &st))
		return;
	ret = walk->fn(walk->ctx, NULL, path, &st);
	walk->err = ret < 0 ? ret : 0;
	walk->control = path;
	if (!ret && join(groups, path, "mon_groups"))
		walk_below(walk, groups);
}

static void walk_entry(struct walk *walk, const char *directory, const char *name)
{
	(void)directory;
	if (strcmp(name, "info") && strcmp(name, "mon_groups") && strcmp(name, "mon_data"))
		walk_control(walk, name);
}

int cmt_resctrl_walk(int root, cmt_resctrl_group_fn *fn, void *ctx)
{
	struct walk walk = { .root = root, .fn = fn, .ctx = ctx };
	int err = list(&walk, ".", walk_entry);

	if (!err && !walk.err)
		walk_control(&walk, ".");
	return err ? err : walk.err;
}

/* "mon_L3_00"; the domains of a cluster are in "mon_sub_L3_00" below, and in the sum. */
static void meet_domain(struct walk *walk, const char *directory, const char *name)
{
	static const char prefix[] = "mon_L3_";
	struct resctrl *r = walk->ctx;
	char plain[32];
	uint32_t domain;

	(void)directory;
	if (strncmp(name, prefix, sizeof(prefix) - 1) ||
	    sscanf(name + sizeof(prefix) - 1, "%9u", &domain) != 1 ||
	    r->nr_domains == CMT_DOMAINS_MAX)
		return;
	/* the name that the files are opened by */
	snprintf(plain, sizeof(plain), "%s%02u", prefix, domain);
	if (!strcmp(plain, name))
		r->domains[r->nr_domains++] = domain;
}

static int cmp_domain(const void *pa, const void *pb)
{
	uint32_t a, b;

	memcpy(&a, pa, sizeof(a));
	memcpy(&b, pb, sizeof(b));
	return a < b ? -1 : a > b;
}

/* The CPUs of a domain went offline, or came online: earlier readings are no base. */
static int renew_cells(struct resctrl *r, const uint32_t *domains, uint32_t nr)
{
	uint32_t now[CMT_DOMAINS_MAX], nr_now = r->nr_domains;
	int err = 0;

	memcpy(now, r->domains, sizeof(now));
	memcpy(r->domains, domains, sizeof(now));
	r->nr_domains = nr;
	for (uint32_t i = 0; i < r->info.nr_rmids; i++)
		cells_free(r, &r->groups[i]);
	memcpy(r->domains, now, sizeof(now));
	r->nr_domains = nr_now;
	for (uint32_t i = 0; !err && i < r->info.nr_rmids; i++)
		if (r->groups[i].used)
			err = cells_new(r, &r->groups[i]);
	return err;
}

int cmt_resctrl_scan_domains(struct resctrl *r)
{
	uint32_t before[CMT_DOMAINS_MAX], nr = r->nr_domains;
	struct walk walk = { .root = r->root, .ctx = r };
	int err;

	memcpy(before, r->domains, sizeof(before));
	r->nr_domains = 0;
	err = list(&walk, "mon_data", meet_domain);
	qsort(r->domains, r->nr_domains, sizeof(r->domains[0]), cmp_domain);
	if (err || (nr == r->nr_domains && !memcmp(before, r->domains,
						   nr * sizeof(before[0])))) {
		memcpy(r->domains, before, sizeof(before));
		r->nr_domains = nr;
		return err == -ENOENT ? -ENODEV : err;
	}
	return renew_cells(r, before, nr);
}

static void drop_unseen(struct resctrl *r)
{
	for (uint32_t i = 1; i < r->info.nr_rmids; i++)
		if (r->groups[i].used && !r->groups[i].seen)
			cmt_resctrl_group_drop(r, i);
}

static void set_order(struct resctrl *r, uint32_t nr)
{
	uint32_t *order = r->order;

	r->order = r->next_order;
	r->next_order = order;
	r->nr_order = nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct resctrl_group *group = &r->groups[r->order[i]];

		if (!group->ordered && group->parent != RESCTRL_NONE)
			r->groups[group->parent].rebase = true;
		group->ordered = true;
	}
}

/* After an error no group is dropped, and the groups are read as before. */
int cmt_resctrl_scan(struct resctrl *r)
{
	struct scan scan = { .r = r, .parent = RESCTRL_NONE };
	int err = cmt_resctrl_scan_domains(r);

	if (err)
		return err;
	for (uint32_t i = 0; i < r->info.nr_rmids; i++)
		r->groups[i].seen = false;
	err = cmt_resctrl_walk(r->root, scan_group, &scan);
	if (err)
		return err;
	put_in_order(&scan, scan.parent);
	set_order(r, scan.nr_order);
	drop_unseen(r);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * resctrl's groups as a device: what answers in place of the module.
 *
 *	scan (cmt_resctrl_scan.c) -> groups -> readings (cmt_resctrl_read.c) -> ring (resctrl_ring.c)
 *
 * resctrl.c opens it and answers the calls of a device.  One lock protects all of it.
 */
#ifndef LIBCMT_RESCTRL_H
#define LIBCMT_RESCTRL_H

#include <cmt/resctrl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RESCTRL_DOMAINS	64	/* as many as slots know */
#define RESCTRL_NONE	UINT32_MAX

enum resctrl_value {
	RESCTRL_OCCUPANCY,
	RESCTRL_TOTAL,
	RESCTRL_LOCAL,
	NR_RESCTRL_VALUES,
};

/* The flags of a value's record, and the name of its file. */
extern const uint32_t cmt_resctrl_flags[NR_RESCTRL_VALUES];
extern const char *const cmt_resctrl_files[NR_RESCTRL_VALUES];

/* What one file says. */
struct resctrl_file {
	int fd;			/* -1: not open */
	bool known;		/* value is */
	uint64_t value;		/* at the last reading */
};

/* A running counter, of a group without its monitoring groups. */
struct resctrl_counter {
	bool based;		/* last is of a reading, and the next one continues it */
	uint64_t last;
	uint64_t sum;		/* never decreases */
};

/* A group in one L3 domain. */
struct resctrl_cell {
	struct resctrl_file files[NR_RESCTRL_VALUES];
	struct resctrl_counter counters[NR_RESCTRL_VALUES];	/* not of occupancy */
};

/* The index of a group is its RMID; that of the default group is 0. */
struct resctrl_group {
	bool used;
	bool seen;		/* in this scan */
	bool rebase;		/* another set of groups is below it */
	uint32_t generation;	/* of the last group of this index */
	uint32_t parent;	/* the control group of a monitoring group */
	dev_t dev;		/* of the directory; ino */
	ino_t ino;
	uint64_t since;		/* of its ALLOC */
	char *path;		/* from the root: "web/mon_groups/a"; "." of the default */
	char *name;		/* "/web/a" */
	struct resctrl_cell *cells;	/* nr_domains of them */
};

struct resctrl {
	pthread_mutex_t lock;
	struct cmt_info info;
	int root;		/* the directory */
	int timer;
	uint64_t scan_ns;
	struct resctrl_group *groups;	/* info.nr_rmids of them */
	uint32_t *order;	/* the groups that are there: a control group comes
				 * after its monitoring groups
				 */
	uint32_t nr_order;
	uint32_t next;		/* where the search for a free index begins */
	uint32_t domains[RESCTRL_DOMAINS];
	uint32_t nr_domains;
	uint32_t files, files_max;	/* that are open, and may be */
	/* time */
	bool reading;		/* a reader has the ring */
	uint64_t due_ns, scan_due_ns;
	uint64_t ts;		/* of the last record */
	bool gone;		/* resctrl was unmounted */
	struct cmt_stats stats;
	/* the ring */
	struct cmt_ring_header *image;
};

/* resctrl.c: what the calls of a device ask for. */
void cmt_resctrl_close(struct resctrl *r);
int cmt_resctrl_ioctl(struct resctrl *r, unsigned long command, void *arg);
/* The ring for a reader; readings begin.  It stays the device's. */
const void *cmt_resctrl_begin(struct resctrl *r);
void cmt_resctrl_end(struct resctrl *r);
/* Read all groups if it is time to.  Returns 0, -ENODEV or -ENOMEM. */
int cmt_resctrl_pump(struct resctrl *r);

/* cmt_resctrl_scan.c */

/*
 * Which domains there are, and which groups.  Return 0, -ENODEV: resctrl was unmounted,
 * -ENOMEM or -errno.
 */
int cmt_resctrl_scan_domains(struct resctrl *r);
int cmt_resctrl_scan(struct resctrl *r);
void cmt_resctrl_groups_free(struct resctrl *r);
/* The group has another directory, or none. */
bool cmt_resctrl_group_is_gone(const struct resctrl *r, const struct resctrl_group *group);
void cmt_resctrl_group_drop(struct resctrl *r, uint32_t index);
/* The record of an owner, whose ts and type are the caller's. */
void cmt_resctrl_owner_record(const struct resctrl *r, uint32_t index,
			  struct cmt_record *record);

/* cmt_resctrl_read.c */

/* Read the values of all groups, and write their records.  True: a group is gone. */
bool cmt_resctrl_read(struct resctrl *r);
void cmt_resctrl_cell_close(struct resctrl *r, struct resctrl_cell *cell);
/*
 * The text of a file: a number, or why there is none.  Returns 0, or of CMT_F_ERROR and
 * CMT_F_UNAVAILABLE that which holds.
 */
uint32_t cmt_resctrl_parse(const char *text, size_t n, uint64_t *value);

/* resctrl_ring.c */

/* Returns 0 or -ENOMEM. */
int cmt_resctrl_ring_new(struct resctrl *r);
/* A time for a record: now, and later than that of every record before. */
uint64_t cmt_resctrl_stamp(struct resctrl *r);
/* @record gets its time. */
void cmt_resctrl_put(struct resctrl *r, struct cmt_record *record);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * resctrl's groups as a device, in place of the module.
 *
 *	scan (scan.c) -> groups -> readings (read.c)
 *				  -> ring (stream.c)
 *
 * resctrl.c opens the device and answers its calls.  One lock protects all state.
 */
#ifndef LIBCMT_RESCTRL_STATE_H
#define LIBCMT_RESCTRL_STATE_H

#include <cmt/resctrl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "device/device.h"

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

/* The last reading of one file. */
struct resctrl_file {
	int fd;			/* -1: not open */
	bool known;		/* value is valid */
	uint64_t value;		/* at the last reading */
};

/* A running counter of a group, without the group's monitoring groups. */
struct resctrl_counter {
	/* last is a reading, and the next reading can continue it */
	bool based;
	uint64_t last;
	uint64_t sum;		/* never decreases */
	/* of a control group */
	uint64_t file;		/* with the monitoring groups, at the last reading, or 0 */
	uint64_t under;		/* the monitoring groups then */
	/* the group's own counter is at least this, unless it begins anew */
	uint64_t least;
	uint32_t nr_lower;	/* readings in a row that are less, and not nothing */
};

/* A group in one L3 domain. */
struct resctrl_cell {
	struct resctrl_file files[NR_RESCTRL_VALUES];
	/* unused for occupancy */
	struct resctrl_counter counters[NR_RESCTRL_VALUES];
	uint32_t why;		/* CMT_F_*: why files have no value at the last reading */
	uint64_t ts;		/* of the last reading */
};

/* The index of a group is its RMID.  The default group has index 0. */
struct resctrl_group {
	bool used;
	bool seen;		/* found in this scan */
	bool ordered;		/* in the order, so that it is read */
	bool rebase;		/* the set of monitoring groups below has changed */
	uint32_t generation;	/* generation of the last group of this index */
	/* index of the control group of a monitoring group */
	uint32_t parent;
	dev_t dev;		/* identity of the directory: dev and ino */
	ino_t ino;
	uint64_t since;		/* time of the group's ALLOC */
	/* relative to the root: "web/mon_groups/a"; the default group: "." */
	char *path;
	char *name;		/* "/web/a" */
	struct resctrl_cell *cells;	/* nr_domains elements */
};

struct resctrl {
	struct cmt_device device;	/* first: see resctrl_of() */
	pthread_mutex_t lock;
	struct cmt_info info;
	int root;		/* the mount directory */
	int timer;
	uint64_t scan_ns;
	struct resctrl_group *groups;	/* info.nr_rmids elements */
	/* indices of all groups; a control group follows its monitoring groups */
	uint32_t *order;
	uint32_t nr_order;
	uint32_t *next_order;	/* of the scan, until it is complete */
	uint32_t next;		/* begin of the search for a free index */
	uint32_t domains[CMT_DOMAINS_MAX];
	uint32_t nr_domains;
	uint32_t files, files_max;	/* open files, and their limit */
	/* times */
	bool reading;		/* a reader has the ring */
	uint64_t due_ns, scan_due_ns;
	uint64_t ts;		/* time of the last record */
	bool gone;		/* resctrl was unmounted */
	struct cmt_stats stats;
	/* the ring */
	struct cmt_ring_header *image;
};

/* resctrl.c */

/*
 * Read the first bytes of a file below @dir, as text.  Never waits for a FIFO.  Returns 0
 * or -errno.
 */
int cmt_resctrl_text(int dir, const char *path, char *text, size_t size);

/* scan.c */

/*
 * A group of resctrl: its path relative to the root, and that of the control group of a
 * monitoring group, or NULL.  The default group is ".".  Returns 0; 1: skip the monitoring
 * groups of a control group; or -errno, which ends the walk.
 */
typedef int cmt_resctrl_group_fn(void *ctx, const char *control, const char *path,
				 const struct stat *st);
/*
 * Walk the tree at @root, the default group last.  Each control group comes before its
 * monitoring groups.  Returns 0 or -errno.
 */
int cmt_resctrl_walk(int root, cmt_resctrl_group_fn *fn, void *ctx);
/* The name of a group for people: see <cmt/resctrl.h>.  NULL: no memory. */
char *cmt_resctrl_name(const char *control, const char *path);
/*
 * Scan the domains, and the groups.  Return 0, -ENODEV: resctrl was unmounted,
 * -ENOMEM or -errno.
 */
int cmt_resctrl_scan_domains(struct resctrl *r);
int cmt_resctrl_scan(struct resctrl *r);
void cmt_resctrl_groups_free(struct resctrl *r);
/* Is the group's directory gone, or replaced by another one? */
bool cmt_resctrl_group_is_gone(const struct resctrl *r, const struct resctrl_group *group);
void cmt_resctrl_group_drop(struct resctrl *r, uint32_t index);
/* Make the lifecycle record of a group.  The caller sets ts and type. */
void cmt_resctrl_owner_record(const struct resctrl *r, uint32_t index,
			  struct cmt_record *record);

/* read.c */

/*
 * Read the values of all groups, and write their records.  Scans again where groups went or
 * moved meanwhile.  Returns 0 or an error of cmt_resctrl_scan().
 */
int cmt_resctrl_read(struct resctrl *r);
void cmt_resctrl_cell_close(struct resctrl *r, struct resctrl_cell *cell);
/*
 * Parse the text of a file: a number, or the reason for none.  Returns 0,
 * CMT_F_ERROR or CMT_F_UNAVAILABLE.
 */
uint32_t cmt_resctrl_parse(const char *text, size_t n, uint64_t *value);

/* stream.c */

/* Returns 0 or -ENOMEM. */
int cmt_resctrl_ring_new(struct resctrl *r);
/* The time for the next record: now, and later than all earlier records. */
uint64_t cmt_resctrl_stamp(struct resctrl *r);
/* Set the record's time, and write it to the ring. */
void cmt_resctrl_put(struct resctrl *r, struct cmt_record *record);
/* Write a record that has a time, from cmt_resctrl_stamp() since the last record. */
void cmt_resctrl_put_at(struct resctrl *r, const struct cmt_record *record);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's resctrl: its groups, and the values in its files. */
#ifndef CMT_LAB_RDTGROUP_H
#define CMT_LAB_RDTGROUP_H

#include "bench.h"

#define RESCTRL		"/sys/fs/resctrl"
#define RESCTRL_LOOKS	300	/* readings of wrong_reads() */

void resctrl_mount(void);
void resctrl_umount(void);
/* Linux 6.9 and newer; before, on the caller's CPU, if it is in the L3. */
bool resctrl_reads_on_first_cpu(void);

/* Groups are paths below the mount point: "c", "mon_groups/g". */
void resctrl_make(const char *group);
bool resctrl_try_make(const char *group);	/* False: no RMID is free. */
void resctrl_remove(const char *group);
void resctrl_add(const char *group, pid_t pid);
void resctrl_cpus(const char *group, const char *mask);
/* The path of an event's file in domain 0; valid until the next call. */
const char *resctrl_event(const char *group, const char *event);
uint64_t resctrl_read(const char *group, const char *event);

/* Of RESCTRL_LOOKS readings of a group's occupancy, the number of wrong ones. */
unsigned int wrong_reads(const char *group, uint32_t rmid);

/*
 * The RMID that resctrl gave to the group of this worker, which is neither 0 nor @ours.
 */
uint32_t group_rmid(struct worker *worker, uint32_t ours);
/* Of @walks walks from now on, the percentage that a worker ended with @rmid. */
unsigned int percent_under(struct worker *worker, uint32_t rmid,
			   uint64_t walks);
/* Wait until all walks have @rmid; then they must keep it. */
void check_under(struct worker *worker, const char *who, uint32_t rmid);
/*
 * Do the samples of the RMID, or does none but the first one, say that they are incomplete?
 * The device is mapped.
 */
void check_marks(struct dev *dev, uint32_t rmid, bool marked, const char *when);
/* The worker runs with its owner's RMID, whose samples are the bytes that it walks. */
void check_own(struct dev *dev, struct worker *worker, uint32_t own, const char *when);
/* The CLOSIDs that a worker has run with since the last call: bits. */
uint32_t closids_of(struct worker *worker);

/* CMT_IOC_SET_RESCTRL */
void resctrl_set_mode(const struct dev *dev, uint32_t mode);

/* The owner of this RMID of resctrl; NULL: the module has none. */
const struct cmt_record *resctrl_owner(const struct dev *dev, uint32_t rmid);

#endif

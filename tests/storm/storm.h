/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A storm: concurrent actors, each a process that draws its actions from a seed, and
 * checks of the complete state afterwards.  Built with the guest suite of tests/vm,
 * whose rules apply.
 *
 * A storm consists of rounds.  A round loads the module, starts the actors, ends them,
 * checks, and unloads the module.  The environment has
 *
 *	STORM_SEED	the seed of all actions; the scheduler determines the order in
 *			which the actors run
 *	STORM_SECONDS	the time in which rounds begin
 *	STORM_FAMINE	the time in which loads of the module fail, in seconds
 *	STORM_ALL	1: loads must fail at each of their allocations in that time
 *	STORM_BACKEND	the module's backend, in every round
 *	STORM_WITHOUT	names of excluded actors, separated by commas
 *	STORM_CYCLES	the number of repetitions of cycles_ tests
 */
#ifndef CMT_STORM_H
#define CMT_STORM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../vm/suite/control.h"
#include "../vm/suite/dev.h"
#include "../vm/suite/suite.h"

/* Counts of actions: an actor that does nothing is noticed */
#define STORM_DEEDS(X)							\
	X(forks) X(execs) X(threads) X(cgroups) X(moves) X(scopes)	\
	X(intervals) X(modes) X(counters) X(attaches) X(detaches) X(queries)	\
	X(refusals) X(readers) X(records) X(stalls) X(polls) X(munmaps)	\
	X(kills) X(offlines) X(mounts) X(groups) X(mon_groups)		\
	X(tasks) X(looks) X(loads) X(busy) X(starved)			\
	X(registers) X(unregisters) X(reads) X(releases)		\
	X(events) X(event_reads) X(channels)
#define STORM_DEED(name) DEED_##name,
enum deed { STORM_DEEDS(STORM_DEED) NR_DEEDS };
#undef STORM_DEED

#define STORM_PIDS	32
#define STORM_GROUPS	8
#define WITNESSES	6

#define NO_CLOSID	~0U	/* the CLOSID is being changed */

/* Observations by a process of its CPU's PQR_ASSOC */
struct witness {
	pid_t pid;
	uint32_t closid;	/* the expected values */
	uint64_t pqr;
	uint64_t looks;		/* number of observations */
	uint64_t wrong;		/* observations with another CLOSID */
	uint64_t wrong_pqr;	/* the last such value */
};

/* Shared by all processes of the storm */
struct storm {
	uint64_t deeds[NR_DEEDS];
	pid_t pids[STORM_PIDS];		/* processes that all actors may use */
	uint64_t cgroups[STORM_GROUPS];	/* ids, 0: none */
	struct witness witnesses[WITNESSES];
	bool stop;			/* the historian's record is complete */
	bool closing;			/* the module is about to be unloaded */
	/* properties of the round */
	bool resctrl;			/* resctrl is mounted, and takes RMIDs */
	bool famine;			/* some allocations fail */
};

extern struct storm *storm;
void did(enum deed deed);

struct rng { uint64_t state; };
uint32_t rng_next(struct rng *rng);
uint32_t rng_below(struct rng *rng, uint32_t n);	/* 0 .. n - 1 */
bool rng_one_in(struct rng *rng, uint32_t n);

/* Set up a storm: memory shared by processes, and process ids that are not reused */
void storm_prepare(void);
/* The value of an environment variable */
uint64_t storm_number(const char *name, uint64_t otherwise);
/* fork(); the child ends with its parent. */
pid_t storm_fork(void);
/* 0 or -errno; with the backend of the storm, if it has one */
int storm_load(const char *params);
/*
 * Opens the device and reads its info.  False: the module is not loaded, or is about to
 * be unloaded.
 */
bool storm_open(struct dev *dev, int flags);
bool storm_closing(void);
/* The allowed errors of a call during changes: ENOMEM, or one of these */
void storm_check_errno(const char *what, int err, const int *allowed);
#define ALLOW(...) ((const int[]){ __VA_ARGS__ __VA_OPT__(,) 0 })
/* The id of a process, a cgroup or a CPU; 0 may mean none. */
uint64_t storm_some_id(struct rng *rng, uint32_t kind);
/* The directory of a cgroup, below STORM_GROUPS.  Returns a descriptor or -errno. */
int storm_open_group(unsigned int i);

/* The actors: one action each, called until the round ends */
void act_tasks(struct rng *rng);
void act_cgroups(struct rng *rng);
void act_orders(struct rng *rng);
void act_holder(struct rng *rng);
void act_perf(struct rng *rng);
void act_reader(struct rng *rng);
void act_poller(struct rng *rng);
void act_mapper(struct rng *rng);
void act_hotplug(struct rng *rng);
void act_resctrl(struct rng *rng);
void act_loader(struct rng *rng);
void act_procfs(struct rng *rng);

/* The file system of resctrl */
#define RESCTRL "/sys/fs/resctrl"
bool resctrl_mounted(void);
void resctrl_mount(void);
void resctrl_umount(void);
/* Every process except the witnesses is in the root group. */
void check_outsiders(void);
struct witness *witness_start(unsigned int i);
/* The expected PQR_ASSOC under a witness from now on */
uint64_t witness_pqr(const struct witness *witness);

#define PQR_CLOSID(pqr)	((uint32_t)((pqr) >> 32))
#define PQR_RMID(pqr)	((uint32_t)(pqr) & 0x3ff)

/* A process that keeps the history from the load on; its check at the end */
pid_t historian_start(void);
void historian_end(pid_t pid);

/* At the end of a round */
void check_loaded(struct rng *rng);
void check_unloaded(void);
void check_log(void);

/* Failing allocations, if the kernel supports them */
bool famine_possible(void);
void famine_prepare(void);
void famine_report(void);
void famine_everywhere(bool on);	/* for actors that called famine_join() */
void famine_join(void);
void famine_suspend(bool suspend);	/* for this process */
void famine_load(void);
void famine_calls(void);
void famine_online(void);

/* Repetitions: cycles.c */
void cycles_load(void);
void cycles_cpu(void);
void cycles_real_time(void);
void cycles_sleep(void);

extern const struct test storm_tests[];

#endif

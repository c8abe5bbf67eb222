// SPDX-License-Identifier: GPL-2.0-or-later
/* What other agents do to resctrl beside cmt, and what its groups show then. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "../lab/suite/rdtgroup.h"
#include "../vm/suite/control.h"
#include "beside.h"

#define TURNS		5000
#define FEW_TURNS	100
/* The first container that comes and goes */
#define RUNTIME		1000

static pid_t walk, other;

static void stays_start(void)
{
	resctrl_mount();
	resctrl_make("mon_groups/stays");
	resctrl_add("mon_groups/stays", walk);
}

static void removed_ask(enum state state, struct answer *answers)
{
	(void)state;
	resctrl_make("mon_groups/goes");
	resctrl_add("mon_groups/goes", other);
	walkers_refill();
	group_kib(&answers[0], "mon_groups/goes");
	resctrl_remove("mon_groups/goes");
	group_kib(&answers[1], "mon_groups/stays");
}

void bad_removed(void)
{
	static const struct client client = {
		.start = stays_start, .ask = removed_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "group that is removed while its tasks run: KB before",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
			{ .name = "the other group: KB after",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	other = walker_add(WALK_KIB);
	beside(&client);
}

/* One container of a runtime that gives it a group */
static void run_container(unsigned int nr)
{
	const char *name = container(nr);
	int ends[2];
	pid_t pid;

	group_make(name);
	pid = fork_with_pipe(ends);
	if (!pid) {
		close(ends[1]);
		_exit(read(ends[0], ends, 1) ? 1 : 0);
	}
	group_enter(name, pid);
	resctrl_add("mon_groups/churn", pid);
	close(ends[0]);
	close(ends[1]);
	reap(pid, 0);
	group_remove(name);
}

/* Groups come and go, and every tenth has a container. */
static void churn(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++) {
		resctrl_make("mon_groups/churn");
		if (i % 10 == 0)
			run_container(RUNTIME + i % 1000);
		resctrl_remove("mon_groups/churn");
	}
}

static void churn_ask(enum state state, struct answer *answers)
{
	walkers_go(false);
	lab_switch(false);
	churn(state == FIRST_READ ? TURNS : FEW_TURNS);
	lab_switch(true);
	walkers_refill();
	group_kib(&answers[0], "mon_groups/stays");
}

void bad_churn(void)
{
	static const struct client client = {
		.start = stays_start, .ask = churn_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "a group after 10,000 mkdir and rmdir of others: KB",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

static char killed_group[64];

/* pqos made a group for each CPU, which stay. */
static void killed_start(void)
{
	static const char *const argv[] = {
		"pqos", "-I", "-m", "all:0,1", "-i", "1", "-t", "inf", "-u", "csv",
		"-o", "/run/killed.csv", NULL,
	};
	pid_t pid;

	unlink("/run/killed.csv");
	pid = program_start("/run/killed.said", argv);
	WAIT_FOR(file_size("/run/killed.csv") > 200, 20000, "pqos prints nothing");
	program_end(pid, SIGKILL);
	snprintf(killed_group, sizeof(killed_group), "mon_groups/pqos-%d-1", pid);
}

static void killed_ask(enum state state, struct answer *answers)
{
	(void)state;
	group_kib(&answers[0], killed_group);
}

void bad_killed(void)
{
	static const struct client client = {
		.start = killed_start, .ask = killed_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "the group of CPU 1 of a pqos that was killed: KB",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

static unsigned int nr_groups;
static char last_group[32];

static void rmids_start(void)
{
	resctrl_mount();
	for (nr_groups = 0;; nr_groups++) {
		char name[32];

		snprintf(name, sizeof(name), "mon_groups/g%u", nr_groups);
		if (!resctrl_try_make(name))
			break;
		strcpy(last_group, name);
	}
	resctrl_add(last_group, walk);
}

static void rmids_ask(enum state state, struct answer *answers)
{
	(void)state;
	answers[0].is = nr_groups;
	group_kib(&answers[1], last_group);
}

void bad_rmids(void)
{
	static const struct client client = {
		.start = rmids_start, .ask = rmids_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "groups for all 64 RMIDs: groups",
			  .truth = 63, .allowed = 0 },
			{ .name = "groups for all 64 RMIDs: the last one, KB",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

/* The lab's processor has neither; where it has, the values are to be compared. */
void bad_options(void)
{
	static const char *const options[] = { "mba_MBps", "cdp", "cdpl2" };

	for (unsigned int i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		CHECK(mount("resctrl", RESCTRL, "resctrl", 0, options[i]) &&
		      errno == EINVAL, "resctrl with %s: %m: write the test",
		      options[i]);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups of the kernel's resctrl with containers in them: the occupancy of a container
 * that walks over 1 MiB, and the traffic of one that goes through 16 MiB so many times.
 */
#include "../lab/suite/rdtgroup.h"
#include "beside.h"

#define PASSES		3
#define PASSES_KIB	(2 * CACHE_KIB)
/* Each line comes, and goes. */
#define TRAFFIC_MIB	(2 * PASSES * PASSES_KIB / 1024)
/* The kernel's own selftest allows 8 %. */
#define TRAFFIC_NEAR_MIB (TRAFFIC_MIB / 20)

#define TRAFFIC(what)								\
	{ .name = what, .truth = TRAFFIC_MIB, .allowed = TRAFFIC_NEAR_MIB }
#define VALUES(what) {								\
	{ .name = what ": llc_occupancy, KB", .truth = WALK_KIB,		\
	  .allowed = WALK_NEAR_KIB },						\
	TRAFFIC(what ": mbm_total_bytes, MiB"),					\
	TRAFFIC(what ": mbm_local_bytes, MiB"),					\
}

static pid_t walk, other;

static double mib_of(const char *group, const char *event)
{
	return group_value(group, event) / 1048576;
}

/* MiB of both events of @group, of a container that makes its passes in @member */
static void traffic(const char *member, const char *group, double *total, double *local)
{
	double total_before, local_before;

	walkers_go(false);
	lab_ask(LAB_FLUSH, 0);
	total_before = mib_of(group, "mbm_total_bytes");
	local_before = mib_of(group, "mbm_local_bytes");
	passes_run(PASSES_KIB, PASSES, member);
	lab_ask(LAB_FLUSH, 0);
	*total = mib_of(group, "mbm_total_bytes") - total_before;
	*local = mib_of(group, "mbm_local_bytes") - local_before;
}

static void tasks_start(void)
{
	resctrl_mount();
	resctrl_make("mon_groups/t");
	resctrl_add("mon_groups/t", walk);
}

static void tasks_ask(enum state state, struct answer *answers)
{
	(void)state;
	group_kib(&answers[0], "mon_groups/t");
	traffic("mon_groups/t", "mon_groups/t", &answers[1].is, &answers[2].is);
}

void groups_of_tasks(void)
{
	static const struct client client = {
		.start = tasks_start, .ask = tasks_ask, .stop = resctrl_umount,
		.values = VALUES("group by tasks"),
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

static void cpus_start(void)
{
	resctrl_mount();
	resctrl_make("mon_groups/c");
	resctrl_cpus("mon_groups/c", "2");
}

static void cpus_ask(enum state state, struct answer *answers)
{
	(void)state;
	group_kib(&answers[0], "mon_groups/c");
	traffic(NULL, "mon_groups/c", &answers[1].is, &answers[2].is);
}

void groups_of_cpus(void)
{
	static const struct client client = {
		.start = cpus_start, .ask = cpus_ask, .stop = resctrl_umount,
		.values = VALUES("group by cpus"),
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

/* A control group has the values of its monitoring groups, too. */
static void nested_start(void)
{
	resctrl_mount();
	resctrl_make("n");
	resctrl_add("n", walk);
	resctrl_make("n/mon_groups/m");
	resctrl_add("n", other);
	resctrl_add("n/mon_groups/m", other);
}

static void nested_ask(enum state state, struct answer *answers)
{
	double none;

	(void)state;
	group_kib(&answers[0], "n/mon_groups/m");
	group_kib(&answers[1], "n");
	traffic("n", "n", &answers[2].is, &none);
}

void groups_nested(void)
{
	static const struct client client = {
		.start = nested_start, .ask = nested_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "group in a control group: llc_occupancy, KB",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB },
			{ .name = "its control group, both: llc_occupancy, KB",
			  .truth = 2 * WALK_KIB, .allowed = 2 * WALK_NEAR_KIB },
			TRAFFIC("its control group, both: mbm_total_bytes, MiB"),
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	other = walker_add(WALK_KIB);
	beside(&client);
}

static void root_ask(enum state state, struct answer *answers)
{
	(void)state;
	group_kib(&answers[0], ".");
	answers[0].least = answers[0].most = cached_kib();
}

/* It has what is in no group, but for those whose RMID is cmt's. */
void groups_root(void)
{
	static const struct client client = {
		.start = resctrl_mount, .ask = root_ask, .stop = resctrl_umount,
		.values = {
			{ .name = "root group: llc_occupancy, KB",
			  .truth = WALK_KIB, .allowed = WALK_NEAR_KIB,
			  .less = "less: cmt's owners are not in it" },
		},
	};

	stage();
	walk = walker_add(WALK_KIB);
	beside(&client);
}

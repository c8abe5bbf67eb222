// SPDX-License-Identifier: GPL-2.0-or-later
/* Rounds, and their actors */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

enum when { ALWAYS, STEADY, LOADING };

/* Mortal actors are killed at any time, and replaced. */
static const struct actor {
	const char *name;
	void (*act)(struct rng *rng);
	enum when when;
	bool mortal;
	int nice;		/* actors that run all the time yield */
} actors[] = {
	{ "tasks",	act_tasks,	ALWAYS,		false, 5 },
	{ "tasks",	act_tasks,	ALWAYS,		true, 5 },
	{ "cgroups",	act_cgroups,	ALWAYS,		false, 0 },
	{ "orders",	act_orders,	ALWAYS,		true, 0 },
	{ "holder",	act_holder,	ALWAYS,		true, 5 },
	{ "perf",	act_perf,	ALWAYS,		true, 5 },
	{ "reader",	act_reader,	ALWAYS,		true, 5 },
	{ "reader",	act_reader,	STEADY,		true, 5 },
	{ "poller",	act_poller,	STEADY,		true, 5 },
	{ "mapper",	act_mapper,	STEADY,		true, 5 },
	{ "procfs",	act_procfs,	ALWAYS,		true, 5 },
	{ "hotplug",	act_hotplug,	ALWAYS,		false, -5 },
	{ "resctrl",	act_resctrl,	ALWAYS,		false, -5 },
	{ "loader",	act_loader,	LOADING,	false, -5 },
};

#define DEEDS_NS (60 * 1000000000ULL)	/* the least time for all actions */

#define NR_ACTORS (sizeof(actors) / sizeof(actors[0]))

static pid_t pids[NR_ACTORS], historian;

/* The properties of a round */
struct plan {
	bool loading;		/* the module is loaded and unloaded all the time */
	bool resctrl;		/* otherwise a historian keeps the history */
	bool famine;		/* some allocations fail */
	unsigned int ms;
	const char *params;
};

static bool stays_away(const char *name)
{
	const char *all = getenv("STORM_WITHOUT"), *p = all;

	while (p && (p = strstr(p, name))) {
		char before = p == all ? ',' : p[-1], after = p[strlen(name)];

		if (before == ',' && (after == ',' || !after))
			return true;
		p++;
	}
	return false;
}

static bool takes_part(const struct actor *actor, const struct plan *plan)
{
	if (actor->act == act_resctrl && !plan->resctrl)
		return false;
	if (actor->when != ALWAYS && (actor->when == LOADING) != plan->loading)
		return false;
	return !stays_away(actor->name);
}

static pid_t actor_start(const struct actor *actor, struct rng *seed)
{
	struct rng rng = { (uint64_t)rng_next(seed) << 32 | rng_next(seed) };
	pid_t pid = storm_fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		setpriority(PRIO_PROCESS, 0, actor->nice);
	while (!pid)
		actor->act(&rng);
	return pid;
}

/*
 * An actor that ends by itself has found a fault and printed it.  Other ended processes
 * are orphans.
 */
static void check_actors(void)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < NR_ACTORS; i++)
			CHECK(pids[i] != pid,
			      "the actor '%s' ended with status %#x",
			      actors[i].name, status);
		CHECK(pid != historian, "the historian ended");
	}
}

static void replace_one(struct rng *rng, const struct plan *plan)
{
	unsigned int i = rng_below(rng, NR_ACTORS);

	if (!pids[i] || !actors[i].mortal || !takes_part(&actors[i], plan))
		return;
	kill(pids[i], SIGKILL);
	waitpid(pids[i], NULL, 0);
	did(DEED_kills);
	pids[i] = actor_start(&actors[i], rng);
}

/* The actors' children become children of this process, and end as the actors do. */
static void end_actors(void)
{
	unsigned int i;

	for (i = 0; i < NR_ACTORS; i++)
		if (pids[i])
			kill(pids[i], SIGKILL);
	memset(pids, 0, sizeof(pids));
}

static void reap_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

static void blow(struct rng *rng, const struct plan *plan)
{
	uint64_t end = now_ns() + plan->ms * 1000000ULL;
	unsigned int i;

	for (i = 0; i < NR_ACTORS; i++)
		if (takes_part(&actors[i], plan))
			pids[i] = actor_start(&actors[i], rng);
	while (now_ns() < end) {
		sleep_ms(20 + rng_below(rng, 80));
		check_actors();
		replace_one(rng, plan);
	}
	check_actors();
	end_actors();
}

static struct plan plan_round(struct rng *rng, unsigned int round)
{
	const char *const params[] = {
		"", "scope=process", "scope=container intel_cqm=1", "scope=cpu",
		"scope=manual", slowness > 1 ? "interval_us=2000" :
		"interval_us=100", "interval_us=10000",
		"scope=process ring_records=256", "backend=emulated",
		"backend=emulated emulated_rmids=16 scope=process",
	};

	/* the first rounds have one of each kind, also in a short storm */
	return (struct plan){
		.loading = round == 1 || (round > 2 && rng_one_in(rng, 4)),
		.resctrl = !round || (round != 2 && !rng_one_in(rng, 4)),
		.famine = famine_possible() && (!round || rng_one_in(rng, 2)),
		.ms = (2000 + rng_below(rng, 4000)) * (slowness > 1 ? 2 : 1),
		.params = params[rng_below(rng,
					   sizeof(params) / sizeof(params[0]))],
	};
}

static void load(const char *params)
{
	int err = storm_load(params);

	CHECK(!err, "the module does not load (%s): %s", params, strerror(-err));
}

static void unload(void)
{
	int err = module_present() ? module_unload() : 0;

	CHECK(!err, "the module does not unload: %s", strerror(-err));
}

static void run_round(unsigned int round, uint64_t seed)
{
	struct rng own = { (seed + round) * 0x9e3779b97f4a7c15ULL }, *rng = &own;
	struct plan plan = plan_round(rng, round);

	note("round %u, %llu s: %s%s%s%s, %u ms", round,
	     (unsigned long long)(now_ns() / 1000000000), plan.loading ?
	     "the module comes and goes" : plan.params,
	     plan.resctrl ? ", resctrl" : ", history",
	     plan.famine ? ", failing allocations" : "",
	     round ? "" : ", the first", plan.ms);
	memset(storm->pids, 0, sizeof(storm->pids));
	memset(storm->cgroups, 0, sizeof(storm->cgroups));
	storm->stop = storm->closing = false;
	storm->resctrl = plan.resctrl;
	storm->famine = plan.famine;
	if (!plan.loading)
		load(plan.params);
	if (!plan.loading && !plan.resctrl)
		historian = historian_start();
	famine_everywhere(plan.famine);
	blow(rng, &plan);
	famine_everywhere(false);
	if (historian)
		historian_end(historian);
	historian = 0;
	reap_orphans();
	if (!plan.loading)
		check_loaded(rng);
	unload();
	check_unloaded();
	check_log();
}

#define STORM_NAME(name) #name,
static const char *const deed_names[] = { STORM_DEEDS(STORM_NAME) };
#undef STORM_NAME

static bool can_be_done(unsigned int deed)
{
	const char *backend = getenv("STORM_BACKEND");

	/* without a backend that counts there is no PMU */
	if ((deed == DEED_events || deed == DEED_event_reads) && backend &&
	    !strcmp(backend, "software"))
		return false;
	/* memory controllers exist only in the lab: tests/storm/check */
	if (deed == DEED_channels && !getenv("STORM_CHANNELS"))
		return false;
	/* whether a reader has the module open at an unload is random */
	return !getenv("STORM_WITHOUT") && deed != DEED_busy &&
		(deed != DEED_starved || famine_possible());
}

/* An action that no actor has done yet; NULL: there is none */
static const char *not_done(void)
{
	unsigned int i;

	for (i = 0; i < NR_DEEDS; i++)
		if (!storm->deeds[i] && can_be_done(i))
			return deed_names[i];
	return NULL;
}

static void note_deeds(void)
{
	unsigned int i, n = 0;
	char text[1024];

	for (i = 0; i < NR_DEEDS; i++)
		n += snprintf(text + n, sizeof(text) - n, " %s %llu",
			      deed_names[i],
			      (unsigned long long)storm->deeds[i]);
	note("deeds:%s", text);
	if (!not_done())
		return;
	/*
	 * the slow kernel has no time for all actions: the storms on other kernels must
	 * have done them
	 */
	note("nothing was done of: %s", not_done());
	CHECK(slowness > 1, "nothing was done of: %s", not_done());
}

/* No id is used twice, so a kill by id hits the right process. */
void storm_prepare(void)
{
	CHECK(!write_file("/proc/sys/kernel/pid_max", "4194304"), "pid_max");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	storm = mmap(NULL, sizeof(*storm), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(storm != MAP_FAILED, "mmap: %m");
	famine_prepare();
}

static void storm_weather(void)
{
	uint64_t seed = storm_number("STORM_SEED", 1), span, end, most;
	unsigned int round = 0;

	storm_prepare();
	note("seed %llu", (unsigned long long)seed);
	span = storm_number("STORM_SECONDS", 60) * 1000000000;
	end = now_ns() + span;
	/* a short storm on a busy host may not have done all actions */
	most = end + (span > DEEDS_NS ? 4 * span : 4 * DEEDS_NS);
	if (slowness > 1)
		most = end + span;
	do
		run_round(round++, seed * 1000);
	while (round < 3 || now_ns() < end || (not_done() && now_ns() < most));
	note_deeds();
}

const struct test storm_tests[] = {
	{ "storm_weather", storm_weather, NULL, 100000 },
	{ "storm_famine_load", famine_load, NULL, 100000 },
	{ "storm_famine_calls", famine_calls, NULL, 100000 },
	{ "storm_famine_online", famine_online, NULL, 100000 },
	{ "cycles_load", cycles_load, NULL, 100000 },
	{ "cycles_cpu", cycles_cpu, NULL, 100000 },
	{ "cycles_real_time", cycles_real_time, NULL, 100000 },
	{ "cycles_sleep", cycles_sleep, NULL, 100000 },
	{ }
};

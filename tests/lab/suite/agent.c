// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs of an agent that writes PQR_ASSOC itself, as pqos with MSRs does, while resctrl is
 * not mounted: until the agent writes RMID 0, or the RMID that it found, what runs there
 * counts to the agent's RMID, or by "take" to cmt's.
 */
#include <fcntl.h>
#include <string.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define BYTES	(1 << 20)
#define CPU	1
/* RMIDs that pqos chooses: the lowest ones that no CPU has */
#define AGENT	2
#define OTHER	3

/* This process has no owner, and is on CPU 0 afterwards. */
static void agent_write(uint32_t rmid)
{
	cpu_rmid_write(CPU, rmid);
	run_on(0, 0);
}

static uint32_t rmid_of(int cpu)
{
	uint32_t rmid = cpu_rmid(cpu);

	run_on(0, 0);
	return rmid;
}

/* All that the worker walks counts to the agent. */
static void check_agents(struct worker *worker, uint32_t rmid, const char *when)
{
	unsigned int percent;
	uint64_t truth;

	check_under(worker, when, rmid);
	lab_ask(LAB_FLUSH, 0);
	percent = percent_under(worker, rmid, 100);
	truth = lab_get(LAB_OF_USER, LAB_ARG(L3, rmid, worker->space));
	note("%s: under the agent's RMID for %u %% of walks; %llu of %u bytes have it",
	     when, percent, (unsigned long long)truth, BYTES);
	CHECK(percent == 100, "%s: under RMID %u", when, worker->other_rmid);
	CHECK(truth >= BYTES, "%s: the agent does not count it", when);
}

/* The module knows the CPU's RMID, and its records name the CPU. */
static void check_known(const struct dev *dev)
{
	const struct cmt_record *r;

	WAIT_FOR((r = resctrl_owner(dev, AGENT)) && r->flags & CMT_F_OWNER_CPU, 10000,
		 "RMID %u is not known", AGENT);
	CHECK(r->owner_cpu == CPU && !(r->flags & CMT_F_GROUP_SOLE), "flags %#x, CPU %u",
	      r->flags, r->owner_cpu);
	CHECK(dev_stats(dev).cpus_foreign == 1, "%u CPUs are foreign",
	      dev_stats(dev).cpus_foreign);
}

static void check_none(const struct dev *dev)
{
	WAIT_FOR(!dev_stats(dev).rmids_foreign && !dev_stats(dev).cpus_foreign, 10000,
		 "%u RMIDs, %u CPUs stay foreign", dev_stats(dev).rmids_foreign,
		 dev_stats(dev).cpus_foreign);
}

/* The module, and a container whose process walks on the agent's CPU */
static uint32_t begin(const char *params, struct dev *dev, bool reads,
		      struct worker **worker)
{
	uint32_t rmid;

	CHECK(!module_load(params), "the module does not load");
	*worker = worker_start(BYTES);
	worker_pin(*worker, CPU);
	run_on(0, 0);
	dev_open(dev, O_RDWR);
	if (reads)
		dev_map(dev, FROM_NOW);
	rmid = owner_find(dev, CMT_OWNER_CGROUP, group_make(container(0)))->rmid;
	group_enter(container(0), (*worker)->pid);
	model_begin();
	worker_go(*worker, true);
	return rmid;
}

static void end(struct dev *dev, struct worker *worker)
{
	lab_switch(false);
	worker_stop(worker);
	group_remove(container(0));
	dev_close(dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* The agent comes while the module is loaded, and goes. */
static void test_respected(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t own;

	own = begin("scope=container", &dev, true, &worker);
	check_own(&dev, worker, own, "without an agent");
	agent_write(AGENT);
	check_agents(worker, AGENT, "respected");
	check_marks(&dev, own, true, "respected");
	check_known(&dev);
	resctrl_set_mode(&dev, CMT_RESCTRL_TAKE);
	check_own(&dev, worker, own, "taken");
	resctrl_set_mode(&dev, CMT_RESCTRL_RESPECT);
	check_agents(worker, AGENT, "respected again");
	agent_write(OTHER);
	check_agents(worker, OTHER, "another RMID");
	agent_write(0);
	check_own(&dev, worker, own, "without the agent");
	check_none(&dev);
	end(&dev, worker);
}

/* The same while nothing reads: switches find what the agent writes. */
static void test_unread(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t own;

	own = begin("scope=container", &dev, false, &worker);
	check_under(worker, "without an agent", own);
	agent_write(AGENT);
	check_agents(worker, AGENT, "respected");
	check_known(&dev);
	agent_write(0);
	check_under(worker, "without the agent", own);
	check_none(&dev);
	end(&dev, worker);
}

/* The agent is there before the module, and after it. */
static void test_at_load(void)
{
	struct worker *worker;
	struct dev dev;

	agent_write(AGENT);
	begin("scope=container", &dev, false, &worker);
	check_agents(worker, AGENT, "there at load");
	check_known(&dev);
	end(&dev, worker);
	CHECK(rmid_of(CPU) == AGENT && !rmid_of(0), "unloaded: RMIDs %u and %u",
	      rmid_of(0), rmid_of(CPU));
	agent_write(0);
}

/* It ends while no owner runs, and no tick: the module asks once a second. */
static void test_ends_unseen(void)
{
	struct dev dev;

	agent_write(AGENT);
	CHECK(!module_load("scope=cpu"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	check_known(&dev);
	agent_write(0);
	check_none(&dev);
	CHECK(rmid_of(CPU) == owner_find(&dev, CMT_OWNER_CPU, CPU)->rmid, "RMID %u",
	      rmid_of(CPU));
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	CHECK(!rmid_of(CPU), "unloaded: RMID %u", rmid_of(CPU));
}

static bool is_foreign_after_a_container(const struct dev *dev)
{
	group_make(container(0));
	group_remove(container(0));
	return dev_stats(dev).cpus_foreign == 1;
}

/*
 * An agent comes to a CPU without ticks, where nothing has an owner, and so does a group of
 * resctrl's: the module asks there every ten seconds if owners come and go, before it would
 * give them the RMID.
 */
static void test_excluded(void)
{
	struct dev dev;

	CHECK(!module_load("scope=container exclude_cpus=1"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	agent_write(AGENT);
	WAIT_FOR(is_foreign_after_a_container(&dev), 40000, "the agent is not found");
	check_known(&dev);
	agent_write(0);
	check_none(&dev);
	resctrl_mount();
	resctrl_make("mon_groups/g");
	resctrl_cpus("mon_groups/g", "2");
	WAIT_FOR(is_foreign_after_a_container(&dev), 40000, "the group is not found");
	resctrl_remove("mon_groups/g");
	resctrl_umount();
	check_none(&dev);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
}

/* An agent that saved the register writes an RMID of cmt's, which stays cmt's. */
static void test_restores(void)
{
	struct cmt_record owner;
	struct dev dev;

	CHECK(!module_load("scope=cpu"), "the module does not load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	owner = *owner_find(&dev, CMT_OWNER_CPU, CPU);
	CHECK(rmid_of(CPU) == owner.rmid, "RMID %u, not %u", rmid_of(CPU), owner.rmid);
	agent_write(AGENT);
	check_known(&dev);
	CHECK(rmid_of(CPU) == AGENT, "RMID %u", rmid_of(CPU));
	agent_write(owner.rmid);
	check_none(&dev);
	CHECK(rmid_of(CPU) == owner.rmid &&
	      owner_find(&dev, CMT_OWNER_CPU, CPU)->generation == owner.generation,
	      "the CPU lost RMID %u", owner.rmid);
	agent_write(AGENT);
	check_known(&dev);
	agent_write(owner.rmid);
	dev_close(&dev);
	CHECK(!module_unload(), "the module does not unload");
	CHECK(!rmid_of(CPU), "unloaded: RMID %u", rmid_of(CPU));
}

/* The agent chooses the RMID of an owner, which gets another one. */
static void test_takes_an_owners(void)
{
	const struct cmt_record *r;
	struct worker *worker;
	uint32_t own, chosen;
	struct dev dev;
	uint64_t id;

	own = begin("scope=container", &dev, true, &worker);
	id = group_make(container(1));
	chosen = owner_find(&dev, CMT_OWNER_CGROUP, id)->rmid;
	agent_write(chosen);
	check_agents(worker, chosen, "respected");
	WAIT_FOR((r = owner_find(&dev, CMT_OWNER_CGROUP, id)) && r->rmid != chosen, 10000,
		 "the owner gets no other RMID");
	agent_write(0);
	check_own(&dev, worker, own, "without the agent");
	check_none(&dev);
	group_remove(container(1));
	end(&dev, worker);
}

/* The kernel clears PQR_ASSOC of a CPU that comes online. */
static void test_cpu_goes(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t own;

	own = begin("scope=container", &dev, false, &worker);
	agent_write(AGENT);
	check_agents(worker, AGENT, "respected");
	cpu_online(CPU, false);
	check_none(&dev);
	cpu_online(CPU, true);
	worker_pin(worker, CPU);
	check_under(worker, "the CPU is online again", own);
	end(&dev, worker);
}

/* At unload the agent has its RMID, whatever the mode. */
static void test_taken_until_unload(void)
{
	struct worker *worker;
	struct dev dev;
	uint32_t own;

	own = begin("scope=container resctrl=take", &dev, true, &worker);
	agent_write(AGENT);
	check_own(&dev, worker, own, "taken");
	CHECK(dev_stats(&dev).cpus_foreign == 1, "the agent is not noticed");
	end(&dev, worker);
	CHECK(rmid_of(CPU) == AGENT, "unloaded: RMID %u", rmid_of(CPU));
	agent_write(0);
}

const struct test agent_tests[] = {
	{ "agent_is_respected", test_respected, NULL, 120 },
	{ "agent_is_respected_unread", test_unread, NULL, 120 },
	{ "agent_at_load", test_at_load, NULL, 120 },
	{ "agent_ends_unseen", test_ends_unseen, NULL, 60 },
	{ "agent_on_an_excluded_cpu", test_excluded, NULL, 150 },
	{ "agent_restores_what_it_found", test_restores, NULL, 60 },
	{ "agent_takes_an_owners_rmid", test_takes_an_owners, NULL, 120 },
	{ "agent_and_a_cpu_that_goes", test_cpu_goes, NULL, 120 },
	{ "agent_taken_until_unload", test_taken_until_unload, NULL, 120 },
	{ 0 }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes with a known working set, in containers.  They rest while nothing is asked,
 * and are paced, so that two virtual CPUs do not need two processors.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../lab/lab.h"
#include "../lab/suite/rdtgroup.h"
#include "../vm/suite/control.h"
#include "beside.h"

#define LINE	64
#define STEP	(64 << 10)	/* bytes of each millisecond */

/* Lives in memory that it shares with the test. */
struct walker {
	pid_t pid;
	size_t bytes;
	uint64_t walks;		/* complete ones */
	uint32_t space;		/* its address space in the model */
	bool go;
};

static struct walker *walkers[MAX_CONTAINERS];
static unsigned int nr_walkers;

static void step(volatile char *memory, size_t at)
{
	for (size_t i = at; i < at + STEP; i += LINE)
		memory[i]++;
}

static void walk(struct walker *walker, char *memory)
{
	for (size_t at = 0;;) {
		sleep_ms(1);
		if (!__atomic_load_n(&walker->go, __ATOMIC_ACQUIRE))
			continue;
		step(memory, at);
		at = (at + STEP) % walker->bytes;
		if (!at)
			__atomic_fetch_add(&walker->walks, 1, __ATOMIC_RELEASE);
	}
}

/* khugepaged would copy the memory into huge pages, under RMID 0. */
static void walker_main(struct walker *walker)
{
	char *memory = mmap(NULL, walker->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED, "mmap: %m");
	madvise(memory, walker->bytes, MADV_NOHUGEPAGE);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(0, 1);
	walker->space = lab_get(LAB_SPACE_NEW, 0);
	walk(walker, memory);
}

pid_t walker_add(unsigned int kib)
{
	struct walker *walker = mmap(NULL, sizeof(*walker), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	pid_t pid;

	CHECK(walker != MAP_FAILED, "mmap: %m");
	walker->bytes = (size_t)kib << 10;
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		walker_main(walker);
	group_enter(container(container_make()), pid);
	walker->pid = pid;
	walkers[nr_walkers++] = walker;
	return pid;
}

static uint64_t walks_of(struct walker *walker)
{
	return __atomic_load_n(&walker->walks, __ATOMIC_ACQUIRE);
}

void walkers_go(bool go)
{
	for (unsigned int i = 0; i < nr_walkers; i++)
		__atomic_store_n(&walkers[i]->go, go, __ATOMIC_RELEASE);
	for (unsigned int i = 0; go && i < nr_walkers; i++) {
		uint64_t from = walks_of(walkers[i]);

		/* one that began before may not have touched all memory since */
		WAIT_FOR(walks_of(walkers[i]) - from >= 2, 60000, "a walker stands still");
	}
}

void walkers_refill(void)
{
	lab_ask(LAB_FLUSH, 0);
	walkers_go(true);
}

void walkers_end(void)
{
	while (nr_walkers)
		reap(walkers[--nr_walkers]->pid, SIGKILL);
}

double walker_kib(void)
{
	return lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, walkers[0]->space)) / 1024.0;
}

double others_kib(void)
{
	return cached_kib() - walker_kib();
}

double cached_kib(void)
{
	uint32_t rmids = lab_get(LAB_CONFIG, LAB_C_RMIDS);
	double kib = 0;

	for (uint32_t rmid = 0; rmid < rmids; rmid++)
		kib += lab_get(LAB_OF_RMID, LAB_ARG(L3, rmid, 0)) / 1024.0;
	return kib;
}

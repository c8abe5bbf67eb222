// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../../vm/suite/control.h"
#include "bench.h"
#include "owners.h"

#define MS	1000000L
#define LINE	64
#define PAGE	4096U
#define WARM	200	/* steps until the cache has all lines that it can have */

/* Two instructions a round, and no memory. */
static void work(uint32_t instructions)
{
	uint32_t rounds = instructions / 2;

	if (rounds)
		__asm__ volatile("1: dec %0; jnz 1b" : "+r" (rounds) : : "cc");
}

static void touch_page(volatile char *memory, const struct plan *plan)
{
	for (uint32_t i = 0; i < PAGE; i += LINE) {
		if (plan->reads)
			(void)memory[i];
		else
			memory[i]++;
		work(plan->work);
	}
}

static uint32_t random_below(struct owner *owner, uint32_t n)
{
	owner->random ^= owner->random << 13;
	owner->random ^= owner->random >> 7;
	owner->random ^= owner->random << 17;
	return (uint32_t)(owner->random >> 11) % n;
}

static void step(struct owner *owner, char *memory)
{
	uint32_t pages = owner->plan.bytes / PAGE;

	for (uint32_t i = 0; i < owner->plan.step / PAGE; i++) {
		uint32_t page = owner->plan.random ?
				random_below(owner, pages) :
				owner->page++ % pages;

		touch_page(memory + (size_t)page * PAGE, &owner->plan);
	}
	__atomic_fetch_add(&owner->steps, 1, __ATOMIC_RELEASE);
}

static void next_ms(struct timespec *next)
{
	next->tv_nsec += MS;
	next->tv_sec += next->tv_nsec / 1000000000;
	next->tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void owner_main(struct owner *owner)
{
	struct timespec next;
	char *memory;

	while (!__atomic_load_n(&owner->go, __ATOMIC_ACQUIRE))
		sleep_ms(1);
	__atomic_store_n(&owner->space, lab_get(LAB_SPACE_NEW, 0),
			 __ATOMIC_RELEASE);
	memory = mmap(NULL, owner->plan.bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(memory != MAP_FAILED, "mmap: %m");
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		if (__atomic_load_n(&owner->on, __ATOMIC_ACQUIRE))
			step(owner, memory);
		next_ms(&next);
	}
}

static void owner_start(struct owner *owner, unsigned int i)
{
	pid_t pid;

	owner->id = owner->plan.outside ? OWNER_RMID_0 : group_make(container(i));
	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		owner_main(owner);
	}
	owner->pid = pid;
	if (!owner->plan.outside)
		group_enter(container(i), pid);
	__atomic_store_n(&owner->go, true, __ATOMIC_RELEASE);
	WAIT_FOR(__atomic_load_n(&owner->space, __ATOMIC_ACQUIRE), 30000,
		 "%s does not start", owner->plan.name);
}

struct owner *owners_start(const struct plan *plans, unsigned int nr, uint64_t seed)
{
	struct owner *owners = mmap(NULL, nr * sizeof(*owners),
				    PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(owners != MAP_FAILED, "mmap: %m");
	for (unsigned int i = 0; i < nr; i++) {
		owners[i].plan = plans[i];
		owners[i].random = (seed * nr + i + 1) * 0x9e3779b97f4a7c15ULL;
		owners[i].on = !plans[i].later;
		owner_start(&owners[i], i);
	}
	for (unsigned int i = 0; i < nr; i++)
		if (!plans[i].later)
			owner_wait(&owners[i], WARM);
	return owners;
}

void owners_end(struct owner *owners, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		reap(owners[i].pid, SIGKILL);
		if (!owners[i].plan.outside)
			group_remove(container(i));
	}
	munmap(owners, nr * sizeof(*owners));
}

void owner_go(struct owner *owner)
{
	__atomic_store_n(&owner->on, true, __ATOMIC_RELEASE);
}

void owner_rest(struct owner *owner)
{
	__atomic_store_n(&owner->on, false, __ATOMIC_RELEASE);
}

void owner_wait(const struct owner *owner, uint64_t steps)
{
	WAIT_FOR(__atomic_load_n(&owner->steps, __ATOMIC_ACQUIRE) >= steps, 30000,
		 "%s does not run", owner->plan.name);
}

uint64_t owner_held(const struct owner *owner)
{
	return lab_get(LAB_OF_SPACE, LAB_ARG(L3, 0, owner->space));
}

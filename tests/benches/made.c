// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A container has 1 to 40 CPUs, which follow each other, and moves to others once a second.
 * A CPU runs two of its containers in a millisecond, and other ones after RUN_MS.  Where
 * a container runs, its cache and its traffic change.
 *
 * The memory is shared, so that it is not in the figures of the program that is measured.
 */
#include "made.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake.h"
#include "hw/burst.h"

#define RUN_MS		5
#define MOVE_MS		1000
#define CPUS_MOST	40
#define AT_ONCE		2	/* containers on a CPU in a millisecond */
#define UNIT		65536	/* bytes of a counter's unit */
#define GENERATION	1

struct load {
	u32 occupancy, total;	/* units */
	u32 read_ms;
};

struct made_cpu {
	struct cmt_burst burst;
	unsigned long bits[CMT_BURST_QUEUES * CMT_RMID_WORDS];
	u32 number, domain, index;
	u32 first_word;
	u32 nr;			/* containers */
	u16 *containers;
	u32 ran[AT_ONCE], nr_ran;
	u64 busy_ns, deferred;
};

static struct made made;
static struct made_counts counts;
static struct cmt_backend_caps caps;
static u32 rmids, domain_cpus;
static struct made_cpu *cpus;
static struct cmt_counter *counters;	/* of each domain rmids */
static struct load *loads;		/* likewise */
static u32 *generations;
static unsigned long readable[CMT_RMID_WORDS];
static u32 *first_cpus;			/* by container */
static u64 now_ms;
static bool waits;

static void *get(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static u32 hash(u32 a, u32 b)
{
	u64 h = ((u64)a << 32 | b) * 0x9e3779b97f4a7c15ULL;

	h ^= h >> 29;
	return h * 0xbf58476d1ce4e5b9ULL >> 33;
}

static u32 width(u32 container)
{
	u32 n = 1 + hash(container, 0) % CPUS_MOST;

	return n < made.cpus ? n : made.cpus;
}

static void come(struct made_cpu *cpu, u32 container)
{
	cpu->containers[cpu->nr++] = container;
}

static void go(struct made_cpu *cpu, u32 container)
{
	u32 i = 0;

	while (cpu->containers[i] != container)
		i++;
	cpu->containers[i] = cpu->containers[--cpu->nr];
}

static void each_cpu(u32 container, void (*what)(struct made_cpu *cpu, u32 container))
{
	u32 i, n = width(container);

	for (i = 0; i < n; i++)
		what(&cpus[(first_cpus[container] + i) % made.cpus], container);
}

/* Each in its own millisecond of a second */
static void move(u32 container)
{
	u32 turn = now_ms / MOVE_MS;

	if (now_ms % MOVE_MS != hash(container, 1) % MOVE_MS)
		return;
	each_cpu(container, go);
	first_cpus[container] = hash(container, 2 + turn) % made.cpus;
	each_cpu(container, come);
}

u32 made_rmids(const struct made *of)
{
	return (of->containers + BITS_PER_LONG) / BITS_PER_LONG * BITS_PER_LONG;
}

static void begin_cpu(struct made_cpu *cpu, u32 number)
{
	cpu->number = number;
	cpu->domain = number / domain_cpus;
	cpu->index = number % domain_cpus;
	cpu->first_word = cpu->index;
	cpu->containers = get(made.containers * sizeof(*cpu->containers));
	cpu->burst.counters = counters + (size_t)cpu->domain * rmids;
	cpu->burst.generations = generations;
	cpu->burst.readable = readable;
	cpu->burst.caps = &caps;
	cpu->burst.words = rmids / BITS_PER_LONG;
	cpu->burst.budget = made.budget_ns;
	cmt_burst_init(&cpu->burst, cpu->bits, CMT_RMID_WORDS);
}

static void begin_counters(void)
{
	size_t i, n = (size_t)made.domains * rmids;
	u32 rmid;

	counters = get(n * sizeof(*counters));
	loads = get(n * sizeof(*loads));
	for (i = 0; i < n; i++)
		cmt_counter_reset(&counters[i]);
	generations = get(rmids * sizeof(*generations));
	__set_bit(0, readable);
	for (rmid = 1; rmid <= made.containers; rmid++) {
		generations[rmid] = GENERATION;
		__set_bit(rmid, readable);
	}
}

void made_begin(const struct made *of)
{
	u32 i;

	made = *of;
	rmids = made_rmids(of);
	domain_cpus = made.cpus / made.domains;
	if (!domain_cpus || domain_cpus * made.domains != made.cpus ||
	    rmids > CMT_MAX_RMIDS)
		abort();
	caps = (struct cmt_backend_caps){
		.nr_rmids = rmids, .rmid_room = rmids, .upscale_bytes = UNIT,
		.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
		.counter_bits = 32, .mbm_correct_above = ~0U, .data_mask = ~0ULL >> 2,
	};
	begin_counters();
	cpus = get(made.cpus * sizeof(*cpus));
	for (i = 0; i < made.cpus; i++)
		begin_cpu(&cpus[i], i);
	first_cpus = get((made.containers + 1) * sizeof(*first_cpus));
	for (i = 1; i <= made.containers; i++) {
		first_cpus[i] = hash(i, 2) % made.cpus;
		each_cpu(i, come);
	}
}

void made_set_waits(bool are)
{
	waits = are;
}

/* The container fetches lines that it lost, sometimes many of them. */
static void run(struct made_cpu *cpu, u32 rmid)
{
	struct load *l = &loads[(size_t)cpu->domain * rmids + rmid];
	u32 noise = hash(rmid, now_ms) % 4;
	bool burst = (rmid + now_ms / 20) % 50 == 0;

	l->occupancy = 8 + rmid % 64 + noise + (burst ? 8 : 0);
	l->total += (1 + rmid % 8 + noise % 2) * (burst ? 4 : 1);
}

/* What ran since the last tick; the last of it is loaded. */
static void run_cpu(struct made_cpu *cpu)
{
	u32 i;

	cpu->nr_ran = cpu->nr < AT_ONCE ? cpu->nr : AT_ONCE;
	for (i = 0; i < cpu->nr_ran; i++) {
		u32 at = (now_ms / RUN_MS * AT_ONCE + i) % cpu->nr;

		cpu->ran[i] = cpu->containers[at];
		run(cpu, cpu->ran[i]);
		__set_bit(cpu->ran[i], cpu->burst.hot.rmids);
	}
	counts.loaded += cpu->nr_ran;
}

static void read_one(void *context, u32 rmid, struct cmt_raws *raws)
{
	const struct made_cpu *cpu = context;
	struct load *l = &loads[(size_t)cpu->domain * rmids + rmid];

	fake.cycles += made.read_ns;
	raws->occupancy = l->occupancy;
	raws->total = l->total;
	raws->local = l->total / 2;
	if (rmid && l->read_ms && now_ms - l->read_ms > counts.oldest_ms)
		counts.oldest_ms = now_ms - l->read_ms;
	l->read_ms = now_ms;
}

/* As sample_due() in module/sample/tick.c.  Returns what is deferred. */
static u32 burst_read(struct made_cpu *cpu, u64 boundary)
{
	struct cmt_burst *burst = &cpu->burst;

	burst->end = burst->readings;
	burst->start = fake.cycles;
	burst->room = CMT_BURST_MAX;
	burst->events = caps.events;
	burst->mark = cmt_mark(boundary);
	if (!(now_ms % CMT_TURN_TICKS))
		cpu->first_word = (cpu->index + now_ms / CMT_TURN_TICKS) % domain_cpus;
	cmt_burst_add_turns(burst, now_ms, cpu->first_word, domain_cpus);
	burst->hot.rmids[0] &= ~1UL;
	burst->turn.rmids[0] &= ~1UL;
	if (!cpu->index)
		burst->hot.rmids[0] |= 1;
	if (!cmt_burst_is_due(burst))
		return 0;
	cmt_burst_run(burst, read_one, cpu);
	return burst->cut || burst->busy ? cmt_burst_waiting(burst) : 0;
}

static struct cmt_record record_of(const struct made_cpu *cpu, u32 type, u64 ts, u32 rmid)
{
	return (struct cmt_record){
		.ts = ts, .type = type, .cpu = cpu->number, .rmid = rmid,
		.generation = rmid ? GENERATION : 0, .domain = cpu->domain,
	};
}

static void write_samples(struct made_cpu *cpu, u64 ts,
			  void (*put)(const struct cmt_record *record))
{
	struct cmt_burst *burst = &cpu->burst;
	struct cmt_reading *r;

	for (r = burst->readings; r != burst->end; r++) {
		struct cmt_record record =
			record_of(cpu, CMT_REC_SAMPLE, ts + (r->cycles - burst->start), 0);

		cmt_counter_sample(r->counter, &r->raws, burst->events, &caps, &record);
		cmt_claim_release(r->counter, burst->mark);
		put(&record);
	}
}

/* Two containers of a CPU wait for each other, and something else ran in between. */
static void write_waits(struct made_cpu *cpu, u64 ts,
			void (*put)(const struct cmt_record *record))
{
	u32 i;

	for (i = 0; i <= cpu->nr_ran; i++) {
		struct cmt_record record =
			record_of(cpu, CMT_REC_PERF, ts, i < cpu->nr_ran ? cpu->ran[i] : 0);

		record.flags = CMT_F_WAITED;
		record.ran_ns = MADE_MS / (AT_ONCE + 1);
		record.perf.waited_ns = record.rmid ? hash(record.rmid, now_ms) % MADE_MS : 0;
		put(&record);
	}
}

static void write_cpu(struct made_cpu *cpu, u64 boundary,
		      void (*put)(const struct cmt_record *record))
{
	/* CPUs tick at slightly different times */
	u64 ts = boundary + 1000 * (cpu->number % 64), end;
	struct cmt_record tick;
	u32 waiting, read;

	run_cpu(cpu);
	waiting = burst_read(cpu, boundary);
	read = cpu->burst.end - cpu->burst.readings;
	end = ts + (u32)(fake.cycles - cpu->burst.start);
	write_samples(cpu, ts, put);
	if (waits)
		write_waits(cpu, end, put);
	cpu->deferred += waiting;
	cpu->busy_ns += end - ts;
	tick = record_of(cpu, CMT_REC_TICK, end, cpu->nr_ran ? cpu->ran[cpu->nr_ran - 1] : 0);
	tick.interval_ns = MADE_MS;
	tick.tick.deferred = cpu->deferred;
	tick.tick.busy_ns = cpu->busy_ns;
	tick.tick.read = read;
	tick.tick.waiting = waiting;
	put(&tick);
	counts.ticks++;
	counts.samples += read;
	counts.deferred += waiting;
}

void made_write(uint64_t ms, uint64_t ts, void (*put)(const struct cmt_record *record))
{
	u32 i;

	now_ms = ms;
	for (i = 1; i <= made.containers; i++)
		move(i);
	for (i = 0; i < made.cpus; i++)
		write_cpu(&cpus[i], ts, put);
}

const struct made_counts *made_counts(void)
{
	return &counts;
}

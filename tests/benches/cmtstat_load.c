// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What cmtstat costs, the whole program: it runs on the device of fake_device.c, on
 * a machine of 64 CPUs and 8 L3 domains whose module reads 255 RMIDs in each domain,
 * 200 of which are containers': each once a millisecond, or, with CMT_BENCH_HOT, two
 * that run on each CPU, others every 5 ms, and each that does not run once in 32 ms, as the
 * module does.  With
 * CMT_BENCH_ONE the machine has 16 CPUs and one L3 domain.  With CMT_BENCH_COUNTED it has
 * no L3 monitoring: the module's software backend, 4,096 RMIDs, and counters of who ran.
 *
 * With CMT_BENCH_MACHINE=CPUS/DOMAINS/CONTAINERS it is a machine of that size, whose ticks
 * are the module's own (made.h).  CMT_BENCH_READ_NS is the time of a reading there, of which
 * a tick has 20 us for all of its own; with CMT_BENCH_NO_WAITS no record tells who waits.
 * CMT_BENCH_MS ends the program after so many milliseconds.
 *
 * Time is made up: each ppoll() of the program writes what the CPUs would write until
 * its watermark or its timeout, and sets the clock.  The process's own time, less
 * that of the writing, over the time that went by is cmtstat's share of a CPU.
 *
 * At exit there are lines "figure KEY VALUE" in the file CMT_BENCH_FIGURES: the share in
 * percent (cmtstat_all or cmtstat_hot), and the most of anonymous memory that the
 * process had, in KiB: the maps of the rings are not in it.  CMT_BENCH_NAME is another
 * name than cmtstat.  Of a machine of another size the share is cmtstat_percent, and there
 * are the time for a record, and what the ticks did.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_device.h"
#include "image.h"
#include "made.h"

#define MS		1000000ULL
#define T0		(1000 * MS)
#define CPUS		64U
#define DOMAIN_CPUS	8U
#define ONE_CPUS	16U
#define RMIDS		256U
#define SOFTWARE_RMIDS	4096U
#define CONTAINERS	200U
#define CGROUP		7000U	/* CGROUP + RMID is the id of a container's cgroup */
#define TURN_TICKS	32
#define RUN_MS		5
#define BURST_MS	20
#define RING_RECORDS	16384
#define MANY_CPUS	128U	/* the rings of more CPUs are smaller */
#define MANY_RECORDS	2048
#define READ_NS		600
#define BUDGET_NS	20000

/* In each domain alike. */
struct load {
	uint64_t occupancy, total, local;	/* bytes; counted since the start */
};

static struct load loads[RMIDS];
static bool hot;		/* CMT_BENCH_HOT is set */
static bool counted;		/* CMT_BENCH_COUNTED is set */
static uint32_t cpus = CPUS, domain_cpus = DOMAIN_CPUS;
static struct made made;	/* cpus 0: CMT_BENCH_MACHINE is not set */
static uint32_t containers = CONTAINERS;
static uint64_t ms;		/* milliseconds written so far */
static uint64_t end_ms;		/* CMT_BENCH_MS; 0: it ends by itself */
static uint64_t records;
static uint64_t written_ns;	/* the process's time for writing */
static unsigned long anonymous_kib;

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask);

static uint64_t used_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static bool path_of(uint64_t cgroup_id, char path[FAKE_PATH_MAX])
{
	if (cgroup_id <= CGROUP || cgroup_id > CGROUP + containers)
		return false;
	snprintf(path, FAKE_PATH_MAX, "/machine.slice/docker-%012llx%052d.scope",
		 (unsigned long long)cgroup_id, 0);
	return true;
}

static void own(uint32_t rmid)
{
	struct cmt_record *record = &fake.existing[fake.nr_existing++];

	*record = image_event(CMT_REC_EXISTING, 0, T0, rmid, 1);
	record->owner.cgroup_id = 0;
	if (rmid > containers)
		return;
	record->flags |= CMT_F_OWNER_CGROUP;
	record->tgid = 0;
	record->owner.cgroup_id = CGROUP + rmid;
}

static void without_rdt(void)
{
	fake.info.backend = CMT_BACKEND_SOFTWARE;
	fake.info.nr_rmids = SOFTWARE_RMIDS;
	fake.info.rmids_usable = SOFTWARE_RMIDS - 1;
	fake.info.events = 0;
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);

	return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* Returns the number of RMIDs. */
static uint32_t choose_machine(void)
{
	const char *machine = getenv("CMT_BENCH_MACHINE");

	if (getenv("CMT_BENCH_ONE"))
		cpus = domain_cpus = ONE_CPUS;
	if (!machine)
		return RMIDS;
	made.read_ns = number_of("CMT_BENCH_READ_NS", READ_NS);
	made.budget_ns = BUDGET_NS;
	if (sscanf(machine, "%u/%u/%u", &made.cpus, &made.domains, &made.containers) != 3)
		abort();
	made_begin(&made);
	cpus = made.cpus;
	containers = made.containers;
	return made_rmids(&made);
}

__attribute__((constructor)) static void load_begin(void)
{
	uint32_t rmids = choose_machine();

	hot = getenv("CMT_BENCH_HOT");
	counted = getenv("CMT_BENCH_COUNTED");
	end_ms = number_of("CMT_BENCH_MS", 0);
	fake_setup(cpus, cpus > MANY_CPUS ? MANY_RECORDS : RING_RECORDS);
	fake.info.nr_rmids = rmids;
	fake.info.rmids_usable = rmids - 1;
	fake.info.scope = CMT_SCOPE_CONTAINER;
	fake.info.events |= CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
	if (counted)
		without_rdt();
	fake.level = true;
	fake.path_of = path_of;
	fake.now = T0;
	for (uint32_t rmid = 1; rmid < (made.cpus ? containers + 1 : rmids); rmid++)
		own(rmid);
}

/*
 * Does the container run on its CPU in this millisecond?  With CMT_BENCH_HOT two do,
 * for RUN_MS.
 */
static bool is_running(uint32_t rmid)
{
	uint32_t n = (RMIDS - 1 + domain_cpus - 1) / domain_cpus;
	uint32_t turn = (rmid - 1) / domain_cpus;

	return !hot || (turn + n - 2 * (uint32_t)(ms / RUN_MS) % n) % n < 2;
}

/* Is the container read?  A container that does not run is read in its turn. */
static bool is_read(uint32_t rmid)
{
	return is_running(rmid) || (rmid + ms) % TURN_TICKS == 0;
}

static uint32_t noise(uint32_t rmid)
{
	return (rmid * 2654435761U ^ (uint32_t)ms * 2246822519U) >> 24;
}

/* The container fetches lost lines, sometimes many of them, while it runs. */
static void run(uint32_t rmid)
{
	struct load *l = &loads[rmid];
	bool burst = (rmid + ms / BURST_MS) % 50 == 0;

	l->occupancy = 65536ULL * (rmid + noise(rmid) % 4 + (burst ? 8 : 0));
	l->total += 65536ULL * (1 + rmid % 8 + noise(rmid) % 2) * (burst ? 4 : 1);
	l->local = l->total / 2;
}

/* What ran on the CPU: two hundred thousand instructions, and some misses */
static void write_counts(uint32_t cpu, uint64_t ts)
{
	for (uint32_t rmid = 1 + cpu % domain_cpus; rmid < RMIDS; rmid += domain_cpus) {
		struct cmt_record record = image_perf(cpu, ts++, rmid, 1, 400000);

		if (!is_running(rmid))
			continue;
		record.flags |= CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES;
		record.domain = cpu / domain_cpus;
		record.perf.llc_misses = 100 + noise(rmid);
		record.perf.llc_references = 2000;
		image_put(fake_ring(cpu), &record);
	}
}

/* The RMIDs of a domain are partitioned across its CPUs. */
static void write_values(uint32_t cpu, uint64_t ts)
{
	for (uint32_t rmid = 1 + cpu % domain_cpus; rmid < RMIDS;
	     rmid += domain_cpus) {
		struct cmt_record record;

		if (!is_read(rmid))
			continue;
		record = image_sample(cpu, ts++, rmid, 1);
		record.flags |= CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL;
		record.domain = cpu / domain_cpus;
		record.sample.occupancy_bytes = loads[rmid].occupancy;
		record.sample.mbm_total_bytes = loads[rmid].total;
		record.sample.mbm_local_bytes = loads[rmid].local;
		image_put(fake_ring(cpu), &record);
	}
}

static void write_tick(uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = image_tick(cpu, ts + RMIDS);

	if (counted)
		write_counts(cpu, ts);
	else
		write_values(cpu, ts);
	record.domain = cpu / domain_cpus;
	image_put(fake_ring(cpu), &record);
}

static void put(const struct cmt_record *record)
{
	image_put(fake_ring(record->cpu), record);
	records++;
}

static void write_ms(void)
{
	ms++;
	if (made.cpus) {
		made_set_waits(fake.counters & CMT_F_WAITED && !getenv("CMT_BENCH_NO_WAITS"));
		made_write(ms, T0 + ms * MS, put);
		return;
	}
	for (uint32_t rmid = 1; rmid < RMIDS; rmid++)
		if (is_running(rmid))
			run(rmid);
	/* CPUs tick at slightly different times */
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		write_tick(cpu, T0 + ms * MS + 1000 * cpu);
}

static void look_at_memory(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long kib;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %lu", &kib) == 1 &&
		    kib > anonymous_kib)
			anonymous_kib = kib;
	if (file)
		fclose(file);
}

/* As a user would, while the program waits. */
static void end_program(const sigset_t *mask)
{
	sigset_t before;

	raise(SIGTERM);
	sigprocmask(SIG_SETMASK, mask, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		 const sigset_t *mask)
{
	uint64_t begin = used_ns(), until = UINT64_MAX;

	if (timeout)
		until = fake.now + (uint64_t)timeout->tv_sec * 1000 * MS +
			(uint64_t)timeout->tv_nsec;
	for (nfds_t i = 1; i < n; i++)
		fds[i].revents = 0;
	while (!poll(fds, 1, 0) && T0 + (ms + 1) * MS <= until) {
		write_ms();
		fake.now = T0 + ms * MS + MS / 2;
	}
	if (!fds[0].revents)
		fake.now = until;
	if (end_ms && ms >= end_ms)
		end_program(mask);
	look_at_memory();
	written_ns += used_ns() - begin;
	return fds[0].revents ? 1 : 0;
}

/* Of a machine whose size was chosen */
static void print_made(FILE *file, const char *name, double ns)
{
	const struct made_counts *counts = made_counts();
	double all_ms = (double)ms;

	fprintf(file, "figure %s_percent %.2f\n", name, 100 * ns / (all_ms * MS));
	fprintf(file, "figure %s_ns_record %.1f\n", name, ns / (double)records);
	fprintf(file, "figure %s_records_ms %.1f\n", name, (double)records / all_ms);
	fprintf(file, "figure %s_samples_ms %.1f\n", name, (double)counts->samples / all_ms);
	fprintf(file, "figure %s_loaded_ms %.1f\n", name, (double)counts->loaded / all_ms);
	fprintf(file, "figure %s_deferred_ms %.1f\n", name,
		(double)counts->deferred / all_ms);
	fprintf(file, "figure %s_oldest_ms %llu\n", name,
		(unsigned long long)counts->oldest_ms);
}

__attribute__((destructor)) static void load_end(void)
{
	const char *path = getenv("CMT_BENCH_FIGURES");
	const char *name = getenv("CMT_BENCH_NAME");
	double ns = (double)(used_ns() - written_ns);
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file || !ms)
		return;
	name = name ? name : "cmtstat";
	if (made.cpus)
		print_made(file, name, ns);
	else
		fprintf(file, "figure %s_%s %.2f\n", name, hot ? "hot" : "all",
			100 * ns / (double)(ms * MS));
	fprintf(file, "figure %s_kib %lu\n", name, anonymous_kib);
	fclose(file);
}

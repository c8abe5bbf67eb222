// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debian's pqos, which is Intel's, while a container walks through twice the cache on
 * CPU 1: by its interface to the kernel (resctrl), and by MSRs.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../lab/suite/rdtgroup.h"
#include "../vm/suite/control.h"
#include "beside.h"

#define ROWS_FILE	"/run/pqos.csv"
#define SAID_FILE	"/run/pqos.said"
#define WALK_ALL_KIB	(2 * CACHE_KIB)
/* Rows of one CPU or process for each value; the first may be of the state before. */
#define ROWS		6
/* pqos -i counts tenths of a second. */
#define PER_SECOND	5.0

#define MISS(command)								\
	{ .name = command ": bytes of traffic per LLC miss",			\
	  .truth = BYTES_PER_MISS, .allowed = BYTES_PER_MISS / 6 }
#define CPU_VALUES(command) {							\
	{ .name = command ": CPU 0, KB", .truth = 0, .allowed = CACHE_NEAR_KIB },\
	{ .name = command ": CPU 1, KB", .truth = CACHE_KIB,			\
	  .allowed = CACHE_NEAR_KIB },						\
	MISS(command ": CPU 1"),						\
}

static pid_t pqos, walk;
static size_t asked_from;	/* bytes of the file that are of states before */

struct sums {
	unsigned int rows;
	double last_kib, misses, mib;
};

/*
 * A row is Time,"id",...,IPC,LLC Misses,LLC[KB],MBL[MB/s],MBR[MB/s]; with a time that
 * begins with the century.
 */
static void sum_row(struct sums *sums, char *line, const char *id)
{
	char *field[5], *end = strrchr(line, '\n');

	if (!end || strncmp(line, "20", 2) || !strstr(line, id))
		return;
	*end = '\0';
	for (int i = 4; i >= 0; i--) {
		field[i] = strrchr(line, ',');
		CHECK(field[i], "pqos: %s", line);
		*field[i]++ = '\0';
	}
	sums->last_kib = strtod(field[2], NULL);
	if (!sums->rows++)
		return;
	sums->misses += strtod(field[1], NULL);
	sums->mib += strtod(field[3], NULL) / PER_SECOND;
}

static struct sums sums_of(const char *id)
{
	struct sums sums = { .last_kib = NAN };
	FILE *rows = fopen(ROWS_FILE, "r");
	char line[256];

	if (!rows)
		return sums;
	fseek(rows, (long)asked_from, SEEK_SET);
	while (fgets(line, sizeof(line), rows))
		sum_row(&sums, line, id);
	fclose(rows);
	return sums;
}

static double last_kib(void *id)
{
	return sums_of(id).last_kib;
}

static double bytes_per_miss(const char *id)
{
	struct sums sums = sums_of(id);

	return sums.mib * 1048576 / sums.misses;
}

/* pqos prints no row when it does not start. */
static void pqos_start(const char *interface, const char *what, const char *of)
{
	const char *argv[] = { "pqos", interface, what, of, "-i", "2", "-t", "inf",
			       "-u", "csv", "-o", ROWS_FILE, NULL };

	unlink(ROWS_FILE);
	pqos = program_start(SAID_FILE, argv);
}

/* Wait for the rows of this state. */
static void pqos_look(const char *id)
{
	struct patience patience = patience_of(30000);
	char said[512];

	asked_from = file_size(ROWS_FILE);
	while (sums_of(id).rows < ROWS && patience_left(&patience))
		sleep_ms(50);
	if (sums_of(id).rows < ROWS)
		note("pqos: %u rows; it says: %s", sums_of(id).rows,
		     read_file(SAID_FILE, said, sizeof(said)));
}

static void pqos_stop(void)
{
	program_end(pqos, SIGINT);
	umount(RESCTRL);
}

static void by_cpu_start(void)
{
	pqos_start("-I", "-m", "all:0,1");
}

static void by_cpu_ask(enum state state, struct answer *answers)
{
	(void)state;
	pqos_look("\"1\"");
	settle(&answers[0], last_kib, "\"0\"", CACHE_NEAR_KIB / 2, others_kib);
	settle(&answers[1], last_kib, "\"1\"", CACHE_NEAR_KIB / 2, walker_kib);
	answers[2].is = bytes_per_miss("\"1\"");
}

void pqos_by_cpu(void)
{
	static const struct client client = {
		.start = by_cpu_start, .ask = by_cpu_ask, .stop = pqos_stop,
		.values = CPU_VALUES("pqos -I -m all:0,1"),
	};

	stage();
	walk = walker_add(WALK_ALL_KIB);
	beside(&client);
}

static char *walk_id(void)
{
	static char id[16];

	snprintf(id, sizeof(id), "\"%d\"", walk);
	return id;
}

static void by_pid_start(void)
{
	char of[24];

	snprintf(of, sizeof(of), "all:%d", walk);
	pqos_start("-I", "-p", of);
}

static void by_pid_ask(enum state state, struct answer *answers)
{
	(void)state;
	pqos_look(walk_id());
	settle(&answers[0], last_kib, walk_id(), CACHE_NEAR_KIB / 2, walker_kib);
	answers[1].is = bytes_per_miss(walk_id());
}

void pqos_by_pid(void)
{
	static const struct client client = {
		.start = by_pid_start, .ask = by_pid_ask, .stop = pqos_stop,
		.values = {
			{ .name = "pqos -I -p all:PID: KB",
			  .truth = CACHE_KIB, .allowed = CACHE_NEAR_KIB },
			MISS("pqos -I -p all:PID"),
		},
	};

	stage();
	walk = walker_add(WALK_ALL_KIB);
	beside(&client);
}

/* pqos refuses a CPU that has an RMID: it starts while the container does not run. */
static void by_msr_start(void)
{
	char said[512];

	pqos_start("--iface=msr", "-m", "all:0,1");
	WAIT_FOR(sums_of("\"1\"").rows, 60000, "pqos: %s",
		 read_file(SAID_FILE, said, sizeof(said)));
}

/* A walker sleeps between its steps; this process of its container does not. */
static pid_t spinner_start(void)
{
	int ends[2];
	char byte = 0;
	pid_t pid = fork_with_pipe(ends);

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		group_enter(container(0), getpid());
		run_on(0, 1);
		CHECK(write(ends[1], &byte, 1) == 1, "write: %m");
		for (;;)
			;
	}
	CHECK(read(ends[0], &byte, 1) == 1, "read: %m");
	close(ends[0]);
	close(ends[1]);
	return pid;
}

/* It says so, where it starts while an owner of cmt's runs there. */
static void by_msr_is_refused(void)
{
	/* on CPU 0: on CPU 1 it would see its own RMID, and not that of the spinner */
	const char *argv[] = { "taskset", "1", "pqos", "--iface=msr", "-m", "all:0,1", NULL };
	char said[4096] = "";
	pid_t spinner;

	cmt_load();
	spinner = spinner_start();
	pqos = program_start(SAID_FILE, argv);
	WAIT_FOR(strstr(read_file(SAID_FILE, said, sizeof(said)), "Monitoring start error"),
		 60000, "pqos: %s", said);
	program_end(pqos, SIGINT);
	reap(spinner, SIGKILL);
	cmt_unload();
}

void pqos_by_msr(void)
{
	static const struct client client = {
		.start = by_msr_start, .ask = by_cpu_ask, .stop = pqos_stop,
		.values = CPU_VALUES("pqos --iface=msr -m all:0,1"),
	};

	stage();
	kernel_module_load("/lib/msr.ko");
	walk = walker_add(WALK_ALL_KIB);
	by_msr_is_refused();
	beside(&client);
}

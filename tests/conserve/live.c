// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: live FILE RECORDS BURSTS RATE [DROP]: writes RECORDS records to each ring in FILE
 * with module/ring/writer.c, with times of now and RATE records a second in all rings, in BURSTS
 * bursts.  A burst begins with a line on stdin; its end is a line on stdout with the
 * number of records that each ring has.  Each record counts one cycle, and its index in
 * the ring as instructions.  DROP: the record of this index in ring 3 is counted and not
 * written.
 *
 * One thread writes all rings in turn: no record comes later than a record of a later
 * time, so that a reader never drops a record as late.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "conserve.h"
#include "ring/writer.h"

#define DROP_RING	3
#define PACE_RECORDS	64	/* in each ring, between two looks at the clock */

static struct cmt_ring writers[NR_RINGS];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void prepare(char *at)
{
	uint16_t cpu;

	for (cpu = 0; cpu < NR_RINGS; cpu++, at += RING_BYTES) {
		cmt_ring_init(&writers[cpu], (struct cmt_ring_header *)at, cpu,
			      RING_RECORDS, INSTANCE);
		writers[cpu].slots = (struct cmt_record *)(at + CMT_RING_DATA_OFFSET);
		cmt_ring_set_state(&writers[cpu], CMT_RING_ONLINE);
	}
}

static void write_one(uint64_t index, uint64_t drop)
{
	struct cmt_record record = {
		.type = CMT_REC_PERF, .rmid = LIVE_RMID, .generation = 1,
		.flags = CMT_F_CYCLES | CMT_F_INSTRUCTIONS, .ran_ns = 1,
		.perf.cycles = 1, .perf.instructions = index,
	};
	uint16_t cpu;

	for (cpu = 0; cpu < NR_RINGS; cpu++) {
		if (index == drop && cpu == DROP_RING)
			continue;
		record.ts = now_ns();
		cmt_ring_write(&writers[cpu], &record);
	}
}

/*
 * A writer that is late is not faster afterwards: a slot of a millisecond has room for no
 * more than the module writes in it.
 */
static uint64_t pace(uint64_t due, uint64_t rate)
{
	uint64_t now = now_ns();
	struct timespec ts;

	due += PACE_RECORDS * NR_RINGS * 1000000000ULL / rate;
	if (due < now)
		return now;
	ts.tv_sec = (time_t)(due / 1000000000);
	ts.tv_nsec = (long)(due % 1000000000);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	return due;
}

static void burst(uint64_t from, uint64_t to, uint64_t rate, uint64_t drop)
{
	uint64_t due = now_ns(), i;

	for (i = from; i < to; i++) {
		write_one(i, drop);
		if (!(i % PACE_RECORDS))
			due = pace(due, rate);
	}
}

int main(int argc, char **argv)
{
	uint64_t records, bursts, rate, drop, n;
	char line[16];
	void *at;
	int fd;

	if (argc != 5 && argc != 6)
		return 2;
	records = strtoull(argv[2], NULL, 0);
	bursts = strtoull(argv[3], NULL, 0);
	rate = strtoull(argv[4], NULL, 0);
	drop = argc == 6 ? strtoull(argv[5], NULL, 0) : UINT64_MAX;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, NR_RINGS * RING_BYTES)) {
		perror(argv[1]);
		return 1;
	}
	at = mmap(NULL, NR_RINGS * RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED || !rate) {
		perror("live");
		return 1;
	}
	prepare(at);
	for (n = 0; n <= bursts; n++) {
		printf("%llu\n", (unsigned long long)(records * n / bursts));
		fflush(stdout);
		if (n < bursts && !fgets(line, sizeof(line), stdin))
			return 1;
		if (n < bursts)
			burst(records * n / bursts, records * (n + 1) / bursts, rate, drop);
	}
	return 0;
}

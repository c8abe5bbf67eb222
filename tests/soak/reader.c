// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A reader of all records, until SIGTERM: emitted = delivered + lost + late + malformed +
 * pending at any time, and the times of records are those of this program's clock.  Once a
 * second it writes its figures to the file that it is given.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmt/cmt.h>

#define BATCH		256
#define SECOND		UINT64_C(1000000000)

static volatile sig_atomic_t ends;

static void end(int sig)
{
	(void)sig;
	ends = 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts)) {
		perror("clock_gettime");
		exit(1);
	}
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* A second of its own, at which the newest tick of all was so old at least and at most */
struct ages {
	uint64_t least, most;
};

/* All at once: the story reads them at any time. */
static void write_figures(const char *path, const struct cmt_reader_counts *counts,
			  const struct ages *ages)
{
	char part[PATH_MAX];
	FILE *to;

	snprintf(part, sizeof(part), "%s.part", path);
	to = fopen(part, "w");

	if (!to || fprintf(to, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			   " %" PRIu64 "\n", counts->emitted, counts->delivered,
			   counts->lost, counts->late, ages->least / 1000,
			   ages->most / 1000) < 0 || fclose(to) ||
	    rename(part, path)) {
		perror(path);
		exit(1);
	}
}

static void check_conserved(const struct cmt_reader *reader, struct cmt_reader_counts *counts)
{
	counts->sz = sizeof(*counts);
	if (cmt_reader_counts(reader, counts))
		exit(1);
	if (counts->malformed ||
	    counts->emitted != counts->delivered + counts->lost + counts->late +
			       counts->pending) {
		fprintf(stderr, "emitted %" PRIu64 ", delivered %" PRIu64 ", lost %" PRIu64
			", late %" PRIu64 ", malformed %" PRIu64 ", pending %" PRIu64 "\n",
			counts->emitted, counts->delivered, counts->lost, counts->late,
			counts->malformed, counts->pending);
		exit(1);
	}
}

static void check_time(uint64_t ns, uint64_t before_ns)
{
	if (ns >= before_ns && ns <= now_ns())
		return;
	fprintf(stderr, "a record of %" PRIu64 " comes after %" PRIu64 ", at %" PRIu64 "\n",
		ns, before_ns, now_ns());
	exit(1);
}

/* Returns how many records there were; *@newest_ns is the time of the last tick. */
static int read_some(struct cmt_reader *reader, uint64_t *newest_ns)
{
	static struct cmt_record records[BATCH];
	static uint64_t before_ns;
	int n = cmt_reader_read(reader, records, BATCH);

	if (n < 0) {
		fprintf(stderr, "cmt_reader_read: %s\n", strerror(-n));
		exit(1);
	}
	for (int i = 0; i < n; i++) {
		const struct cmt_record *record = &records[i];

		if (record->type == CMT_REC_TICK)
			*newest_ns = record->ts;
		if (record->type == CMT_REC_LOST)
			continue;
		check_time(record->ts, before_ns);
		before_ns = record->ts;
	}
	return n;
}

static void follow(struct cmt_reader *reader, const char *path)
{
	struct ages ages = { UINT64_MAX, 0 };
	uint64_t newest_ns = 0, next_ns = now_ns() + SECOND;
	struct cmt_reader_counts counts;

	while (!ends) {
		uint64_t age;
		int ret;

		while (read_some(reader, &newest_ns))
			;
		age = now_ns() - newest_ns;
		if (newest_ns && ages.least > age)
			ages.least = age;
		if (newest_ns && ages.most < age)
			ages.most = age;
		check_conserved(reader, &counts);
		if (now_ns() >= next_ns) {
			write_figures(path, &counts, &ages);
			ages = (struct ages){ UINT64_MAX, 0 };
			next_ns = now_ns() + SECOND;
		}
		ret = cmt_reader_wait(reader, 100);
		if (ret < 0 && ret != -EINTR) {
			fprintf(stderr, "cmt_reader_wait: %s\n", strerror(-ret));
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	struct cmt_reader *reader;
	struct cmt_device *dev;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "Usage: %s FILE\n", argv[0]);
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	ret = cmt_device_open(&dev, NULL, 0);
	if (!ret)
		ret = cmt_reader_new(&reader, dev, NULL);
	if (ret) {
		fprintf(stderr, "/dev/cmt: %s\n", strerror(-ret));
		return 1;
	}
	follow(reader, argv[1]);
	cmt_reader_free(reader);
	cmt_device_close(dev);
	return 0;
}

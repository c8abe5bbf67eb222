// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory channels on the screen: cmtstat shows the model's counts of each channel.
 * Their sum is that of the RMIDs and of the traffic without an RMID.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "tests.h"

#define CHANNELS	8
#define SOCKETS_MAX	2
#define BUFFER_BYTES	(32 << 20)
#define WALKS		6
#define LINE_LEN	65536

struct cmtstat {
	pid_t pid;
	FILE *out;
	char line[LINE_LEN];
	uint64_t end_ns;	/* values of the last interval */
	/* bytes, over all intervals since the last begin_sums() */
	double read[SOCKETS_MAX][CHANNELS], written[SOCKETS_MAX][CHANNELS];
	double idle[SOCKETS_MAX][CHANNELS];	/* seconds, of idle_of */
	double idle_of[SOCKETS_MAX][CHANNELS];
	double elapsed;		/* seconds, of the last interval */
	bool has_idle;		/* the machine counts cycles */
	double memory, rmids, unattributed;	/* if all of them are known */
	unsigned int known, wrong, intervals;
	uint32_t channels;	/* number of rows in the last interval */
};

static void cmtstat_start(struct cmtstat *stat)
{
	int fds[2];

	CHECK(!pipe(fds), "pipe: %m");
	stat->pid = fork();
	CHECK(stat->pid >= 0, "fork: %m");
	if (!stat->pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		execlp("cmtstat", "cmtstat", "--by", "channel", "--json", "-i",
		       "0.5", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	stat->out = fdopen(fds[0], "r");
	CHECK(stat->out, "fdopen: %m");
}

static void cmtstat_end(struct cmtstat *stat)
{
	int status;

	kill(stat->pid, SIGTERM);
	fclose(stat->out);
	CHECK(waitpid(stat->pid, &status, 0) == stat->pid &&
	      WIFEXITED(status) && !WEXITSTATUS(status), "status %#x", status);
}

/* NAN: null */
static double number(const char *line, const char *name)
{
	char field[64];
	const char *at;

	snprintf(field, sizeof(field), "\"%s\":", name);
	at = strstr(line, field);
	CHECK(at, "no %s: %s", name, line);
	at += strlen(field);
	return strncmp(at, "null", 4) ? strtod(at, NULL) : (double)NAN;
}

/* A value that is not counted is shown as unavailable, not as a number. */
static void note_idle(struct cmtstat *stat, const char *line, uint32_t socket,
		      uint32_t channel)
{
	double percent = number(line, "read_idle_percent");

	if (!stat->has_idle)
		CHECK(isnan(percent) &&
		      (strstr(line, "\"read_idle_reason\":\"unavailable\"") ||
		       strstr(line, "\"read_bytes\":null")), "%s", line);
	if (isnan(percent))
		return;
	CHECK(percent >= 0 && percent <= 100, "%s", line);
	stat->idle[socket][channel] += percent / 100 * stat->elapsed;
	stat->idle_of[socket][channel] += stat->elapsed;
}

static void note_row(struct cmtstat *stat, const char *line)
{
	uint32_t socket = (uint32_t)number(line, "socket");
	uint32_t channel = (uint32_t)number(line, "channel");
	double read = number(line, "read_bytes");

	CHECK(socket < SOCKETS_MAX && channel < CHANNELS, "%s", line);
	stat->channels++;
	note_idle(stat, line, socket, channel);
	if (isnan(read))
		return;
	stat->read[socket][channel] += read;
	stat->written[socket][channel] += number(line, "written_bytes");
}

static void note_interval(struct cmtstat *stat, const char *line)
{
	double elapsed = number(line, "elapsed_ns") / 1e9;
	double memory = number(line, "memory_bytes_per_s");
	double rmids = number(line, "memory_rmids_bytes_per_s");
	double rest = number(line, "memory_unattributed_bytes_per_s");

	stat->end_ns = (uint64_t)number(line, "end_ns");
	stat->channels = 0;
	stat->elapsed = elapsed;
	stat->intervals++;
	if (isnan(rest))
		return;
	stat->known++;
	stat->memory += memory * elapsed;
	stat->rmids += rmids * elapsed;
	stat->unattributed += rest * elapsed;
	/* printed without a fraction */
	if (rest < number(line, "memory_unattributed_least_bytes_per_s") - 1 ||
	    rest > number(line, "memory_unattributed_most_bytes_per_s") + 1 ||
	    fabs(memory - rmids - rest) > 2)
		stat->wrong++;
}

static void next_line(struct cmtstat *stat)
{
	CHECK(fgets(stat->line, sizeof(stat->line), stat->out),
	      "cmtstat has ended");
	if (strstr(stat->line, "\"record\":\"interval\""))
		note_interval(stat, stat->line);
	else
		note_row(stat, stat->line);
}

/* An interval that ended after @since, with all its rows. */
static void wait_interval(struct cmtstat *stat, uint64_t since, uint32_t channels)
{
	struct patience patience = patience_of(60000);

	do {
		CHECK(patience_left(&patience), "no %u channels: %s", channels,
		      stat->line);
		next_line(stat);
	} while (stat->end_ns <= since || stat->channels < channels);
}

static void begin_sums(struct cmtstat *stat)
{
	memset(stat->read, 0, sizeof(stat->read));
	memset(stat->written, 0, sizeof(stat->written));
	memset(stat->idle, 0, sizeof(stat->idle));
	memset(stat->idle_of, 0, sizeof(stat->idle_of));
	stat->memory = stat->rmids = stat->unattributed = 0;
	stat->known = stat->wrong = stat->intervals = 0;
}

static bool within(double value, double truth, double share)
{
	return fabs(value - truth) <= share * truth;
}

static void walk_buffer(void)
{
	volatile char *buffer = malloc(BUFFER_BYTES);
	size_t n, i;

	CHECK(buffer, "no memory");
	for (n = 0; n < WALKS; n++)
		for (i = 0; i < BUFFER_BYTES; i += 64)
			buffer[i]++;
	free((void *)buffer);
}

static void check_channel(const struct cmtstat *stat, uint32_t socket,
			  uint32_t channel, const struct lab_answer *from)
{
	struct lab_answer truth = lab_ask(LAB_CHANNEL,
					  LAB_ARG(socket, channel, 0));
	double read = (double)(truth.first - from->first);
	double written = (double)(truth.second - from->second);

	note("socket %u channel %u: read %.0f of %.0f, written %.0f of %.0f",
	     socket, channel, stat->read[socket][channel], read,
	     stat->written[socket][channel], written);
	/* the buffer may be on one socket */
	CHECK(read > 0 && written > 0, "no traffic");
	CHECK(within(stat->read[socket][channel], read, 0.01) &&
	      within(stat->written[socket][channel], written, 0.01),
	      "not what the model counted");
}

/* Intervals begin and end while no read is pending. */
static void check_idle(const struct cmtstat *stat, uint32_t socket,
		       uint32_t channel, const struct lab_answer *from)
{
	struct lab_answer truth = lab_ask(LAB_CHANNEL_IDLE,
					  LAB_ARG(socket, channel, 0));
	double busy = (double)(truth.second - from->second) / 1e9;
	double of = stat->idle_of[socket][channel];
	double is = of - stat->idle[socket][channel];

	if (!stat->has_idle)
		return;
	note("socket %u channel %u: reads pending for %.3f s of %.3f s, in the model %.3f s",
	     socket, channel, is, of, busy);
	CHECK(of > 1, "no interval has a share");
	CHECK(fabs(is - busy) <= 0.01 * of, "not the share of the model");
	CHECK(busy > 0.01 * of, "a share that cannot be told from none");
}

/* In the model every fill and every write-back belongs to an RMID. */
static void check_sums(const struct cmtstat *stat)
{
	note("of %u intervals, %u are known: memory %.0f, RMIDs %.0f, unattributed %.0f",
	     stat->intervals, stat->known, stat->memory, stat->rmids,
	     stat->unattributed);
	CHECK(stat->known && stat->memory > BUFFER_BYTES, "no interval is known");
	CHECK(!stat->wrong, "%u intervals are no sum, or out of their bounds",
	      stat->wrong);
	CHECK(fabs(stat->unattributed) <= 0.02 * stat->memory,
	      "RMIDs do not explain the channels");
}

static void test_screen(void)
{
	uint32_t n = lab_get(LAB_CONFIG, LAB_C_L3S) * CHANNELS, i;
	struct lab_answer from[SOCKETS_MAX * CHANNELS];
	struct lab_answer idle[SOCKETS_MAX * CHANNELS];
	struct cmtstat *stat = calloc(1, sizeof(*stat));

	CHECK(stat, "no memory");
	stat->has_idle = lab_get(LAB_CONFIG, LAB_C_PMON_WIDTH) >= 40;
	cmtstat_start(stat);
	/* the first one has no difference of RMIDs */
	wait_interval(stat, 0, n);
	wait_interval(stat, stat->end_ns, n);
	model_begin();
	lab_switch(false);
	wait_interval(stat, now_ns(), n);
	wait_interval(stat, stat->end_ns, n);
	begin_sums(stat);
	for (i = 0; i < n; i++) {
		uint32_t arg = LAB_ARG(i / CHANNELS, i % CHANNELS, 0);

		from[i] = lab_ask(LAB_CHANNEL, arg);
		idle[i] = lab_ask(LAB_CHANNEL_IDLE, arg);
	}
	lab_switch(true);
	walk_buffer();
	lab_ask(LAB_FLUSH, 0);
	lab_switch(false);
	wait_interval(stat, now_ns(), n);
	wait_interval(stat, stat->end_ns, n);
	for (i = 0; i < n; i++) {
		check_channel(stat, i / CHANNELS, i % CHANNELS, &from[i]);
		check_idle(stat, i / CHANNELS, i % CHANNELS, &idle[i]);
	}
	check_sums(stat);
	cmtstat_end(stat);
	free(stat);
}

const struct test uncore_screen_tests[] = {
	{ "channels_on_the_screen", test_screen, "scope=cpu interval_us=5000", 300 },
	{ "channels_beside_processes", test_screen, PROCESS " interval_us=5000", 300 },
	{ 0 },
};

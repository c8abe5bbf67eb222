// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmtctl measure and cmtstat -- COMMAND in a guest: their output, and the state
 * afterwards.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

#define MANUAL "scope=manual ring_records=16384"
#define OUTPUT "/tmp/measure-output"

/* Start a program; its output and standard error go to OUTPUT. */
static pid_t start(const char *const argv[])
{
	/* truncated here, so that the previous program's output does not count */
	int fd = open(OUTPUT, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	pid_t pid = fork();

	CHECK(fd >= 0 && pid >= 0, "fork: %m");
	if (pid == 0) {
		if (dup2(fd, 1) != 1 || dup2(fd, 2) != 2)
			_exit(99);
		execv(argv[0], (char *const *)argv);
		_exit(99);
	}
	close(fd);
	return pid;
}

static const char *output(void)
{
	static char text[1 << 16];

	return read_file(OUTPUT, text, sizeof(text));
}

/* The complete output, after the program has ended with @status. */
static const char *run(const char *const argv[], int status)
{
	pid_t pid = start(argv);
	int result;

	CHECK(waitpid(pid, &result, 0) == pid, "waitpid: %m");
	CHECK(WIFEXITED(result) && WEXITSTATUS(result) == status,
	      "%s: status %#x, not %d: %.800s", argv[0], result, status,
	      output());
	return output();
}

static void has(const char *text, const char *what)
{
	CHECK(strstr(text, what), "no '%s' in: %.800s", what, text);
}

static void wait_output(const char *what)
{
	WAIT_FOR(strstr(output(), what), 10000, "no '%s' in: %.800s", what,
		 output());
}

static void wait_active(const struct dev *dev, uint32_t active)
{
	WAIT_FOR(dev_stats(dev).rmids_active == active, 10000,
		 "%u RMIDs have an owner, not %u", dev_stats(dev).rmids_active,
		 active);
}

/* The owner ends with the measuring program, in every way that it can end. */
static void measure_process(void)
{
	char id[16];
	const char *const argv[] = {
		"/bin/cmtctl", "measure", "pid", id, "-i", "0.05", "--json", NULL
	};
	struct cmt_stats before, after;
	struct dev dev;
	pid_t target = park(0, "measured"), pid;

	dev_open(&dev, O_RDONLY);
	before = dev_stats(&dev);
	snprintf(id, sizeof(id), "%d", target);
	pid = start(argv);
	wait_output("\"readings\":1");
	wait_active(&dev, before.rmids_active + 1);
	reap(pid, SIGKILL);
	wait_active(&dev, before.rmids_active);
	pid = start(argv);
	wait_output("\"readings\":1");
	reap(target, SIGKILL);
	expect_exit_0(pid, argv[0]);
	has(output(), "{\"record\":\"ended\"");
	wait_active(&dev, before.rmids_active);
	after = dev_stats(&dev);
	CHECK(after.ticks == before.ticks, "%llu ticks ran",
	      (unsigned long long)(after.ticks - before.ticks));
	dev_close(&dev);
}

/* The command's memory is measured, and no tick runs for the measurement. */
static void measure_command(void)
{
	static const char *const argv[] = {
		"/bin/cmtstat", "--json", "--", "/bin/cmtctl", "measure",
		"cpu", "0", "-n", "2", "-i", "0.1", NULL
	};
	static const char *const missing[] = {
		"/bin/cmtstat", "--", "/none", NULL
	};
	struct cmt_stats before, after;
	const char *text;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	before = dev_stats(&dev);
	text = run(argv, 0);
	has(text, "cpu 0: RMID ");
	has(text, "{\"record\":\"command\",\"command\":[\"/bin/cmtctl\",");
	has(text, "\"status\":0,\"signal\":null,");
	has(text, "\"pending\":false,\"occupancy_bytes\":");
	CHECK(!strstr(text, "\"occupancy_most_bytes\":null"), "%.800s", text);
	CHECK(!strstr(text, "\"mbm_total_bytes\":null"), "%.800s", text);
	has(text, "\"mbm_total_partial\":false");
	has(run(missing, 127), "cmtstat: /none: No such file or directory");
	wait_active(&dev, before.rmids_active);
	after = dev_stats(&dev);
	CHECK(after.ticks == before.ticks, "%llu ticks ran",
	      (unsigned long long)(after.ticks - before.ticks));
	dev_close(&dev);
}

/* The rows of cmtstat without a reader, and thus without ticks. */
static void measure_light(void)
{
	static const char *const argv[] = {
		"/bin/cmtstat", "--light", "--by", "process", "-i", "0.2", "-n",
		"3", "--json", NULL
	};
	struct cmt_stats before, after;
	const char *text;
	struct dev dev;
	pid_t pid = park(0, "listed");

	dev_open(&dev, O_RDONLY);
	before = dev_stats(&dev);
	text = run(argv, 0);
	after = dev_stats(&dev);
	has(text, "\"comm\":\"listed\"");
	has(text, "\"sampling_interval_ns\":null");
	has(text, "\"reason\":null,\"cgroup_hex\"");
	CHECK(strstr(strstr(text, "\"comm\":\"listed\""), "\"mbm_total_partial\":false"),
	      "%.800s", text);
	CHECK(after.ticks == before.ticks, "%llu ticks ran",
	      (unsigned long long)(after.ticks - before.ticks));
	reap(pid, SIGKILL);
	dev_close(&dev);
}

/* A command and cmtstat itself are killed: no owner or process remains. */
static void measure_killed(void)
{
	static const char *const argv[] = {
		"/bin/cmtstat", "--", "/bin/cmtctl", "measure", "cpu", "0",
		"-i", "0.05", "-n", "60", NULL
	};
	struct cmt_stats before;
	struct dev dev;
	pid_t pid;

	dev_open(&dev, O_RDONLY);
	before = dev_stats(&dev);
	pid = start(argv);
	wait_output("cpu 0: RMID ");
	kill(pid, SIGTERM);
	expect_exit_0(pid, argv[0]);
	has(output(), "cmtstat: /bin/cmtctl: exit status 0");
	wait_active(&dev, before.rmids_active);
	pid = start(argv);
	wait_output("cpu 0: RMID ");
	wait_active(&dev, before.rmids_active + 2);
	reap(pid, SIGKILL);
	/* the command goes on, and has registered a CPU; then it ends */
	wait_active(&dev, before.rmids_active + 1);
	wait_active(&dev, before.rmids_active);
	dev_close(&dev);
}

/*
 * A recording has the attributes of processes from the module, and the RMID of a
 * command.
 */
static void measure_recording(void)
{
	static const char *const record[] = {
		"/bin/cmtstat", "record", "-o", "/tmp/a.cmt", "-t", "1.5", NULL
	};
	static const char *const replay[] = {
		"/bin/cmtstat", "replay", "--by", "process", "-i", "0.5", "-n", "2",
		"--json", "/tmp/a.cmt", NULL
	};
	static const char *const command[] = {
		"/bin/cmtstat", "record", "-f", "-o", "/tmp/a.cmt", "--",
		"/bin/cmtctl", "measure", "cpu", "0", "-n", "2", "-i", "0.1", NULL
	};
	static const char *const containers[] = {
		"/bin/cmtstat", "replay", "/tmp/a.cmt", NULL
	};
	pid_t pid = park(0, "listed");
	struct cmt_stats before;
	const char *text;
	struct dev dev;

	unlink("/tmp/a.cmt");
	dev_open(&dev, O_RDONLY);
	before = dev_stats(&dev);
	text = run(record, 0);
	has(text, " bytes a sample) in /tmp/a.cmt");
	CHECK(!strstr(text, "LOST"), "%.800s", text);
	text = run(replay, 0);
	has(text, "\"comm\":\"listed\"");
	has(text, "\"gaps\":0");
	CHECK(!strstr(text, "is missing"), "%.800s", text);
	CHECK(!strstr(text, "not ended"), "%.800s", text);
	has(run(command, 0), "cpu 0: RMID ");
	has(run(containers, 0), "RECORDING of ");
	wait_active(&dev, before.rmids_active);
	reap(pid, SIGKILL);
	dev_close(&dev);
}

const struct test measure_tests[] = {
	{ "measure_process", measure_process, MANUAL, 40 },
	{ "measure_command", measure_command, MANUAL, 40 },
	{ "measure_light", measure_light, "ring_records=16384", 40 },
	{ "measure_recording", measure_recording, "ring_records=16384", 40 },
	{ "measure_killed", measure_killed, MANUAL, 40 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* cmtctl selftest: it passes here, and fails if the processor returns wrong values. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "rdtgroup.h"
#include "tests.h"

#define OUTPUT "/tmp/selftest-output"
#define FILLERS 3
#define AGENT	2	/* an RMID */

static pid_t start(const char *option)
{
	int fd = open(OUTPUT, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	pid_t pid = fork();

	CHECK(fd >= 0 && pid >= 0, "fork: %m");
	if (!pid) {
		if (dup2(fd, 1) != 1 || dup2(fd, 2) != 2)
			_exit(99);
		execl("/bin/cmtctl", "cmtctl", "selftest", option, (char *)NULL);
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

static void note_output(void)
{
	char text[1 << 16], *rest = text, *line;

	snprintf(text, sizeof(text), "%s", output());
	while ((line = strsep(&rest, "\n")))
		note("%s", line);
}

static void wait_exit(pid_t pid, int expected)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	note_output();
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected,
	      "status %#x, not %d", status, expected);
}

static void has(const char *what)
{
	CHECK(strstr(output(), what), "no '%s'", what);
}

/* Whatever the result, the machine is in the same state afterwards. */
static void check_restored(const struct cmt_stats *before)
{
	struct cmt_stats now;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	WAIT_FOR((now = dev_stats(&dev)).rmids_active == before->rmids_active, 10000,
		 "%u RMIDs have an owner, not %u", now.rmids_active, before->rmids_active);
	CHECK(now.readers == before->readers, "%u readers", now.readers);
	dev_close(&dev);
}

static struct cmt_stats stats_now(void)
{
	struct cmt_stats stats;
	struct dev dev;

	dev_open(&dev, O_RDONLY);
	stats = dev_stats(&dev);
	dev_close(&dev);
	return stats;
}

static void run(const char *option, int status)
{
	struct cmt_stats before = stats_now();

	model_begin();
	wait_exit(start(option), status);
	lab_switch(false);
	check_restored(&before);
}

static void selftest_passes(void)
{
	run(NULL, 0);
	has("cmt self-test: PASS");
	has("pass 1/2 of the L3");
	has("pass read from memory");
	has("backend hardware");
	has("in a virtual machine");
}

static void selftest_passes_as_json(void)
{
	run("--json", 0);
	has("{\"selftest\":\"pass\",");
	has("\"growth_state\":\"pass\"");
	has("\"traffic_state\":\"pass\"");
	has("\"read_errors\":0");
}

static void fails_with(enum lab_fault fault, unsigned int period, const char *what)
{
	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 1, period));
	run("--json", 1);
	lab_ask(LAB_FAULT_SET, LAB_FAULT(fault, 0, 0));
	has("{\"selftest\":\"fail\",");
	has(what);
}

/* Counters that do not count, without a status bit: only known traffic shows this. */
static void selftest_fails_on_dead_counters(void)
{
	struct cmt_stats before = stats_now();

	/* without a line of a former owner of an RMID */
	model_begin();
	lab_switch(false);
	wait_exit(start("--json"), 1);
	check_restored(&before);
	has("{\"selftest\":\"fail\",");
	has("\"growth_state\":\"fail\"");
	has("\"traffic_state\":\"fail\"");
}

static void selftest_fails_on_errors(void)
{
	fails_with(LAB_FAULT_ERROR, 3, "\"rates_state\":\"fail\"");
}

/* At each switch to a process, another agent loads its RMID at once. */
static void selftest_fails_under_another_rmid(void)
{
	fails_with(LAB_FAULT_PQR, 1, "\"growth_state\":\"fail\"");
	cpu_rmid_write(0, 0);
	cpu_rmid_write(1, 0);
}

/* A CPU that is another agent's: work there is not cmt's, unless cmt takes it. */
static void selftest_refuses_another_agents_cpu(void)
{
	struct dev dev;

	cpu_rmid_write(1, AGENT);
	dev_open(&dev, O_RDWR);
	/* a change of the mode lets every CPU read its register */
	resctrl_set_mode(&dev, CMT_RESCTRL_RESPECT);
	wait_exit(start(NULL), 2);
	has("another program");
	has("cmtctl resctrl take");
	resctrl_set_mode(&dev, CMT_RESCTRL_TAKE);
	dev_close(&dev);
	run(NULL, 0);
	cpu_rmid_write(1, 0);
}

static void selftest_ends_with(int signal, bool says)
{
	struct cmt_stats before = stats_now();
	pid_t pid = start(NULL);

	WAIT_FOR(stats_now().rmids_active >= before.rmids_active + FILLERS, 10000,
		 "no owner is registered: %s", output());
	if (says)
		kill(pid, signal);
	else
		reap(pid, signal);
	if (says) {
		wait_exit(pid, 2);
		has("it was interrupted");
	}
	check_restored(&before);
}

static void selftest_restores_on_signals(void)
{
	selftest_ends_with(SIGTERM, true);
	selftest_ends_with(SIGKILL, false);
}

static void selftest_refuses_a_model(void)
{
	wait_exit(start(NULL), 2);
	has("measures nothing");
}

const struct test selftest_tests[] = {
	{ "selftest_passes", selftest_passes, "scope=manual", 180 },
	{ "selftest_passes_as_json", selftest_passes_as_json, "scope=manual", 180 },
	{ "selftest_fails_on_dead_counters", selftest_fails_on_dead_counters, "scope=manual", 180 },
	{ "selftest_fails_on_errors", selftest_fails_on_errors, "scope=manual", 180 },
	{ "selftest_fails_under_another_rmid", selftest_fails_under_another_rmid,
	  "scope=manual", 180 },
	{ "selftest_refuses_another_agents_cpu", selftest_refuses_another_agents_cpu,
	  "scope=manual", 180 },
	{ "selftest_restores_on_signals", selftest_restores_on_signals, "scope=manual", 60 },
	{ "selftest_refuses_a_model", selftest_refuses_a_model, EMULATED, 20 },
	{ 0 }
};

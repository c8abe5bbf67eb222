// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The complete history of RMIDs since the load, checked against the rules of the pool
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

static bool is_complete(const struct dev *dev)
{
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		if (dev->rings[cpu].lost || dev->rings[cpu].begin)
			return false;
	return true;
}

/*
 * No process begins or ends any more, but RMIDs may still be allocated after their
 * limbo.
 */
static void judge(struct dev *dev, struct log *log)
{
	static struct snapshot snapshot;
	static struct history history;
	struct cmt_stats before, after;

	do {
		before = dev_stats(dev);
		dev_drain_events(dev, log);
		dev_snapshot(dev, &snapshot);
		after = dev_stats(dev);
	} while (before.allocs != after.allocs || before.frees != after.frees);
	if (!is_complete(dev)) {
		note("records were lost: the history is not judged");
		return;
	}
	log_sort(log);
	history_replay(&history, log, &dev->info);
	history_matches(&history, &snapshot);
	note("history: %u allocations, %u of them again, %u frees, %u failed",
	     history.allocs, history.reused, history.frees, history.fails);
}

static void keep_history(void)
{
	struct log log = { };
	struct dev dev;

	setpriority(PRIO_PROCESS, 0, -20);
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_OLDEST);
	while (!__atomic_load_n(&storm->stop, __ATOMIC_ACQUIRE)) {
		dev_drain_events(&dev, &log);
		sleep_ms(1);
	}
	judge(&dev, &log);
	dev_close(&dev);
	_exit(0);
}

pid_t historian_start(void)
{
	pid_t pid = storm_fork();

	CHECK(pid >= 0, "fork: %m");
	if (!pid)
		keep_history();
	return pid;
}

void historian_end(pid_t pid)
{
	__atomic_store_n(&storm->stop, true, __ATOMIC_RELEASE);
	expect_exit_0(pid, "the historian");
}

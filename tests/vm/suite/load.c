// SPDX-License-Identifier: GPL-2.0-or-later
/* The module is loaded and unloaded, and refuses to be. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

#define LOADS 20

static const char *const traces[] = {
	DEV_PATH, "/proc/cmt", "/sys/module/cmt", "/sys/class/misc/cmt",
};

static void check_traces(bool loaded)
{
	unsigned int i;

	CHECK(module_present() == loaded, "/proc/modules is wrong");
	for (i = 0; i < sizeof(traces) / sizeof(traces[0]); i++)
		CHECK(!access(traces[i], F_OK) == loaded, "%s %s", traces[i],
		      loaded ? "is missing" : "is left behind");
}

static void load_twenty_times(void)
{
	uint64_t instance = 0;
	struct stat st;
	struct dev dev;
	int i;

	for (i = 0; i < LOADS; i++) {
		CHECK(!module_load(""), "load %d", i);
		check_traces(true);
		CHECK(!stat(DEV_PATH, &st) && S_ISCHR(st.st_mode) &&
		      (st.st_mode & 0777) == 0640, "mode of " DEV_PATH);
		dev_open(&dev, O_RDONLY);
		CHECK(dev.info.instance != instance, "the same instance twice");
		instance = dev.info.instance;
		dev_map(&dev, FROM_OLDEST);
		dev_close(&dev);
		CHECK(!module_unload(), "unload %d", i);
		check_traces(false);
	}
}

/* Forks, execs and exits without end, two processes at a time. */
static pid_t start_churn(void)
{
	pid_t pid;

	pid = fork();
	CHECK(pid >= 0, "fork: %m");
	if (pid)
		return pid;
	for (;;) {
		pid = fork();
		if (pid == 0) {
			execl(suite_path, suite_path, "--true", NULL);
			_exit(1);
		}
		if (fork() == 0)
			_exit(0);
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

static void stop_churn(pid_t pid)
{
	reap(pid, SIGKILL);
	/* its children become children of the subreaper, and end by themselves */
}

static void load_amid_churn(void)
{
	pid_t churn = start_churn();
	int i;

	for (i = 0; i < LOADS; i++) {
		CHECK(!module_load("interval_us=100"), "load %d", i);
		CHECK(!module_unload(), "unload %d", i);
	}
	stop_churn(churn);
	check_traces(false);
}

static void unload_refused_while_open(void)
{
	struct dev dev;
	void *map;

	dev_open(&dev, O_RDONLY);
	CHECK(module_unload() == -EWOULDBLOCK, "unloaded under a descriptor");
	map = mmap(NULL, dev.info.ring_bytes, PROT_READ, MAP_SHARED, dev.fd, 0);
	CHECK(map != MAP_FAILED, "mmap: %m");
	close(dev.fd);
	CHECK(module_unload() == -EWOULDBLOCK, "unloaded under a mapping");
	CHECK(((struct cmt_ring_header *)map)->magic == CMT_RING_MAGIC,
	      "the map is not there any more");
	munmap(map, dev.info.ring_bytes);
	CHECK(!module_unload(), "unload refused after the last close");
	check_traces(false);
	CHECK(!module_load(""), "does not load again");
}

/* Counts the module's lines at error level since the log was last cleared. */
static unsigned int error_lines(char *line, size_t size)
{
	static char log[1 << 20];
	unsigned int n = 0;
	char *p, *save;
	int len;

	len = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);
	CHECK(len >= 0, "klogctl: %m");
	log[len] = '\0';
	for (p = strtok_r(log, "\n", &save); p;
	     p = strtok_r(NULL, "\n", &save)) {
		if (strncmp(p, "<3>", 3) || !strstr(p, "cmt: "))
			continue;
		n++;
		snprintf(line, size, "%s", p);
	}
	return n;
}

static void check_refused(const char *params, int err)
{
	char line[256] = "";
	unsigned int before, after;
	int ret;

	before = error_lines(line, sizeof(line));
	ret = module_load(params);
	after = error_lines(line, sizeof(line));
	CHECK(ret == err, "%s: %s, not %s", params, strerror(-ret),
	      strerror(-err));
	CHECK(after == before + 1, "%s: %u error lines in the log, not one",
	      params, after - before);
	check_traces(false);
}

static void load_bad_params(void)
{
	static const char *const bad[] = {
		"backend=", "backend=foo", "backend=Emulated", "backend=Software",
		"interval_us=0", "interval_us=99", "interval_us=1000001",
		"interval_us=4294967295",
		"ring_records=1", "ring_records=128", "ring_records=255",
		"ring_records=257", "ring_records=1000",
		"ring_records=131072", "ring_records=2147483648",
		EMULATED "emulated_rmids=0", EMULATED "emulated_rmids=1",
		EMULATED "emulated_rmids=4097",
		EMULATED "emulated_cache_kib=1",
		EMULATED "emulated_cache_kib=1023",
		EMULATED "emulated_cache_kib=1048577",
		"counters=", "counters=none",
		"scope=", "scope=Process", "scope=containers", "containers=",
		"containers=a//b", "scope=container containers=<x>",
	};
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refused(bad[i], -EINVAL);
	/* not numbers: the kernel itself reports the error */
	CHECK(module_load("interval_us=x") == -EINVAL, "interval_us=x");
	CHECK(module_load("ring_records=-1") == -EINVAL, "ring_records=-1");
	check_traces(false);
}

static void load_hardware(void)
{
	struct dev dev;

	if (!has_hw) {
		check_refused("backend=hw", -ENODEV);
		return;
	}
	CHECK(!module_load("backend=hw"), "load");
	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.backend == CMT_BACKEND_HARDWARE, "backend %u",
	      dev.info.backend);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

static void load_auto(void)
{
	struct dev dev;

	CHECK(!module_load("backend=auto"), "load");
	dev_open(&dev, O_RDONLY);
	CHECK(dev.info.backend == (has_hw ? CMT_BACKEND_HARDWARE :
				   CMT_BACKEND_SOFTWARE), "backend %u: %s",
	      dev.info.backend, dev.info.reason);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

static void load_limits(void)
{
	static const struct {
		const char *params;
		uint32_t interval_us, records, rmids;
		uint64_t cache_kib;
	} t[] = {
		{ EMULATED "interval_us=100 ring_records=256", 100, 256, 256,
		  0 },
		{ EMULATED "interval_us=1000000 ring_records=65536", 1000000,
		  65536, 256, 0 },
		{ EMULATED "emulated_rmids=2", 1000, 0, 2, 0 },
		{ EMULATED "emulated_rmids=1024 emulated_cache_kib=1048576",
		  1000, 0, 1024, 1048576 },
		{ EMULATED "emulated_cache_kib=1024", 1000, 0, 256, 1024 },
		{ "backend=emulated", 1000, 0, 256, 0 },
	};
	unsigned int i;
	struct dev dev;

	for (i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		CHECK(!module_load(t[i].params), "%s: refused", t[i].params);
		dev_open(&dev, O_RDONLY);
		CHECK(dev.info.backend == CMT_BACKEND_EMULATED &&
		      dev.info.reason[0], "%s: backend %u, reason '%s'",
		      t[i].params, dev.info.backend, dev.info.reason);
		CHECK(dev.info.interval_ns == t[i].interval_us * 1000,
		      "%s: interval %u", t[i].params, dev.info.interval_ns);
		CHECK(!t[i].records || dev.info.ring_records == t[i].records,
		      "%s: %u records", t[i].params, dev.info.ring_records);
		CHECK(dev.info.nr_rmids == t[i].rmids &&
		      dev.info.rmids_usable == t[i].rmids - 1,
		      "%s: %u RMIDs", t[i].params, dev.info.nr_rmids);
		CHECK(!t[i].cache_kib ||
		      dev.info.l3_bytes == t[i].cache_kib << 10,
		      "%s: cache of %llu", t[i].params,
		      (unsigned long long)dev.info.l3_bytes);
		dev_map(&dev, FROM_OLDEST);
		dev_close(&dev);
		CHECK(!module_unload(), "%s: does not unload", t[i].params);
	}
}

/* Every user process has an RMID, and every RMID's owner is alive. */
static void check_all_processes(const struct dev *dev)
{
	static struct snapshot snapshot;
	struct dirent *entry;
	uint32_t i;
	DIR *proc;

	dev_snapshot(dev, &snapshot);
	proc = opendir("/proc");
	CHECK(proc, "/proc: %m");
	while ((entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid <= 0 || process_is(pid, 'Z'))
			continue;
		CHECK(process_is_kernel(pid) == !snapshot_find(&snapshot, pid),
		      "process %d: wrong", pid);
	}
	closedir(proc);
	for (i = 0; i < snapshot.count; i++)
		CHECK(snapshot.records[i].flags & CMT_F_OWNER_OVERFLOW ||
		      !kill(snapshot.records[i].tgid, 0),
		      "RMID %u is of %u, which is gone",
		      snapshot.records[i].rmid, snapshot.records[i].tgid);
}

static void load_finds_all_processes(void)
{
	static struct snapshot snapshot;
	pid_t pids[50];
	struct dev dev;
	unsigned int i;
	char comm[16];

	for (i = 0; i < 50; i++) {
		snprintf(comm, sizeof(comm), "parked-%u", i);
		pids[i] = park(i % 2 ? i % 5 : 0, comm);
	}
	CHECK(!module_load(""), "load");
	dev_open(&dev, O_RDONLY);
	check_all_processes(&dev);
	dev_snapshot(&dev, &snapshot);
	for (i = 0; i < 50; i++) {
		const struct cmt_record *r = snapshot_find(&snapshot, pids[i]);

		CHECK(r, "process %d was there at load and has no RMID",
		      pids[i]);
		snprintf(comm, sizeof(comm), "parked-%u", i);
		CHECK(!strncmp(r->owner.comm, comm, CMT_COMM_LEN),
		      "process %d is called %.16s", pids[i], r->owner.comm);
	}
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* The race: processes begin and end while the module walks over all processes. */
static void load_finds_new_processes(void)
{
	struct dev dev;
	pid_t churn;
	int i;

	for (i = 0; i < 5; i++) {
		churn = start_churn();
		CHECK(!module_load(""), "load");
		dev_open(&dev, O_RDONLY);
		sleep_ms(5);
		stop_churn(churn);
		/* the last two processes of the churn, and all others */
		WAIT_FOR(dev_stats(&dev).rmids_active <= 6, 2000,
			 "%u RMIDs stay active", dev_stats(&dev).rmids_active);
		check_all_processes(&dev);
		dev_close(&dev);
		CHECK(!module_unload(), "unload");
	}
}

const struct test load_tests[] = {
	{ "load_twenty_times", load_twenty_times, NULL, 40 },
	{ "load_amid_churn", load_amid_churn, NULL, 40 },
	{ "load_unload_refused_while_open", unload_refused_while_open, "", 0 },
	{ "load_bad_params", load_bad_params, NULL, 0 },
	{ "load_hardware", load_hardware, NULL, 0 },
	{ "load_auto", load_auto, NULL, 0 },
	{ "load_limits", load_limits, NULL, 0 },
	{ "load_finds_all_processes", load_finds_all_processes, NULL, 0 },
	{ "load_finds_new_processes", load_finds_new_processes, NULL, 40 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* All ioctls of the device, with valid and invalid arguments */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "storm.h"

static struct dev control;
static bool opened;

static void order_scope(struct rng *rng)
{
	static const char *const patterns[] = {
		NULL, NULL, "docker-<id>.scope", "*.service docker-*.scope",
		"!unit6.service *.service docker-<id>.scope", "inner", "*",
	};
	uint32_t n = rng_below(rng, sizeof(patterns) / sizeof(patterns[0]));
	uint32_t scope = CMT_SCOPE_PROCESS + rng_below(rng, 4);
	int err = scope_try(&control, scope, patterns[n], NULL);

	storm_check_errno("SET_SCOPE", err, ALLOW(EBUSY, EINTR));
	did(DEED_scopes);
}

/* On a slow kernel a tick takes long: the shortest intervals leave no time for more. */
static void order_interval(struct rng *rng)
{
	static const uint32_t us[] = { 100, 250, 1000, 1000, 3000, 10000, 50000 };
	struct cmt_interval arg = {
		.size = sizeof(arg),
		.interval_ns = us[rng_below(rng, 7)] * 1000 *
			       (slowness > 1 ? 10 : 1),
	};
	int err = ioctl(control.fd, CMT_IOC_SET_INTERVAL, &arg) ? -errno : 0;

	storm_check_errno("SET_INTERVAL", err, ALLOW());
	did(DEED_intervals);
}

/* A module that does not know the mode says ENOTTY. */
static void order_mode(struct rng *rng)
{
	struct cmt_resctrl arg = {
		.size = sizeof(arg),
		.mode = CMT_RESCTRL_RESPECT + rng_below(rng, 2),
	};
	int err = ioctl(control.fd, CMT_IOC_SET_RESCTRL, &arg) ? -errno : 0;

	storm_check_errno("SET_RESCTRL", err, ALLOW(ENOTTY));
	did(DEED_modes);
}

/* Valid while the descriptor is open. */
static void order_counters(struct rng *rng)
{
	struct cmt_counters arg = {
		.size = sizeof(arg),
		.counters = CMT_F_CYCLES * rng_below(rng, 16) |
			    CMT_F_COUNTERS_FIRST * rng_one_in(rng, 4) |
			    CMT_F_WAITED * rng_below(rng, 2) |
			    CMT_F_CHANNEL * rng_below(rng, 2),
	};
	int err = ioctl(control.fd, CMT_IOC_SET_COUNTERS, &arg) ? -errno : 0;

	/* EINVAL: first, and no value */
	storm_check_errno("SET_COUNTERS", err, ALLOW(ENOTTY, EINVAL));
	did(DEED_counters);
}

/* The id 0 is refused. */
static void order_attach(struct rng *rng)
{
	uint32_t kind = CMT_OWNER_PROCESS + rng_below(rng, 3);
	uint64_t id = storm_some_id(rng, kind);
	bool children = kind == CMT_OWNER_PROCESS && rng_one_in(rng, 2);
	int err = attach(&control, kind, id,
			 children ? CMT_ATTACH_CHILDREN : 0, NULL);

	storm_check_errno("ATTACH", err, ALLOW(ESRCH, ENOENT, ENXIO, EEXIST, ENOSPC,
					 EINVAL, EBUSY));
	did(DEED_attaches);
}

static void order_detach(struct rng *rng)
{
	uint32_t kind = CMT_OWNER_PROCESS + rng_below(rng, 3);
	int err = detach(&control, kind, storm_some_id(rng, kind));

	storm_check_errno("DETACH", err, ALLOW(ENOENT, ESRCH, ENXIO, EINVAL));
	did(DEED_detaches);
}

static void ask_patterns(void)
{
	static char text[CMT_PATTERNS_MAX + 4096];
	struct cmt_patterns arg = {
		.size = sizeof(arg), .bytes = sizeof(text),
		.text = (uintptr_t)text,
	};

	CHECK(!ioctl(control.fd, CMT_IOC_GET_PATTERNS, &arg),
	      "GET_PATTERNS: %m");
}

static void ask_path(struct rng *rng)
{
	static char path[PATH_MAX];
	struct cmt_cgroup_path arg = {
		.size = sizeof(arg), .bytes = sizeof(path),
		.cgroup_id = storm->cgroups[rng_below(rng, STORM_GROUPS)],
		.path = (uintptr_t)path,
	};
	int err = ioctl(control.fd, CMT_IOC_PATH_OF_CGROUP, &arg) ? -errno : 0;

	storm_check_errno("PATH_OF_CGROUP", err, ALLOW(ENOENT, ENOTTY, ESTALE, EINVAL));
}

/* A removed cgroup remains an owner until its tasks are gone. */
static void order_query(struct rng *rng)
{
	static struct cmt_record pending[16384 + MAX_RMIDS];
	static struct snapshot snapshot;
	struct cmt_stats stats;

	famine_suspend(true);
	switch (rng_below(rng, 5)) {
	case 0:
		stats = dev_stats(&control);
		CHECK(stats.rmids_active <= control.info.rmids_usable,
		      "%u RMIDs active", stats.rmids_active);
		break;
	case 1:
		dev_snapshot(&control, &snapshot);
		break;
	case 2:
		waiting_get(&control, pending, 16384 + MAX_RMIDS);
		break;
	case 3:
		ask_patterns();
		break;
	case 4:
		ask_path(rng);
		break;
	}
	famine_suspend(false);
	did(DEED_queries);
}

/* Arbitrary bytes always return an error */
static void order_nonsense(struct rng *rng)
{
	uint32_t nr = rng_below(rng, 14);
	union {
		uint32_t word[128];
		struct cmt_stats stats;
	} arg;
	unsigned int i;
	int err;

	for (i = 0; i < 128; i++)
		arg.word[i] = rng_next(rng);
	arg.word[0] = rng_one_in(rng, 2) ? rng_below(rng, 64) : arg.word[0];
	arg.word[1] |= 1;	/* flags */
	err = ioctl(control.fd, CMT_IOC(nr), &arg) ? -errno : 0;
	CHECK(err, "ioctl %u took nonsense", nr);
	did(DEED_refusals);
}

void act_orders(struct rng *rng)
{
	static void (*const orders[])(struct rng *) = {
		order_scope, order_interval, order_mode, order_counters,
		order_counters, order_attach,
		order_attach, order_attach, order_detach, order_detach,
		order_query, order_query, order_nonsense,
	};

	if (!opened) {
		famine_join();
		opened = storm_open(&control, O_RDWR);
		return;
	}
	orders[rng_below(rng, sizeof(orders) / sizeof(orders[0]))](rng);
	if (rng_one_in(rng, 20) || storm_closing()) {
		dev_close(&control);
		opened = false;
	}
	usleep(rng_below(rng, 5000));
}

/*
 * Reads the text files, in pieces and partially; EIO: the module was unloaded
 * meanwhile.
 */
void act_procfs(struct rng *rng)
{
	char text[777];
	ssize_t n;
	int fd;

	fd = open(rng_one_in(rng, 2) ? "/proc/cmt/rmids" : "/proc/cmt/stats",
		  O_RDONLY | O_CLOEXEC);
	while (fd >= 0) {
		n = read(fd, text, 1 + rng_below(rng, sizeof(text)));
		CHECK(n >= 0 || errno == ENOMEM || errno == EIO,
		      "/proc/cmt: %m");
		if (n <= 0 || rng_one_in(rng, 30))
			break;
	}
	if (fd >= 0) {
		close(fd);
		did(DEED_queries);
	}
	usleep(rng_below(rng, 20000));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU 1 off and on, and the module in and out */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "storm.h"

void act_hotplug(struct rng *rng)
{
	cpu_online(1, false);
	did(DEED_offlines);
	usleep(rng_below(rng, 20000));
	cpu_online(1, true);
	sleep_ms(50 + rng_below(rng, slowness > 1 ? 1600 : 400));
}

static const char *some_params(struct rng *rng)
{
	static const char *const params[] = {
		"", "", "scope=process", "scope=cpu", "scope=manual",
		"interval_us=5000 ring_records=256", "backend=emulated",
		"backend=emulated emulated_rmids=8", "backend=foo",
		"containers=a//b", "scope=container containers=*.service",
	};

	return params[rng_below(rng, sizeof(params) / sizeof(params[0]))];
}

/*
 * First while other processes have the module open, then after a request to close it.
 */
static void unload(struct rng *rng)
{
	unsigned int refusals = rng_below(rng, 4);
	int err;

	while ((err = module_unload()) && err != -ENOENT) {
		CHECK(err == -EWOULDBLOCK || err == -EBUSY, "unload: %s",
		      strerror(-err));
		did(DEED_busy);
		if (!refusals--)
			__atomic_store_n(&storm->closing, true,
					 __ATOMIC_RELAXED);
		usleep(1 + rng_below(rng, 20000));
	}
	__atomic_store_n(&storm->closing, false, __ATOMIC_RELAXED);
}

void act_loader(struct rng *rng)
{
	int err;

	err = storm_load(some_params(rng));
	CHECK(!err || err == -EINVAL || err == -EEXIST, "load: %s",
	      strerror(-err));
	if (!err)
		did(DEED_loads);
	sleep_ms(rng_below(rng, 150));
	unload(rng);
	sleep_ms(rng_below(rng, 20));
}

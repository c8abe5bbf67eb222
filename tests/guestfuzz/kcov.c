// SPDX-License-Identifier: GPL-2.0-or-later
/* The code of the module that a call reaches, where the kernel counts it (KCOV) */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcov.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guestfuzz.h"

#define KCOV	"/sys/kernel/debug/kcov"
#define PLACES	(64 << 10)	/* of one call */

/* By the thread whose calls it is about */
void kcov_start(struct fuzzer *f)
{
	if (f->kcov_fd < 0)
		return;
	CHECK(!ioctl(f->kcov_fd, KCOV_INIT_TRACE, PLACES), "KCOV_INIT_TRACE: %m");
	f->kcov = mmap(NULL, PLACES * 8, PROT_READ | PROT_WRITE, MAP_SHARED, f->kcov_fd, 0);
	CHECK(f->kcov != MAP_FAILED, "kcov: %m");
	CHECK(!ioctl(f->kcov_fd, KCOV_ENABLE, KCOV_TRACE_PC), "KCOV_ENABLE: %m");
}

void kcov_begin(struct fuzzer *f)
{
	if (f->kcov)
		__atomic_store_n(&f->kcov[0], 0, __ATOMIC_RELAXED);
}

bool kcov_end(struct fuzzer *f)
{
	uint64_t n, i, at;
	bool is_new = false;

	if (!f->kcov)
		return false;
	n = __atomic_load_n(&f->kcov[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n; i++) {
		at = f->kcov[i] - fuzz->code;
		if (at >= CODE_BYTES || fuzz->seen[at] ||
		    __atomic_exchange_n(&fuzz->seen[at], 1, __ATOMIC_RELAXED))
			continue;
		__atomic_add_fetch(&fuzz->sites, 1, __ATOMIC_RELAXED);
		is_new = true;
	}
	return is_new;
}

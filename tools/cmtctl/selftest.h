/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The results of cmtctl selftest, and its page */
#ifndef TOOLS_SELFTEST_H
#define TOOLS_SELFTEST_H

#include <cmt/cmt.h>
#include <sys/utsname.h>

#include "judge.h"
#include "processor.h"

enum fill_nr {
	FILL_NONE,		/* a process that writes nothing */
	FILL_SMALL,		/* one process, an eighth of the L3; */
	FILL_MEDIUM,		/* the same, a quarter; */
	FILL_LARGE,		/* the same, half of it */
	FILL_FIRST,		/* two processes at once: an eighth, */
	FILL_SECOND,		/* and a quarter */
	NR_FILLS,
};

struct selftest {
	const struct cmt_info *info;
	struct utsname kernel;
	struct processor_facts processor;
	struct cache_facts cache;
	uint32_t resctrl;	/* CMT_RESCTRL_* */
	bool mounted;
	uint32_t cpus_foreign;
	uint64_t interval_ns;
	struct fill fills[NR_FILLS];
	struct growth growth;
	struct traffic_check traffic;
	const char *traffic_reason;	/* why it cannot be checked here, or NULL */
	struct tick_cost ticks;
	struct rates rates;
	uint64_t tick_share_ns, tick_time_ns;	/* spent in ticks, of CPU time */
	uint64_t missed, deferred;
	uint64_t irqs_off_ns, lock_held_ns;	/* since the module was loaded */
	uint64_t overwritten;	/* switches, by another agent */
	uint64_t elapsed_ns;
	enum check_state state;	/* of all */
};

/* Bytes of memory that is available, and of a CPU's L2; 0: not known. */
uint64_t selftest_memory(void);
uint64_t selftest_l2_bytes(void);
/* Has this program the RMID of a resctrl group, whatever it is registered as? */
bool selftest_in_group(void);

/* Sets state: each check passed; the traffic may have a reason instead. */
void selftest_judge(struct selftest *test);

/* The page, to standard output.  Returns 0 or -errno. */
int selftest_print(const struct selftest *test, bool json);

#endif

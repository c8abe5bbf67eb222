/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab's tests share: workers whose cache is known, and the readings
 * that the processor gave.  Built with the guest suite of tests/vm, whose
 * rules they follow.
 */
#ifndef CMT_LAB_BENCH_H
#define CMT_LAB_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../lab.h"
#include "../../vm/suite/dev.h"
#include "../../vm/suite/suite.h"

/* The only L3 of the tests that have one. */
#define L3 0

/* The scope of most tests, whatever the module's default is. */
#define PROCESS "scope=process"

/* Lives in memory that the worker and the test share. */
struct worker {
	pid_t pid;
	size_t bytes;
	uint32_t space;		/* of the worker, in the model */
	uint32_t rmid;		/* of the worker, by the module */
	uint32_t generation;
	uint32_t closids;	/* seen in PQR_ASSOC while it ran: bits */
	uint32_t seen_rmid;	/* the RMID that was there the last time */
	uint64_t walks;		/* how often it has touched all its bytes */
	uint64_t elsewhere;	/* after so many PQR_ASSOC did not have rmid; */
	uint32_t other_rmid;	/* but this, the last time */
	bool ready;
	bool paced;		/* it walks on when its traffic has been read */
	bool huge;		/* it asks for huge pages, once */
	bool go;		/* what it is told, */
	bool going;		/* and does */
	bool stop;
};

/* A process, 0: this one, on one CPU only. */
void run_on(pid_t pid, int cpu);

/* The model on, the cache empty. */
void model_begin(void);

/* Returns when the worker has touched its memory for the first time. */
struct worker *worker_start(size_t bytes);
/* The same in shared memory of the test's, which outlives the worker. */
struct worker *worker_start_in(char *memory, size_t bytes);
/* Fill in rmid; a failure when the module has none for it. */
void worker_identify(struct worker *worker, const struct dev *dev);
/* From now on on this CPU only. */
void worker_pin(const struct worker *worker, unsigned int cpu);
/* Walk, or rest; returns when it does. */
void worker_go(struct worker *worker, bool go);
/* Wait until it has walked @walks times more. */
void worker_wait(struct worker *worker, uint64_t walks);
/*
 * It does not run any more, until worker_stop(), so that the cache has what it
 * had.  As long as it runs, its part grows by all that interrupts touch on top
 * of it, among that every record of ours.
 */
void worker_halt(const struct worker *worker);
void worker_stop(struct worker *worker);

/*
 * Wait until the module has read an RMID twice: the SAMPLE of the first reading
 * is in its ring then.
 */
void wait_read(uint32_t l3, uint32_t rmid);
/* Processes come until one has an RMID below @rmid; they stay. */
struct worker *worker_below(uint32_t rmid, size_t bytes, const struct dev *dev);

/* What QM_CTR or a register in memory gave, from the processor's log. */
struct reading {
	uint64_t number;	/* in the log */
	uint64_t tsc;		/* what its CPU had last read there */
	uint64_t ns;		/* the same as CLOCK_MONOTONIC */
	uint64_t gave;
	uint64_t ought;
	uint64_t truth;		/* bytes, by the cache model */
	uint32_t rmid;
	uint32_t event;
	uint32_t l3;
	uint32_t cpu;
	uint32_t region;	/* of memory, the last one that is in @gave */
	uint32_t fault;		/* enum lab_fault */
	uint32_t counted;	/* LAB_LOG_COUNTED */
};

struct readings {
	struct reading *all;	/* by CPU, then in their order */
	size_t count;
	uint64_t from;		/* its number in the log */
	uint64_t tsc, ns;	/* when it began */
};

/* From here on. */
void readings_begin(struct readings *readings);
/*
 * Until here.  Traffic that is read region by region is one reading, of their sum; one
 * that says all ones or Unavailable makes the sum say so.
 */
void readings_end(struct readings *readings);
void readings_free(struct readings *readings);

/*
 * The reading of @event that a SAMPLE was made of, NULL: there is none, or it is
 * older than the first.
 *
 * The kernel reads the TSC for the time of a record, or of all records of a tick,
 * and then the counters on the same CPU.  With every reading the log has what the
 * CPU last read from its TSC, which is not before the time of the record, however
 * long the host let the reading wait.  So the reading is the one at the record's
 * time, or the first one after it.  Of repeated readings it is the last.
 */
const struct reading *reading_of(const struct readings *readings,
				 const struct cmt_record *sample,
				 uint32_t event);

/*
 * Every SAMPLE of @rmid has an occupancy, and it is what QM_CTR gave and what it
 * ought to give; returns how many there were.
 */
size_t samples_match(const struct log *log, const struct readings *readings,
		     uint32_t rmid);

/* Bytes per unit of QM_CTR; of occupancy, where counters are in memory. */
uint64_t lab_unit(void);

/* Bytes of traffic that @units of an RMID's counter are. */
uint64_t traffic_bytes(uint32_t rmid, uint64_t units);

/* The last SAMPLE of an RMID in the log, of any domain, or NULL. */
const struct cmt_record *last_sample(const struct log *log, uint32_t rmid);

/* The same, of one domain. */
const struct cmt_record *last_sample_in(const struct log *log, uint32_t rmid,
					uint32_t domain);

#endif

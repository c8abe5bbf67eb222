/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab's common functions: workers whose cache is known, and the readings that the
 * processor returned.  Built with the guest suite of tests/vm, whose rules the tests
 * follow.
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

/*
 * The parameters of most tests: a scope independent of the module's default, and rings for
 * some seconds, as a busy host may not run the recorder for that long.
 */
#define PROCESS "scope=process ring_records=16384"

/* Lives in memory that the worker and the test share. */
struct worker {
	pid_t pid;
	size_t bytes;
	uint32_t space;		/* address space of the worker, in the model */
	uint32_t rmid;		/* RMID of the worker, by the module */
	uint32_t generation;
	uint32_t closids;	/* RMIDs seen in PQR_ASSOC while the worker ran: bits */
	uint32_t seen_rmid;	/* the last seen RMID */
	uint64_t walks;		/* number of completed walks over all bytes */
	/* number of walks after which PQR_ASSOC did not have rmid */
	uint64_t elsewhere;
	uint32_t other_rmid;	/* the last such RMID */
	bool ready;
	bool paced;		/* the worker walks on when its traffic has been read */
	bool huge;		/* the worker asks for huge pages, once */
	bool go;		/* the requested state */
	bool going;		/* the worker's state */
	bool stop;
};

/* The RMID of a CPU, to which this process goes; and as another agent, write it. */
uint32_t cpu_rmid(int cpu);
void cpu_rmid_write(int cpu, uint32_t rmid);

/* Switch the model on, with an empty cache. */
void model_begin(void);

/* Returns when the worker has touched its memory for the first time. */
struct worker *worker_start(size_t bytes);
/* The same in shared memory of the test, which outlives the worker. */
struct worker *worker_start_in(char *memory, size_t bytes);
/* Fill in rmid; fails if the worker has no RMID. */
void worker_identify(struct worker *worker, const struct dev *dev);
/* From now on on this CPU only. */
void worker_pin(const struct worker *worker, unsigned int cpu);
/* Walk, or rest; returns when the worker does. */
void worker_go(struct worker *worker, bool go);
/* Wait until the worker has made @walks more walks. */
void worker_wait(struct worker *worker, uint64_t walks);
/*
 * Stop the worker until worker_stop(), so that the cache keeps its lines.  While a
 * worker runs, its part of the cache grows by the accesses of interrupts, among them
 * the writes of records.
 */
void worker_halt(const struct worker *worker);
void worker_stop(struct worker *worker);

/*
 * A process that has the module read on @cpu without ticks: for new owners, and for a
 * client of perf that has an event of @of.
 */
pid_t demand_start(pid_t of, unsigned int cpu);
/* Returns when no process of it has a descriptor of the module any more. */
void demand_stop(pid_t demand);

/*
 * Wait until the module has read an RMID twice: then the SAMPLE of the first reading is
 * in its ring.
 */
void wait_read(uint32_t l3, uint32_t rmid);
/* Make processes until one has an RMID below @rmid.  All of them stay. */
struct worker *worker_below(uint32_t rmid, size_t bytes, const struct dev *dev);

/* The value of QM_CTR or of a register in memory, from the processor's log. */
struct reading {
	uint64_t number;	/* in the log */
	uint64_t tsc;		/* the CPU's last read of its TSC before */
	uint64_t ns;		/* the same time as CLOCK_MONOTONIC */
	uint64_t gave;
	uint64_t ought;
	uint64_t truth;		/* the true value in bytes, by the cache model */
	uint32_t rmid;
	uint32_t event;
	uint32_t l3;
	uint32_t cpu;
	uint32_t region;	/* the last region of memory that is in @gave */
	uint32_t fault;		/* enum lab_fault */
	uint32_t counted;	/* LAB_LOG_COUNTED */
};

struct readings {
	struct reading *all;	/* by CPU, then in their order */
	size_t count;
	uint64_t from;		/* the log number of the first reading */
	uint64_t tsc, ns;	/* the log's begin */
};

/* Begin a log. */
void readings_begin(struct readings *readings);
/*
 * End the log.  Traffic that is read region by region is one reading, of the sum.  A
 * region with all ones or Unavailable makes the sum so.
 */
void readings_end(struct readings *readings);
void readings_free(struct readings *readings);

/*
 * The reading of @event that a SAMPLE was made of.  NULL: there is none, or it is older
 * than the first reading of the log.
 *
 * The kernel reads the TSC for the time of a record, or of all records of a tick.  Then
 * it reads the counters on the same CPU.  Each reading in the log has the CPU's last
 * read of its TSC.  This is not before the time of the record, however long the host
 * delays the reading.  So the reading is at the record's time, or the first one after
 * it.  Of repeated readings it is the last one.
 */
const struct reading *reading_of(const struct readings *readings,
				 const struct cmt_record *sample,
				 uint32_t event);

/*
 * Every SAMPLE of @rmid has an occupancy, which is the value of QM_CTR and the correct
 * value.  Returns the number of SAMPLEs.
 */
size_t samples_match(const struct log *log, const struct readings *readings,
		     uint32_t rmid);

/* Bytes per unit of QM_CTR; of occupancy, if counters are in memory. */
uint64_t lab_unit(void);

/* The bytes of traffic of @units of an RMID's counter. */
uint64_t traffic_bytes(uint32_t rmid, uint64_t units);

/* The last SAMPLE of an RMID in the log, of any domain, or NULL. */
const struct cmt_record *last_sample(const struct log *log, uint32_t rmid);

/* The same, of one domain. */
const struct cmt_record *last_sample_in(const struct log *log, uint32_t rmid,
					uint32_t domain);

#endif

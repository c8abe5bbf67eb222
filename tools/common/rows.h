/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of rows, and the choice and order of the rows.  Pure. */
#ifndef TOOLS_ROWS_H
#define TOOLS_ROWS_H

#include <cmt/cmt.h>
#include <stdbool.h>
#include <stdint.h>

/* The kind of a row */
enum view {
	VIEW_CONTAINER	= CMT_USAGE_BY_CONTAINER,
	VIEW_PROCESS	= CMT_USAGE_BY_PROCESS,
	VIEW_CPU	= CMT_USAGE_BY_CPU,
	VIEW_DOMAIN	= CMT_USAGE_BY_DOMAIN,
	VIEW_CHANNEL,	/* of memory: a struct cmt_usage_channel */
};

struct measure {
	bool known;
	bool partial;		/* a lower bound */
	double value;		/* bytes, bytes a second, or a ratio */
};

struct trail;
struct mark;
struct slower;

/* Of a row, in one L3 domain */
struct row_part {
	uint32_t domain;
	uint64_t l3_bytes;	/* the value of 100 %; 0: unknown */
	struct measure occupancy;
};

/* The shown values of a struct cmt_usage_row, and those that the tool adds */
struct row {
	enum cmt_usage_kind kind;
	uint32_t owner;		/* CMT_OWNER_*, of CMT_USAGE_OWNER */
	bool whole;		/* by container: one RMID is all of a cgroup */
	bool attached;
	bool borrowed;		/* the container id is another row's, too */
	bool sole;		/* of an RMID: it is that of the owner's resctrl group */
	bool seen;		/* by CPU: false: only its losses are known */
	uint64_t cgroup_id;	/* 0: in none, such as a CPU */
	const struct cmt_container *container;	/* NULL: no name */
	char comm[CMT_COMM_LEN + 1];		/* raw bytes */
	uint32_t pid;
	uint32_t rmid;		/* process: its RMID; CPU: at the last tick */
	uint32_t generation;
	uint32_t domain;
	uint32_t rmids;		/* RMIDs in the row that have not ended */
	uint32_t why;		/* CMT_USAGE_WHY_* */
	bool emulated;
	struct measure occupancy;	/* bytes */
	struct measure total;		/* bytes a second */
	struct measure local;
	struct measure occupancy_part;	/* 1: the value is complete */
	struct measure total_part, local_part;
	struct measure cpu_share;	/* 1: one CPU all the time */
	struct measure wait_share;	/* 1: one task waits all the time */
	struct measure ipc;
	struct measure mpki;
	struct cmt_usage_counters counters;
	struct measure least, most;	/* bytes, of the interval's time slots */
	char letter;		/* in the bar of the whole cache; 0: none */
	uint64_t residual_bytes;
	bool residual_known;
	uint64_t age_ns;
	uint64_t l3_bytes;	/* the value of 100 %; 0: unknown */
	const struct trail *trail;	/* its last minute; NULL: nothing is kept */
	uint64_t culprit_id;	/* by container: cmt_culprit_id(), else 0 */
	const struct mark *mark;	/* its last verdict, or NULL */
	bool suspected;		/* the mark's suspect, not its victim */
	struct measure slowed;	/* the share of its time that others cost it */
	const struct slower *slower;	/* because of whom; NULL: less than 1 %, or not known */
	/* By container: its rows of processes with an RMID, frame.children */
	uint32_t first_child;
	uint32_t nr_children;
	bool child;		/* it is one of them */
	/* In each L3 domain: frame.parts; none: not asked for, or there is one domain */
	uint32_t first_part;
	uint32_t nr_parts;
	/* From the cgroups, not from RMIDs */
	bool processes_known;
	uint32_t processes;
	/*
	 * The overflow RMID: the kind and number of the pending owners; NULL: not
	 * requested
	 */
	const char *pending_noun;
	uint64_t pending;
	uint32_t pending_services;	/* services beside them */
	uint32_t pending_attached;	/* and others that were attached */
	uint32_t cpu;
	bool is_cpu;		/* by CPU: the row is a CPU's */
	bool has_group_cpu;	/* of a resctrl group: cpu is one of its CPUs */
	uint32_t ticks;
	uint32_t busy_ticks;
	uint64_t missed;
	uint64_t busy_ns;
	uint64_t lost;
	/* Of a memory channel, whose total is reads and writes */
	uint32_t socket;
	uint32_t channel;
	struct measure read, written;		/* bytes a second */
	uint64_t read_bytes, written_bytes;	/* in the interval */
	struct measure share;			/* of all channels */
	struct measure idle;			/* 1: no read was pending at any time */
	uint32_t idle_why;
};

/* As struct cmt_usage_memory. */
struct memory {
	uint32_t nr_channels;	/* ever read */
	struct measure read, written, total, rmids;
	bool unattributed_known;
	double unattributed;	/* bytes a second, also below 0 */
	double lo, hi;		/* it lies between these, also if it is not known;
				 * infinite: there is no such bound
				 */
};

/* One interval, as struct cmt_usage_frame. */
struct frame {
	enum view by;
	uint64_t start_ns;	/* CLOCK_MONOTONIC of the interval's begin */
	uint64_t end_ns;	/* CLOCK_MONOTONIC of the last reading; unread: of the end */
	uint64_t elapsed_ns;	/* since the last reading of the previous frame */
	bool unread;		/* without a reading, and elapsed_ns is not known */
	bool emulated;
	uint32_t nr_cpus;	/* that ticked in the interval */
	uint32_t nr_domains;	/* seen so far */
	uint32_t interval_ns;	/* sampling interval in force; 0: no tick */
	uint64_t busy_ns;	/* spent sampling, all CPUs */
	uint64_t missed;	/* ticks that did not happen, all CPUs */
	uint64_t ticks_ns;	/* CPU time that busy_ns is a part of */
	uint64_t counted_ns;	/* time that counters are of; 0: none */
	struct memory memory;
	uint32_t nr_rows;
	struct row *rows;
	uint32_t nr_children;
	struct row *children;
	struct row_part *parts;
	uint32_t nr_parts;
	struct row *flat;	/* room for all rows and children */
};

/* A sum that completes the other rows, whichever are shown: it comes last. */
static inline bool row_is_remainder(const struct row *row)
{
	return !row->is_cpu && (row->kind == CMT_USAGE_UNATTRIBUTED ||
				row->kind == CMT_USAGE_OVERFLOW);
}

/* An RMID that cmt did not give: resctrl's, another agent's, the kernel's. */
static inline bool row_is_foreign(const struct row *row)
{
	return row->owner == CMT_OWNER_RESCTRL || row->owner == CMT_OWNER_KERNEL;
}

/* Has it a cgroup?  A CPU, the overflow RMID and foreign ones have none. */
static inline bool row_in_cgroup(const struct row *row)
{
	return row->kind == CMT_USAGE_OWNER && row->owner != CMT_OWNER_CPU &&
	       !row_is_foreign(row);
}

enum sort_key {
	SORT_DEFAULT,	/* occupancy; number for CPUs, domains and channels */
	SORT_OCCUPANCY,
	SORT_TOTAL,
	SORT_LOCAL,
	SORT_NAME,
	SORT_NUMBER,	/* PID, CPU, domain or channel */
	SORT_RMIDS,
	SORT_BUSY,
	SORT_CPU,
	SORT_WAIT,
	SORT_IPC,
	SORT_MPKI,
	SORT_SLOWER,
};

/* As --sort has it; SORT_DEFAULT is "occupancy" or "number". */
const char *sort_key_name(enum sort_key key);

/* "docker:web", "cgroup:4711" and so on; raw bytes, at most this long. */
#define CONTAINER_LABEL_LEN (CMT_CONTAINER_NAME_LEN + 16)

/* The name in a label, without the runtime and its colon. */
const char *label_name(const char *label);

const char *container_label(char buf[CONTAINER_LABEL_LEN],
			    const struct row *row);

/* The same of a row that no tool has added to. */
const char *usage_row_label(char buf[CONTAINER_LABEL_LEN],
			    const struct cmt_usage_row *row);

/*
 * The row of the owner with @id in verdicts: cmt_culprit_id().  An owner that has ended
 * is in no row, but its cgroup's name is kept for some time: that is put into @gone.
 */
const struct cmt_usage_row *
culprit_row(const struct cmt_usage_frame *frame, struct cmt_containers *containers,
	    uint64_t id, struct cmt_usage_row *gone);

/* cmt_culprit_opts.max_owners of a device. */
uint32_t culprit_room(const struct cmt_info *info);

/* "process", "cgroup", "cpu", "resctrl", "overflow", "unknown" or "unattributed" */
const char *row_kind(const struct row *row);

/* " (resctrl group)" of the RMID of an owner's resctrl group, else "" */
const char *row_group_note(const struct row *row);

/* Set the owner of a row, with the name from @containers (NULL: there are none). */
void row_owner(struct row *row, const struct cmt_owner *owner,
	       struct cmt_containers *containers);

/* "process", "container", "cpu", "manual" or "unknown", of CMT_SCOPE_* */
const char *scope_name(uint32_t scope);

/* The noun for @nr owners of a scope: "containers", "CPU" and so on */
const char *scope_noun(uint32_t scope, uint64_t nr);

/* 0 or -EINVAL. */
int scope_parse(const char *name, uint32_t *scope);

/* 0 or -EINVAL. */
int sort_key_parse(const char *name, enum sort_key *key);

struct selection {
	enum sort_key key;
	const char *filter;	/* a glob; NULL: all */
	const char *search;	/* a part of the name in any case; NULL: all */
	bool reverse;		/* the other end of the order first */
	uint32_t top;		/* 0: all */
	bool expand;		/* children behind their rows */
};

/*
 * Keep the rows whose name matches, sorted by the key, up to a number of rows.  The
 * overflow RMID and the unattributed row come last and do not count; nor do children,
 * which stay with their row.
 */
void rows_select(struct frame *frame, const struct selection *selection);

#endif

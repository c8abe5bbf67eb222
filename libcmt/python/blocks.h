/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library hands out for a moment, copied into one block of memory that
 * Python owns: a view of a column keeps its block, whatever else is gone.  Both
 * the compiler and cffi read this file.
 */

/*
 * The columns of the readings of a slot, and their types.  In a block of n readings
 * column c is the array of n elements at n * offsetof(c).  Bytes that were not
 * measured are -1.
 */
struct entry_columns {
	uint64_t ts_ns;
	int64_t occupancy_bytes;
	int64_t residual_bytes;
	int64_t mbm_total_bytes;
	int64_t mbm_local_bytes;
	uint64_t cgroup_id;
	uint32_t samples;
	uint32_t flags;
	uint32_t rmid;
	uint32_t generation;
	uint32_t domain;
	uint32_t cpu;
	uint32_t pid;
	int32_t owner;
};

/* The same for the CPUs of a slot. */
struct cpu_columns {
	uint64_t missed;
	uint64_t deferred;
	uint64_t busy_ns;
	uint32_t cpu;
	uint32_t domain;
	uint32_t ticks;
	uint32_t busy_ticks;
	uint32_t rmid;
	uint32_t generation;
	uint32_t flags;
	uint32_t interval_ns;
	uint32_t read;
	uint32_t waiting;
	int32_t owner;
};

/* One slot.  Offsets are bytes from the beginning of the block. */
struct slot_block {
	struct slot_block *next;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t lost;
	uint64_t owners_serial;	/* owners differ from the slot before: another one */
	size_t size;
	size_t entries_at;
	size_t cpus_at;
	size_t owners_at;	/* of struct cmt_owner[nr_owners] */
	uint32_t gaps;
	uint32_t nr_entries;
	uint32_t nr_cpus;
	uint32_t nr_owners;
};

/* Slots that were retired and wait to be taken. */
struct slot_queue;

/* What a container is; texts follow, each terminated. */
struct container_head {
	uint64_t cgroup_id;
	int32_t runtime;
	uint32_t flags;
	uint32_t uid;
	uint32_t own_len;
	uint32_t present;	/* bit i: text i is there, if only as "" */
};

/* What slowdown_read() has taken in. */
struct slowdown_read {
	uint32_t frames;
	uint32_t sampling_ns;	/* this and what follows: of the last frame */
	uint64_t end_ns;
	uint64_t lost;
	_Bool emulated;
	_Bool look_due;		/* at files of cgroups, with a frame that has all rows */
};

/*
 * One frame: its rows, then their children; their names, the memory channels, and for whom
 * tasks waited.
 */
struct usage_block {
	size_t size;
	size_t rows_at;		/* of struct cmt_usage_row[nr] */
	size_t names_at;	/* of size_t[nr + 1]: where each one's container is */
	size_t channels_at;	/* of struct cmt_usage_channel[frame.nr_channels] */
	size_t waits_at;	/* of struct cmt_usage_wait_part[frame.nr_waits] */
	uint32_t nr;
	char channels_reason[80];
	struct cmt_usage_frame frame;	/* without its pointers */
};

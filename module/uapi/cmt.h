/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * /dev/cmt: what the cmt kernel module and user space say to each other.
 *
 * Contract
 * ========
 *
 * Records.  One record is 64 bytes (struct cmt_record), little endian as the
 * machine is, the same for 32- and 64-bit programs.  Times are CLOCK_MONOTONIC
 * nanoseconds, sizes are bytes.  A reader skips record types it does not know.
 *
 * Rings.  Every possible CPU has one ring: a header page (struct
 * cmt_ring_header) and cmt_info.ring_records slots.  The kernel overwrites the
 * oldest record and never waits.  A ring is mapped read-only with
 *
 *	mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, fd,
 *	     cpu * info.ring_bytes)
 *
 * Any other length or offset is EINVAL, a CPU number that cannot be is ENXIO
 * (there may be gaps below info.nr_cpus), PROT_WRITE is EPERM (EACCES on a
 * read-only descriptor).  The data pages of a ring whose state is
 * CMT_RING_ABSENT do not exist yet; touching them raises SIGBUS, and there is
 * nothing to read there: head is 0.
 *
 * Reading.  head counts the records ever written to the ring; record i is in
 * slot i & (records - 1).  A reader at position pos
 *
 *	1. loads head with acquire; pos..head-1 are published
 *	2. copies some of them
 *	3. issues a load barrier and loads head again
 *	4. keeps record i only if i > head - records (in the integers, not
 *	   modulo 2^64); the others may have been overwritten while they were
 *	   copied and are lost, exactly
 *
 * so that records emitted = delivered + lost, for every reader and ring.
 *
 * Order.  Timestamps within a ring never go back.  Lifecycle records (ALLOC,
 * FREE, UPDATE, ALLOC_FAIL) have strictly increasing timestamps over all
 * rings.  Once a ring shows a record of time t it will never show one of an
 * earlier time; TICK records say so at every interval while somebody reads.
 *
 * Sampling runs while at least one descriptor that has mapped a ring is open.
 *
 * Waiting.  poll() reports POLLIN while some ring has at least the watermark's
 * number of records (CMT_IOC_SET_WATERMARK) more than at this descriptor's last
 * read().  It is level-triggered: POLLIN stays until read(), however often and by
 * whatever means it is asked for.  read() of 8 bytes or more puts a __u64 there,
 * the number of records written to all rings since the last read(); with less
 * than the watermark in every ring it waits, or is EAGAIN with O_NONBLOCK.  Less
 * than 8 bytes is EINVAL.  A reader calls read() first and empties the rings
 * then: what comes in between raises POLLIN again, and nothing is slept over.
 *
 * ioctls.  Every argument starts with its size in bytes, set by the caller,
 * and flags, which must be 0.  Structures grow at their end, on either side:
 * of a smaller one than the module knows, the rest counts as 0; of a larger
 * one, the tail that the module does not know must be 0.  A size below the
 * structure's first published one (CMT_..._SIZE), a tail that is not 0, unknown
 * flags, or a reserved member that is not 0 is EINVAL, and nothing has changed.
 * The kernel writes back no more than the caller's size, and sets size to what
 * it wrote.  A command that this module does not know is ENOTTY.
 */
#ifndef _UAPI_CMT_H
#define _UAPI_CMT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CMT_ABI_MAJOR	2	/* another major number: incompatible, refuse */
#define CMT_ABI_MINOR	0	/* a higher minor number only adds */
#define CMT_ABI_VERSION	((CMT_ABI_MAJOR << 16) | CMT_ABI_MINOR)

#define CMT_COMM_LEN	16	/* as TASK_COMM_LEN, NUL padded */
#define CMT_RMID_NONE	0	/* idle, kernel threads and all unmonitored */

/* cmt_record.type */
enum {
	CMT_REC_PAD		= 0,	/* never written */
	/* RMID lifecycle: payload is cmt_record.owner */
	CMT_REC_ALLOC		= 1,	/* the owner got this RMID */
	CMT_REC_FREE		= 2,	/* the owner is gone, limbo begins */
	CMT_REC_EXISTING	= 3,	/* snapshot only; ts: when allocated */
	CMT_REC_UPDATE		= 4,	/* a new name or cgroup, attached or not */
	CMT_REC_ALLOC_FAIL	= 5,	/* the owner is pending; rmid: what it is
					 * counted under meanwhile
					 */
	/* readings */
	CMT_REC_SAMPLE		= 16,	/* payload is cmt_record.sample */
	CMT_REC_TICK		= 17,	/* payload is cmt_record.tick */
	CMT_REC_PERF		= 18,	/* payload is cmt_record.perf */
	CMT_REC_CHANNEL		= 19,	/* payload is cmt_record.channels */
	/* what the ring itself went through: no payload, no domain */
	CMT_REC_CPU_ONLINE	= 32,
	CMT_REC_CPU_OFFLINE	= 33,	/* nothing follows until CPU_ONLINE */
	/* what all readers share has changed: payload is cmt_record.state */
	CMT_REC_STATE		= 34,
};

/* cmt_record.flags */
#define CMT_F_EMULATED		0x00000001U	/* from the model, not measured */
/* TICK: another agent had changed this CPU's RMID; SAMPLE: such a CPU should have
 * run with this one
 */
#define CMT_F_PQR_OVERWRITTEN	0x00000002U
/* SAMPLE: which values are measurements; a value without its flag is 0 */
#define CMT_F_OCCUPANCY		0x00000010U
#define CMT_F_MBM_TOTAL		0x00000020U
#define CMT_F_MBM_LOCAL		0x00000040U
#define CMT_F_RESIDUAL		0x00000080U	/* also of lifecycle records */
/* SAMPLE: why one is missing, or not comparable with the one before */
#define CMT_F_ERROR		0x00000100U	/* QM_CTR bit 63 */
#define CMT_F_UNAVAILABLE	0x00000200U	/* QM_CTR bit 62 */
/* MBM traffic before this sample is unknown: first reading, a pause in sampling, or
 * a reading was missing
 */
#define CMT_F_REBASED		0x00000400U
/* CHANNEL: read_bytes and written_bytes are measurements; else they are 0 */
#define CMT_F_CHANNEL		0x00000800U
/* CHANNEL: so are idle_cycles and busy_cycles; else they are 0 */
#define CMT_F_CHANNEL_IDLE	0x00020000U

/* PERF: which values are measurements: the counter ran all of the time in which the
 * RMID did; a value without its flag is 0
 */
#define CMT_F_CYCLES		0x00100000U	/* unhalted */
#define CMT_F_INSTRUCTIONS	0x00200000U	/* retired */
#define CMT_F_LLC_MISSES	0x00400000U	/* architectural event 2EH, 41H */
#define CMT_F_LLC_REFERENCES	0x00800000U	/* architectural event 2EH, 4FH */

/* Lifecycle: what the owner is; a process, when no CMT_F_OWNER_* is set */
#define CMT_F_OWNER_CGROUP	0x00001000U	/* and all cgroups below it; no tgid */
#define CMT_F_OWNER_CPU		0x00002000U	/* whatever runs there; owner_cpu */
#define CMT_F_OWNER_OVERFLOW	0x00004000U	/* all pending owners; no tgid */
#define CMT_F_ATTACHED		0x00008000U	/* asked for by name: CMT_IOC_ATTACH,
						 * CMT_IOC_REGISTER
						 */
#define CMT_F_OWNER_RESCTRL	0x00010000U	/* what resctrl, or another agent,
						 * counts under this RMID; no tgid
						 */
#define CMT_F_OWNER_KERNEL	0x00040000U	/* what CPUs do at privilege level 0,
						 * where AMD's PLZA gives that this
						 * RMID; no tgid
						 */

/*
 * One record.  rmid and generation name an owner: generation changes whenever
 * the RMID is handed out again, and is 0 for RMID 0.
 */
struct cmt_record {
	__aligned_u64 ts;	/* CLOCK_MONOTONIC, ns */
	__u16 type;		/* CMT_REC_* */
	__u16 cpu;		/* the CPU whose ring this is */
	__u32 flags;		/* CMT_F_* */
	__u32 rmid;		/* TICK: the RMID running on the CPU */
	__u32 generation;
	__u32 domain;		/* L3 domain id, as resctrl numbers them;
				 * lifecycle: where the RMID was allocated;
				 * CHANNEL: the socket
				 */
	union {
		__u32 tgid;		/* lifecycle: the process */
		__u32 owner_cpu;	/* lifecycle of CMT_F_OWNER_CPU */
		__u32 interval_ns;	/* TICK: interval in force */
		__u32 ran_ns;		/* PERF: time on this CPU, since the last
					 * PERF; of RMID 0 idle time included
					 */
		__u32 base;		/* SAMPLE of CMT_IOC_READ: how often the MBM
					 * values began anew; in rings 0
					 */
		__u32 channel;		/* CHANNEL: id of the box, on the socket */
		__u32 reserved;		/* otherwise 0 */
	};
	union {
		struct {
			__aligned_u64 cgroup_id;	/* cgroup v2 inode number */
			union {
				/* cache the RMID held in the domain when allocated */
				__aligned_u64 residual_bytes;
				__aligned_u64 why;	/* ALLOC_FAIL: CMT_WHY_* */
			};
			char comm[CMT_COMM_LEN];	/* not always terminated */
		} owner;
		struct {
			__aligned_u64 occupancy_bytes;	/* L3 now, residue included */
			__aligned_u64 mbm_total_bytes;	/* since the allocation, */
			__aligned_u64 mbm_local_bytes;	/* never decreasing */
			__aligned_u64 residual_bytes;	/* of occupancy: left here by
							 * owners before this one,
							 * an upper bound
							 */
		} sample;
		struct {
			/* since the module was loaded, on this CPU: */
			__aligned_u64 missed;	/* ticks missed */
			__aligned_u64 deferred;	/* readings put off to a later tick */
			__aligned_u64 busy_ns;	/* spent in ticks */
			/* in this tick: */
			__u32 read;		/* RMIDs read: SAMPLE records */
			__u32 waiting;		/* RMIDs due here and not read: they
						 * come first in the next tick
						 */
		} tick;
		/*
		 * What this CPU counted while the RMID was loaded, in user mode and
		 * in the kernel, since the last PERF of this RMID and generation
		 * here.  The records of all CPUs add up.
		 */
		struct {
			__aligned_u64 cycles;
			__aligned_u64 instructions;
			__aligned_u64 llc_misses;
			__aligned_u64 llc_references;
		} perf;
		/*
		 * What a socket read from and wrote to its memory through a channel,
		 * whoever asked for it, since the module was loaded and while the
		 * channel was read.  Never decreasing; CMT_F_REBASED as in SAMPLE.
		 *
		 * The cycles are those of the memory controller in which no read was
		 * pending, and in which some was, in the first of the two halves
		 * (pseudo channels) that a channel has.  Writes and refreshes are
		 * in neither.  They are read less often than the bytes.
		 */
		struct {
			__aligned_u64 read_bytes;
			__aligned_u64 written_bytes;
			__aligned_u64 idle_cycles;
			__aligned_u64 busy_cycles;
		} channels;
		struct {
			__u32 scope;		/* CMT_SCOPE_* */
			__u32 interval_ns;
			__u32 resctrl;		/* CMT_RESCTRL_* */
			__u32 resctrl_mounted;	/* 0 or 1 */
			__u32 counters;		/* as cmt_info.counters */
		} state;
		__u8 payload[32];
	};
};

/* cmt_record.owner.why, of ALLOC_FAIL */
enum {
	CMT_WHY_NO_RMID		= 1,	/* all have an owner or are in limbo */
	CMT_WHY_RECLAIMED	= 2,	/* resctrl or another agent took its RMID */
	CMT_WHY_NO_OWNER	= 3,	/* more owners than the module can note */
};

/* cmt_ring_header.state */
enum {
	CMT_RING_ABSENT		= 0,	/* the CPU has never been online */
	CMT_RING_ONLINE		= 1,
	CMT_RING_OFFLINE	= 2,	/* may come back */
	CMT_RING_QUIET		= 3,	/* online, without TICKs: the CPU is excluded.
					 * A record comes here at most a tick's
					 * time after its timestamp
					 */
};

#define CMT_RING_MAGIC		0x524d5443U	/* "CTMR" in memory */
#define CMT_RING_DATA_OFFSET	4096U

/*
 * The first page of a ring.  All but state and head is constant.  records is this
 * ring's: rings of CPUs that read less are smaller.
 */
struct cmt_ring_header {
	__u32 magic;		/* CMT_RING_MAGIC */
	__u32 abi_version;	/* CMT_ABI_VERSION */
	__aligned_u64 instance;	/* as cmt_info.instance */
	__u32 cpu;
	__u32 records;		/* capacity, a power of two */
	__u32 record_bytes;	/* sizeof(struct cmt_record) */
	__u32 data_offset;	/* of slot 0 from the start of the header */
	__u32 state;		/* CMT_RING_* */
	__u32 reserved[7];
	__aligned_u64 head;	/* own cache line; records ever written */
	__aligned_u64 reserved2[7];
};

/* cmt_info.backend */
enum {
	CMT_BACKEND_HARDWARE	= 1,	/* RDT or PQoS */
	CMT_BACKEND_EMULATED	= 2,	/* a model of a cache: nothing is measured */
	CMT_BACKEND_SOFTWARE	= 3,	/* RMIDs are only numbers: events is 0, and
					 * there are no SAMPLEs; reason says why
					 */
};

/* cmt_info.vendor */
enum {
	CMT_VENDOR_OTHER	= 0,
	CMT_VENDOR_INTEL	= 1,
	CMT_VENDOR_AMD		= 2,
	CMT_VENDOR_HYGON	= 3,
};

/* cmt_info.scope: what an RMID's owner is */
enum {
	CMT_SCOPE_PROCESS	= 1,	/* a process, with all its threads */
	CMT_SCOPE_CONTAINER	= 2,	/* a container's cgroup, with those below */
	CMT_SCOPE_CPU		= 3,	/* a CPU, whatever runs there */
	CMT_SCOPE_MANUAL	= 4,	/* only what was attached */
};

/* cmt_info.resctrl: whose RMID a task has that resctrl gave one, too */
enum {
	CMT_RESCTRL_RESPECT	= 1,	/* resctrl's; it is sampled as an owner of its
					 * own kind (CMT_F_OWNER_RESCTRL)
					 */
	CMT_RESCTRL_TAKE	= 2,	/* cmt's; the CLOSID stays resctrl's */
};

/*
 * CMT_IOC_GET_INFO: constant while loaded, but for interval, scope, resctrl,
 * resctrl_mounted, ring_hold_ns, events, counters, assignable, plza and perf_reason
 */
struct cmt_info {
	__u32 size;
	__u32 flags;
	__u32 abi_version;
	__u32 backend;		/* CMT_BACKEND_* */
	__u32 vendor;		/* CMT_VENDOR_* */
	__u32 scope;		/* CMT_SCOPE_*; 0 while it is being changed */
	__aligned_u64 instance;	/* random, another one at every load */
	__u32 nr_cpus;		/* rings: CPU numbers are below this */
	__u32 nr_rmids;		/* RMID numbers are below this */
	__u32 rmids_usable;	/* how many can have an owner at once */
	__u32 events;		/* CMT_F_OCCUPANCY | _MBM_TOTAL | _MBM_LOCAL */
	__u32 upscale_bytes;	/* bytes per counter unit (CPUID 0xF.1 EBX); 0:
				 * there are no counters
				 */
	__u32 counter_bits;	/* width of the MBM counters, likewise */
	__u32 ring_records;	/* of the largest ring */
	__u32 interval_ns;
	__u32 interval_min_ns;
	__u32 interval_max_ns;
	__aligned_u64 ring_bytes;	/* length of one ring's mapping */
	__aligned_u64 limbo_ns;		/* least time between FREE and ALLOC */
	__aligned_u64 l3_bytes;		/* of one domain; 0: unknown */
	__aligned_u64 ring_hold_ns;	/* every ring holds the records of at least
					 * this long, at the worst rate of samples
					 */
	__u32 budget_ns;	/* a tick reads for about this long at most */
	__u32 idle_ticks;	/* an RMID that has an owner and did not run is read
				 * once in so many ticks, as the budget allows
				 */
	__u32 resctrl;		/* CMT_RESCTRL_* */
	__u32 resctrl_mounted;	/* 0 or 1, as of the last look */
	char module_version[16];
	char reason[64];	/* why this backend, for people */
	char mbm_reason[64];	/* why there are no MBM events; empty: there are */
	__u32 counters;		/* CMT_F_CYCLES | ...: some descriptor asks for them
				 * (CMT_IOC_SET_COUNTERS), and they are counted on
				 * every CPU that has TICKs
				 */
	__u32 assignable;	/* AMD's assignable counters (ABMC), of all domains:
				 * CMT_ASSIGNABLE_*; 0: the mode is off
				 */
	char perf_reason[64];	/* why one that is asked for is not; empty: all are */
	__u32 plza;		/* AMD's privilege-level zero association, as of the
				 * last look: CMT_PLZA_*; 0: the processor has none
				 */
	__u32 reserved;
};

/*
 * cmt_info.plza.  With an RMID, what CPUs do at privilege level 0 counts under that
 * one, and not under the RMID of what they run.  RMID 0, and one of nr_rmids or more,
 * has no owner.
 */
#define CMT_PLZA_EXISTS		0x80000000U
#define CMT_PLZA_ON		0x40000000U	/* on some CPU */
#define CMT_PLZA_HAS_RMID	0x20000000U	/* an RMID is associated */
#define CMT_PLZA_RMID(plza)	((plza) & 0xfffU)

/* cmt_info.assignable: each number is 1023 at most, and means "or more" then */
#define CMT_ASSIGNABLE_ON	0x80000000U
#define CMT_ASSIGNABLE_MAX	1023U
#define CMT_ASSIGNABLE_ALL(a)	((a) & CMT_ASSIGNABLE_MAX)
#define CMT_ASSIGNABLE_OURS(a)	((a) >> 10 & CMT_ASSIGNABLE_MAX)
#define CMT_ASSIGNABLE_OTHERS(a) ((a) >> 20 & CMT_ASSIGNABLE_MAX)

/* CMT_IOC_GET_STATS: sums over all CPUs since the module was loaded */
struct cmt_stats {
	__u32 size;
	__u32 flags;
	__u32 rmids_active;	/* now: they have an owner */
	__u32 rmids_limbo;	/* now: freed less than limbo_ns ago */
	__u32 rmids_free;	/* now: can be handed out */
	__u32 pending;		/* now: owners that wait for an RMID */
	__u32 readers;		/* now: descriptors that mapped a ring */
	__u32 cpus_online;	/* now: rings in CMT_RING_ONLINE */
	__u32 rmids_foreign;	/* now: resctrl or another agent uses them */
	__u32 cpus_unread;	/* now: online in L3 domains beyond the first 64: they
				 * have no RMIDs and no samples
				 */
	__aligned_u64 allocs;
	__aligned_u64 frees;
	__aligned_u64 alloc_fails;	/* owners that became pending */
	__aligned_u64 served;		/* of these, got one later */
	__aligned_u64 records;		/* written to all rings */
	__aligned_u64 ticks;
	__aligned_u64 missed;
	__aligned_u64 deferred;
	__aligned_u64 samples;
	__aligned_u64 switches;		/* context switches to another process; not
					 * counted while all owners are CPUs
					 */
	__aligned_u64 pqr_writes;	/* a CPU's RMID was changed */
	__aligned_u64 pqr_overwritten;	/* an owner ran under another agent's */
	__aligned_u64 read_errors;	/* QM_CTR bit 63 */
	__aligned_u64 read_unavailable;	/* QM_CTR bit 62 */
	__aligned_u64 busy_ns;		/* spent in ticks */
	__aligned_u64 irqs_off_ns;	/* the longest that interrupts were off */
	__aligned_u64 lock_held_ns;	/* the longest that the owner lock was held */
};

/*
 * CMT_IOC_GET_RMIDS: the assignments at one instant, as CMT_REC_EXISTING
 * records in the order of their allocation.  count: in, the room at records;
 * out, how many there are.  When there are more than there is room for, the
 * call fails with ENOSPC and count says how much room it takes.  Lifecycle
 * records with ts <= as_of are in the snapshot, those after are not.
 */
struct cmt_rmids {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 reserved;
	__aligned_u64 as_of;
	__aligned_u64 records;	/* user address of struct cmt_record[count] */
};

/*
 * CMT_IOC_SET_INTERVAL: for everybody.  Needs a descriptor open for writing
 * (EBADF) and CAP_SYS_ADMIN or CAP_PERFMON (EPERM).
 */
struct cmt_interval {
	__u32 size;
	__u32 flags;
	__u32 interval_ns;	/* interval_min_ns .. interval_max_ns */
	__u32 reserved;
};

/*
 * CMT_IOC_SET_WATERMARK: how many records in one ring make poll() report and
 * wake this descriptor's reader, and no other one.  1 .. ring_records / 2 of the
 * smallest ring; 1 is what a new descriptor has.
 */
struct cmt_watermark {
	__u32 size;
	__u32 flags;
	__u32 records;
	__u32 reserved;
};

/*
 * CMT_IOC_SET_SCOPE: for everybody.  Every owner's RMID is given back (FREE), but
 * those of registered owners; what was attached is forgotten, and the owners of the
 * new scope get theirs (ALLOC).  Rights as for CMT_IOC_SET_INTERVAL.
 *
 * Patterns say which cgroups are containers.  They are separated by white
 * space; each is one or more components of a path, with '/' in between, which
 * the last components down to the container's must match.  In a component '*'
 * is any text, and "<id>" 12 to 64 hexadecimal digits in lower case.  A pattern
 * that begins with '!' says that what matches is none.  At each component, from
 * the root down, the first pattern that matches decides; the first container
 * found is the owner of all below it.
 */
struct cmt_scope {
	__u32 size;
	__u32 flags;
	__u32 scope;		/* CMT_SCOPE_* */
	__u32 patterns_bytes;	/* 0: the patterns in force stay */
	__aligned_u64 patterns;	/* user address of the text, not terminated */
	__u32 bad_at;		/* out, with EINVAL: the byte of the text that
				 * is wrong; ~0: not the text
				 */
	__u32 reserved;
};

#define CMT_PATTERNS_MAX	4096U	/* bytes */

/*
 * CMT_IOC_GET_PATTERNS: those in force, one to a line.  bytes: in, the room; out,
 * the length.  ENOSPC: it takes more room, bytes says how much.
 */
struct cmt_patterns {
	__u32 size;
	__u32 flags;
	__u32 bytes;
	__u32 reserved;
	__aligned_u64 text;	/* user address */
};

/* cmt_attach.kind */
enum {
	CMT_OWNER_PROCESS	= 1,
	CMT_OWNER_CGROUP	= 2,
	CMT_OWNER_CPU		= 3,
};

/* cmt_attach.options */
#define CMT_ATTACH_CHILDREN	0x1U	/* and all processes it forks from now on,
					 * and theirs: they share its RMID
					 */

/*
 * CMT_IOC_ATTACH: give an owner of its own to a process, a cgroup or a CPU,
 * whatever the scope.  It goes before the pending owners of the scope, and is
 * pending itself when no RMID is free.  An attached process is no part of its
 * container any more, and
 * an attached cgroup none of one above it; an attached CPU counts what runs
 * there and has no other owner.  Rights as for CMT_IOC_SET_INTERVAL.  ESRCH: no
 * such process; ENOENT: no such cgroup; ENXIO: no such CPU, or it is offline;
 * EEXIST: it is attached; ENOSPC: too many are.
 *
 * CMT_IOC_DETACH: the end of that; options must be 0.  ENOENT: not attached.
 */
struct cmt_attach {
	__u32 size;
	__u32 flags;
	__u32 kind;		/* CMT_OWNER_* */
	__u32 options;		/* CMT_ATTACH_* */
	__aligned_u64 id;	/* process id in the caller's namespace; cgroup
				 * v2 inode number; CPU number
				 */
	__u32 rmid;		/* out; of a pending owner, the overflow RMID */
	__u32 generation;	/* out */
};

/*
 * CMT_IOC_REGISTER: as CMT_IOC_ATTACH, until CMT_IOC_UNREGISTER or the close of
 * this descriptor, which the end of its last program is.  The owner may be
 * attached, of the scope, or registered by other descriptors already: they all
 * have the same RMID, and the owner ends when nobody has it any more.  Its RMID
 * stays the same until then, also when the scope changes; but a process, a cgroup or a
 * CPU that goes away takes its owner with it.  With CMT_ATTACH_CHILDREN its new
 * children are members for as long as it is registered or attached at all.
 * Errors as of CMT_IOC_ATTACH, but EEXIST: this descriptor has registered it;
 * ENOSPC: also, the descriptor has registered CMT_REGISTER_MAX.
 *
 * CMT_IOC_UNREGISTER: the end of that, with the kind and id that were registered;
 * options must be 0.  0 also when the owner has ended by itself; ENOENT: this
 * descriptor has not registered it.
 */
#define CMT_REGISTER_MAX	1024U

/*
 * CMT_IOC_READ: read the counters now, whether there are ticks or not.  CMT_REC_SAMPLE
 * records, by domain and then by RMID: one for each L3 domain that is known and
 * each owner that is asked for.  No ring has them.  ts says when each was read; a
 * reading by CMT_IOC_READ less than CMT_READ_FRESH_NS ago is given again.
 *
 * kind CMT_OWNER_*: that owner, whoever made it one (scope, attached, registered).
 * ENOENT: it is none, or ended meanwhile; ESRCH: no such process; EAGAIN: the owner
 * is pending, and shares the RMID of others.  kind 0, id 0: every RMID
 * that has an owner, the overflow owner's and resctrl's too.
 *
 * A value without its flag is not known, and 0, as in rings: in a domain without
 * a CPU online that can read, and with counters that stay busy, all are
 * CMT_F_UNAVAILABLE; with the software backend there are no flags.
 * CMT_F_PQR_OVERWRITTEN stays set until a ring has said so.
 *
 * MBM values continue a reading, by a tick or by CMT_IOC_READ, that is at most
 * 1.1 s old; else they begin anew: CMT_F_REBASED.  Others' readings count, too: two
 * records of one RMID, generation and domain can be subtracted if their base is
 * the same.
 *
 * count: in, the room at records; out, how many there are.  ENOSPC: there are
 * more than there is room for, and count says how much room it takes.  as_of: when
 * the RMIDs were looked at, CLOCK_MONOTONIC.  Needs no more rights than a ring.
 */
struct cmt_read {
	__u32 size;
	__u32 flags;
	__u32 kind;		/* CMT_OWNER_*; 0: all */
	__u32 count;
	__aligned_u64 id;	/* as cmt_attach.id; kind 0: 0 */
	__aligned_u64 records;	/* user address of struct cmt_record[count] */
	__aligned_u64 as_of;	/* out */
};

#define CMT_READ_FRESH_NS	100000U

/*
 * CMT_IOC_SET_RESCTRL: for everybody; CMT_RESCTRL_*.  Rights as for
 * CMT_IOC_SET_INTERVAL.
 */
struct cmt_resctrl {
	__u32 size;
	__u32 flags;
	__u32 mode;
	__u32 reserved;
};

/*
 * CMT_IOC_PATH_OF_CGROUP: where a cgroup of the v2 hierarchy is, from the root
 * of the hierarchy ("/" is the root itself), terminated.  bytes: in, the room at
 * path; out, the length with the terminator.  ENOENT: no such cgroup, or not
 * below the caller's cgroup namespace; ENOSPC: it takes more room, bytes says
 * how much; ENAMETOOLONG: it is longer than PATH_MAX.
 */
struct cmt_cgroup_path {
	__u32 size;
	__u32 flags;
	__aligned_u64 cgroup_id;
	__aligned_u64 path;	/* user address */
	__u32 bytes;
	__u32 reserved;
};

/*
 * CMT_IOC_SET_COUNTERS: the values that this descriptor wants in PERF records;
 * none is what a new one has.  They are counted on all CPUs that have TICKs while
 * some descriptor wants them, by counters of the processor that nobody else has
 * then; PERF records are written while the sampling runs.  A value that cannot be
 * counted is no error: cmt_info.counters and perf_reason say so.  EINVAL: another
 * bit is set.
 *
 * CMT_F_CHANNEL: this descriptor wants CHANNEL records.  The memory channels that
 * nobody else uses are read while some descriptor wants them and the sampling runs;
 * CMT_IOC_GET_UNCORE says which are not, and why.
 */
struct cmt_counters {
	__u32 size;
	__u32 flags;
	__u32 counters;		/* CMT_F_CYCLES | ..., CMT_F_CHANNEL, 0: none */
	__u32 reserved;
};

/*
 * CMT_IOC_GET_UNCORE: the boxes of counters outside the cores (PMON) that the
 * discovery tables of the processor list, as they were found when the module was
 * loaded: by socket, and in the order of the table.  Sapphire Rapids and later have
 * such tables.  What a table says of itself was checked; a box that was refused is
 * not among them, and the kernel's log has said why.
 *
 * count: in, the room at boxes; out, how many there are.  ENOSPC: there are more than
 * there is room for, and count says how much room it takes.  No box is no error:
 * reason says why there is none, and is empty otherwise.
 */
struct cmt_uncore {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 sockets;		/* out: with a table that was accepted */
	__u32 refused;		/* out: boxes, and tables as a whole */
	__u32 channels;		/* out: memory channels that are read now */
	__aligned_u64 boxes;	/* user address of struct cmt_box[count] */
	char reason[80];	/* out */
	char channels_reason[80];	/* out: why no channel, or not every one, is read */
};

/* cmt_box.access: how the registers are reached, and what ctl is */
#define CMT_BOX_MSR		0	/* number of an MSR */
#define CMT_BOX_MMIO		1	/* physical address */
#define CMT_BOX_PCI		2	/* segment << 28 | bus << 20 | device << 15 |
					 * function << 12 | offset in its configuration space
					 */

struct cmt_box {
	__u16 socket;		/* as topology's logical package id */
	__u16 type;		/* by processor: 6 is the IMC of Sapphire Rapids */
	__u16 id;		/* among those of the type, on the socket */
	__u8 access;		/* CMT_BOX_* */
	__u8 counters;
	__u8 bits;		/* of a counter */
	__u8 ctl_offset;	/* of the first counter's control, from ctl */
	__u8 ctr_offset;	/* of the first counter */
	__u8 status_offset;
	__u32 reserved;
	__aligned_u64 ctl;	/* the box's control */
};

/*
 * Type and numbers are free in the kernel's list (ioctl-number.rst).  The
 * numbers hold no size: structures grow, commands do not change.
 */
#define CMT_IOC_TYPE		0xD4
#define CMT_IOC(nr)		_IOC(_IOC_READ | _IOC_WRITE, CMT_IOC_TYPE, nr, 0)
#define CMT_IOC_GET_INFO	CMT_IOC(0x00)	/* struct cmt_info */
#define CMT_IOC_GET_STATS	CMT_IOC(0x01)	/* struct cmt_stats */
#define CMT_IOC_GET_RMIDS	CMT_IOC(0x02)	/* struct cmt_rmids */
/* As CMT_IOC_GET_RMIDS, of the pending owners: ALLOC_FAIL records. */
#define CMT_IOC_GET_PENDING	CMT_IOC(0x03)	/* struct cmt_rmids */
#define CMT_IOC_SET_INTERVAL	CMT_IOC(0x04)	/* struct cmt_interval */
#define CMT_IOC_SET_WATERMARK	CMT_IOC(0x05)	/* struct cmt_watermark */
#define CMT_IOC_SET_SCOPE	CMT_IOC(0x06)	/* struct cmt_scope */
#define CMT_IOC_GET_PATTERNS	CMT_IOC(0x07)	/* struct cmt_patterns */
#define CMT_IOC_ATTACH		CMT_IOC(0x08)	/* struct cmt_attach */
#define CMT_IOC_DETACH		CMT_IOC(0x09)	/* struct cmt_attach */
#define CMT_IOC_SET_RESCTRL	CMT_IOC(0x0a)	/* struct cmt_resctrl */
#define CMT_IOC_PATH_OF_CGROUP	CMT_IOC(0x0b)	/* struct cmt_cgroup_path */
#define CMT_IOC_SET_COUNTERS	CMT_IOC(0x0c)	/* struct cmt_counters */
#define CMT_IOC_REGISTER	CMT_IOC(0x0d)	/* struct cmt_attach */
#define CMT_IOC_UNREGISTER	CMT_IOC(0x0e)	/* struct cmt_attach */
#define CMT_IOC_READ		CMT_IOC(0x0f)	/* struct cmt_read */
#define CMT_IOC_GET_UNCORE	CMT_IOC(0x10)	/* struct cmt_uncore */

/* The least size that a caller may give: what was published first. */
#define CMT_INFO_SIZE		344U
#define CMT_STATS_SIZE		176U
#define CMT_RMIDS_SIZE		32U
#define CMT_INTERVAL_SIZE	16U
#define CMT_WATERMARK_SIZE	16U
#define CMT_SCOPE_SIZE		32U
#define CMT_PATTERNS_SIZE	24U
#define CMT_ATTACH_SIZE		32U
#define CMT_RESCTRL_SIZE	16U
#define CMT_CGROUP_PATH_SIZE	32U
#define CMT_COUNTERS_SIZE	16U
#define CMT_READ_SIZE		40U
#define CMT_UNCORE_SIZE		192U

/* Layout is ABI: what the compiler made of it is checked wherever it is used. */
#if defined(__cplusplus)
#define CMT_ABI_ASSERT(cond)	static_assert(cond, #cond)
#else
#define CMT_ABI_ASSERT(cond)	_Static_assert(cond, #cond)
#endif
#define CMT_ABI_SIZE(type, bytes) \
	CMT_ABI_ASSERT(sizeof(struct type) == (bytes))
#define CMT_ABI_AT(type, member, offset) \
	CMT_ABI_ASSERT(__builtin_offsetof(struct type, member) == (offset))

CMT_ABI_SIZE(cmt_record, 64);
CMT_ABI_AT(cmt_record, ts, 0);
CMT_ABI_AT(cmt_record, type, 8);
CMT_ABI_AT(cmt_record, cpu, 10);
CMT_ABI_AT(cmt_record, flags, 12);
CMT_ABI_AT(cmt_record, rmid, 16);
CMT_ABI_AT(cmt_record, generation, 20);
CMT_ABI_AT(cmt_record, domain, 24);
CMT_ABI_AT(cmt_record, tgid, 28);
CMT_ABI_AT(cmt_record, interval_ns, 28);
CMT_ABI_AT(cmt_record, base, 28);
CMT_ABI_AT(cmt_record, owner.cgroup_id, 32);
CMT_ABI_AT(cmt_record, owner.residual_bytes, 40);
CMT_ABI_AT(cmt_record, owner.why, 40);
CMT_ABI_AT(cmt_record, owner.comm, 48);
CMT_ABI_AT(cmt_record, sample.occupancy_bytes, 32);
CMT_ABI_AT(cmt_record, sample.mbm_total_bytes, 40);
CMT_ABI_AT(cmt_record, sample.mbm_local_bytes, 48);
CMT_ABI_AT(cmt_record, sample.residual_bytes, 56);
CMT_ABI_AT(cmt_record, tick.missed, 32);
CMT_ABI_AT(cmt_record, tick.deferred, 40);
CMT_ABI_AT(cmt_record, tick.busy_ns, 48);
CMT_ABI_AT(cmt_record, tick.read, 56);
CMT_ABI_AT(cmt_record, tick.waiting, 60);
CMT_ABI_AT(cmt_record, state.scope, 32);
CMT_ABI_AT(cmt_record, state.resctrl_mounted, 44);
CMT_ABI_AT(cmt_record, state.counters, 48);
CMT_ABI_AT(cmt_record, ran_ns, 28);
CMT_ABI_AT(cmt_record, perf.cycles, 32);
CMT_ABI_AT(cmt_record, perf.instructions, 40);
CMT_ABI_AT(cmt_record, perf.llc_misses, 48);
CMT_ABI_AT(cmt_record, perf.llc_references, 56);
CMT_ABI_AT(cmt_record, channel, 28);
CMT_ABI_AT(cmt_record, channels.read_bytes, 32);
CMT_ABI_AT(cmt_record, channels.written_bytes, 40);
CMT_ABI_AT(cmt_record, channels.idle_cycles, 48);
CMT_ABI_AT(cmt_record, channels.busy_cycles, 56);
CMT_ABI_AT(cmt_record, payload, 32);

CMT_ABI_SIZE(cmt_ring_header, 128);
CMT_ABI_AT(cmt_ring_header, magic, 0);
CMT_ABI_AT(cmt_ring_header, abi_version, 4);
CMT_ABI_AT(cmt_ring_header, instance, 8);
CMT_ABI_AT(cmt_ring_header, cpu, 16);
CMT_ABI_AT(cmt_ring_header, records, 20);
CMT_ABI_AT(cmt_ring_header, record_bytes, 24);
CMT_ABI_AT(cmt_ring_header, data_offset, 28);
CMT_ABI_AT(cmt_ring_header, state, 32);
CMT_ABI_AT(cmt_ring_header, head, 64);

CMT_ABI_SIZE(cmt_info, CMT_INFO_SIZE);
CMT_ABI_AT(cmt_info, abi_version, 8);
CMT_ABI_AT(cmt_info, instance, 24);
CMT_ABI_AT(cmt_info, nr_cpus, 32);
CMT_ABI_AT(cmt_info, interval_ns, 60);
CMT_ABI_AT(cmt_info, ring_bytes, 72);
CMT_ABI_AT(cmt_info, limbo_ns, 80);
CMT_ABI_AT(cmt_info, l3_bytes, 88);
CMT_ABI_AT(cmt_info, ring_hold_ns, 96);
CMT_ABI_AT(cmt_info, budget_ns, 104);
CMT_ABI_AT(cmt_info, resctrl_mounted, 116);
CMT_ABI_AT(cmt_info, module_version, 120);
CMT_ABI_AT(cmt_info, reason, 136);
CMT_ABI_AT(cmt_info, mbm_reason, 200);
CMT_ABI_AT(cmt_info, counters, 264);
CMT_ABI_AT(cmt_info, assignable, 268);
CMT_ABI_AT(cmt_info, perf_reason, 272);
CMT_ABI_AT(cmt_info, plza, 336);

CMT_ABI_SIZE(cmt_stats, CMT_STATS_SIZE);
CMT_ABI_AT(cmt_stats, rmids_active, 8);
CMT_ABI_AT(cmt_stats, pending, 20);
CMT_ABI_AT(cmt_stats, rmids_foreign, 32);
CMT_ABI_AT(cmt_stats, cpus_unread, 36);
CMT_ABI_AT(cmt_stats, allocs, 40);
CMT_ABI_AT(cmt_stats, records, 72);
CMT_ABI_AT(cmt_stats, switches, 112);
CMT_ABI_AT(cmt_stats, busy_ns, 152);
CMT_ABI_AT(cmt_stats, irqs_off_ns, 160);
CMT_ABI_AT(cmt_stats, lock_held_ns, 168);

CMT_ABI_SIZE(cmt_rmids, CMT_RMIDS_SIZE);
CMT_ABI_AT(cmt_rmids, count, 8);
CMT_ABI_AT(cmt_rmids, as_of, 16);
CMT_ABI_AT(cmt_rmids, records, 24);

CMT_ABI_SIZE(cmt_interval, CMT_INTERVAL_SIZE);
CMT_ABI_AT(cmt_interval, interval_ns, 8);

CMT_ABI_SIZE(cmt_watermark, CMT_WATERMARK_SIZE);
CMT_ABI_AT(cmt_watermark, records, 8);

CMT_ABI_SIZE(cmt_scope, CMT_SCOPE_SIZE);
CMT_ABI_AT(cmt_scope, scope, 8);
CMT_ABI_AT(cmt_scope, patterns_bytes, 12);
CMT_ABI_AT(cmt_scope, patterns, 16);
CMT_ABI_AT(cmt_scope, bad_at, 24);

CMT_ABI_SIZE(cmt_patterns, CMT_PATTERNS_SIZE);
CMT_ABI_AT(cmt_patterns, bytes, 8);
CMT_ABI_AT(cmt_patterns, text, 16);

CMT_ABI_SIZE(cmt_attach, CMT_ATTACH_SIZE);
CMT_ABI_AT(cmt_attach, kind, 8);
CMT_ABI_AT(cmt_attach, options, 12);
CMT_ABI_AT(cmt_attach, id, 16);
CMT_ABI_AT(cmt_attach, rmid, 24);
CMT_ABI_AT(cmt_attach, generation, 28);

CMT_ABI_SIZE(cmt_resctrl, CMT_RESCTRL_SIZE);
CMT_ABI_AT(cmt_resctrl, mode, 8);

CMT_ABI_SIZE(cmt_cgroup_path, CMT_CGROUP_PATH_SIZE);
CMT_ABI_AT(cmt_cgroup_path, cgroup_id, 8);
CMT_ABI_AT(cmt_cgroup_path, path, 16);
CMT_ABI_AT(cmt_cgroup_path, bytes, 24);

CMT_ABI_SIZE(cmt_counters, CMT_COUNTERS_SIZE);
CMT_ABI_AT(cmt_counters, counters, 8);

CMT_ABI_SIZE(cmt_read, CMT_READ_SIZE);
CMT_ABI_AT(cmt_read, kind, 8);
CMT_ABI_AT(cmt_read, count, 12);
CMT_ABI_AT(cmt_read, id, 16);
CMT_ABI_AT(cmt_read, records, 24);
CMT_ABI_AT(cmt_read, as_of, 32);

CMT_ABI_SIZE(cmt_uncore, CMT_UNCORE_SIZE);
CMT_ABI_AT(cmt_uncore, count, 8);
CMT_ABI_AT(cmt_uncore, sockets, 12);
CMT_ABI_AT(cmt_uncore, refused, 16);
CMT_ABI_AT(cmt_uncore, channels, 20);
CMT_ABI_AT(cmt_uncore, boxes, 24);
CMT_ABI_AT(cmt_uncore, reason, 32);
CMT_ABI_AT(cmt_uncore, channels_reason, 112);

CMT_ABI_SIZE(cmt_box, 24);
CMT_ABI_AT(cmt_box, socket, 0);
CMT_ABI_AT(cmt_box, type, 2);
CMT_ABI_AT(cmt_box, id, 4);
CMT_ABI_AT(cmt_box, access, 6);
CMT_ABI_AT(cmt_box, bits, 8);
CMT_ABI_AT(cmt_box, ctl, 16);

#endif

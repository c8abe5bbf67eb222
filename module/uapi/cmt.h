/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note OR MIT */
/*
 * /dev/cmt: the interface between the cmt kernel module and user space.
 *
 * Contract
 * ========
 *
 * Records.  One record is 64 bytes (struct cmt_record), little endian as the
 * machine is, the same for 32- and 64-bit programs.  Times are CLOCK_MONOTONIC
 * nanoseconds, sizes are bytes.  A reader skips record types it does not know.
 *
 * Rings.  Every possible CPU has one ring: a header page (struct
 * cmt_ring_header) and cmt_ring_header.records slots, which are
 * cmt_info.ring_records or fewer.  The kernel overwrites the oldest record and
 * never waits.  A ring is mapped read-only with
 *
 *	mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, fd,
 *	     cpu * info.ring_bytes)
 *
 * Any other length or offset is EINVAL.  A CPU that is not possible is ENXIO (there may
 * be gaps below info.nr_cpus).  PROT_WRITE is EPERM (EACCES on a read-only descriptor).
 * Touching the slots of a ring in CMT_RING_ABSENT, which do not exist yet, or the part of a
 * mapping that follows the last slot of a smaller ring raises SIGBUS.  head of an absent ring
 * is 0, so that there is nothing to read.
 *
 * Reading.  head counts the records ever written to the ring; record i is in
 * slot i & (records - 1), with records of the ring's own header.  A reader at
 * position pos
 *
 *	1. loads head with acquire; pos..head-1 are published
 *	2. copies some of them
 *	3. issues a load barrier and loads head again
 *	4. keeps record i only if i > head - records (in the integers, not
 *	   modulo 2^64); the other records may have been overwritten while they
 *	   were copied, and count as lost
 *
 * so that records emitted = delivered + lost, for every reader and ring.  A CPU for whose
 * ring there is no memory counts its records in unwritten: these are lost, too.
 *
 * Order.  Timestamps within a ring never go back.  Lifecycle records (ALLOC,
 * FREE, UPDATE, ALLOC_FAIL) have strictly increasing timestamps over all
 * rings.  Once a ring has a record of time t, it never gets one of an earlier
 * time; while sampling runs, a TICK record in every ring in CMT_RING_ONLINE
 * states this at every interval.
 *
 * Sampling runs while at least one descriptor that has mapped a ring is open.
 *
 * Waiting.  poll() reports POLLIN while some ring has at least the watermark's
 * number of records (CMT_IOC_SET_WATERMARK) more than at this descriptor's last
 * read().  poll() is level-triggered: POLLIN stays until read().  read() of 8 bytes or
 * more returns a __u64, the number of records written to all rings since the last read().
 * With less than the watermark in every ring, read() waits, or fails with EAGAIN on an
 * O_NONBLOCK descriptor.  Less than 8 bytes is EINVAL.  A reader calls read() first, and
 * then empties the rings: records that are written meanwhile raise POLLIN again, so that
 * no wakeup is missed.
 *
 * ioctls.  Every argument starts with its size in bytes, set by the caller, and flags,
 * which must be 0.  Structures may grow at their end, in the module and in the program.
 * If the caller's structure is smaller than the module's, the missing members count as 0.
 * If it is larger, the bytes beyond the module's structure must be 0.  A size below the
 * first published one (CMT_..._SIZE), bytes beyond that are not 0, unknown flags, or a
 * reserved member that is not 0 is EINVAL, and nothing has changed.  The module writes no
 * more than the caller's size, and sets size to the number of bytes that it wrote.  A
 * command that this module does not know is ENOTTY.
 */
#ifndef _UAPI_CMT_H
#define _UAPI_CMT_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define CMT_ABI_MAJOR	2	/* another major number: incompatible, refuse */
#define CMT_ABI_MINOR	0	/* a higher minor number only adds */
#define CMT_ABI_VERSION	((CMT_ABI_MAJOR << 16) | CMT_ABI_MINOR)

#define CMT_COMM_LEN	16	/* as TASK_COMM_LEN, NUL padded */
#define CMT_RMID_NONE	0	/* idle, kernel threads, tasks without an owner */

/* cmt_record.type */
enum {
	CMT_REC_PAD		= 0,	/* never written */
	/* RMID lifecycle: payload is cmt_record.owner */
	CMT_REC_ALLOC		= 1,	/* the owner got this RMID */
	CMT_REC_FREE		= 2,	/* the owner is gone, limbo begins */
	CMT_REC_EXISTING	= 3,	/* snapshot only; ts: when allocated */
	CMT_REC_UPDATE		= 4,	/* the owner has a new name or cgroup, or was
					 * attached, detached, registered or
					 * unregistered; or the members of a resctrl
					 * group belong to another owner
					 */
	CMT_REC_ALLOC_FAIL	= 5,	/* the owner is pending; rmid: the overflow
					 * RMID, which counts it meanwhile
					 */
	/* readings */
	CMT_REC_SAMPLE		= 16,	/* payload is cmt_record.sample */
	CMT_REC_TICK		= 17,	/* payload is cmt_record.tick */
	CMT_REC_PERF		= 18,	/* payload is cmt_record.perf */
	CMT_REC_CHANNEL		= 19,	/* payload is cmt_record.channels */
	/* states of the ring's CPU: no payload */
	CMT_REC_CPU_ONLINE	= 32,
	CMT_REC_CPU_OFFLINE	= 33,	/* nothing follows until CPU_ONLINE */
	/* a setting that holds for all readers changed, or was set to the value in
	 * force: payload is cmt_record.state
	 */
	CMT_REC_STATE		= 34,
};

/* cmt_record.flags */
#define CMT_F_EMULATED		0x00000001U	/* from the model, not measured */
/* TICK: an owner ran on this CPU with another agent's RMID.  SAMPLE: since the last one, some
 * work of this RMID's owner counted under another agent's RMID: the values are lower bounds
 * of what the owner holds and has caused
 */
#define CMT_F_PQR_OVERWRITTEN	0x00000002U
/* SAMPLE: which values are measurements; a value without its flag is 0.  A value that no
 * reader wants has none: CMT_IOC_SET_VALUES
 */
#define CMT_F_OCCUPANCY		0x00000010U
#define CMT_F_MBM_TOTAL		0x00000020U
#define CMT_F_MBM_LOCAL		0x00000040U
#define CMT_F_RESIDUAL		0x00000080U	/* also of lifecycle records */
/* SAMPLE: why a value is missing, or not comparable with that of the sample before */
#define CMT_F_ERROR		0x00000100U	/* QM_CTR bit 63 */
#define CMT_F_UNAVAILABLE	0x00000200U	/* QM_CTR bit 62 */
/* MBM traffic before this sample is unknown: first reading, a pause in sampling, or
 * a reading was missing, or lacked the value, which no reader wanted
 */
#define CMT_F_REBASED		0x00000400U
/* CHANNEL: read_bytes and written_bytes are measurements; else they are 0 */
#define CMT_F_CHANNEL		0x00000800U
/* CHANNEL: idle_cycles and busy_cycles are measurements; else they are 0 */
#define CMT_F_CHANNEL_IDLE	0x00020000U

/* PERF: which values are measurements of all of the time since the last PERF; a value
 * without its flag is 0
 */
#define CMT_F_CYCLES		0x00100000U	/* unhalted */
#define CMT_F_INSTRUCTIONS	0x00200000U	/* retired */
#define CMT_F_LLC_MISSES	0x00400000U	/* architectural event 2EH, 41H */
#define CMT_F_LLC_REFERENCES	0x00800000U	/* architectural event 2EH, 4FH */
#define CMT_F_COUNTERS_FIRST	0x01000000U	/* CMT_IOC_SET_COUNTERS only */
#define CMT_F_WAITED		0x02000000U	/* waited_ns; by the kernel, not by a counter */
/* PERF: some task was out of its quota of CPU time.  Such time is not in waited_ns, nor is
 * up to one tick beside each of its ends.
 */
#define CMT_F_WAIT_QUOTA	0x04000000U

/* Lifecycle: the kind of the owner; a process, when no CMT_F_OWNER_* is set */
#define CMT_F_OWNER_CGROUP	0x00001000U	/* a cgroup and all below it; no tgid */
#define CMT_F_OWNER_CPU		0x00002000U	/* a CPU, with all its tasks; owner_cpu */
#define CMT_F_OWNER_OVERFLOW	0x00004000U	/* all pending owners; no tgid */
#define CMT_F_ATTACHED		0x00008000U	/* by CMT_IOC_ATTACH or
						 * CMT_IOC_REGISTER
						 */
#define CMT_F_OWNER_RESCTRL	0x00010000U	/* resctrl or another agent uses this
						 * RMID; see CMT_F_GROUP_SOLE
						 */
#define CMT_F_OWNER_KERNEL	0x00040000U	/* what CPUs do at privilege level 0,
						 * where AMD's PLZA gives that this
						 * RMID; no tgid
						 */

#define CMT_F_SERVICE		0x00080000U	/* with _CGROUP: of the lower class, by
						 * a pattern with '~'
						 */
/* With _RESCTRL: all members of the resctrl group that has this RMID belong to one owner.
 * The other CMT_F_OWNER_* flags, CMT_F_ATTACHED, CMT_F_SERVICE, tgid or owner_cpu, cgroup_id
 * and comm are those of that owner, whose values are the sum over its own RMID and this one.
 *
 * With _RESCTRL and without _SOLE: members of several owners, or of none, or unknown.  tgid is
 * a thread of the group, and comm its name; where no thread is known, but a CPU of the group,
 * CMT_F_OWNER_CPU is set and owner_cpu is that CPU; else all are 0.
 */
#define CMT_F_GROUP_SOLE	0x01000000U

/*
 * One record.  rmid and generation together identify an owner: generation changes at
 * every allocation of the RMID, and is 0 for RMID 0.
 */
struct cmt_record {
	__aligned_u64 ts;	/* CLOCK_MONOTONIC, ns */
	__u16 type;		/* CMT_REC_* */
	__u16 cpu;		/* the CPU whose ring this is */
	__u32 flags;		/* CMT_F_* */
	__u32 rmid;		/* TICK: the RMID loaded on the CPU */
	__u32 generation;
	__u32 domain;		/* L3 domain id, as resctrl numbers domains;
				 * lifecycle: where the RMID was allocated;
				 * CHANNEL: the socket
				 */
	union {
		__u32 tgid;		/* lifecycle: the process, or a thread of a
					 * resctrl group
					 */
		__u32 owner_cpu;	/* lifecycle of CMT_F_OWNER_CPU */
		__u32 interval_ns;	/* TICK: interval in force */
		__u32 ran_ns;		/* PERF: time with the RMID on this CPU, since
					 * its last PERF here; of RMID 0 with idle time;
					 * 0 where its tasks only waited.  A time that is
					 * too long continues in the next PERF
					 */
		__u32 base;		/* SAMPLE of CMT_IOC_READ: how often the MBM
					 * values were rebased; in rings 0
					 */
		__u32 channel;		/* CHANNEL: id of the box, on the socket */
		__u32 reserved;		/* otherwise 0 */
	};
	union {
		struct {
			__aligned_u64 cgroup_id;	/* cgroup v2 inode number */
			union {
				/* cache that the RMID held in the domain when it
				 * was allocated
				 */
				__aligned_u64 residual_bytes;
				__aligned_u64 why;	/* ALLOC_FAIL: CMT_WHY_* */
			};
			char comm[CMT_COMM_LEN];	/* not always terminated */
		} owner;
		struct {
			__aligned_u64 occupancy_bytes;	/* L3 now, residue included */
			__aligned_u64 mbm_total_bytes;	/* since the allocation; never
							 * decreasing
							 */
			__aligned_u64 mbm_local_bytes;	/* likewise */
			__aligned_u64 residual_bytes;	/* upper bound of the part of
							 * the occupancy that earlier
							 * owners left
							 */
		} sample;
		struct {
			/* since the module was loaded, on this CPU: */
			__aligned_u64 missed;	/* ticks missed */
			__aligned_u64 deferred;	/* readings put off to a later tick */
			__aligned_u64 busy_ns;	/* spent in ticks */
			/* in this tick: */
			__u32 read;		/* RMIDs read: SAMPLE records */
			__u32 waiting;		/* RMIDs due on this CPU and not read:
						 * the next tick reads them first
						 */
		} tick;
		/*
		 * Counts of this CPU while the RMID was loaded, in user mode and in
		 * the kernel, since the last PERF of this RMID and generation on this
		 * CPU.  The sum over all CPUs is the count of the owner.  A value that does
		 * not fit has no flag.
		 */
		struct {
			__aligned_u64 cycles;
			__aligned_u64 instructions;
			/* for which tasks could have run on this CPU, and others did;
			 * of all tasks together
			 */
			__aligned_u64 waited_ns;
			__u32 llc_misses;
			__u32 llc_references;
		} perf;
		/*
		 * Traffic of one memory channel of a socket, of all RMIDs, the kernel
		 * and devices, since the module was loaded and while the channel was
		 * read.  Never decreasing; CMT_F_REBASED as in SAMPLE.
		 *
		 * Cycles of the memory controller without and with a pending read, in
		 * the first of the two halves (pseudo channels) of a channel.  Writes
		 * and refreshes are in neither.  The cycles are read less often than
		 * the bytes.
		 */
		struct {
			__aligned_u64 read_bytes;
			__aligned_u64 written_bytes;
			__aligned_u64 idle_cycles;
			__aligned_u64 busy_cycles;
		} channels;
		struct {
			__u32 scope;		/* CMT_SCOPE_*; 0 while it is being changed */
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
	CMT_WHY_NO_RMID		= 1,	/* all RMIDs have an owner or are in limbo */
	CMT_WHY_RECLAIMED	= 2,	/* resctrl or another agent took its RMID; of
					 * CMT_F_SERVICE also an owner that is served
					 * before services
					 */
	CMT_WHY_NO_OWNER	= 3,	/* more owners than the module has room for */
};

/* cmt_ring_header.state */
enum {
	CMT_RING_ABSENT		= 0,	/* the CPU has never been online, or came online when
					 * there was no memory for its ring: see unwritten
					 */
	CMT_RING_ONLINE		= 1,
	CMT_RING_OFFLINE	= 2,	/* may come back */
	CMT_RING_QUIET		= 3,	/* online, without TICKs: the CPU is excluded from
					 * sampling, or is one of cmt_stats.cpus_unread.
					 * A record is written at most a tick's time
					 * after its timestamp
					 */
};

#define CMT_RING_MAGIC		0x524d5443U	/* "CTMR" in memory */
#define CMT_RING_DATA_OFFSET	4096U

/*
 * The first page of a ring.  All members but state, head and unwritten are constant.
 * records differs between rings: rings of CPUs that read less are smaller, and so are those
 * that cmt_stats.rings_small counts.
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
	__aligned_u64 unwritten;	/* records that the CPU only counted, in
					 * CMT_RING_ABSENT: no memory for its ring
					 */
	__aligned_u64 reserved2[6];
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

/* cmt_info.scope: which owners get RMIDs */
enum {
	CMT_SCOPE_PROCESS	= 1,	/* a process, with all its threads */
	CMT_SCOPE_CONTAINER	= 2,	/* a container's or service's cgroup, with those
					 * below
					 */
	CMT_SCOPE_CPU		= 3,	/* a CPU, with all its tasks */
	CMT_SCOPE_MANUAL	= 4,	/* attached owners only */
};

/*
 * cmt_info.resctrl: which RMID is loaded for an owner's task in a resctrl group, or on a CPU to
 * which a group or another program gave an RMID
 */
enum {
	CMT_RESCTRL_RESPECT	= 1,	/* resctrl's, or that program's.  The RMID is
					 * sampled as an owner
					 * of the kind CMT_F_OWNER_RESCTRL
					 */
	CMT_RESCTRL_TAKE	= 2,	/* cmt's; the CLOSID stays resctrl's */
};

/*
 * CMT_IOC_GET_INFO: constant while the module is loaded, except interval, scope, resctrl,
 * resctrl_mounted, ring_hold_ns, events, mbm_reason, counters, assignable, plza, evtsel
 * and perf_reason
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
	__u32 rmids_usable;	/* RMIDs that can have an owner at once */
	__u32 events;		/* CMT_F_OCCUPANCY | _MBM_TOTAL | _MBM_LOCAL */
	__u32 upscale_bytes;	/* bytes per counter unit (CPUID 0xF.1 EBX); 0:
				 * there are no counters
				 */
	__u32 counter_bits;	/* width of the MBM counters, likewise */
	__u32 ring_records;	/* no ring has more */
	__u32 interval_ns;
	__u32 interval_min_ns;
	__u32 interval_max_ns;
	__aligned_u64 ring_bytes;	/* length of one ring's mapping */
	__aligned_u64 limbo_ns;		/* least time between FREE and ALLOC */
	__aligned_u64 l3_bytes;		/* of one domain; 0: unknown */
	__aligned_u64 ring_hold_ns;	/* every ring holds the records of at least
					 * this time, at the highest rate of samples
					 */
	__u32 budget_ns;	/* a tick reads for about this long at most */
	__u32 idle_ticks;	/* an RMID with an owner that did not run is read once
				 * in this number of ticks, as the budget allows
				 */
	__u32 resctrl;		/* CMT_RESCTRL_* */
	__u32 resctrl_mounted;	/* 0 or 1, as of the last check */
	char module_version[16];
	char reason[64];	/* why this backend, for people */
	char mbm_reason[64];	/* why MBM events are missing, in some domain or in
				 * all; empty: none is
				 */
	__u32 counters;		/* CMT_F_CYCLES | ...: values that are counted
				 * (CMT_IOC_SET_COUNTERS) on every CPU that has TICKs
				 */
	__u32 assignable;	/* AMD's assignable counters (ABMC), of all domains:
				 * CMT_ASSIGNABLE_*; 0: the mode is off
				 */
	char perf_reason[64];	/* why a value that is asked for is not counted; empty:
				 * all are
				 */
	__u32 plza;		/* AMD's privilege-level zero association, as of the
				 * last look: CMT_PLZA_*; 0: the processor has none
				 */
	__u32 evtsel;		/* CMT_EVTSEL_* */
	char wait_reason[64];	/* why this kernel does not account what tasks wait for a
				 * CPU, asked for or not; empty: it does when asked
				 */
};

/* cmt_info.evtsel: do cmt's readings disturb those of resctrl, while it is mounted? */
enum {
	CMT_EVTSEL_OWN		= 0,	/* no: each CPU has its own QM_EVTSEL */
	CMT_EVTSEL_FOLLOWED	= 1,	/* no: the CPUs of a domain share QM_EVTSEL, and
					 * cmt reads on the CPU on which resctrl reads
					 */
	CMT_EVTSEL_EXPOSED	= 2,	/* seldom: likewise shared, and resctrl may read
					 * on any CPU of some domain
					 */
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

/* cmt_info.assignable: numbers of counters; 1023 means 1023 or more */
#define CMT_ASSIGNABLE_ON	0x80000000U
#define CMT_ASSIGNABLE_MAX	1023U
#define CMT_ASSIGNABLE_ALL(a)	((a) & CMT_ASSIGNABLE_MAX)
#define CMT_ASSIGNABLE_OURS(a)	((a) >> 10 & CMT_ASSIGNABLE_MAX)
#define CMT_ASSIGNABLE_OTHERS(a) ((a) >> 20 & CMT_ASSIGNABLE_MAX)

/* CMT_IOC_GET_STATS: sums over all CPUs since the module was loaded */
struct cmt_stats {
	__u32 size;
	__u32 flags;
	__u32 rmids_active;	/* now: RMIDs with an owner */
	__u32 rmids_limbo;	/* now: freed RMIDs that cannot be allocated yet: for
				 * limbo_ns at least, and longer while no owner is
				 * pending and as many RMIDs are free
				 */
	__u32 rmids_free;	/* now: RMIDs that can be allocated */
	__u32 pending;		/* now: owners that wait for an RMID */
	__u32 readers;		/* now: descriptors that mapped a ring */
	__u32 cpus_online;	/* now: rings in CMT_RING_ONLINE or _QUIET */
	__u32 rmids_foreign;	/* now: RMIDs that resctrl or another agent uses */
	__u32 cpus_unread;	/* now: online without RMIDs and samples: in L3 domains
				 * beyond the first 64, or memory was short when they
				 * came online
				 */
	__aligned_u64 allocs;
	__aligned_u64 frees;
	__aligned_u64 alloc_fails;	/* owners that became pending */
	__aligned_u64 served;		/* pending owners that got an RMID */
	__aligned_u64 records;		/* written to all rings */
	__aligned_u64 ticks;
	__aligned_u64 missed;
	__aligned_u64 deferred;
	__aligned_u64 samples;
	__aligned_u64 switches;		/* context switches to another process; not
					 * counted while all owners are CPUs
					 */
	__aligned_u64 pqr_writes;	/* a CPU's RMID was changed */
	__aligned_u64 pqr_overwritten;	/* an owner ran with another agent's RMID */
	__aligned_u64 read_errors;	/* QM_CTR bit 63 */
	__aligned_u64 read_unavailable;	/* QM_CTR bit 62 */
	__aligned_u64 busy_ns;		/* spent in ticks */
	__aligned_u64 irqs_off_ns;	/* longest time with interrupts off */
	__aligned_u64 lock_held_ns;	/* longest time with the owner lock held */
	__u32 cpus_foreign;	/* now: online CPUs to which a resctrl group or another
				 * agent gave an RMID
				 */
	__u32 rings_small;	/* rings that have fewer records than wanted: memory was
				 * short when the module was loaded
				 */
};

/*
 * CMT_IOC_GET_RMIDS: the assignments at one instant, as CMT_REC_EXISTING
 * records in the order of their allocation.  count: in, the number of records
 * for which there is room; out, the number of records.  ENOSPC: there are more
 * records than room, and count is their number.  The snapshot includes all
 * lifecycle records with ts <= as_of, and none after as_of.
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
 * CMT_IOC_SET_INTERVAL: holds for all programs.  Needs a descriptor open for writing
 * (EBADF) and CAP_SYS_ADMIN or CAP_PERFMON (EPERM).
 */
struct cmt_interval {
	__u32 size;
	__u32 flags;
	__u32 interval_ns;	/* interval_min_ns .. interval_max_ns */
	__u32 reserved;
};

/*
 * CMT_IOC_SET_WATERMARK: the number of records in one ring at which poll() reports POLLIN
 * on this descriptor, and wakes its reader.  1 to half of the records of the smallest
 * ring; 1 for a new descriptor.
 */
struct cmt_watermark {
	__u32 size;
	__u32 flags;
	__u32 records;
	__u32 reserved;
};

/*
 * CMT_IOC_SET_SCOPE: holds for all programs.  All owners except registered ones lose their
 * RMIDs (FREE), and all attachments end.  Then the owners of the new scope get RMIDs
 * (ALLOC).  Rights as for CMT_IOC_SET_INTERVAL.
 *
 * Patterns select the cgroups that are containers.  They are separated by white space.  A
 * pattern is one or more components of a path, with '/' between them; the last components
 * of a container's path must match it, and with '/' in front of the pattern these are all
 * of its components.  In a component, '*' is any text, "<id>" is 12 to 64 hexadecimal
 * digits in lower case, and "<id64>" is 64 of them.  A cgroup that matches a pattern with
 * '!' in front is no container; one that matches a pattern with '~' in front is a service, a
 * container of the lower class.  The module tests the cgroups of a path from the root
 * down.  For each, the first pattern that matches decides.  The first container found owns
 * all cgroups below it, services included.  The first service found above any container
 * owns all cgroups below it, except containers.
 *
 * Services are served after all other owners.  Where these need an RMID and none is free
 * or in limbo, a service loses its RMID and is pending: FREE, then ALLOC_FAIL with
 * CMT_WHY_RECLAIMED.
 */
struct cmt_scope {
	__u32 size;
	__u32 flags;
	__u32 scope;		/* CMT_SCOPE_* */
	__u32 patterns_bytes;	/* 0: the patterns in force stay */
	__aligned_u64 patterns;	/* user address of the text, not terminated */
	__u32 bad_at;		/* out, with EINVAL: offset of the wrong byte in the
				 * text; ~0: the text is right
				 */
	__u32 reserved;
};

#define CMT_PATTERNS_MAX	4096U	/* bytes */

/*
 * CMT_IOC_GET_PATTERNS: the patterns in force, one to a line.  bytes: in, the room at text;
 * out, the length of the text.  ENOSPC: the text is longer than the room.
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
#define CMT_ATTACH_CHILDREN	0x1U	/* future children, and their children, share
					 * the RMID of the process
					 */

/*
 * CMT_IOC_ATTACH: make a process, a cgroup or a CPU an owner, in any scope.  When no RMID is
 * free, the new owner is pending, before the pending owners of the scope.  An attached
 * process no longer counts in its container, and an attached cgroup no longer in a
 * container above it.  An attached CPU counts the tasks on it that have no other owner.
 * Rights as for CMT_IOC_SET_INTERVAL.  ESRCH: no such process; ENOENT: no such cgroup;
 * ENXIO: no such CPU, or it is offline; EEXIST: already attached; ENOSPC: too many
 * attachments.
 *
 * CMT_IOC_DETACH: end an attachment; options must be 0.  ENOENT: not attached.
 */
struct cmt_attach {
	__u32 size;
	__u32 flags;
	__u32 kind;		/* CMT_OWNER_* */
	__u32 options;		/* CMT_ATTACH_* */
	__aligned_u64 id;	/* process id in the caller's namespace; cgroup
				 * v2 inode number; CPU number
				 */
	__u32 rmid;		/* out; the overflow RMID where the owner is pending */
	__u32 generation;	/* out */
};

/*
 * CMT_IOC_REGISTER: as CMT_IOC_ATTACH, until CMT_IOC_UNREGISTER or until this descriptor is
 * closed, at the latest by the end of its last process.  The owner may exist already: by
 * the scope, attached, or registered by other descriptors.  All of them share its RMID,
 * and the owner ends with the last of them.  Until then it keeps its RMID, also when the
 * scope changes.  The end of the process or cgroup, or the CPU going offline, ends the
 * owner at once.  With CMT_ATTACH_CHILDREN, new children are members while the owner is
 * registered or attached.  Errors as of CMT_IOC_ATTACH, but EEXIST: already registered by
 * this descriptor; ENOSPC: also where this descriptor has CMT_REGISTER_MAX registrations.
 *
 * CMT_IOC_UNREGISTER: end a registration, with the same kind and id; options must be 0.
 * Succeeds also when the owner has ended.  ENOENT: not registered by this descriptor.
 */
#define CMT_REGISTER_MAX	1024U

/*
 * CMT_IOC_READ: read the counters now, also while there are no ticks.  The result is
 * CMT_REC_SAMPLE records, by domain and then by RMID: one for each known L3 domain and
 * each requested owner.  They are in no ring.  ts is the time of the reading; a reading of
 * CMT_IOC_READ that is younger than CMT_READ_FRESH_NS is returned again.
 *
 * kind CMT_OWNER_*: one owner, by the scope, attached or registered.  ENOENT: no owner, or
 * the owner ended meanwhile; ESRCH: no such process; EAGAIN: the owner is pending and
 * shares the overflow RMID.  kind 0, id 0: every RMID with an owner, including the
 * overflow RMID and the RMIDs of resctrl.
 *
 * The values are those that readers want (CMT_IOC_SET_VALUES), of which this descriptor is
 * one from its first CMT_IOC_READ on.
 *
 * A value without its flag is not known, and 0, as in rings.  Records of a domain in which
 * no online CPU can read, or whose counters stay busy, are CMT_F_UNAVAILABLE.  With the
 * software backend there are no flags.  CMT_F_PQR_OVERWRITTEN stays set until a SAMPLE in
 * a ring has had it.
 *
 * MBM values continue from an earlier reading, by a tick or by CMT_IOC_READ, that is at
 * most 1.1 s old.  Otherwise they have a new base: CMT_F_REBASED.  Readings of all
 * programs count.  Two records may be subtracted if RMID, generation, domain and base are
 * the same.
 *
 * count: in, the number of records for which there is room; out, the number of records.
 * ENOSPC: there are more records than room, and count is their number.  as_of: the time at
 * which the RMIDs were determined, CLOCK_MONOTONIC.  Needs the same rights as a ring.
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
 * CMT_IOC_SET_RESCTRL: CMT_RESCTRL_*; holds for all programs.  Rights as for
 * CMT_IOC_SET_INTERVAL.
 */
struct cmt_resctrl {
	__u32 size;
	__u32 flags;
	__u32 mode;
	__u32 reserved;
};

/*
 * CMT_IOC_PATH_OF_CGROUP: the path of a cgroup from the root of the v2 hierarchy ("/" is the
 * root itself), terminated.  bytes: in, the room at path; out, the length with the
 * terminator.  ENOENT: no such cgroup, or not below the caller's cgroup namespace; ENOSPC:
 * the path is longer than the room, and bytes is its length; ENAMETOOLONG: the path is
 * longer than PATH_MAX.
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
 * CMT_IOC_SET_COUNTERS: the values that this descriptor asks for in PERF records; a new
 * descriptor asks for none.  While some descriptor asks for a value, and 1 to 2 s longer,
 * it is counted on all CPUs that have TICKs, and PERF records are written while the sampling
 * runs.  On a CPU where events of other programs need the processor's counter, the value is
 * not counted.  A value that cannot be counted is no error: cmt_info.counters lacks it, and
 * perf_reason says why.  EINVAL: another bit is set.
 *
 * CMT_F_COUNTERS_FIRST, with a value: while some descriptor asks for this, or with the
 * module's parameter counters=first, no other program can use these counters of the
 * processor.  EINVAL: there is no value; EPERM: who opened the descriptor had not
 * CAP_PERFMON.
 *
 * CMT_F_CHANNEL: this descriptor asks for CHANNEL records.  While some descriptor asks for
 * them and the sampling runs, the memory channels that no other program uses are read;
 * CMT_IOC_GET_UNCORE says which channels are not read, and why.
 */
struct cmt_counters {
	__u32 size;
	__u32 flags;
	__u32 counters;		/* CMT_F_CYCLES | ..., _WAITED, CMT_F_COUNTERS_FIRST,
				 * CMT_F_CHANNEL; 0: none
				 */
	__u32 reserved;
};

/*
 * CMT_IOC_SET_VALUES: the values that this descriptor wants in SAMPLE records; a new
 * descriptor wants all.  A descriptor counts from its first mapping of a ring or its first
 * CMT_IOC_READ until it is closed.  A value that no such descriptor wants, and no event of
 * perf counts, is not read: samples lack its flag, which is no error.  A sample may have
 * values that this descriptor did not ask for.  Traffic that becomes wanted has a new base
 * in the first sample: CMT_F_REBASED, also where the other traffic continues.  EINVAL:
 * another bit is set, or none.
 */
struct cmt_values {
	__u32 size;
	__u32 flags;
	__u32 values;		/* CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL */
	__u32 reserved;
};

/*
 * CMT_IOC_GET_UNCORE: the boxes of counters outside the cores (PMON) that the
 * discovery tables of the processor list, as they were found when the module was
 * loaded: by socket, and in the order of the table.  Sapphire Rapids and later have
 * such tables.  The module checked the tables; a box that it refused is not in the list,
 * and the kernel's log has the reason.
 *
 * count: in, the number of boxes for which there is room; out, the number of boxes.
 * ENOSPC: there are more boxes than room, and count is their number.  No box is no error:
 * reason says why there is none, and is empty otherwise.
 */
struct cmt_uncore {
	__u32 size;
	__u32 flags;
	__u32 count;
	__u32 sockets;		/* out: sockets with an accepted table */
	__u32 refused;		/* out: refused boxes, and refused complete tables */
	__u32 channels;		/* out: memory channels that are read now */
	__aligned_u64 boxes;	/* user address of struct cmt_box[count] */
	char reason[80];	/* out */
	char channels_reason[80];	/* out: why no channel, or not every channel, is read */
};

/* cmt_box.access: how the registers are accessed, and what ctl is */
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
 * Type and numbers are unused in the kernel's list (ioctl-number.rst).  The
 * numbers contain no size: structures may grow, and commands do not change.
 */
#define CMT_IOC_TYPE		0xD4
#define CMT_IOC(nr)		_IOC(_IOC_READ | _IOC_WRITE, CMT_IOC_TYPE, nr, 0)
#define CMT_IOC_GET_INFO	CMT_IOC(0x00)	/* struct cmt_info */
#define CMT_IOC_GET_STATS	CMT_IOC(0x01)	/* struct cmt_stats */
#define CMT_IOC_GET_RMIDS	CMT_IOC(0x02)	/* struct cmt_rmids */
/*
 * The pending owners, as ALLOC_FAIL records in the order in which they are served.  They are
 * looked up some at a time, and as_of is after that: an owner that began or ceased to be
 * pending meanwhile is among them or is not.  count and ENOSPC as in CMT_IOC_GET_RMIDS.
 */
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
#define CMT_IOC_SET_VALUES	CMT_IOC(0x11)	/* struct cmt_values */

/* The least size that a caller may pass: that of the first published structure. */
#define CMT_INFO_SIZE		408U
#define CMT_STATS_SIZE		184U
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
#define CMT_VALUES_SIZE		16U

/* The layout is ABI: every program that includes this header checks it. */
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
CMT_ABI_AT(cmt_record, perf.waited_ns, 48);
CMT_ABI_AT(cmt_record, perf.llc_misses, 56);
CMT_ABI_AT(cmt_record, perf.llc_references, 60);
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
CMT_ABI_AT(cmt_ring_header, unwritten, 72);

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
CMT_ABI_AT(cmt_info, evtsel, 340);
CMT_ABI_AT(cmt_info, wait_reason, 344);

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
CMT_ABI_AT(cmt_stats, cpus_foreign, 176);
CMT_ABI_AT(cmt_stats, rings_small, 180);

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

CMT_ABI_SIZE(cmt_values, CMT_VALUES_SIZE);
CMT_ABI_AT(cmt_values, values, 8);

CMT_ABI_SIZE(cmt_box, 24);
CMT_ABI_AT(cmt_box, socket, 0);
CMT_ABI_AT(cmt_box, type, 2);
CMT_ABI_AT(cmt_box, id, 4);
CMT_ABI_AT(cmt_box, access, 6);
CMT_ABI_AT(cmt_box, bits, 8);
CMT_ABI_AT(cmt_box, ctl, 16);

#endif

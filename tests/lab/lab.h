/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The side channel of the lab processor: what a test asks the model, without
 * any help of the guest's kernel and without touching what it measures.
 *
 * It is a range of CPUID leaves no processor has, so that any program in the
 * guest can use it.  EAX = LAB_LEAF + command, ECX = argument; the answer is
 * two 64-bit values, EBX:EAX and EDX:ECX.  A machine without the model answers
 * LAB_INFO with something else than LAB_MAGIC.
 *
 * Used by QEMU (struct-free, no code of it) and by programs in the guest.
 *
 * L3s are numbered by socket; those from 64 on cannot be asked about.  RMIDs are
 * the physical ones.  Spaces are the
 * model's names for address spaces (page-table roots): 0 is "unknown", others
 * are given at the first cache fill of a root, or by LAB_SPACE_NEW.  A root is
 * a page which the kernel uses again, so that a process whose truth is asked
 * for must begin with LAB_SPACE_NEW; fork() and execve() make a new root.
 */
#ifndef CMT_LAB_H
#define CMT_LAB_H

#include <stdbool.h>
#include <stdint.h>

#define LAB_LEAF	0x434d5400U	/* "CMT", command */
#define LAB_LEAVES	0x100U
#define LAB_MAGIC	0x42414c544d43ULL	/* "CMTLAB" */

/* Arguments which name an L3, an RMID and a space; or an event for a space. */
#define LAB_ARG(l3, rmid, space) \
	((uint32_t)(l3) << 26 | (uint32_t)(rmid) << 14 | (uint32_t)(space))
#define LAB_ARG_L3(arg)		((arg) >> 26)
#define LAB_ARG_RMID(arg)	((arg) >> 14 & 0xfff)
#define LAB_ARG_SPACE(arg)	((arg) & 0x3fff)

enum lab_command {
	LAB_INFO	= 0x00,	/* -> LAB_MAGIC; 1: the model is on */
	LAB_CONFIG	= 0x01,	/* enum lab_config -> its value */
	/*
	 * 0 or 1: the model off or on, within microseconds: wait for LAB_INFO.
	 * Off, nothing is filled; what was counted stays.
	 */
	LAB_SWITCH	= 0x02,
	LAB_FLUSH	= 0x03,	/* write back and drop every line of every L3 */

	LAB_SPACE_NEW	= 0x04,	/* a new space for the caller's root -> it */
	LAB_SPACE_SELF	= 0x05,	/* -> the caller's space, its root */
	/* LAB_ARG(0, rmid, space): the RMID that the space ought to have */
	LAB_EXPECT	= 0x06,

	/* truth: bytes in the cache now */
	LAB_OF_SPACE	= 0x10,	/* LAB_ARG(l3, 0, space) -> bytes */
	LAB_OF_RMID	= 0x11,	/* LAB_ARG(l3, rmid, 0) -> bytes, unit-less */
	LAB_OF_PAIR	= 0x12,	/* LAB_ARG(l3, rmid, space) -> bytes of both */
	/*
	 * LAB_ARG(l3, 0, 0), over all spaces with LAB_EXPECT: -> bytes with a
	 * wrong RMID; bytes with RMID 0 that are not wrong.  Of one instant.
	 * RMID 0 is wrong where the line was filled through an address of user
	 * space; where it was the kernel's, this can be a kernel thread, which
	 * borrows the page tables of the process that ran before it.
	 */
	LAB_WRONG	= 0x13,
	/* LAB_ARG(l3, rmid, 0) -> bytes to and from memory; of these, local */
	LAB_TRAFFIC	= 0x14,
	LAB_PQR		= 0x15,	/* -> this CPU's PQR_ASSOC; its L3 */
	LAB_STAT	= 0x16,	/* enum lab_stat -> its value */
	/*
	 * LAB_ARG(l3, rmid, space) -> bytes of both that were filled through
	 * addresses of user space, that is by the process itself or for it; the
	 * same under whatever RMID
	 */
	LAB_OF_USER	= 0x17,
	/*
	 * LAB_ARG(l3, 0, 0) -> the most that LAB_WRONG was at any instant since
	 * LAB_WRONG_RESET; fills of spaces with LAB_EXPECT since then
	 */
	LAB_WRONG_MOST	= 0x18,
	LAB_WRONG_RESET	= 0x19,
	LAB_EVTSEL	= 0x1a,	/* -> this CPU's QM_EVTSEL (AMD: its L3's) */
	LAB_EVTSEL_SET	= 0x1b,	/* LAB_ARG(0, rmid, event): write it */
	LAB_CLOSID_SET	= 0x1c,	/* CLOSID: write it to this CPU's PQR_ASSOC */
	/*
	 * LAB_ARG(l3, 0, on): AMD's assignable counters off or on, which is bit 0
	 * of L3_QOS_EXT_CFG -> what the register has now; all ones: the processor
	 * has no assignable counters.  on > 1 only asks.
	 */
	LAB_ABMC_SET	= 0x1d,
	/*
	 * In so many microseconds, 0: now, the MBM counters of all RMIDs begin at
	 * 0 again, as after a resume.  What LAB_TRAFFIC counts does not.
	 * -> LAB_S_MBM_RESETS
	 */
	LAB_MBM_RESET	= 0x1e,
	/* LAB_ARG(l3, rmid, LAB_ABMC()): as another agent that writes ABMC_CFG */
	LAB_ABMC_ASSIGN	= 0x1f,

	/*
	 * LAB_ARG(l3, rmid, event): the last reading of QM_CTR -> what it gave;
	 * its number in the log + 1, 0: there was none
	 */
	LAB_LAST	= 0x20,
	LAB_LOG_HEAD	= 0x21,	/* -> readings so far; how many are kept */
	/* number of a reading (modulo 2^32); all ones: it is not kept */
	LAB_LOG_VALUE	= 0x22,	/* -> what QM_CTR gave; what it ought to give */
	/* -> what the CPU last read from its TSC; LAB_LOG_* below */
	LAB_LOG_WHAT	= 0x23,

	/*
	 * LAB_ARG(l3, 0, counter) -> what L3_QOS_ABMC_DSC says of an assignable
	 * counter; how often it has been configured
	 */
	LAB_ABMC_COUNTER = 0x24,
	/* LAB_ARG(l3, rmid, 0) -> 1: its traffic is counted, see tracked= */
	LAB_TRACKED	= 0x25,
	/*
	 * number of a reading -> bytes, by the cache model, of the RMID that was
	 * read: in the cache, or moved since the start, whatever began anew; the
	 * second value of LAB_LOG_WHAT
	 */
	LAB_LOG_TRUTH	= 0x26,
	/* LAB_ARG(0, rmid, LAB_PLZA_*): write this CPU's PQR_PLZA_ASSOC -> it */
	LAB_PLZA_SET	= 0x27,
	/* LAB_ARG(0, rmid, 0): as another agent, write it to this CPU's PQR_ASSOC */
	LAB_RMID_SET	= 0x28,

	/* faults, see CMT_LAB in docs/lab.md */
	LAB_FAULT_SET	= 0x30,	/* LAB_FAULT(kind, burst, period); 0: none */
	LAB_FAULT_COUNT	= 0x31,	/* kind -> planted so far; occasions so far */

	/*
	 * space -> the same above privilege level 0; at level 0.  Since
	 * LAB_SPACE_NEW, on all CPUs, whatever the PMU is programmed to count.
	 * 0 without pmu=1.  What the kernel executes with the page tables of a
	 * process counts, idle and kernel threads that borrow them included.
	 * The caller's own are exact up to and with this CPUID.
	 */
	LAB_SPACE_INSNS	= 0x40,	/* instructions retired */
	LAB_SPACE_REFS	= 0x41,	/* LLC references: lines that accesses touch */
	LAB_SPACE_MISSES = 0x42, /* LLC references that miss */
	LAB_SPACE_CYCLES = 0x43, /* instructions + LAB_C_PENALTY * misses */

	/*
	 * LAB_ARG(socket, channel, 0) -> bytes that the L3s read from memory on
	 * this channel; bytes they wrote back, since the start.  0 without pmon=1.
	 */
	LAB_CHANNEL	= 0x50,
	/*
	 * LAB_ARG(socket, i, 0): box i of the socket's discovery table, its lies
	 * included -> first word; address of its control.  All 0: no such box.
	 */
	LAB_PMON_UNIT	= 0x51,
	LAB_PMON_NAME	= 0x52,	/* the same -> third word; address */
	/*
	 * As LAB_CHANNEL -> ns without a pending read in the first half of the
	 * channel; ns with one.
	 */
	LAB_CHANNEL_IDLE = 0x53,

	/*
	 * LAB_ARG(l3, victim, evictor), both spaces below LAB_C_EVICTIONS -> lines
	 * of the victim that went for the evictor's fills since LAB_EVICTED_RESET;
	 * of these, those where both were filled through addresses of user space.
	 * Space 0 stands for all others.
	 */
	LAB_EVICTED	= 0x60,
	/* LAB_ARG(l3, 0, 0) -> lines that this L3 has evicted ever */
	LAB_EVICTED_RESET = 0x61,
};

/* An assignable counter that counts some types of traffic, or none. */
#define LAB_ABMC(counter, types, enable) \
	((uint32_t)(counter) | (uint32_t)(types) << 5 | (uint32_t)(enable) << 12)
#define LAB_ABMC_ID(what)	((what) & 0x1f)
#define LAB_ABMC_TYPES(what)	((what) >> 5 & 0x7f)
#define LAB_ABMC_ENABLE		0x1000U

/* What LAB_ABMC_COUNTER gives */
#define LAB_ABMC_ON(config)	((config) >> 62 & 1)
#define LAB_ABMC_RMID(config)	((uint32_t)((config) >> 32 & 0xfff))
#define LAB_ABMC_TOTAL		0x7fU
#define LAB_ABMC_LOCAL		0x15U

/* What LAB_PLZA_SET enables; 0: nothing */
#define LAB_PLZA_RMID	1U	/* an association of the RMID */
#define LAB_PLZA_ON	2U	/* the register has an effect */

/* LAB_LOG_WHAT, second value */
#define LAB_LOG_RMID(what)	((uint32_t)((what) & 0xfff))
#define LAB_LOG_EVENT(what)	((uint32_t)((what) >> 16 & 0xff))
#define LAB_LOG_FAULT(what)	((uint32_t)((what) >> 24 & 0xff))	/* 0: none */
#define LAB_LOG_CPU(what)	((uint32_t)((what) >> 32 & 0xffff))
#define LAB_LOG_L3(what)	((uint32_t)((what) >> 48 & 0xff))
/* MBM events of the RMID that had a value then: bit 0 total, bit 1 local */
#define LAB_LOG_COUNTED(what)	((uint32_t)((what) >> 56 & 3))
#define LAB_LOG_REGION(what)	((uint32_t)((what) >> 58 & 7))	/* of memory */

/*
 * The registers in memory with erdt=1: those of an L3 are LAB_ERDT_STEP after those of
 * the L3 before it.  tests/lab/erdt-table.c tells the guest.  Their readings are in the
 * log like those of QM_CTR, those of traffic by region, LAB_ERDT_REGIONS of them.  What
 * a traffic register ought to have there is not cut to its width, and goes on while
 * RDT_CTRL is in MSR mode.
 */
#define LAB_ERDT_BASE		0x4000000000ULL	/* RDT_CTRL */
#define LAB_ERDT_STEP		0x100000ULL
#define LAB_ERDT_MSR_MODE	(1ULL << 2)	/* in RDT_CTRL */
#define LAB_ERDT_CMRC		0x10000U	/* occupancy */
#define LAB_ERDT_CLUMP		64		/* RMIDs whose registers adjoin */
#define LAB_ERDT_STRIDE		4096U		/* from one clump to the next */
#define LAB_ERDT_MMRC		0x20000U	/* traffic */
#define LAB_ERDT_BYTES		0x10000U	/* of CMRC, and of MMRC */
#define LAB_ERDT_REGIONS	4
#define LAB_ERDT_RMIDS		1024		/* that they have room for */
#define LAB_ERDT_UNIT		4096U		/* bytes in a unit of occupancy */
#define LAB_ERDT_MBM_UNIT	8U		/* of traffic */
#define LAB_ERDT_WIDTH		24		/* bits of a counter of traffic */
/* What the traffic of an RMID is to be multiplied by, 16.16 bits; 0: nothing */
#define LAB_ERDT_FACTOR(rmid)	((rmid) % 2 ? 5U << 14 : 0U)
#define LAB_ERDT_UNAVAILABLE	(1ULL << 63)
#define LAB_ERDT_OVERFLOW	(1ULL << 62)	/* it wrapped since it was last read */
#define LAB_ERDT_ONES		UINT64_MAX	/* nothing answers */

enum lab_config {
	LAB_C_RMIDS,		/* CPUID's largest RMID + 1 */
	LAB_C_WIDTH,		/* of the MBM counters, bits */
	LAB_C_UPSCALE,		/* bytes per unit, as CPUID says */
	LAB_C_EVENTS,
	LAB_C_SIZE,		/* of one L3, bytes */
	LAB_C_WAYS,
	LAB_C_LINE,
	LAB_C_AMD,
	LAB_C_CLOSIDS,
	LAB_C_SNC,
	LAB_C_L3S,
	LAB_C_SPACES,
	LAB_C_LIMIT,
	LAB_C_OVERFLOW,
	LAB_C_PTI,
	LAB_C_ABMC,		/* 1: AMD's assignable counters exist */
	LAB_C_PMU,		/* 1: the PMU exists */
	LAB_C_COUNTERS,		/* programmable ones of it, for each CPU */
	LAB_C_PENALTY,		/* cycles of an LLC miss */
	LAB_C_PMON,		/* 1: the uncore PMU exists */
	LAB_C_PMON_WIDTH,	/* of its counters, bits */
	LAB_C_ABMC_COUNTERS,	/* assignable ones of an L3 */
	LAB_C_TRACKED,		/* RMIDs with MBM counters at a time; 0: all */
	LAB_C_EVICTIONS,	/* spaces of LAB_EVICTED; 0: it is not kept */
	LAB_C_ERDT,		/* 1: the registers of LAB_ERDT_BASE exist */
	LAB_C_PLZA,		/* 1: AMD's PQR_PLZA_ASSOC exists */
};

enum lab_stat {
	LAB_S_ACCESSES,		/* lines touched by loads and stores */
	LAB_S_FILLS,
	LAB_S_WRITEBACKS,
	LAB_S_UNRESOLVED,	/* accesses whose address was not to be had */
	LAB_S_SPACES_LOST,	/* spaces that had to be called unknown */
	LAB_S_PQR_WRITES,
	LAB_S_CTR_READS,
	/* accesses to MSRs by all CPUs, refused ones (#GP) included */
	LAB_S_PQR_RDMSR,	/* PQR_ASSOC */
	LAB_S_PQR_WRMSR,
	LAB_S_EVTSEL_RDMSR,	/* QM_EVTSEL */
	LAB_S_EVTSEL_WRMSR,
	LAB_S_CTR_RDMSR,	/* QM_CTR */
	LAB_S_MBM_RESETS,	/* LAB_MBM_RESET was done */
	LAB_S_EVICTIONS,	/* lines that had to go for a fill */
	/*
	 * PQR_ASSOC was overwritten by another RMID than it had, and RDMSR gave
	 * that; WRMSR came before any RDMSR
	 */
	LAB_S_PQR_SEEN,
	LAB_S_PQR_UNSEEN,
	LAB_S_PLZA_RDMSR,	/* PQR_PLZA_ASSOC, refused ones included */
	LAB_S_PLZA_WRMSR,
};

/* LAB_C_EVICTIONS at most: what LAB_ARG has room for */
#define LAB_EVICTIONS_MAX 1024

/* Planted faults.  Of "period" occasions the first "burst" have the fault. */
enum lab_fault {
	LAB_FAULT_NONE,
	LAB_FAULT_ERROR,	/* QM_CTR reads: E set, data garbage; a counter in
				 * memory reads all ones
				 */
	LAB_FAULT_UNAVAILABLE,	/* QM_CTR reads: U set, data garbage; so does a
				 * counter in memory
				 */
	LAB_FAULT_EVTSEL,	/* QM_CTR reads: another agent had selected
				 * something else just before
				 */
	LAB_FAULT_EVTSEL_ERROR,	/* the same, something that does not exist */
	LAB_FAULT_PQR,		/* PQR_ASSOC writes: another agent overwrites
				 * the RMID at once
				 */
	LAB_FAULT_PQR_TIMER,	/* period in microseconds: on all CPUs */
	LAB_FAULT_GP,		/* accesses to the monitoring MSRs: #GP */
	/* counters in memory are read: RDT_CTRL is in MSR mode, until the burst is over */
	LAB_FAULT_ERDT_MODE,
	LAB_FAULT_ERDT_CONTROL,	/* RDT_CTRL reads: all ones */
	/* AMD, QM_CTR reads of MBM events; just before, another agent has: */
	LAB_FAULT_READ,		/* read that an RMID is tracked anew (tracked=) */
	LAB_FAULT_TAKE,		/* taken the assignable counter that is read */
	LAB_FAULT_MODE,		/* switched the mode of assignable counters */
	LAB_FAULT_MODE_TWICE,	/* switched it, and back */
	/* not planted, but counted likewise: */
	LAB_FAULT_UNCOUNTED,	/* QM_CTR reads of what is not counted */
	LAB_FAULT_LIE,		/* plain ones while assignable counters are on */
	LAB_FAULTS,
};

#define LAB_FAULT(kind, burst, period) \
	((uint32_t)(kind) << 28 | (uint32_t)(burst) << 20 | (uint32_t)(period))
#define LAB_FAULT_KIND(arg)	((arg) >> 28)
#define LAB_FAULT_BURST(arg)	((arg) >> 20 & 0xff)
#define LAB_FAULT_PERIOD(arg)	((arg) & 0xfffff)

#ifndef LAB_IN_QEMU

struct lab_answer {
	uint64_t first;
	uint64_t second;
};

static inline struct lab_answer lab_ask(enum lab_command command, uint32_t arg)
{
	uint32_t eax = LAB_LEAF + command, ebx, ecx = arg, edx;

	__asm__ volatile("cpuid"
			 : "+a" (eax), "=b" (ebx), "+c" (ecx), "=d" (edx)
			 : : "memory");
	return (struct lab_answer) {
		(uint64_t)ebx << 32 | eax,
		(uint64_t)edx << 32 | ecx,
	};
}

static inline uint64_t lab_get(enum lab_command command, uint32_t arg)
{
	return lab_ask(command, arg).first;
}

static inline bool lab_present(void)
{
	return lab_get(LAB_INFO, 0) == LAB_MAGIC;
}

/* Returns once it is so. */
static inline void lab_switch(bool on)
{
	lab_ask(LAB_SWITCH, on);
	while (lab_ask(LAB_INFO, 0).second != on)
		;
}

#endif
#endif

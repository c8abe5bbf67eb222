// SPDX-License-Identifier: GPL-2.0
/*
 * A box has no mark of its owner.  A box with a programmed counter, or a frozen box, is
 * in use, and is not touched.  No box is touched while the kernel's own driver
 * (intel_uncore) is loaded, because the driver resets a box at any time.
 *
 * Another program that programs a claimed box is noticed at the next reading, which
 * compares the controls after the counters; one that freezes the box, at the box's next
 * turn, once in 8 ms.  Then the reading is discarded and the box is given up.  One that was
 * programmed is not restored, because its registers belong to that program; one that was
 * only frozen is, at the next claim or release after that has ended.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <asm/processor.h>

#include "pmon.h"
#include "ring/ring.h"
#include "uncore.h"

#define MODEL_SAPPHIRERAPIDS_X	0x8f
#define MODEL_EMERALDRAPIDS_X	0xcf

/* CAS_COUNT.RD and .WR, both halves of a channel (perfmon's event lists) */
#define EVENT_READ	0xcf05
#define EVENT_WRITE	0xf005
#define CAS_BYTES	64

/*
 * RPQ_OCCUPANCY_PCH0, the reads pending in the first half of a channel.  One counter
 * counts the cycles with fewer than 1 read, the other one the cycles with more.  Each
 * cycle is in one of the two, so a share needs no clock: the queue may have another
 * clock than CLOCKTICKS.
 */
#define EVENT_IDLE	0x01800080
#define EVENT_BUSY	0x01000080

/* Narrower counters of cycles could wrap twice between two readings. */
#define IDLE_BITS_MIN	40
/*
 * The interval between the turns of a channel, in which cycles and the box's control are
 * read, because the registers are slow to read
 */
#define TURN_NS		(8 * NSEC_PER_MSEC)
#define TURN_EARLY_NS	(TURN_NS / 16)

#define UNIT_FREEZE	BIT(0)

enum { READ_CAS, WRITE_CAS, NR_CAS, IDLE = NR_CAS, BUSY, NR_EVENTS };

static const u32 events[NR_EVENTS] = {
	EVENT_READ, EVENT_WRITE, EVENT_IDLE, EVENT_BUSY,
};

struct channel {
	void __iomem *at;	/* the box's control */
	u32 id;
	bool programmed;	/* cmt's events are in the box */
	bool claimed;		/* and it is read */
	bool rebased;		/* the next reading has no base */
	u64 found[NR_EVENTS];	/* the counters before the claim */
	u64 last[NR_EVENTS];
	u64 sums[NR_EVENTS];	/* since load, while claimed */
	u64 turn_due;		/* ns: the time of the next turn */
};

/*
 * While nr_claimed is 0, only claim and release access the channels.  Otherwise only
 * the tick that has the lock accesses them.
 */
struct cmt_channels {
	raw_spinlock_t lock;	/* taken by ticks, and for nr_claimed */
	u32 socket;
	u32 nr, nr_events;	/* constant */
	u32 nr_claimed;
	u32 nr_lost;		/* since the claim */
	struct cmt_box box;	/* the first box, all are alike; constant */
	struct channel channels[CMT_CHANNELS_MAX];
};

DEFINE_PER_CPU(struct cmt_channels *, cmt_cpu_channels);

static struct cmt_channels **sockets;	/* constant after load */
static u32 nr_sockets;
static DEFINE_MUTEX(assign_mutex);	/* sockets_claimed, ticking, cmt_cpu_channels */
static bool sockets_claimed;
static struct cpumask ticking;		/* CPUs with ticks */
static const char *refusal;		/* why no channel is ever read, or NULL */
static const char *missing;		/* why some channels are never read, or NULL */
static const char *in_use;		/* why some channels are not read now, or NULL */
static const char others_have[] = "another program uses some of the boxes";
static typeof_member(struct device, bus) pmu_bus;

static void __iomem *counter_at(const struct cmt_channels *c,
				const struct channel *channel, u32 i)
{
	return channel->at + c->box.ctr_offset + i * 8;
}

static void __iomem *control_at(const struct cmt_channels *c,
				const struct channel *channel, u32 i)
{
	return channel->at + c->box.ctl_offset + i * 4;
}

static bool is_free(const struct cmt_channels *c, const struct channel *channel)
{
	u32 i;

	if (readl(channel->at))
		return false;
	for (i = 0; i < c->box.counters; i++)
		if (readl(control_at(c, channel, i)))
			return false;
	return true;
}

/* The box is frozen meanwhile, so that all counters start at one instant. */
static void program(const struct cmt_channels *c, struct channel *channel)
{
	u32 i;

	writel(UNIT_FREEZE, channel->at);
	for (i = 0; i < c->nr_events; i++) {
		channel->found[i] = readq(counter_at(c, channel, i));
		writel(events[i], control_at(c, channel, i));
		channel->last[i] = channel->found[i];
	}
	writel(0, channel->at);
	channel->programmed = true;
	channel->rebased = true;
	channel->turn_due = 0;
}

/* Are the first @nr counters as cmt programmed them?  In ticks @nr is a constant. */
static __always_inline bool is_ours(const struct cmt_channels *c,
				    const struct channel *channel, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (readl(control_at(c, channel, i)) != events[i])
			return false;
	return true;
}

/* cmt does not freeze a box that it reads.  A frozen box has another user. */
static bool is_frozen(const struct channel *channel)
{
	return readl(channel->at);
}

static void restore(const struct cmt_channels *c, struct channel *channel)
{
	u32 i;

	writel(UNIT_FREEZE, channel->at);
	for (i = 0; i < c->nr_events; i++) {
		writel(0, control_at(c, channel, i));
		writeq(channel->found[i], counter_at(c, channel, i));
	}
	writel(0, channel->at);
	channel->programmed = false;
}

/*
 * Restore a box that cmt has programmed, unless it is another program's since.  While that
 * has it frozen it stays as it is, until the next call.
 */
static void withdraw(const struct cmt_channels *c, struct channel *channel)
{
	if (!channel->programmed)
		return;
	if (!is_ours(c, channel, c->nr_events))
		channel->programmed = false;
	else if (!is_frozen(channel))
		restore(c, channel);
}

/* Waits for a tick that has the lock. */
static void set_nr_claimed(struct cmt_channels *c, u32 nr)
{
	raw_spin_lock_irq(&c->lock);
	WRITE_ONCE(c->nr_claimed, nr);
	raw_spin_unlock_irq(&c->lock);
}

/* No tick reads the channels yet, so the slow registers are accessed without a lock. */
static void claim(struct cmt_channels *c)
{
	u32 i, nr = 0;

	for (i = 0; i < c->nr; i++) {
		struct channel *channel = &c->channels[i];

		withdraw(c, channel);
		channel->claimed = is_free(c, channel);
		if (channel->claimed)
			program(c, channel);
		nr += channel->claimed;
	}
	set_nr_claimed(c, nr);
	i = c->nr - nr;
	if (!i)
		return;
	WRITE_ONCE(in_use, others_have);
	pr_warn_once("uncore: socket %u: another program uses %u IMC boxes: their channels are not read\n",
		     c->socket, i);
}

static void release(struct cmt_channels *c)
{
	u32 i;

	set_nr_claimed(c, 0);
	for (i = 0; i < c->nr; i++) {
		struct channel *channel = &c->channels[i];

		withdraw(c, channel);
		c->nr_lost += channel->claimed && channel->programmed;
		channel->claimed = false;
	}
	if (c->nr_lost)
		pr_warn("uncore: socket %u: another program has programmed or frozen %u IMC boxes that were read here\n",
			c->socket, c->nr_lost);
	c->nr_lost = 0;
}

static unsigned int reader_of(const struct cmt_channels *c)
{
	unsigned int cpu;

	for_each_cpu(cpu, &ticking)
		if (topology_logical_package_id(cpu) == c->socket)
			return cpu;
	return nr_cpu_ids;
}

/* While no box is claimed, no CPU has channels, and ticks have no cost. */
static void assign(void)
{
	unsigned int cpu, reader;
	u32 i;

	lockdep_assert_held(&assign_mutex);
	for (i = 0; i < nr_sockets; i++) {
		reader = sockets_claimed ? reader_of(sockets[i]) : nr_cpu_ids;
		for_each_possible_cpu(cpu) {
			struct cmt_channels **of = &per_cpu(cmt_cpu_channels, cpu);

			if (cpu == reader)
				WRITE_ONCE(*of, sockets[i]);
			else if (*of == sockets[i])
				WRITE_ONCE(*of, NULL);
		}
	}
}

void cmt_channels_set_ticks(unsigned int cpu, bool ticks)
{
	mutex_lock(&assign_mutex);
	if (ticks)
		cpumask_set_cpu(cpu, &ticking);
	else
		cpumask_clear_cpu(cpu, &ticking);
	mutex_unlock(&assign_mutex);
}

void cmt_channels_assign(void)
{
	mutex_lock(&assign_mutex);
	assign();
	mutex_unlock(&assign_mutex);
}

/* A CPU that comes or goes meanwhile calls assign() again. */
static void set_claimed(bool value)
{
	mutex_lock(&assign_mutex);
	WRITE_ONCE(sockets_claimed, value);
	assign();
	mutex_unlock(&assign_mutex);
}

/* The kernel's driver, by the names that it gives its first IMC box. */
static bool has_driver(void)
{
	static const char *const names[] = {
		"uncore_imc", "uncore_imc_0", "uncore_type_6", "uncore_type_6_0",
	};
	struct device *dev = NULL;
	u32 i;

	for (i = 0; !dev && i < ARRAY_SIZE(names); i++)
		dev = bus_find_device_by_name(pmu_bus, NULL, names[i]);
	put_device(dev);
	return dev;
}

void cmt_channels_claim(void)
{
	u32 i;

	WRITE_ONCE(in_use, NULL);
	if (nr_sockets && has_driver()) {
		WRITE_ONCE(in_use, "the kernel's driver intel_uncore has the boxes");
		pr_warn_once("uncore: the kernel's driver intel_uncore has the IMC boxes: no memory channel is read\n");
		return;
	}
	for (i = 0; i < nr_sockets; i++)
		claim(sockets[i]);
	if (nr_sockets)
		set_claimed(true);
}

void cmt_channels_release(void)
{
	u32 i;

	if (nr_sockets)
		set_claimed(false);
	for (i = 0; i < nr_sockets; i++)
		release(sockets[i]);
}

u32 cmt_channels_due(const struct cmt_channels *channels)
{
	return READ_ONCE(channels->nr_claimed);
}

/* Read the first @nr counters, then check their controls.  False: not cmt's any more. */
static __always_inline bool read_counters(const struct cmt_channels *c,
					  struct channel *channel, u32 nr)
{
	u64 now[NR_EVENTS];
	u32 i;

	for (i = 0; i < nr; i++)
		now[i] = readq(counter_at(c, channel, i));
	if (!is_ours(c, channel, nr))
		return false;
	for (i = 0; i < nr; i++) {
		channel->sums[i] += (now[i] - channel->last[i]) &
				    GENMASK_ULL(c->box.bits - 1, 0);
		channel->last[i] = now[i];
	}
	return true;
}

/*
 * The channels take turns: their first turns are in one tick, later ones in different
 * ticks.
 */
static void took_turn(const struct cmt_channels *c, struct channel *channel, u64 ts)
{
	u32 index = channel - c->channels;

	/* a tick may come early */
	channel->turn_due = ts + TURN_NS - TURN_EARLY_NS;
	if (channel->rebased)
		channel->turn_due -= TURN_NS / c->nr * index;
}

/* Fills in the values, with their flags.  False: the counters were not cmt's. */
static bool channel_read(const struct cmt_channels *c, struct channel *channel,
			 struct cmt_record *record)
{
	bool turn = record->ts >= channel->turn_due;
	bool idle = turn && c->nr_events > NR_CAS;

	if (!(idle ? read_counters(c, channel, NR_EVENTS) :
		     read_counters(c, channel, NR_CAS)))
		return false;
	if (turn && is_frozen(channel))
		return false;
	if (turn)
		took_turn(c, channel, record->ts);
	record->flags = CMT_F_CHANNEL;
	record->channels.read_bytes = channel->sums[READ_CAS] * CAS_BYTES;
	record->channels.written_bytes = channel->sums[WRITE_CAS] * CAS_BYTES;
	if (idle) {
		record->flags |= CMT_F_CHANNEL_IDLE;
		record->channels.idle_cycles = channel->sums[IDLE];
		record->channels.busy_cycles = channel->sums[BUSY];
	}
	if (channel->rebased)
		record->flags |= CMT_F_REBASED;
	channel->rebased = false;
	return true;
}

/* The message is printed when the sampling stops: a tick prints nothing. */
static void channel_lost(struct cmt_channels *c, struct channel *channel)
{
	channel->claimed = false;
	WRITE_ONCE(c->nr_claimed, c->nr_claimed - 1);
	c->nr_lost++;
	WRITE_ONCE(in_use, others_have);
}

static void channel_write(struct cmt_ring *ring, struct cmt_channels *c,
			  struct channel *channel)
{
	struct cmt_record record = {
		.ts = max(ktime_get_ns(), ring->last_ts),
		.type = CMT_REC_CHANNEL,
		.domain = c->socket,
		.channel = channel->id,
	};

	if (!channel_read(c, channel, &record)) {
		channel_lost(c, channel);
		record.flags = CMT_F_UNAVAILABLE;
	}
	cmt_ring_write(ring, &record);
}

/* Another CPU may still be reading the channels, when the reading CPU has changed. */
void cmt_channels_write(struct cmt_ring *ring)
{
	struct cmt_channels *channels = this_cpu_read(cmt_cpu_channels);
	u32 i;

	if (!channels || !raw_spin_trylock(&channels->lock))
		return;
	for (i = 0; channels->nr_claimed && i < channels->nr; i++)
		if (channels->channels[i].claimed)
			channel_write(ring, channels, &channels->channels[i]);
	raw_spin_unlock(&channels->lock);
}

void cmt_channels_get(struct cmt_uncore *arg)
{
	const char *why = refusal ?: READ_ONCE(in_use) ?: "";
	u32 i;

	arg->channels = 0;
	for (i = 0; i < nr_sockets; i++)
		arg->channels += READ_ONCE(sockets[i]->nr_claimed);
	if (!why[0])
		why = READ_ONCE(sockets_claimed) ? missing ?: "" :
						   "no program asks for them";
	memset(arg->channels_reason, 0, sizeof(arg->channels_reason));
	strscpy(arg->channels_reason, why, sizeof(arg->channels_reason));
}

static int no_event(struct perf_event *event)
{
	return -ENOENT;
}

/* Modules have no name for the bus of all PMUs: a PMU that cmt registers leads to it. */
static int find_pmu_bus(void)
{
	static struct pmu pmu = {
		.module = THIS_MODULE,
		.task_ctx_nr = perf_invalid_context,
		.event_init = no_event,
	};
	int ret = perf_pmu_register(&pmu, "cmt_bus", -1);

	if (ret)
		return ret;
	pmu_bus = pmu.dev->bus;
	perf_pmu_unregister(&pmu);
	return pmu_bus ? 0 : -ENODEV;
}

static struct cmt_channels *socket_of(u32 socket)
{
	struct cmt_channels *c;
	u32 i;

	for (i = 0; i < nr_sockets; i++)
		if (sockets[i]->socket == socket)
			return sockets[i];
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return NULL;
	raw_spin_lock_init(&c->lock);
	c->socket = socket;
	sockets[nr_sockets++] = c;
	return c;
}

static int add_channel(const struct cmt_box *box)
{
	struct cmt_channels *c = socket_of(box->socket);
	struct channel *channel;

	if (!c)
		return -ENOMEM;
	if (c->nr == CMT_CHANNELS_MAX) {
		missing = "a socket has more memory channels than cmt can read";
		return 0;
	}
	channel = &c->channels[c->nr];
	channel->at = ioremap(box->ctl, cmt_pmon_extent(box));
	if (!channel->at)
		return -ENOMEM;
	channel->id = box->id;
	c->box = *box;
	c->nr_events = box->counters >= NR_EVENTS && box->bits >= IDLE_BITS_MIN ?
		       NR_EVENTS : NR_CAS;
	c->nr++;
	return 0;
}

static int add_channels(const struct cmt_box *boxes, u32 count)
{
	u32 i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		if (boxes[i].type != CMT_PMON_IMC)
			continue;
		if (cmt_pmon_is_readable(&boxes[i], NR_CAS))
			ret = add_channel(&boxes[i]);
		else
			missing = "a memory controller has no counters that cmt can read";
	}
	return ret;
}

static bool is_known_model(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       boot_cpu_data.x86 == 6 &&
	       (boot_cpu_data.x86_model == MODEL_SAPPHIRERAPIDS_X ||
		boot_cpu_data.x86_model == MODEL_EMERALDRAPIDS_X);
}

/* NULL, or why there are no channels.  Those of DIMMs alone would pass for all traffic. */
static const char *find_channels(void)
{
	struct cmt_uncore arg = { };
	u32 room = cmt_pmon_count();
	struct cmt_box *boxes = kvcalloc(room + 1, sizeof(*boxes), GFP_KERNEL);
	const char *why = "no memory";

	missing = cmt_pmon_lacks_memory();
	sockets = kcalloc(room + 1, sizeof(struct cmt_channels *), GFP_KERNEL);
	if (boxes && sockets) {
		cmt_pmon_get(&arg, boxes, room);
		if (cmt_pmon_has_hbm(boxes, room))
			why = "this processor has HBM, whose channels cmt does not count";
		else if (!add_channels(boxes, room))
			why = nr_sockets ? NULL :
				"no discovery table lists a memory controller";
	}
	kvfree(boxes);
	return why;
}

int cmt_channels_init(void)
{
	if (!cmt_pmon_count()) {
		refusal = "there are no boxes";
		return 0;
	}
	if (!is_known_model()) {
		refusal = "the events of this processor's memory controllers are not known";
		return 0;
	}
	refusal = find_pmu_bus() ? "no memory" : find_channels();
	if (refusal)
		cmt_channels_exit();
	return 0;
}

void cmt_channels_exit(void)
{
	u32 i;

	while (nr_sockets) {
		struct cmt_channels *c = sockets[--nr_sockets];

		for (i = 0; i < c->nr; i++)
			iounmap(c->channels[i].at);
		kfree(c);
	}
	kfree(sockets);
	sockets = NULL;
}

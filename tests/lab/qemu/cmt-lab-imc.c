/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory channels: what the L3s read and write on each, and the IMC boxes
 * of the uncore PMU that count it, with Sapphire Rapids' registers.
 */
#include "qemu/osdep.h"
#include "qemu/thread.h"
#include "qemu/timer.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define UNIT_FREEZE   (1U << 0)
#define UNIT_RST_CTRL (1U << 8)
#define UNIT_RST_CTRS (1U << 9)

#define CTL_EVENT(ctl) ((ctl) & 0xff)
#define CTL_UMASK(ctl) ((ctl) >> 8 & 0xff)
#define CTL_RESET      (1U << 17)
/* What these are of: edge detection, the inverted comparison, and its threshold. */
#define CTL_EDGE       (1U << 18)
#define CTL_INVERT     (1U << 23)
#define CTL_THRESH(ctl) ((ctl) >> 24)

/* CAS_COUNT: bits 6 and 7 are the two halves of a channel. */
#define EVENT_CAS   0x05
#define UMASK_RD    0x01
#define UMASK_WR    0x10
#define UMASK_BOTH  0xc0
#define CAS_BYTES   64

/* RPQ_OCCUPANCY, of each half of a channel. */
#define EVENT_RPQ_0 0x80
#define EVENT_RPQ_1 0x81

/*
 * The reads that are pending in one half of a channel.  One at a time is served; a
 * cycle is one ns of the virtual machine's time.  Slow, so that what the model's
 * programs read keeps it busy for a share that can be told from none.
 */
#define READ_CYCLES 20000
#define READS_MAX   32 /* pending; more take no time */

struct lab_rpq {
    QemuSpin lock;
    uint64_t until; /* it is not empty up to here */
    uint64_t busy;  /* cycles, those up to until among them */
};

/* Written by any CPU's thread. */
struct lab_channel {
    uint64_t reads; /* CAS */
    uint64_t writes;
    struct lab_rpq halves[2];
};

static struct lab_channel channels[LAB_PMON_SOCKETS][LAB_CHANNELS];

/* In icount mode QEMU_CLOCK_VIRTUAL cannot be read amid a translation block. */
static uint64_t cycles_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL_RT);
}

static void rpq_add(struct lab_rpq *q)
{
    uint64_t now = cycles_now(), until;

    qemu_spin_lock(&q->lock);
    q->until = MAX(q->until, now);
    until = MAX(q->until, MIN(q->until + READ_CYCLES,
                              now + READS_MAX * READ_CYCLES));
    q->busy += until - q->until;
    q->until = until;
    qemu_spin_unlock(&q->lock);
}

static uint64_t rpq_busy(struct lab_rpq *q, uint64_t now)
{
    uint64_t busy;

    qemu_spin_lock(&q->lock);
    busy = q->busy - (q->until > now ? q->until - now : 0);
    qemu_spin_unlock(&q->lock);
    return busy;
}

/* @line is of one of the L3s, and of any socket's memory. */
void lab_imc_moved(void *unused, uint32_t line, bool write)
{
    uint64_t phys = (uint64_t)line * lab.o.line;
    uint32_t socket = lab_home(phys) / lab.o.snc;
    struct lab_channel *c = &channels[socket][line % LAB_CHANNELS];

    qatomic_add(write ? &c->writes : &c->reads, lab.o.line / CAS_BYTES);
    if (!write) {
        rpq_add(&c->halves[line / LAB_CHANNELS % 2]);
    }
}

void lab_channel_idle(uint32_t socket, uint32_t channel, uint64_t cycles[2])
{
    uint64_t now = cycles_now();

    if (socket < LAB_PMON_SOCKETS && channel < LAB_CHANNELS) {
        cycles[1] = rpq_busy(&channels[socket][channel].halves[0], now);
        cycles[0] = now - cycles[1];
    }
}

void lab_channel(uint32_t socket, uint32_t channel, uint64_t bytes[2])
{
    if (socket < LAB_PMON_SOCKETS && channel < LAB_CHANNELS) {
        bytes[0] = qatomic_read(&channels[socket][channel].reads) * CAS_BYTES;
        bytes[1] = qatomic_read(&channels[socket][channel].writes) * CAS_BYTES;
    }
}

/* Of the occupancy, only whether there is some is known. */
static uint64_t rpq_occurred(struct lab_rpq *q, uint32_t ctl)
{
    uint64_t now = cycles_now(), busy = rpq_busy(q, now);

    if (CTL_THRESH(ctl) != 1 || ctl & CTL_EDGE || CTL_UMASK(ctl)) {
        return 0;
    }
    return ctl & CTL_INVERT ? now - busy : busy;
}

/* What an event of this control has counted since the start. */
static uint64_t occurred(const struct lab_imc *imc, uint32_t ctl)
{
    struct lab_channel *c = &channels[imc->socket][imc->channel];
    uint64_t n = 0;

    if (CTL_EVENT(ctl) == EVENT_RPQ_0 || CTL_EVENT(ctl) == EVENT_RPQ_1) {
        return rpq_occurred(&c->halves[CTL_EVENT(ctl) - EVENT_RPQ_0], ctl);
    }
    if (CTL_EVENT(ctl) != EVENT_CAS ||
        (CTL_UMASK(ctl) & UMASK_BOTH) != UMASK_BOTH) {
        return 0;
    }
    if (CTL_UMASK(ctl) & UMASK_RD) {
        n += qatomic_read(&c->reads);
    }
    if (CTL_UMASK(ctl) & UMASK_WR) {
        n += qatomic_read(&c->writes);
    }
    return n;
}

/* Bring the counters up to now; afterwards they go on as is then programmed. */
static void fold(struct lab_imc *imc)
{
    uint64_t now;
    uint32_t i;

    for (i = 0; i < LAB_IMC_COUNTERS; i++) {
        now = occurred(imc, imc->ctl[i]);
        if (!(imc->unit & UNIT_FREEZE)) {
            imc->value[i] += now - imc->start[i];
        }
        imc->value[i] &= MAKE_64BIT_MASK(0, lab.o.pmon_width);
        imc->start[i] = now;
    }
}

/* The counters of @imc go on from here with what is programmed now. */
static void start(struct lab_imc *imc)
{
    uint32_t i;

    for (i = 0; i < LAB_IMC_COUNTERS; i++) {
        imc->start[i] = occurred(imc, imc->ctl[i]);
    }
}

static void write_unit(struct lab_imc *imc, uint32_t value)
{
    if (value & UNIT_RST_CTRL) {
        memset(imc->ctl, 0, sizeof(imc->ctl));
    }
    if (value & UNIT_RST_CTRS) {
        memset(imc->value, 0, sizeof(imc->value));
    }
    imc->unit = value & ~(UNIT_RST_CTRL | UNIT_RST_CTRS);
}

static void write_ctl(struct lab_imc *imc, uint32_t i, uint32_t value)
{
    if (value & CTL_RESET) {
        imc->value[i] = 0;
    }
    imc->ctl[i] = value & ~CTL_RESET;
}

void lab_imc_reset(struct lab_imc *imc, uint32_t socket, uint32_t channel)
{
    *imc = (struct lab_imc) { .socket = socket, .channel = channel };
    start(imc);
}

/* The counter at @offset, with *high for its upper half; or -1. */
static int counter_at(uint32_t offset, bool *high)
{
    uint32_t i = (offset - LAB_IMC_CTR) / 8;

    *high = offset & 4;
    return offset >= LAB_IMC_CTR && i < LAB_IMC_COUNTERS ? i : -1;
}

static int ctl_at(uint32_t offset)
{
    uint32_t i = (offset - LAB_IMC_CTL) / 4;

    return offset >= LAB_IMC_CTL && i < LAB_IMC_COUNTERS ? i : -1;
}

/* @offset is a multiple of 4. */
static uint32_t read_word(struct lab_imc *imc, uint32_t offset)
{
    bool high;
    int i = counter_at(offset, &high);

    if (i >= 0) {
        return imc->value[i] >> (high ? 32 : 0);
    }
    i = ctl_at(offset);
    return i >= 0 ? imc->ctl[i] : offset == 0 ? imc->unit : 0;
}

static void write_word(struct lab_imc *imc, uint32_t offset, uint32_t value)
{
    bool high;
    int i = counter_at(offset, &high);

    if (i >= 0) {
        imc->value[i] = deposit64(imc->value[i], high ? 32 : 0, 32, value);
    } else if (offset == 0) {
        write_unit(imc, value);
    } else if (ctl_at(offset) >= 0) {
        write_ctl(imc, ctl_at(offset), value);
    }
}

uint64_t lab_imc_read(struct lab_imc *imc, uint32_t offset, unsigned size)
{
    uint64_t value;

    fold(imc);
    value = read_word(imc, offset & ~3U);
    if (size == 8) {
        value |= (uint64_t)read_word(imc, offset + 4) << 32;
    }
    return value;
}

void lab_imc_write(struct lab_imc *imc, uint32_t offset, uint64_t value,
                   unsigned size)
{
    fold(imc);
    write_word(imc, offset & ~3U, value);
    if (size == 8) {
        write_word(imc, offset + 4, value >> 32);
    }
    start(imc);
}

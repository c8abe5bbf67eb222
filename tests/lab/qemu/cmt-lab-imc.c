/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory channels: what the L3s read and write on each, and the IMC boxes
 * of the uncore PMU that count it, with Sapphire Rapids' registers.
 */
#include "qemu/osdep.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define UNIT_FREEZE   (1U << 0)
#define UNIT_RST_CTRL (1U << 8)
#define UNIT_RST_CTRS (1U << 9)

#define CTL_EVENT(ctl) ((ctl) & 0xff)
#define CTL_UMASK(ctl) ((ctl) >> 8 & 0xff)
#define CTL_RESET      (1U << 17)

/* CAS_COUNT: bits 6 and 7 are the two halves of a channel. */
#define EVENT_CAS   0x05
#define UMASK_RD    0x01
#define UMASK_WR    0x10
#define UMASK_BOTH  0xc0
#define CAS_BYTES   64

/* Written by any CPU's thread. */
struct lab_channel {
    uint64_t reads; /* CAS */
    uint64_t writes;
};

static struct lab_channel channels[LAB_PMON_SOCKETS][LAB_CHANNELS];

/* @line is of one of the L3s, and of any socket's memory. */
void lab_imc_moved(void *unused, uint32_t line, bool write)
{
    uint64_t phys = (uint64_t)line * lab.o.line;
    uint32_t socket = lab_home(phys) / lab.o.snc;
    struct lab_channel *c = &channels[socket][line % LAB_CHANNELS];

    qatomic_add(write ? &c->writes : &c->reads, lab.o.line / CAS_BYTES);
}

void lab_channel(uint32_t socket, uint32_t channel, uint64_t bytes[2])
{
    if (socket < LAB_PMON_SOCKETS && channel < LAB_CHANNELS) {
        bytes[0] = qatomic_read(&channels[socket][channel].reads) * CAS_BYTES;
        bytes[1] = qatomic_read(&channels[socket][channel].writes) * CAS_BYTES;
    }
}

/* What an event of this control has counted since the start. */
static uint64_t occurred(const struct lab_imc *imc, uint32_t ctl)
{
    struct lab_channel *c = &channels[imc->socket][imc->channel];
    uint64_t n = 0;

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

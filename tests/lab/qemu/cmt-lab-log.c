/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last readings of QM_CTR, so that a record can be compared with them. */
#include "qemu/osdep.h"
#include "qemu/thread.h"

#include "cmt-lab-int.h"

#define LOG_READINGS (1U << 20)

static QemuMutex log_lock; /* protects the rest */
static struct lab_reading *readings;
static uint64_t head;

void lab_log_init(void)
{
    qemu_mutex_init(&log_lock);
    readings = g_new0(struct lab_reading, LOG_READINGS);
}

uint64_t lab_log_add(const struct lab_reading *reading)
{
    uint64_t number;

    qemu_mutex_lock(&log_lock);
    number = head++;
    readings[number % LOG_READINGS] = *reading;
    qemu_mutex_unlock(&log_lock);
    return number;
}

uint64_t lab_log_head(void)
{
    uint64_t n;

    qemu_mutex_lock(&log_lock);
    n = head;
    qemu_mutex_unlock(&log_lock);
    return n;
}

uint32_t lab_log_kept(void)
{
    return LOG_READINGS;
}

bool lab_log_get(uint32_t number, struct lab_reading *reading)
{
    uint32_t back;
    bool kept;

    qemu_mutex_lock(&log_lock);
    back = (uint32_t)head - number; /* 1: the last one */
    kept = back && back <= MIN(head, LOG_READINGS);
    if (kept) {
        *reading = readings[number % LOG_READINGS];
    }
    qemu_mutex_unlock(&log_lock);
    return kept;
}

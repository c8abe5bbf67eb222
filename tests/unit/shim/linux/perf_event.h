/* SPDX-License-Identifier: GPL-2.0-or-later */
#include_next <linux/perf_event.h>
#include "../fake_perf.h"

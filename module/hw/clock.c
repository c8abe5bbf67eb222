// SPDX-License-Identifier: GPL-2.0
/* The frequency of cmt_cycles(). */
#include <linux/init.h>
#include <linux/jump_label.h>
#include <asm/tsc.h>

#include "compat.h"
#include "hw.h"

DEFINE_STATIC_KEY_FALSE(cmt_no_tsc);

int __init cmt_clock_init(void)
{
	if (!tsc_khz)
		static_branch_enable(&cmt_no_tsc);
	return 0;
}

u32 cmt_clock_khz(void)
{
	return static_key_enabled(&cmt_no_tsc) ? 1000000 : tsc_khz;
}

// SPDX-License-Identifier: GPL-2.0
/* Faults that sparse and coccinelle have to find in here; tests/parts/static compiles it. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_RAW_SPINLOCK(planted_lock);

void planted_context(void);
u32 planted_endian(__le32 value);
void planted_free(void *memory);

/* sparse: context imbalance */
void planted_context(void)
{
	raw_spin_lock(&planted_lock);
}

/* sparse: restricted __le32 */
u32 planted_endian(__le32 value)
{
	return value;
}

/* coccinelle, free/ifnullfree.cocci */
void planted_free(void *memory)
{
	if (memory)
		kfree(memory);
}

MODULE_DESCRIPTION("Faults that analyzers find");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
#include <linux/limits.h>
#include <linux/minmax.h>

#include "pmon.h"

/* Of an entry's words; the global unit has its units and stride in the first. */
#define GLOBAL_STRIDE(w)	((u32)((w) >> 8) & 0xff)
#define GLOBAL_UNITS(w)		((u32)((w) >> 16) & 0x3ff)
#define BOX_COUNTERS(w)		((w) & 0xff)
#define BOX_CTL_OFFSET(w)	((w) >> 8 & 0xff)
#define BOX_BITS(w)		((w) >> 16 & 0xff)
#define BOX_CTR_OFFSET(w)	((w) >> 24 & 0xff)
#define BOX_STATUS_OFFSET(w)	((w) >> 32 & 0xff)
#define BOX_ACCESS(w)		((w) >> 62)
#define BOX_TYPE(w)		((w) & 0xffff)
#define BOX_ID(w)		((w) >> 16 & 0xffff)

#define PCI_ADDRESS_BITS	31
#define PCI_OFFSET(ctl)		((u32)(ctl) & 0xfff)
#define PCI_CONFIG_BYTES	0x1000

static bool is_all_ones(const u64 *words)
{
	return words[0] == U64_MAX || words[1] == U64_MAX ||
	       words[2] == U64_MAX;
}

const char *cmt_pmon_global(struct cmt_pmon_global *global, const u64 *words,
			    u64 bytes)
{
	*global = (struct cmt_pmon_global) {
		.units = GLOBAL_UNITS(words[0]),
		.stride = GLOBAL_STRIDE(words[0]) * 8,
	};
	if (is_all_ones(words))
		return "its table reads all ones";
	if (!words[0] || !words[1])
		return "its table is empty";
	if (global->stride < CMT_PMON_ENTRY_BYTES)
		return "its entries are shorter than a box";
	if (!global->units)
		return "its table lists no box";
	/* the last entry need not have the whole stride */
	if ((u64)global->units * global->stride + CMT_PMON_ENTRY_BYTES > bytes)
		return "its table does not fit into its BAR";
	return NULL;
}

bool cmt_pmon_is_unused(const u64 *words)
{
	return !words[0] || !words[1];
}

/* A control of MMIO boxes has 4 or 8 bytes: 8 are assumed. */
u32 cmt_pmon_extent(const struct cmt_box *box)
{
	u32 step = box->access == CMT_BOX_MSR ? 1 : 8;

	return max(box->ctl_offset, box->ctr_offset) + box->counters * step;
}

/* NULL, or the error in the address of the registers. */
static const char *check_address(const struct cmt_box *box, u64 address_end)
{
	u32 extent = cmt_pmon_extent(box);

	switch (box->access) {
	case CMT_BOX_MSR:
		if (box->ctl > U32_MAX - extent)
			return "its control is no MSR";
		return NULL;
	case CMT_BOX_MMIO:
		if (box->ctl & 3)
			return "its control is not aligned";
		if (box->ctl >= address_end || extent > address_end - box->ctl)
			return "its control is beyond the physical addresses";
		return NULL;
	case CMT_BOX_PCI:
		if (box->ctl >> PCI_ADDRESS_BITS)
			return "its control is no PCI address";
		if (PCI_OFFSET(box->ctl) + extent > PCI_CONFIG_BYTES)
			return "its registers are beyond the configuration space";
		return NULL;
	}
	return "its access type is unknown";
}

const char *cmt_pmon_box(struct cmt_box *box, const u64 *words, u64 address_end)
{
	*box = (struct cmt_box) {
		.type = BOX_TYPE(words[2]),
		.id = BOX_ID(words[2]),
		.access = BOX_ACCESS(words[0]),
		.counters = BOX_COUNTERS(words[0]),
		.bits = BOX_BITS(words[0]),
		.ctl_offset = BOX_CTL_OFFSET(words[0]),
		.ctr_offset = BOX_CTR_OFFSET(words[0]),
		.status_offset = BOX_STATUS_OFFSET(words[0]),
		.ctl = words[1],
	};
	if (is_all_ones(words))
		return "its entry reads all ones";
	if (!box->counters || box->counters > CMT_PMON_COUNTERS_MAX)
		return "no box has so many counters";
	if (!box->bits || box->bits > 64)
		return "no counter has so many bits";
	if (!box->ctl_offset || !box->ctr_offset)
		return "its counters are where its control is";
	return check_address(box, address_end);
}

bool cmt_pmon_may_be_memory(const struct cmt_box *box)
{
	return box->type == CMT_PMON_IMC || box->type == CMT_PMON_HBM ||
	       box->type == U16_MAX;
}

bool cmt_pmon_is_readable(const struct cmt_box *box, u32 counters)
{
	return box->access == CMT_BOX_MMIO && box->counters >= counters && box->bits < 64;
}

bool cmt_pmon_has_hbm(const struct cmt_box *boxes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (boxes[i].type == CMT_PMON_HBM)
			return true;
	return false;
}

bool cmt_pmon_alike(const struct cmt_box *a, const struct cmt_box *b)
{
	return a->access == b->access && a->counters == b->counters &&
	       a->bits == b->bits && a->ctl_offset == b->ctl_offset &&
	       a->ctr_offset == b->ctr_offset;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Find the discovery tables.  A table belongs to a PCI device of Intel's with a
 * designated vendor-specific extended capability (DVSEC) of entry id 1, which has the
 * number of the BAR with the table.
 *
 * The tables are read at load, and no reference to a device is kept: later changes of a
 * device, and its removal, do not matter.
 */
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/pci_regs.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <asm/processor.h>

#include "pmon.h"
#include "uncore.h"

#define EXT_CAP_DVSEC		0x23
#define DVSEC_ID		0x8	/* from the capability */
#define DVSEC_ID_MASK		0xffff
#define DVSEC_ID_PMON		1
#define DVSEC_TABLE		0xc
#define DVSEC_TABLE_BAR		0x7	/* the other bits are the offset, in bytes */
#define DVSEC_BYTES		0x10

/* The configuration space has room for this number; more is a loop. */
#define DVSECS_MAX	((PCI_CFG_SPACE_EXP_SIZE - PCI_CFG_SPACE_SIZE) / DVSEC_BYTES)

/* Lines in the log about the errors of one table's boxes */
#define LINES_MAX	8

static bool uncore = true;
module_param(uncore, bool, 0444);
MODULE_PARM_DESC(uncore, "find the counters outside the cores (default 1)");

struct table {
	struct list_head list;
	u32 socket;
	u32 count;
	struct cmt_box boxes[];
};

/* Written at load only. */
static LIST_HEAD(tables);
static u32 nr_boxes, nr_tables, nr_refused;
static bool memory_refused;	/* a box, or a table, that may be of a memory controller */
static const char *reason;

static void refuse_table(struct pci_dev *dev, const char *why)
{
	pr_warn("uncore: %s is refused: %s\n", pci_name(dev), why);
	nr_refused++;
	memory_refused = true;
}

static void refuse_box(struct pci_dev *dev, u32 nr, const struct cmt_box *box,
		       u32 *lines, const char *why)
{
	if (*lines < LINES_MAX)
		pr_warn("uncore: %s: entry %u (type %u ID %u) is refused: %s\n",
			pci_name(dev), nr, box->type, box->id, why);
	else if (*lines == LINES_MAX)
		pr_warn("uncore: %s: more entries are refused\n",
			pci_name(dev));
	(*lines)++;
	nr_refused++;
	memory_refused |= cmt_pmon_may_be_memory(box);
}

/*
 * Where the firmware gives no node for a bus, the tables are assumed to be in the order
 * of the sockets.  Returns the socket or -ENODEV.
 */
static int socket_of(struct pci_dev *dev)
{
	int node = pcibus_to_node(dev->bus);
	unsigned int cpu;

	if (node == NUMA_NO_NODE)
		return nr_tables;
	cpu = cpumask_any_and(cpumask_of_node(node), cpu_online_mask);
	return cpu < nr_cpu_ids ? (int)topology_logical_package_id(cpu) :
				  -ENODEV;
}

static bool is_known_socket(u32 socket)
{
	const struct table *t;

	list_for_each_entry(t, &tables, list)
		if (t->socket == socket)
			return true;
	return false;
}

/* NULL, or the conflict of @box with a box of @t. */
static const char *conflict_in(const struct table *t, const struct cmt_box *box)
{
	u32 i;

	for (i = 0; i < t->count; i++) {
		const struct cmt_box *other = &t->boxes[i];

		if (other->type != box->type)
			continue;
		if (t->socket == box->socket && other->id == box->id)
			return "another box has its type and ID";
		if (!cmt_pmon_alike(other, box))
			return "it differs from others of its type";
	}
	return NULL;
}

static const char *conflict(const struct table *t, const struct cmt_box *box)
{
	const char *why = conflict_in(t, box);
	const struct table *other;

	list_for_each_entry(other, &tables, list)
		why = why ?: conflict_in(other, box);
	return why;
}

/* RAM is not mapped as registers, whatever a table says. */
static bool is_in_ram(const struct cmt_box *box)
{
	return box->access == CMT_BOX_MMIO &&
	       region_intersects(box->ctl, cmt_pmon_extent(box),
				 IORESOURCE_SYSTEM_RAM,
				 IORES_DESC_NONE) != REGION_DISJOINT;
}

static const char *check_box(const struct table *t, struct cmt_box *box,
			     const u64 *words)
{
	u64 address_end = BIT_ULL(boot_cpu_data.x86_phys_bits);
	const char *why = cmt_pmon_box(box, words, address_end);

	box->socket = t->socket;
	if (!why && is_in_ram(box))
		why = "its control is in RAM";
	return why ?: conflict(t, box);
}

static void read_entry(u64 *words, const void __iomem *at)
{
	u32 i;

	for (i = 0; i < CMT_PMON_WORDS; i++)
		words[i] = readq(at + i * 8);
}

static void read_boxes(struct pci_dev *dev, struct table *t,
		       const void __iomem *at,
		       const struct cmt_pmon_global *global)
{
	u64 words[CMT_PMON_WORDS];
	u32 i, lines = 0;

	for (i = 1; i <= global->units; i++) {
		struct cmt_box *box = &t->boxes[t->count];
		const char *why;

		read_entry(words, at + i * global->stride);
		if (cmt_pmon_is_unused(words))
			continue;
		why = check_box(t, box, words);
		if (why)
			refuse_box(dev, i, box, &lines, why);
		else
			t->count++;
	}
}

/* Add the boxes of the table.  Returns NULL, or why all of them are refused. */
static const char *add_table(struct pci_dev *dev, const void __iomem *at,
			     const struct cmt_pmon_global *global)
{
	int socket = socket_of(dev);
	struct table *t;

	if (socket < 0)
		return "no CPU of its socket is online";
	if (socket >= topology_max_packages())
		return "there are fewer sockets than tables";
	if (is_known_socket(socket))
		return "its socket has a table already";
	t = kvzalloc(struct_size(t, boxes, global->units), GFP_KERNEL);
	if (!t)
		return "no memory";
	t->socket = socket;
	read_boxes(dev, t, at, global);
	list_add_tail(&t->list, &tables);
	nr_boxes += t->count;
	nr_tables++;
	return NULL;
}

static const char *map_table(struct pci_dev *dev, resource_size_t start,
			     resource_size_t bytes)
{
	struct cmt_pmon_global global;
	u64 words[CMT_PMON_WORDS];
	void __iomem *at;
	const char *why;

	at = ioremap(start, bytes);
	if (!at)
		return "its table cannot be mapped";
	read_entry(words, at);
	why = cmt_pmon_global(&global, words, bytes);
	why = why ?: add_table(dev, at, &global);
	iounmap(at);
	return why;
}

/* More than the largest table: 1,023 entries of 255 words, and the global unit. */
#define TABLE_BYTES_MAX	(1024 * 256 * 8)

/* @where: of the DVSEC. */
static const char *find_table(struct pci_dev *dev, u32 where)
{
	u32 bar = where & DVSEC_TABLE_BAR, offset = where & ~DVSEC_TABLE_BAR;
	resource_size_t bytes;
	u16 command;

	if (bar >= PCI_STD_NUM_BARS)
		return "its table is in no BAR";
	if (!(pci_resource_flags(dev, bar) & IORESOURCE_MEM) ||
	    pci_resource_flags(dev, bar) & IORESOURCE_UNSET ||
	    !pci_resource_start(dev, bar))
		return "the BAR of its table has no address";
	bytes = pci_resource_len(dev, bar);
	if (bytes < CMT_PMON_ENTRY_BYTES ||
	    offset > bytes - CMT_PMON_ENTRY_BYTES)
		return "its table is beyond the end of its BAR";
	pci_read_config_word(dev, PCI_COMMAND, &command);
	if (!(command & PCI_COMMAND_MEMORY))
		return "its memory decoding is off";
	return map_table(dev, pci_resource_start(dev, bar) + offset,
			 min_t(resource_size_t, bytes - offset,
			       TABLE_BYTES_MAX));
}

static bool is_pmon(struct pci_dev *dev, int at)
{
	u32 id;

	pci_read_config_dword(dev, at + DVSEC_ID, &id);
	return (id & DVSEC_ID_MASK) == DVSEC_ID_PMON;
}

/* The offset of the DVSEC with the table, or 0; *why: it is refused. */
static int find_dvsec(struct pci_dev *dev, const char **why)
{
	int at = 0, found = 0;
	u32 i;

	for (i = 0; i <= DVSECS_MAX; i++) {
		at = pci_find_next_ext_capability(dev, at, EXT_CAP_DVSEC);
		if (!at)
			return found;
		if (!is_pmon(dev, at))
			continue;
		if (found && found != at)
			*why = "it has two tables";
		found = at;
	}
	*why = "its capabilities are a loop";
	return found;
}

static void look_at_device(struct pci_dev *dev)
{
	const char *why = NULL;
	int at = find_dvsec(dev, &why);
	u32 where;

	if (!at)
		return;
	pci_read_config_dword(dev, at + DVSEC_TABLE, &where);
	why = why ?: find_table(dev, where);
	if (why)
		refuse_table(dev, why);
}

static const char *reason_for_none(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return "only processors of Intel have a discovery table";
	if (nr_tables && !nr_refused)
		return "the discovery tables list no box";
	if (nr_refused)
		return "what the discovery tables say is refused, see the kernel's log";
	return "no PCI device has a discovery table; Sapphire Rapids and later have";
}

int cmt_pmon_init(void)
{
	struct pci_dev *dev = NULL;

	if (!uncore) {
		reason = "the module was loaded with uncore=0";
		return 0;
	}
	while ((dev = pci_get_device(PCI_VENDOR_ID_INTEL, PCI_ANY_ID, dev)))
		look_at_device(dev);
	reason = nr_boxes ? "" : reason_for_none();
	return 0;
}

void cmt_pmon_exit(void)
{
	struct table *t, *next;

	list_for_each_entry_safe(t, next, &tables, list) {
		list_del(&t->list);
		kvfree(t);
	}
}

u32 cmt_pmon_count(void)
{
	return nr_boxes;
}

static bool all_sockets_known(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (!is_known_socket(topology_logical_package_id(cpu)))
			return false;
	return true;
}

const char *cmt_pmon_lacks_memory(void)
{
	if (memory_refused)
		return "a table, or an entry for memory, is refused, see the kernel's log";
	if (!all_sockets_known())
		return "a socket has no discovery table";
	return NULL;
}

void cmt_pmon_get(struct cmt_uncore *arg, struct cmt_box *boxes, u32 room)
{
	const struct table *t;
	u32 i, n = 0;

	list_for_each_entry(t, &tables, list)
		for (i = 0; i < t->count && n < room; i++)
			boxes[n++] = t->boxes[i];
	arg->count = nr_boxes;
	arg->sockets = nr_tables;
	arg->refused = nr_refused;
	memset(arg->reason, 0, sizeof(arg->reason));
	strscpy(arg->reason, reason, sizeof(arg->reason));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PCI device of each socket's uncore PMU: a DVSEC that leads to the discovery
 * table in BAR 0, and BAR 2 with the boxes that are memory-mapped.
 *
 * Boxes of the memory channels count; the registers of all others only keep what
 * is written there.
 */
#include "qemu/osdep.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"
#include "qapi/error.h"

#include "cmt-lab-int.h"
#include "cmt-lab-pmon.h"

#define TYPE_LAB_PMON "cmt-lab-pmon"
OBJECT_DECLARE_SIMPLE_TYPE(LabPmon, LAB_PMON)

#define DEVICE_ID   0x09a7 /* Linux's generic one of such devices */
#define FIRST_SLOT  0x10

#define TABLE_BAR   0
#define TABLE_BYTES 4096
#define BOXES_BAR   2
#define BOXES_BYTES (2 << 20)
#define CXL_WORDS   64

/* Extended capabilities: one that is not the table's, and the table's. */
#define DVSEC       0x23
#define DVSEC_OTHER 0x100
#define DVSEC_PMON  0x140
#define DVSEC_BYTES 0x10
#define ENTRY_PMON  1
#define ENTRY_OTHER 2

#define PCI_FROM    0x318 /* registers of the UPI box */
#define PCI_TO      0x380

#define MSR_FROM    0x2000
#define MSRS        0x1000

struct LabPmon {
    PCIDevice parent;
    uint32_t socket;
    MemoryRegion table;
    MemoryRegion boxes;
    struct lab_imc imcs[LAB_CHANNELS];
    uint32_t cxl[CXL_WORDS];
};

static LabPmon *devices[LAB_PMON_SOCKETS];
static uint64_t *msrs[LAB_PMON_SOCKETS];

bool lab_pmon_is_msr(uint32_t msr)
{
    return lab.o.pmon && msr - MSR_FROM < MSRS;
}

uint64_t *lab_pmon_msr(uint32_t socket, uint32_t msr)
{
    return &msrs[socket][msr - MSR_FROM];
}

static uint64_t boxes_at(LabPmon *s)
{
    return pci_get_bar_addr(&s->parent, BOXES_BAR);
}

bool lab_pmon_unit(uint32_t socket, uint32_t i, struct lab_unit *unit)
{
    LabPmon *s = socket < LAB_PMON_SOCKETS ? devices[socket] : NULL;

    return s && lab_table_unit(socket, i, boxes_at(s), s->parent.devfn, unit);
}

static uint64_t table_read(void *opaque, hwaddr addr, unsigned size)
{
    LabPmon *s = opaque;
    uint64_t word = lab_table_word(s->socket, addr & ~7ULL, boxes_at(s),
                                   s->parent.devfn);

    return word >> (addr & 7) * 8;
}

static void table_write(void *opaque, hwaddr addr, uint64_t value,
                        unsigned size)
{
}

/* The box at @addr of the BAR, and the offset in it; NULL: there is none. */
static struct lab_imc *find_imc(LabPmon *s, hwaddr addr, uint32_t *offset)
{
    uint32_t i;
    hwaddr at;

    for (i = 0; i < LAB_CHANNELS; i++) {
        at = LAB_PMON_IMC_AT + i / 2 * LAB_PMON_MC_STEP +
             i % 2 * LAB_PMON_IMC_STEP;
        if (addr >= at && addr < at + LAB_IMC_BYTES) {
            *offset = addr - at;
            return &s->imcs[i];
        }
    }
    return NULL;
}

static uint32_t *find_cxl(LabPmon *s, hwaddr addr)
{
    hwaddr word = (addr - LAB_PMON_CXL_AT) / 4;

    return addr >= LAB_PMON_CXL_AT && word < CXL_WORDS - 1 ? &s->cxl[word] :
           NULL;
}

static uint64_t boxes_read(void *opaque, hwaddr addr, unsigned size)
{
    uint32_t offset, *word = find_cxl(opaque, addr);
    struct lab_imc *imc = find_imc(opaque, addr, &offset);

    if (lab.o.pmon_lie == LAB_LIE_ONES) {
        return UINT64_MAX;
    }
    if (word) {
        return size == 8 ? ldq_le_p(word) : ldl_le_p(word);
    }
    return imc ? lab_imc_read(imc, offset, size) : 0;
}

static void boxes_write(void *opaque, hwaddr addr, uint64_t value,
                        unsigned size)
{
    uint32_t offset, *word = find_cxl(opaque, addr);
    struct lab_imc *imc = find_imc(opaque, addr, &offset);

    if (word && size == 8) {
        stq_le_p(word, value);
    } else if (word) {
        stl_le_p(word, value);
    } else if (imc) {
        lab_imc_write(imc, offset, value, size);
    }
}

static const MemoryRegionOps table_ops = {
    .read = table_read,
    .write = table_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static const MemoryRegionOps boxes_ops = {
    .read = boxes_read,
    .write = boxes_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 8 },
};

static void put_dvsec(PCIDevice *dev, uint32_t at, uint32_t next, uint32_t id,
                      uint32_t where)
{
    pci_set_long(dev->config + at, PCI_EXT_CAP(DVSEC, 1, next));
    pci_set_long(dev->config + at + 4, PCI_VENDOR_ID_INTEL | DVSEC_BYTES << 20);
    pci_set_long(dev->config + at + 8, id | 1 << 16 | 3 << 24);
    pci_set_long(dev->config + at + 12, where);
}

static void put_capabilities(PCIDevice *dev)
{
    enum lab_lie lie = lab.o.pmon_lie;
    uint32_t where = lie == LAB_LIE_BAR ? 6 : lie == LAB_LIE_NO_BAR ? 4 :
                     lie == LAB_LIE_OFFSET ? TABLE_BYTES : TABLE_BAR;

    put_dvsec(dev, DVSEC_OTHER, DVSEC_PMON, ENTRY_OTHER, 0);
    put_dvsec(dev, DVSEC_PMON, lie == LAB_LIE_LOOP ? DVSEC_OTHER : 0,
              ENTRY_PMON, where);
}

static void lab_pmon_reset(DeviceState *dev)
{
    LabPmon *s = LAB_PMON(dev);
    uint32_t i;

    for (i = 0; i < LAB_CHANNELS; i++) {
        lab_imc_reset(&s->imcs[i], s->socket, i);
    }
    memset(s->cxl, 0, sizeof(s->cxl));
    memset(msrs[s->socket], 0, MSRS * sizeof(uint64_t));
}

static void lab_pmon_realize(PCIDevice *dev, Error **errp)
{
    LabPmon *s = LAB_PMON(dev);

    if (pcie_endpoint_cap_init(dev, 0x40) < 0) {
        error_setg(errp, "%s: not on a PCI Express bus", TYPE_LAB_PMON);
        return;
    }
    put_capabilities(dev);
    memset(dev->wmask + PCI_FROM, 0xff, PCI_TO - PCI_FROM);
    memory_region_init_io(&s->table, OBJECT(s), &table_ops, s,
                          "cmt-lab-pmon-table", TABLE_BYTES);
    memory_region_init_io(&s->boxes, OBJECT(s), &boxes_ops, s,
                          "cmt-lab-pmon-boxes", BOXES_BYTES);
    pci_register_bar(dev, TABLE_BAR, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->table);
    pci_register_bar(dev, BOXES_BAR, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->boxes);
}

static void lab_pmon_class_init(ObjectClass *class, void *data)
{
    PCIDeviceClass *k = PCI_DEVICE_CLASS(class);

    k->realize = lab_pmon_realize;
    k->vendor_id = PCI_VENDOR_ID_INTEL;
    k->device_id = DEVICE_ID;
    k->class_id = PCI_CLASS_SYSTEM_OTHER;
    DEVICE_CLASS(class)->reset = lab_pmon_reset;
    DEVICE_CLASS(class)->user_creatable = false;
}

static const TypeInfo lab_pmon_info = {
    .name = TYPE_LAB_PMON,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(LabPmon),
    .class_init = lab_pmon_class_init,
    .interfaces = (InterfaceInfo[]) { { INTERFACE_PCIE_DEVICE }, { } },
};

static void lab_pmon_register(void)
{
    type_register_static(&lab_pmon_info);
}

type_init(lab_pmon_register)

static void create(PCIBus *bus, uint32_t socket)
{
    PCIDevice *dev = pci_new(PCI_DEVFN(FIRST_SLOT + socket, 0), TYPE_LAB_PMON);

    devices[socket] = LAB_PMON(dev);
    devices[socket]->socket = socket;
    msrs[socket] = g_new0(uint64_t, MSRS);
    pci_realize_and_unref(dev, bus, &error_fatal);
}

void cmt_lab_pmon_create(struct PCIBus *bus)
{
    uint32_t i;

    for (i = 0; lab.o.pmon && i < lab.nr_l3s; i++) {
        create(bus, i);
    }
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write the ERDT table of the lab's registers in memory (tests/lab/lab.h) to the standard
 * output, for a guest with two CPUs: one domain for each of its sockets.
 * usage: erdt-table true | a lie [SOCKETS [RMIDS]]
 *        erdt-table mrrm REGIONS: an MRRM table, of so many regions of memory
 */
#include <stdio.h>
#include <stdlib.h>

#include "../unit/module/erdt_maker.h"
#include "lab.h"

#define RMIDS	64	/* CMT_LAB's default */
#define MRRM_BYTES	64
#define AT_MRRM_REGIONS	36
#define CPUS	2
#define ABSENT	100	/* the id of a CPU that no guest has */
#define RAM	0x1000000

_Static_assert(LAB_ERDT_CMRC == MAKER_CMRC && LAB_ERDT_MMRC == MAKER_MMRC &&
	       LAB_ERDT_STEP == MAKER_STEP, "the maker lays out registers in another way");

static struct maker_domain add_domain(struct maker *m, unsigned int id,
				      unsigned int sockets, unsigned int rmids)
{
	struct maker_domain d = maker_domain(m, id, rmids - 1, rmids);
	unsigned int i;

	for (i = 0; i < CPUS; i++)
		maker_put(m, d.cacd + AT_CACD_CPUS + i * 4,
			  i * sockets / CPUS == id ? i : ABSENT + CPUS * id + i, 4);
	maker_put(m, d.cmrc + AT_CLUMP, LAB_ERDT_CLUMP, 2);
	maker_put(m, d.cmrc + AT_STRIDE, LAB_ERDT_STRIDE, 2);
	maker_put(m, d.cmrc + AT_CMRC_UNIT, LAB_ERDT_UNIT, 8);
	maker_put(m, d.mmrc + AT_WIDTH, LAB_ERDT_WIDTH, 1);
	maker_put(m, d.mmrc + AT_MMRC_UNIT, LAB_ERDT_MBM_UNIT, 8);
	for (i = 0; i < rmids; i++)
		maker_put(m, d.mmrc + AT_FACTORS + i * 4, LAB_ERDT_FACTOR(i), 4);
	return d;
}

/* Its entries, one for each range of addresses, are none here. */
static void make_mrrm(struct maker *m, unsigned int regions)
{
	maker_begin(m);
	memcpy(m->table, "MRRM", 4);
	m->bytes = MRRM_BYTES;
	maker_put(m, AT_MRRM_REGIONS, regions, 1);
}

static int print(struct maker *m)
{
	maker_seal(m);
	return fwrite(m->table, 1, m->bytes, stdout) != m->bytes;
}

int main(int argc, char **argv)
{
	unsigned int i, number = argc > 2 ? atoi(argv[2]) : 1;
	unsigned int rmids = argc > 3 ? atoi(argv[3]) : RMIDS;
	const char *what = argc > 1 ? argv[1] : "";
	struct maker_domain d;
	struct maker m;

	if (!strcmp(what, "mrrm")) {
		make_mrrm(&m, number);
		return print(&m);
	}
	maker_begin(&m);
	m.base = LAB_ERDT_BASE;
	for (i = 0; i < number; i++)
		d = add_domain(&m, i, number, rmids);
	if (!strcmp(what, "ram"))
		maker_put(&m, d.cmrc + AT_BASE, RAM, 8);
	else if (!strcmp(what, "cpus"))
		maker_put(&m, d.cacd + AT_CACD_CPUS + 4, ABSENT, 4);
	else if (!strcmp(what, "cut"))
		m.bytes -= 8;
	else if (strcmp(what, "true"))
		return 2;
	return print(&m);
}

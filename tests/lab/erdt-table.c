// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write an ERDT table to the standard output: of one domain with CPUs 0 and 1, whose
 * registers are RAM that the guest leaves alone (tests/lab/suite/erdt.c).
 * usage: erdt-table true | a lie
 */
#include <stdio.h>

#include "../unit/erdt_maker.h"
#include "suite/erdt.h"

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	struct maker_domain d;
	struct maker m;

	maker_begin(&m);
	m.base = ERDT_BASE;
	d = maker_domain(&m, 0, ERDT_RMIDS - 1, 1);
	maker_put(&m, d.mmrc + AT_WIDTH, ERDT_WIDTH, 1);
	maker_put(&m, d.mmrc + AT_FACTORS, ERDT_FACTOR, 4);
	if (!strcmp(what, "ram"))
		maker_put(&m, d.cmrc + AT_BASE, 0x1000000, 8);
	else if (!strcmp(what, "cpus"))
		maker_put(&m, d.cacd + AT_CACD_CPUS + 4, 77, 4);
	else if (!strcmp(what, "cut"))
		m.bytes -= 8;
	else if (strcmp(what, "true"))
		return 2;
	maker_seal(&m);
	return fwrite(m.table, 1, m.bytes, stdout) != m.bytes;
}

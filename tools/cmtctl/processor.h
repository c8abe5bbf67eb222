/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first processor, as /proc/cpuinfo has it. */
#ifndef TOOLS_PROCESSOR_H
#define TOOLS_PROCESSOR_H

#include <stdbool.h>

struct processor_facts {
	bool known;		/* the file could be read */
	bool monitors;		/* L3 occupancy: CPUID leaf 0xF, as Linux shows it */
	bool is_virtual;
	char model[64];		/* "Intel(R) Xeon(R) ..."; empty: not known */
	char signature[96];	/* "GenuineIntel family 6 model 143 stepping 8" */
	char microcode[32];	/* "0x2b000590"; empty: not known */
};

void processor_read(struct processor_facts *processor);

#endif

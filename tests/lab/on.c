// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For scripts in the guest: switch the lab's cache on, empty, or off; or show who
 * has how much of it, and under which RMIDs.
 *
 *	lab-on [off | show]
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"

/* Less is not worth a line. */
#define SHOWN	(64 << 10)

static void show(void)
{
	uint32_t spaces = lab_get(LAB_CONFIG, LAB_C_SPACES);
	uint32_t rmids = lab_get(LAB_CONFIG, LAB_C_RMIDS);

	for (uint32_t space = 0; space < spaces; space++) {
		uint64_t bytes = lab_get(LAB_OF_SPACE, LAB_ARG(0, 0, space));

		if (bytes < SHOWN)
			continue;
		printf("space %u: %lu KiB;", space, bytes >> 10);
		for (uint32_t rmid = 0; rmid < rmids; rmid++) {
			uint32_t arg = LAB_ARG(0, rmid, space);

			bytes = lab_get(LAB_OF_PAIR, arg);
			if (bytes >> 10)
				printf(" RMID %u: %lu (user's: %lu)", rmid,
				       bytes >> 10,
				       lab_get(LAB_OF_USER, arg) >> 10);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	bool off = argc == 2 && !strcmp(argv[1], "off");

	if (!lab_present()) {
		fprintf(stderr, "lab-on: this is not the lab's processor\n");
		return 1;
	}
	if (argc == 2 && !strcmp(argv[1], "show")) {
		show();
		return 0;
	}
	lab_switch(!off);
	lab_ask(LAB_FLUSH, 0);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For scripts in the guest: switch the lab's cache on, empty, or off.
 *
 *	lab-on [off]
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "lab.h"

int main(int argc, char **argv)
{
	bool off = argc == 2 && !strcmp(argv[1], "off");

	if (!lab_present()) {
		fprintf(stderr, "lab-on: this is not the lab's processor\n");
		return 1;
	}
	lab_switch(!off);
	lab_ask(LAB_FLUSH, 0);
	return 0;
}

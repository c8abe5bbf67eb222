// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For scripts in the guest: switch the lab's cache on, empty.
 *
 *	lab-on
 */
#include <stdio.h>

#include "lab.h"

int main(void)
{
	if (!lab_present()) {
		fprintf(stderr, "lab-on: this is not the lab's processor\n");
		return 1;
	}
	lab_switch(true);
	lab_ask(LAB_FLUSH, 0);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "clock.h"

uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	/* no clock of these tools fails; of another one the time would be 0 */
	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

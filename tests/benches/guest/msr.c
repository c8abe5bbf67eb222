// SPDX-License-Identifier: GPL-2.0-or-later
#include "../../lab/lab.h"
#include "bench.h"

static double stat(enum lab_stat which)
{
	return lab_get(LAB_STAT, which);
}

struct msrs msrs_now(void)
{
	struct msrs msrs = { 0 };

	if (!lab_present())
		return msrs;
	msrs.monitoring = stat(LAB_S_EVTSEL_RDMSR) + stat(LAB_S_EVTSEL_WRMSR) +
			  stat(LAB_S_CTR_RDMSR);
	msrs.all = msrs.monitoring + stat(LAB_S_PQR_RDMSR) +
		   stat(LAB_S_PQR_WRMSR);
	return msrs;
}

struct msrs msrs_since(const struct msrs *before)
{
	struct msrs now = msrs_now();

	now.all -= before->all;
	now.monitoring -= before->monitoring;
	return now;
}

bool msrs_counted(void)
{
	return msrs_now().all > 0;
}

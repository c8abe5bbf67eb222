/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The perf PMU cmt: events for perf_event_open(2), with the names and the numbers of the
 * PMU intel_cqm that Linux 4.1 to 4.13 had (docs/decisions/0026).  On request, intel_cqm is
 * a second PMU with the same events, but for tasks only (docs/decisions/0040).
 */
#ifndef CMT_CQM_H
#define CMT_CQM_H

/* A failure does not end the load of the module. */
int cmt_cqm_init(void);
void cmt_cqm_exit(void);

#endif

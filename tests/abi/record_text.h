/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record as a line of text, the same line as that of docs/examples/ring-reader. */
#ifndef TEST_RECORD_TEXT_H
#define TEST_RECORD_TEXT_H

#include <inttypes.h>
#include <stdio.h>

#include "uapi/cmt.h"

static const char *record_type_name(uint16_t type)
{
	static const char *const names[] = {
		[CMT_REC_ALLOC] = "ALLOC", [CMT_REC_FREE] = "FREE",
		[CMT_REC_UPDATE] = "UPDATE", [CMT_REC_ALLOC_FAIL] = "ALLOC_FAIL",
		[CMT_REC_SAMPLE] = "SAMPLE", [CMT_REC_TICK] = "TICK",
		[CMT_REC_CPU_ONLINE] = "CPU_ONLINE", [CMT_REC_CPU_OFFLINE] = "CPU_OFFLINE",
		[CMT_REC_STATE] = "STATE",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : NULL;
}

/* Returns 0, or -1 of a record type that has no text here. */
static int record_print(FILE *out, const struct cmt_record *r)
{
	const char *name = record_type_name(r->type);

	if (!name)
		return -1;
	fprintf(out, "%" PRIu64 " cpu=%u %s flags=0x%x rmid=%u generation=%u domain=%u",
		(uint64_t)r->ts, r->cpu, name, r->flags, r->rmid, r->generation, r->domain);
	if (r->type <= CMT_REC_ALLOC_FAIL)
		fprintf(out, " owner=%u cgroup_id=%" PRIu64 " comm=\"%.*s\"", r->tgid,
			(uint64_t)r->owner.cgroup_id, CMT_COMM_LEN, r->owner.comm);
	else if (r->type == CMT_REC_SAMPLE)
		fprintf(out, " occupancy_bytes=%" PRIu64 " mbm_total_bytes=%" PRIu64
			" mbm_local_bytes=%" PRIu64 " residual_bytes=%" PRIu64,
			(uint64_t)r->sample.occupancy_bytes,
			(uint64_t)r->sample.mbm_total_bytes,
			(uint64_t)r->sample.mbm_local_bytes,
			(uint64_t)r->sample.residual_bytes);
	else if (r->type == CMT_REC_TICK)
		fprintf(out, " interval_ns=%u missed=%" PRIu64 " deferred=%" PRIu64
			" busy_ns=%" PRIu64 " read=%u waiting=%u",
			r->interval_ns, (uint64_t)r->tick.missed, (uint64_t)r->tick.deferred,
			(uint64_t)r->tick.busy_ns, r->tick.read, r->tick.waiting);
	fputc('\n', out);
	return 0;
}

#endif

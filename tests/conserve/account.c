// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: account FILE: for each CPU of a recording of the records of live.c a line with
 * the index of the first record, the index after the last one, how many records are
 * in the file, how many the recording says are lost, and how many are missing that the
 * recording does not say are lost.  The last line has the counts of the last state of the
 * recorder's reader, and whether the recording was ended.
 */
#include <cmt/cmt.h>
#include <cmt/recording.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conserve.h"

static struct account {
	uint64_t first, next, delivered, lost;
	uint64_t lost_now;	/* of CMT_REC_LOST, up to the next record */
	uint64_t missing;
	uint64_t bad;		/* not as live.c writes them */
	bool begun;
} accounts[NR_RINGS];

static struct cmt_reader_counts counts;

static void take_record(const struct cmt_record *record)
{
	struct account *a = &accounts[record->cpu % NR_RINGS];
	uint64_t index = record->perf.instructions;

	if (record->type == CMT_REC_LOST) {
		a->lost_now += cmt_record_lost(record);
		return;
	}
	a->bad += record->type != CMT_REC_PERF || record->cpu >= NR_RINGS ||
		  record->rmid != LIVE_RMID || record->perf.cycles != 1 ||
		  (a->begun && index < a->next);
	if (!a->begun) {
		a->first = index - a->lost_now;
		a->next = a->first;
		a->begun = true;
	}
	a->missing += index - a->next - a->lost_now;
	a->lost += a->lost_now;
	a->lost_now = 0;
	a->delivered++;
	a->next = index + 1;
}

static int take_item(const struct cmt_recording_item *item)
{
	uint32_t i;

	for (i = 0; i < item->nr_records; i++)
		take_record(&item->records[i]);
	if (item->state && item->state->reader)
		memcpy(&counts, item->state->reader, sizeof(counts));
	/* a file that was not ended ends within a chunk */
	if (item->type != CMT_RECORDING_DAMAGE || item->damage == CMT_DAMAGE_CUT)
		return 0;
	fprintf(stderr, "damage %u at %llu\n", item->damage,
		(unsigned long long)item->offset);
	return -EBADMSG;
}

static void say(int end)
{
	const struct account *a;

	/* the records that were lost last have no record after them */
	for (a = accounts; a < accounts + NR_RINGS; a++)
		printf("%llu %llu %llu %llu %lld %llu\n", (unsigned long long)a->first,
		       (unsigned long long)(a->next + a->lost_now),
		       (unsigned long long)a->delivered,
		       (unsigned long long)(a->lost + a->lost_now),
		       (long long)a->missing, (unsigned long long)a->bad);
	printf("%llu %llu %llu %llu %llu %llu %d\n", (unsigned long long)counts.emitted,
	       (unsigned long long)counts.delivered,
	       (unsigned long long)counts.lost, (unsigned long long)counts.late,
	       (unsigned long long)counts.malformed, (unsigned long long)counts.pending,
	       end == 1);
}

int main(int argc, char **argv)
{
	const struct cmt_recording_item *item;
	struct cmt_recording *recording;
	int ret = argc == 2 ? cmt_recording_open(&recording, argv[1]) : -EINVAL;

	if (ret) {
		fprintf(stderr, "account: %s\n", strerror(-ret));
		return 1;
	}
	while ((ret = cmt_recording_next(recording, &item)) > 0) {
		ret = take_item(item);
		if (ret)
			break;
	}
	if (!ret)
		say(cmt_recording_at_end(recording));
	cmt_recording_close(recording);
	return ret != 0;
}

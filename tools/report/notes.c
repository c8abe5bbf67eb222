// SPDX-License-Identifier: GPL-2.0-or-later
/* The limits of a report, with reasons */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/format.h"
#include "page.h"
#include "print.h"

#define NOTE_LEN 1024U

struct notes {
	FILE *out;
	unsigned int nr;
};

__attribute__((format(printf, 2, 3)))
static void note(struct notes *notes, const char *format, ...)
{
	char text[NOTE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs(notes->nr++ ? "," : "", notes->out);
	print_text(notes->out, text);
}

/* How often: "once", "3 times". */
static const char *format_times(char buf[FORMAT_LEN], uint32_t n)
{
	snprintf(buf, FORMAT_LEN, "%" PRIu32 " times", n);
	return n == 1 ? "once" : buf;
}

/* Text of the module, of a fixed length. */
static const char *reason(char buf[CMT_REASON_LEN + 1], const char *from)
{
	snprintf(buf, CMT_REASON_LEN + 1, "%.*s", CMT_REASON_LEN, from);
	return buf[0] ? buf : "no reason given";
}

static void note_events(struct notes *notes, const struct page_about *about)
{
	const struct cmt_info *info = about->info;
	char buf[CMT_REASON_LEN + 1];

	if (!info) {
		note(notes, "The head of the recording is damaged: what the machine measures is unknown.");
		return;
	}
	if (!(info->events & CMT_F_OCCUPANCY))
		note(notes, "L3 occupancy was not measured: %s.", reason(buf, info->reason));
	if (!(info->events & CMT_F_MBM_TOTAL))
		note(notes, "Memory bandwidth was not measured: %s.",
		     reason(buf, info->mbm_reason));
	if (info->wait_reason[0])
		note(notes, "What tasks wait for a CPU was not accounted: %s.",
		     reason(buf, info->wait_reason));
}

static void note_memory(struct notes *notes, const struct model *model,
			const struct page_about *about)
{
	const struct sums *sums = &model->sums;

	if (about->info && !(about->info->events & CMT_F_MBM_LOCAL))
		note(notes, "Local bandwidth was not measured, so remote bandwidth is unknown.");
	else
		note(notes, "Remote bandwidth is total minus local bandwidth.  The two counters are read one after the other, so remote bandwidth may be slightly below 0.");
	if (!sums->nr_channels) {
		note(notes, "The recording has no memory channels%s%s.",
		     model->channels_reason[0] ? ": " : "", model->channels_reason);
		return;
	}
	if (model->channels_reason[0])
		note(notes, "Some memory channels were not read: %s.", model->channels_reason);
	note(notes, "\"No RMID accounts for\" is the traffic of all memory channels minus the traffic of all RMIDs.  It contains devices, evictions and prefetches.  The counters are in different places, so the difference may be below 0.  Over less than %u ms it is unreliable: the traffic of an RMID that does not run is read later.",
	     SUMS_COARSE);
	if (model->emulated)
		note(notes, "\"No RMID accounts for\" is unknown: RMIDs are emulated, and memory channels are measured.");
}

static void note_processes(struct notes *notes, const struct model *model)
{
	uint64_t shown = 0;

	for (uint32_t i = 0; i < model->nr; i++)
		shown += model->members[i].nr_processes;
	if (!shown)
		note(notes, "The recording has no processes: no process of a container has a dedicated RMID (cmtctl scope).");
	else
		note(notes, "Each container lists the %u processes with the highest occupancy, with means over the seconds in which their values are known.",
		     PROCESSES_SHOWN);
	if (model->processes_left_out)
		note(notes, "The recording has more than %u processes: later processes are not listed.",
		     PROCESSES_MOST);
}

/* How many records a damaged part had may be unknown, and counts as one record. */
static void note_lost(struct notes *notes, uint64_t lost, bool damaged)
{
	if (lost)
		note(notes, "%s%" PRIu64 " records were lost before they were recorded, or are damaged.",
		     damaged ? "At least " : "", lost);
}

static void note_losses(struct notes *notes, const struct model *model,
			const struct page_about *about)
{
	if (model->gap_slots)
		note(notes, "In %" PRIu64 " of %" PRIu64 " ms readings are missing.  The timelines show gaps there, not zeros.",
		     model->gap_slots, model->slots);
	if (model->gaps_left_out)
		note(notes, "%" PRIu64 " more gaps are not in the list of gaps.  The timelines show them.",
		     model->gaps_left_out);
	note_lost(notes, model->lost, about->damaged);
	if (model->dropped)
		note(notes, "%" PRIu64 " records were late or malformed, and were dropped.",
		     model->dropped);
	if (model->missed)
		note(notes, "CPUs missed %" PRIu64 " ticks.", model->missed);
}

static void note_file(struct notes *notes, const struct page_about *about)
{
	char times[FORMAT_LEN];

	if (about->damaged || about->missing)
		note(notes, "The recording is damaged.  Damaged parts: %" PRIu64 ", %" PRIu64 " bytes; missing chunks: %" PRIu64 ".",
		     about->damaged, about->damaged_bytes, about->missing);
	if (!about->complete)
		note(notes, "The recording has no end: the file was cut, or cmtstat record was still writing it.");
	if (about->is_short)
		note(notes, "Memory was too little for ten minutes: the oldest records left early.");
	if (about->failed)
		note(notes, "The recording could not be read to its end.");
	if (about->clock_set)
		note(notes, "The clock of the machine was set %s.  Times of day are by the clock at the start of the recording.",
		     format_times(times, about->clock_set));
	if (!about->real_known)
		note(notes, "The time of day is unknown: times count from the start of the recording.");
}

static void note_culprits(struct notes *notes, const struct model *model,
			  const struct page_about *about)
{
	const struct cmt_culprit_counts *counts = &about->culprit;

	if (!counts->slots) {
		note(notes, "The search for culprits did not run: the recording has too few samples.");
		return;
	}
	note(notes, "A verdict is an inference from counters, not a measurement.  Verdicts leave out the first %u ms and neighbours that do not change.",
	     CMT_CULPRIT_LEARN);
	if (counts->missing)
		note(notes, "The search for culprits left out %" PRIu64 " ms.",
		     counts->missing);
	if (counts->not_followed)
		note(notes, "The search for culprits could not follow all containers, and left out %" PRIu64 " samples.",
		     counts->not_followed);
	if (!(model->counters & CMT_F_INSTRUCTIONS))
		note(notes, "The recording has no performance counters%s%s: verdicts say which container took cache, not whether another container became slower.",
		     about->counters_reason[0] ? ", " : "", about->counters_reason);
	else if (about->counter_bits)
		note(notes, "Performance counters were recorded with %" PRIu32 " significant bits (cmtstat record --exact keeps all).",
		     about->counter_bits);
	if (model->verdicts_left_out)
		note(notes, "%" PRIu64 " more verdicts, of equal or lower confidence, are not listed.",
		     model->verdicts_left_out);
}

static void note_grain(struct notes *notes, const struct model *model,
		       const struct page_about *about)
{
	uint64_t left_out = 0;
	char unit[FORMAT_LEN];

	for (uint32_t i = 0; i < model->spool->nr; i++)
		left_out += !model->spool->blobs[i].kept && !model->spool->blobs[i].level;
	if (left_out)
		note(notes, "For %" PRIu64 " s the page has no 1 ms points, because of its size limit.  It shows coarser points there, with minimum and maximum.  %s.",
		     (left_out * PYRAMID_BLOCK + 999) / 1000,
		     about->from_memory ? "Recordings of cmtstat record have all points" :
		     "The recording has all points: use --from and --to, or a larger --size");
	format_bytes(unit, model->pyramid.unit_bytes);
	note(notes, "Values are rounded: occupancy to %s and by less than 0.1 %%, bandwidth to 1 kB/s and by less than 0.8 %%, local bandwidth to 1/%u of the bandwidth.",
	     unit, LOCAL_PARTS);
	note(notes, "A container that does not run is not read at every tick.  Its last occupancy holds until the next reading; its bandwidth is the mean between two readings.");
	if (model->sampling_ns > MODEL_SLOT_NS)
		note(notes, "The sampling interval was up to %s, longer than the 1 ms points of the page.  Time with more than 1 ms is not judged: verdicts and incidents need 1 ms or less.",
		     format_duration(unit, model->sampling_ns));
}

void page_notes(FILE *out, const struct model *model, const struct page_about *about)
{
	struct notes notes = { .out = out };

	if (model->emulated)
		note(&notes, "EMULATED: values come from a model, not from hardware%s.",
		     model->not_emulated ? ", for a part of the time" : "");
	note_events(&notes, about);
	note_file(&notes, about);
	note_losses(&notes, model, about);
	note_grain(&notes, model, about);
	note_culprits(&notes, model, about);
	note_memory(&notes, model, about);
	note_processes(&notes, model);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What a report does not show, and why. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "format.h"
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
		note(notes, "What the machine can measure is not known: the head of the recording is damaged.");
		return;
	}
	if (!(info->events & CMT_F_OCCUPANCY))
		note(notes, "L3 occupancy was not measured: %s.", reason(buf, info->reason));
	if (!(info->events & CMT_F_MBM_TOTAL))
		note(notes, "Memory bandwidth was not measured: %s.",
		     reason(buf, info->mbm_reason));
}

static void note_memory(struct notes *notes, const struct model *model,
			const struct page_about *about)
{
	const struct sums *sums = &model->sums;

	if (about->info && !(about->info->events & CMT_F_MBM_LOCAL))
		note(notes, "Local bandwidth was not measured.  So remote bandwidth is not known.");
	else
		note(notes, "Remote bandwidth is the bandwidth less the local one, which are read one after the other: it may be a little below 0.");
	if (!sums->nr_channels) {
		note(notes, "Memory channels are not in the recording%s%s.",
		     model->channels_reason[0] ? ": " : "", model->channels_reason);
		return;
	}
	if (model->channels_reason[0])
		note(notes, "Not every memory channel was read: %s.", model->channels_reason);
	note(notes, "What no RMID accounts for is what all memory channels carried less what all RMIDs moved.  The two count different things, in different places: it may be below 0, and devices, evictions and prefetches are in it.  Over less than %u ms it says little: the bandwidth of an RMID that does not run comes with a later reading.",
	     SUMS_COARSE);
	if (model->emulated)
		note(notes, "What no RMID accounts for is not known: RMIDs are of a model, and memory channels are not.");
}

static void note_processes(struct notes *notes, const struct model *model)
{
	uint64_t shown = 0;

	for (uint32_t i = 0; i < model->nr; i++)
		shown += model->members[i].nr_processes;
	if (!shown)
		note(notes, "No process is in the recording: no RMID is of a process in a container (cmtctl scope).");
	else
		note(notes, "Of each container the %u processes that held most are listed, with means over the seconds in which they are known.",
		     PROCESSES_SHOWN);
	if (model->processes_left_out)
		note(notes, "More than %u processes came: the rest of them is in no list.",
		     PROCESSES_MOST);
}

static void note_losses(struct notes *notes, const struct model *model)
{
	if (model->gap_slots)
		note(notes, "In %" PRIu64 " of %" PRIu64 " ms nothing, or not everything, was read.  These are gaps, not zeros.",
		     model->gap_slots, model->slots);
	if (model->gaps_left_out)
		note(notes, "%" PRIu64 " more gaps are not in the list of gaps.  They are gaps in the timelines.",
		     model->gaps_left_out);
	if (model->lost)
		note(notes, "%" PRIu64 " records were lost before they were recorded, or are damaged.",
		     model->lost);
	if (model->dropped)
		note(notes, "%" PRIu64 " records came too late or were malformed.",
		     model->dropped);
	if (model->missed)
		note(notes, "%" PRIu64 " ticks of CPUs did not happen.", model->missed);
}

static void note_file(struct notes *notes, const struct page_about *about)
{
	if (about->damaged || about->missing)
		note(notes, "The recording is damaged.  Damaged parts: %" PRIu64 ", %" PRIu64 " bytes; chunks that are missing: %" PRIu64 ".",
		     about->damaged, about->damaged_bytes, about->missing);
	if (!about->complete)
		note(notes, "The recording was not ended: it was cut, or was being written.");
	if (about->failed)
		note(notes, "The recording could not be read to its end.");
	if (about->clock_set)
		note(notes, "The clock of the machine was set %" PRIu32 " times.  Times of day are those of the clock at the begin.",
		     about->clock_set);
	if (!about->real_known)
		note(notes, "The time of day is not known: times are since the begin of the recording.");
}

static void note_culprits(struct notes *notes, const struct model *model,
			  const struct page_about *about)
{
	const struct cmt_culprit_counts *counts = &about->culprit;

	if (!counts->slots) {
		note(notes, "There was no search for culprits: the recording has too few values.");
		return;
	}
	note(notes, "A verdict is an inference from counters, not a measurement.  No verdict names an interference that began in the first %u ms, or that lasts for long.",
	     CMT_CULPRIT_LEARN);
	if (counts->missing)
		note(notes, "%" PRIu64 " ms were left out of the search for culprits.",
		     counts->missing);
	if (counts->not_followed)
		note(notes, "The search for culprits could not follow all containers: %" PRIu64 " samples were left out.",
		     counts->not_followed);
	if (!(model->counters & CMT_F_INSTRUCTIONS))
		note(notes, "Counters of the processor are missing%s%s: verdicts name who took cache, not whether the victim became slower.",
		     about->counters_reason && about->counters_reason[0] ? ", " : "",
		     about->counters_reason ? about->counters_reason : "");
	else if (about->counter_bits)
		note(notes, "Counts of the processor were recorded with %" PRIu32 " significant bits (cmtstat record --exact keeps all).",
		     about->counter_bits);
	if (model->verdicts_left_out)
		note(notes, "%" PRIu64 " more verdicts, no surer than these, are not listed.",
		     model->verdicts_left_out);
}

static void note_grain(struct notes *notes, const struct model *model)
{
	uint64_t left_out = 0;
	char unit[FORMAT_LEN];

	for (uint32_t i = 0; i < model->spool->nr; i++)
		left_out += !model->spool->blobs[i].kept && !model->spool->blobs[i].level;
	if (left_out)
		note(notes, "Of %" PRIu64 " s the page has no points of 1 ms, which would make it too large: there it shows coarser ones, with their least and most.  The recording has them: --from, --to and --size.",
		     (left_out * PYRAMID_BLOCK + 999) / 1000);
	format_bytes(unit, model->pyramid.unit_bytes);
	note(notes, "Values are rounded: occupancy to %s and by less than 0.1 %%, bandwidth to 1 kB/s and by less than 0.8 %%, local bandwidth to a %u-th of the bandwidth too.",
	     unit, LOCAL_PARTS);
	note(notes, "A container that does not run is not read at every tick: its last reading counts for so long, and its bandwidth is the mean from one reading to the next.");
	if (model->sampling_ns > MODEL_SLOT_NS)
		note(notes, "The sampling interval was up to %s: not every millisecond has a reading of its own.",
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
	note_losses(&notes, model);
	note_grain(&notes, model);
	note_culprits(&notes, model, about);
	note_memory(&notes, model, about);
	note_processes(&notes, model);
}

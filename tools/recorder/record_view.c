// SPDX-License-Identifier: GPL-2.0-or-later
#include "record_view.h"

#include <inttypes.h>
#include <limits.h>

#include "common/format.h"
#include "record.h"

#define SAMPLE_LEN 32

/* "9.8 bytes a sample"; nothing, where there is no sample. */
static const char *sample_bytes(char buf[SAMPLE_LEN],
				const struct record_summary *summary)
{
	const struct cmt_recorder_counts *counts = &summary->counts.recorder;

	if (!counts->samples)
		return "no sample";
	snprintf(buf, SAMPLE_LEN, "%.1f bytes a sample",
		 (double)counts->bytes / (double)counts->samples);
	return buf;
}

/* Records that the module wrote, and that are in no chunk. */
static uint64_t missing(const struct record_summary *summary)
{
	const struct capture_counts *counts = &summary->counts;

	return counts->reader.lost + counts->reader.late +
	       counts->reader.malformed + counts->recorder.dropped +
	       counts->recorder.refused_records;
}

void record_emulated(FILE *out, const struct cmt_info *info)
{
	if (info->backend == CMT_BACKEND_EMULATED)
		fputs(RECORD_NAME ": EMULATED: values of RMIDs come from a model, not from hardware\n",
		      out);
}

void record_progress(FILE *out, const struct record_summary *summary)
{
	char size[FORMAT_LEN], each[SAMPLE_LEN];

	fprintf(out, "\r%" PRIu64 " s, %s, %s, %" PRIu64 " lost\033[K",
		summary->elapsed_ns / 1000000000,
		format_bytes(size, summary->counts.recorder.bytes),
		sample_bytes(each, summary), missing(summary));
	fflush(out);
}

void record_progress_end(FILE *out)
{
	fputs("\r\033[K", out);
}

static void print_files(FILE *out, const struct record_file *file)
{
	if (file->nr_files < 2)
		return;
	fprintf(out, RECORD_NAME ": %" PRIu64 " files were begun", file->nr_files);
	if (file->removed)
		fprintf(out, ", the first %" PRIu64 " of them removed again: see --max-files",
			file->removed);
	fputc('\n', out);
}

void record_summary(FILE *out, const struct record_summary *summary)
{
	const struct cmt_recorder_counts *counts = &summary->counts.recorder;
	char size[FORMAT_LEN], each[SAMPLE_LEN], path[4 * PATH_MAX];

	escape_text(path, sizeof(path), summary->file->path, ESCAPE_ASCII);
	fprintf(out, RECORD_NAME ": %.3f s, %" PRIu64 " records, %" PRIu64
		" samples, %s (%s) in %s\n",
		(double)summary->elapsed_ns / 1e9, counts->records,
		counts->samples, format_bytes(size, counts->bytes),
		sample_bytes(each, summary), path);
	print_files(out, summary->file);
}

static void print_loss(FILE *out, const char *what, uint64_t records)
{
	if (records)
		fprintf(out, RECORD_NAME ": LOST %" PRIu64 " records: %s\n",
			records, what);
}

void record_losses(FILE *out, const struct record_summary *summary)
{
	const struct capture_counts *counts = &summary->counts;

	print_loss(out, "overwritten in the rings before they were read",
		   counts->reader.lost);
	print_loss(out, "came too late to be in order", counts->reader.late);
	print_loss(out, "made no sense", counts->reader.malformed);
	print_loss(out, "no memory for them", counts->recorder.dropped);
	print_loss(out, "could not be written",
		   counts->recorder.refused_records + counts->recorder.open);
	print_loss(out, "not read from the rings at the end", summary->unread);
}

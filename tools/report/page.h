/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page: one HTML file that needs nothing else. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "model.h"

/* Facts that the model does not have.  Texts are raw bytes; "" or NULL: unknown. */
struct page_about {
	const char *file;	/* name of the recording */
	const char *host, *kernel;
	const char *recorder;	/* program that recorded */
	bool real_known;
	int64_t real_ns;	/* CLOCK_REALTIME less CLOCK_MONOTONIC, at the begin */
	uint32_t clock_set;	/* the number of times that the clock was set */
	const struct cmt_info *info;	/* NULL: not known */
	char counters_reason[CMT_REASON_LEN];
	uint32_t counter_bits;	/* as of cmt_recording_about */
	struct cmt_culprit_counts culprit;	/* slots is 0: no engine */
	uint64_t damaged, damaged_bytes, missing;	/* as of cmt_recording_about */
	bool complete;		/* the recording was ended */
	bool from_memory;	/* there is no file of it */
	bool is_short;		/* memory was too little for all that it was to have */
	bool failed;		/* it could not be read to its end */
};

/* The policy for its content: only its own script and style, and no address at all. */
#define PAGE_POLICY_LEN 512
const char *page_policy(char buf[PAGE_POLICY_LEN]);

/* Notes that are no values: a sentence each, as JSON's strings. */
void page_notes(FILE *out, const struct model *model, const struct page_about *about);

/* All that is no point, as JSON. */
void page_meta(FILE *out, const struct model *model, const struct page_about *about);

/*
 * @limit: bytes that the points may take in it.  Returns 0 or -errno; then the output
 * is no page.
 */
int page_write(FILE *out, struct model *model, const struct page_about *about,
	       uint64_t limit);

#endif

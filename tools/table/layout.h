/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which columns of a view fit a width, and how wide they are.  No number is ever cut:
 * it is written shorter, or its column goes.
 */
#ifndef TOOLS_LAYOUT_H
#define TOOLS_LAYOUT_H

#include "view.h"

#define LAYOUT_LINE 1024	/* bytes of the longest line, and the end */

struct place {
	const struct column *column;
	int wanted;		/* nothing in it is cut */
	int width;
	int tail;		/* of a cut text: how much of its end is kept */
};

struct layout {
	struct place places[MAX_COLUMNS];
	unsigned int nr;
	bool brief;		/* short numbers and titles */
	bool live;		/* with the columns of the full screen */
	uint64_t now_ns;	/* CLOCK_MONOTONIC, of the end of a curve */
};

/* Rows whose texts must fit: two runs of them, the second may be empty. */
struct row_run {
	uint32_t first, nr;
	uint32_t last, nr_last;
};

/*
 * Is it a column of @frame?  Of all rows, so that scrolling changes no columns.  @live: with
 * those of the full screen.
 */
bool layout_wants(const struct column *column, const struct frame *frame, bool live);

/* The text of a cell, not cut; "": a bar, a curve, or no note.  @brief: short numbers. */
void layout_cell(char *buf, size_t size, const struct column *column, const struct row *row,
		 bool brief);

/* @width: of a line; 0: no limit. */
void layout_make(struct layout *layout, const struct frame *frame,
		 const struct row_run *run, bool live, unsigned int width);

/* Lines of LAYOUT_LINE bytes. */
void layout_titles(const struct layout *layout, char *line);
void layout_row(const struct layout *layout, char *line, const struct row *row);

#endif

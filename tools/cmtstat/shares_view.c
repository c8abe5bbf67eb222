// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "screen.h"

#define SHARES_HEIGHT 16U	/* rows are more than a bar on a screen of less lines */
#define LEAST_CELLS 10U
#define NAME_LEAST 4U	/* columns of a cut name */
#define BEGIN "L3 ["

unsigned int shares_attribute(char letter)
{
	return letter >= 'a' ? ATTRIBUTE_OWNER + (unsigned int)(letter - 'a') % NR_OWNER_COLOURS :
			       ATTRIBUTE_SUM;
}

static unsigned int cell_of(double part, unsigned int cells)
{
	return part >= 1 ? cells : (unsigned int)lround(part * cells);
}

/* "a web aaaaaa": the letter in each cell, but for a name where there is room. */
static void fill(char *to, unsigned int cells, const struct share *share)
{
	unsigned int len = (unsigned int)strlen(share->name);
	unsigned int shown = len > cells - 4 ? cells - 5 : len;
	char text[SHARES_NAME + 4];
	int used;

	memset(to, share->letter, cells);
	if (!len || cells < 4 + (len < NAME_LEAST ? len : NAME_LEAST))
		return;
	used = snprintf(text, sizeof(text), "%c %.*s%s ", share->letter, (int)shown,
			share->name, shown < len ? "+" : "");
	memcpy(to, text, (size_t)used);
}

static void paint(struct screen *screen, const struct shares *shares,
		  unsigned int cells)
{
	unsigned int begin, end = 0;
	double sum = 0;

	for (uint32_t i = 0; i < shares->nr; i++) {
		begin = end;
		sum += shares->list[i].part;
		end = cell_of(sum, cells);
		if (end > begin)
			screen_paint(screen, (unsigned int)strlen(BEGIN) + begin,
				     (unsigned int)strlen(BEGIN) + end,
				     (enum attribute)shares_attribute(shares->list[i].letter));
	}
}

static void put_bar(struct screen *screen, const struct shares *shares,
		    unsigned int cells, const char *rest)
{
	char line[LINE_LEN] = BEGIN;
	unsigned int begin, end = 0;
	double sum = 0;

	memset(line + strlen(BEGIN), ' ', cells);
	for (uint32_t i = 0; i < shares->nr; i++) {
		begin = end;
		sum += shares->list[i].part;
		end = cell_of(sum, cells);
		if (end > begin)
			fill(line + strlen(BEGIN) + begin, end - begin, &shares->list[i]);
	}
	strcpy(line + strlen(BEGIN) + cells, rest);
	if (screen_line(screen, ATTRIBUTE_NONE, line))
		paint(screen, shares, cells);
}

void shares_put(struct screen *screen, const struct shares *shares, bool emulated)
{
	unsigned int width = screen->opts->width, used;
	char rest[48];

	if (!shares->wanted || screen->opts->height + 1 < SHARES_HEIGHT)
		return;
	if (!shares->known) {
		screen_wrapped(screen, ATTRIBUTE_NONE, "L3: what owners hold of it is not known");
		return;
	}
	snprintf(rest, sizeof(rest), "] %s%.1f %% held%s", shares->partial ? ">" : "",
		 100 * (shares->held < 1 ? shares->held : 1), emulated ? ", EMULATED" : "");
	used = (unsigned int)(strlen(BEGIN) + strlen(rest));
	if (width < used + LEAST_CELLS || width >= LINE_LEN)
		return;
	put_bar(screen, shares, width - used, rest);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frame/history.h"
#include "glyphs.h"
#include "screen.h"

#define LEAST_CELLS 10U
#define NAME_LEAST 4U	/* columns of a cut name */
#define TRAIL_PART 8U	/* of a line: its seconds */

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

/* "L3 [cells] 87.5 % held", and the seconds before */
struct line {
	char begin[16], rest[48], trail[TRAIL_POINTS + 2];
	unsigned int cells;
};

static void paint(struct screen *screen, const struct bar *bar, const struct line *line)
{
	unsigned int begin, end = 0, at = (unsigned int)strlen(line->begin);
	double sum = 0;

	for (uint32_t i = 0; i < SHARES_LETTERS + SHARES_SUMS; i++) {
		begin = end;
		sum += bar->list[i].part;
		end = cell_of(sum, line->cells);
		if (end > begin)
			screen_paint(screen, at + begin, at + end,
				     (enum attribute)shares_attribute(bar->list[i].letter));
	}
}

static void put_bar(struct screen *screen, const struct bar *bar, const struct line *line)
{
	unsigned int begin, end = 0, at = (unsigned int)strlen(line->begin);
	char text[LINE_LEN];
	double sum = 0;

	strcpy(text, line->begin);
	memset(text + at, ' ', line->cells);
	for (uint32_t i = 0; i < SHARES_LETTERS + SHARES_SUMS; i++) {
		begin = end;
		sum += bar->list[i].part;
		end = cell_of(sum, line->cells);
		if (end > begin)
			fill(text + at + begin, end - begin, &bar->list[i]);
	}
	strcpy(stpcpy(text + at + line->cells, line->rest), line->trail);
	if (screen_line(screen, ATTRIBUTE_NONE, text))
		paint(screen, bar, line);
}

/* "L3 [", with the cache where there are several; numbers of any length end in one column. */
static void name_bar(struct line *line, const struct shares *shares, const struct cache *cache)
{
	const struct cache *last = shares->bars[shares->nr - 1].cache;
	char number[12];

	if (!shares->several || cache->all)
		strcpy(line->begin, shares->several ? "L3 all [" : "L3 [");
	else
		snprintf(line->begin, sizeof(line->begin), "L3 %*u [",
			 snprintf(number, sizeof(number), "%u", last->domain), cache->domain);
}

static void put_trail(struct line *line, const struct cache *cache, uint64_t now_ns,
		      unsigned int width)
{
	unsigned int i, nr = width / TRAIL_PART;

	line->trail[0] = '\0';
	if (!cache->trail)
		return;
	nr = nr < TRAIL_POINTS ? nr : TRAIL_POINTS;
	line->trail[0] = ' ';
	for (i = 1; i <= nr; i++)
		line->trail[i] = glyph_height(trail_at(cache->trail, now_ns, nr - i),
					      (double)cache->bytes);
	line->trail[nr + 1] = '\0';
}

/* With several bars the numbers end in one column. */
static void put_held(struct line *line, const struct cache *cache, bool several,
		     bool emulated)
{
	double part = cache->held.known ? cache->held.value / (double)cache->bytes : 0;
	char number[16];

	if (!cache->held.known) {
		strcpy(line->rest, "] not known");
		return;
	}
	snprintf(number, sizeof(number), "%s%.1f", cache->held.partial ? ">" : "",
		 100 * part);
	snprintf(line->rest, sizeof(line->rest), "] %*s %% held%s", several ? 6 : 0, number,
		 emulated ? ", EMULATED" : "");
}

static void put_cache(struct screen *screen, const struct shares *shares,
		      const struct bar *bar, uint64_t now_ns, bool emulated)
{
	unsigned int width = screen->opts->width, used;
	struct line line;

	name_bar(&line, shares, bar->cache);
	put_held(&line, bar->cache, shares->nr > 1, emulated);
	put_trail(&line, bar->cache, now_ns, width);
	used = (unsigned int)(strlen(line.begin) + strlen(line.rest) + strlen(line.trail));
	if (width < used + LEAST_CELLS || width >= LINE_LEN)
		return;
	line.cells = width - used;
	put_bar(screen, bar, &line);
}

void shares_put(struct screen *screen, const struct shares *shares, uint64_t now_ns,
		bool emulated)
{
	if (shares->nr == 1 && !shares->bars[0].cache->held.known) {
		screen_wrapped(screen, ATTRIBUTE_NONE, "L3: what owners hold of it is not known");
		return;
	}
	for (uint32_t i = 0; i < shares->nr; i++)
		put_cache(screen, shares, &shares->bars[i], now_ns, emulated);
}

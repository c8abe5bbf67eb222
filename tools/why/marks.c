// SPDX-License-Identifier: GPL-2.0-or-later
#include "marks.h"

#include <inttypes.h>
#include <string.h>

#include "common/format.h"

bool budget_exceeded(struct budget *budget, uint64_t now_ns, uint64_t spent_ns)
{
	uint64_t length, spent;

	if (!budget->begin_ns)
		budget->begin_ns = now_ns;
	budget->spent_ns += spent_ns;
	length = now_ns - budget->begin_ns;
	if (length < BUDGET_WINDOW_NS)
		return false;
	spent = budget->spent_ns;
	*budget = (struct budget){ .begin_ns = now_ns };
	return spent > length / 100 * BUDGET_PERCENT;
}

static uint64_t suspect_of(const struct mark *mark)
{
	return mark->verdict.nr_suspects ? mark->verdict.suspects[0].id : 0;
}

static bool is_same(const struct mark *mark,
		    const struct cmt_culprit_verdict *verdict)
{
	return mark->verdict.id == verdict->id &&
	       mark->verdict.kind == verdict->kind &&
	       suspect_of(mark) == (verdict->nr_suspects ?
				    verdict->suspects[0].id : 0);
}

void marks_add(struct marks *marks, const struct cmt_culprit_verdict *verdict,
	       const struct why_names *names)
{
	struct mark *first = marks->list;
	unsigned int i;

	for (i = 0; i < marks->nr; i++)
		if (is_same(&marks->list[i], verdict))
			break;
	if (i == marks->nr && marks->nr < MARKS)
		marks->nr++;
	if (i == MARKS)
		i = MARKS - 1;
	memmove(first + 1, first, i * sizeof(*first));
	*first = (struct mark){ .verdict = *verdict };
	memcpy(first->victim, names->victim.label, sizeof(first->victim));
	if (verdict->nr_suspects)
		memcpy(first->suspect, names->suspects[0].label,
		       sizeof(first->suspect));
}

static bool is_explained(const struct mark *mark, const struct ongoing *ongoing)
{
	for (uint32_t i = 0; i < ongoing->nr; i++) {
		const struct ongoing_incident *incident = &ongoing->list[i];

		if (incident->id == mark->verdict.id)
			return incident->by_id && incident->by_id != suspect_of(mark);
	}
	return false;
}

void marks_explain(struct marks *marks, const struct ongoing *ongoing)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < marks->nr; i++) {
		const struct mark *mark = &marks->list[i];

		if (!mark->verdict.nr_suspects || !is_explained(mark, ongoing))
			marks->list[nr++] = *mark;
	}
	marks->nr = nr;
}

static bool is_shown(const struct mark *mark, uint64_t now_ns)
{
	return mark->verdict.ts_ns + MARK_NS >= now_ns;
}

/*
 * Effects of others on the row come first, then its effects on others, then its own
 * changes.
 */
enum rank { UNMARKED, OWN, SUSPECTED, SUFFERS };

static enum rank rank_of(const struct mark *mark, uint64_t id)
{
	if (mark->verdict.id == id)
		return mark->verdict.nr_suspects ? SUFFERS : OWN;
	return suspect_of(mark) == id ? SUSPECTED : UNMARKED;
}

/* The newest of the highest rank. */
static void set_mark(const struct marks *marks, uint64_t now_ns, struct row *row)
{
	enum rank most = UNMARKED, rank;

	row->mark = NULL;
	for (unsigned int i = 0; i < marks->nr; i++) {
		const struct mark *mark = &marks->list[i];

		rank = rank_of(mark, row->culprit_id);
		if (rank <= most || !is_shown(mark, now_ns))
			continue;
		most = rank;
		row->mark = mark;
		row->suspected = rank == SUSPECTED;
	}
}

void marks_set(const struct marks *marks, struct frame *frame)
{
	for (uint32_t i = 0; i < frame->nr_rows; i++)
		if (frame->rows[i].culprit_id)
			set_mark(marks, frame->end_ns, &frame->rows[i]);
}

const struct mark *marks_first(const struct marks *marks, uint64_t now_ns)
{
	const struct mark *first = NULL;

	for (unsigned int i = 0; i < marks->nr; i++) {
		const struct mark *mark = &marks->list[i];

		if (is_shown(mark, now_ns) &&
		    (!first || (!first->verdict.nr_suspects &&
				mark->verdict.nr_suspects)))
			first = mark;
	}
	return first;
}

void mark_text(char *buf, size_t size, const struct mark *mark, bool suspected)
{
	if (!suspected)
		snprintf(buf, size, "%s%s%s", why_what(&mark->verdict),
			 mark->suspect[0] ? " " : "", mark->suspect);
	else if (mark->verdict.kind == CMT_CULPRIT_CACHE)
		snprintf(buf, size, "took cache of %s", mark->victim);
	else if (mark->verdict.kind == CMT_CULPRIT_WAIT)
		snprintf(buf, size, "uses the CPU that %s waits for", mark->victim);
	else
		snprintf(buf, size, "uses the memory bandwidth that %s waits for", mark->victim);
}

void mark_line(char buf[MARK_LINE], const struct mark *mark, uint64_t now_ns)
{
	const struct cmt_culprit_verdict *verdict = &mark->verdict;
	char text[2 * CONTAINER_LABEL_LEN], escaped[4 * CONTAINER_LABEL_LEN];
	char all[sizeof(text) * 4], sure[WHY_SURE_LEN];
	uint64_t age_ns = now_ns > verdict->ts_ns ? now_ns - verdict->ts_ns : 0;

	mark_text(text, sizeof(text), mark, false);
	escape_text(escaped, sizeof(escaped), mark->victim, ESCAPE_ASCII);
	escape_text(all, sizeof(all), text, ESCAPE_ASCII);
	snprintf(buf, MARK_LINE, "%s %s, %" PRIu64 " s ago (%s)", escaped, all,
		 age_ns / 1000000000, why_sure(sure, verdict));
}

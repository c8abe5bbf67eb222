// SPDX-License-Identifier: GPL-2.0-or-later
#include "screen.h"

#include <inttypes.h>
#include <string.h>

#include "common/format.h"
#include "common/names.h"
#include "common/origin.h"

#define WIDE 100	/* a screen that has room for the date, too */
#define DATE_LEN 11	/* "2026-03-01T" */
#define DATE_TIME_LEN 19
#define TABLE_INCIDENTS 3	/* lines of incidents in a table that is printed */

/* "source: resctrl", and how many groups have a row. */
static void put_groups(struct screen *screen, const struct report *report,
		       const char *time, const char *l3)
{
	char groups[16] = "?";

	if (!report->replay || report->replay->state.stats_known)
		snprintf(groups, sizeof(groups), "%u", report->stats.rmids_active);
	screen_wrapped(screen, ATTRIBUTE_TITLE,
		       "%sZ  source: resctrl  L3: %u x %s  groups: %s, and the default group",
		       time, report->frame.nr_domains, l3, groups);
}

static void put_machine(struct screen *screen, const struct report *report)
{
	const struct cmt_info *info = report->info;
	bool narrow = screen->opts->width && screen->opts->width < WIDE;
	char time[FORMAT_LEN], l3[FORMAT_LEN] = "of unknown size";
	char in_use[16] = "?";

	if (info->l3_bytes)
		format_bytes(l3, info->l3_bytes);
	if (!report->replay || report->replay->state.stats_known)
		snprintf(in_use, sizeof(in_use), "%u", report->stats.rmids_active);
	format_time(time, report->realtime_ns);
	time[DATE_TIME_LEN] = '\0';
	if (report->replay && !report->replay->clock_known)
		memset(time, '?', DATE_TIME_LEN);
	if (origin_is_resctrl(info)) {
		put_groups(screen, report, narrow ? time + DATE_LEN : time, l3);
		return;
	}
	screen_wrapped(screen, ATTRIBUTE_TITLE,
		   "%sZ  %s (%s)  L3: %u x %s  RMIDs: %s of %u in use",
		   narrow ? time + DATE_LEN : time,
		       backend_name(info->backend), vendor_title(info->vendor),
		       report->frame.nr_domains, l3,
		   in_use, info->rmids_usable);
}

/* The machine, the position and the speed of the recording */
static void put_replay(struct screen *screen, const struct report *report)
{
	const struct replay *replay = report->replay;
	const struct cmt_recording_about *about;
	char speed[32] = "as fast as it goes";
	double at, all;

	if (!replay)
		return;
	about = &replay->about;
	at = (double)(int64_t)(report->frame.end_ns - about->start_ns) / 1e9;
	all = (double)(about->end_ns - about->start_ns) / 1e9;
	if (replay->speed > 0)
		snprintf(speed, sizeof(speed), "%.3gx", replay->speed);
	screen_wrapped(screen, ATTRIBUTE_BOLD,
		       "RECORDING of %s: %.3f s of %.3f s, %s%s",
		       about->host[0] ? about->host : "an unknown host",
		       at > 0 ? at : 0, all, speed,
		       replay->ended ? ", the end" : replay->paused ? ", paused" : "");
}

/* How many owners of the scope have a dedicated RMID. */
static void put_scope(struct screen *screen, const struct report *report)
{
	const struct census *census = &report->census;
	uint32_t services = census->services + census->services_pending;
	const char *plural = services == 1 ? "" : "s";
	char attached[48] = "", too[64] = "";

	if (census->unknown && census->pending_unknown)
		return;
	if (census->unknown) {
		if (services)
			snprintf(too, sizeof(too), " and %u service%s", services, plural);
		screen_wrapped(screen, ATTRIBUTE_NONE,
			       "%s scope: %u %s%s without a dedicated RMID",
			       scope_name(report->scope), census->pending,
			       scope_noun(report->scope, census->pending), too);
		return;
	}
	if (services)
		snprintf(too, sizeof(too), " and %u of %u service%s", census->services,
			 services, plural);
	if (census->attached_pending)
		snprintf(attached, sizeof(attached), ", and %u of %u attached",
			 census->attached,
			 census->attached + census->attached_pending);
	else if (census->attached)
		snprintf(attached, sizeof(attached), ", and %u attached",
			 census->attached);
	screen_wrapped(screen, ATTRIBUTE_NONE,
		   "%s scope: %u of %u %s%s with a dedicated RMID%s",
		   scope_name(report->scope), census->monitored,
		   census->monitored + census->pending,
		   scope_noun(report->scope,
			      census->monitored + census->pending), too, attached);
}

static bool cannot_expand(const struct report *report)
{
	return report->expand && report->scope != CMT_SCOPE_PROCESS;
}

static void put_expand(struct screen *screen, const struct report *report)
{
	if (cannot_expand(report))
		screen_wrapped(screen, ATTRIBUTE_NONE,
			   "%s scope: only attached processes have dedicated RMIDs to expand",
			   scope_name(report->scope));
}

/* "sampled every 1 ms", but for the cost. */
static const char *sampled(char buf[FORMAT_LEN + 32],
			   const struct report *report)
{
	char every[FORMAT_LEN];

	if (report->on_demand)
		return "read on demand, without sampling";
	snprintf(buf, FORMAT_LEN + 32, "%s every %s",
		 origin_is_resctrl(report->info) ? "read" : "sampled",
		 report->frame.interval_ns ?
		 format_duration(every, report->frame.interval_ns) : "?");
	return buf;
}

static void put_sampling(struct screen *screen, const struct report *report)
{
	const struct frame *frame = &report->frame;
	char cost[64] = "", how[FORMAT_LEN + 32], so_far[48] = "";

	if (report->wanted_ns)
		snprintf(so_far, sizeof(so_far), " so far of %.3f s",
			 (double)report->wanted_ns / 1e9);
	if (frame->unread) {
		screen_wrapped(screen, ATTRIBUTE_NONE, "no readings in this interval%s",
			   so_far);
		return;
	}
	if (frame->ticks_ns && origin_is_resctrl(report->info))
		snprintf(cost, sizeof(cost), ", which took %.2f %% of the time",
			 100.0 * (double)frame->busy_ns / (double)frame->ticks_ns);
	else if (frame->ticks_ns)
		snprintf(cost, sizeof(cost), ", sampling overhead: %.2f %% of one CPU (%u online)",
			 100.0 * (double)frame->busy_ns * frame->nr_cpus /
				 (double)frame->ticks_ns,
			 frame->nr_cpus);
	screen_wrapped(screen, ATTRIBUTE_NONE, "over %.3f s%s, %s%s",
		   (double)frame->elapsed_ns / 1e9, so_far,
		   sampled(how, report), cost);
}

static void put_too_coarse(struct screen *screen, const struct report *report)
{
	if (report->too_coarse)
		screen_wrapped(screen, ATTRIBUTE_NONE,
			       "no verdicts and no SLOWER: they need a sampling interval of 1 ms or less%s",
			       report->replay ? "" : ": cmtctl interval 1ms");
}

const char *view_wait_reason(const struct report *report)
{
	if (!(report->uncounted & CMT_F_WAITED))
		return NULL;
	return report->info->wait_reason[0] ? report->info->wait_reason :
					      report->counters_reason;
}

static void put_uncounted(struct screen *screen, uint32_t values, const char *reason)
{
	static const struct {
		uint32_t value;
		const char *name;
	} counters[] = {
		{ CMT_F_CYCLES, "cycles" },
		{ CMT_F_INSTRUCTIONS, "instructions" },
		{ CMT_F_LLC_MISSES, "LLC misses" },
		{ CMT_F_LLC_REFERENCES, "LLC references" },
		{ CMT_F_WAITED, "waiting" },
	};
	char escaped[4 * CMT_REASON_LEN], names[80] = "";
	size_t i, used = 0;

	if (!values || !reason[0])
		return;
	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (values & counters[i].value)
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%s",
						 used ? ", " : "",
						 counters[i].name);
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	screen_wrapped(screen, ATTRIBUTE_NONE, "not counted: %s (%s)", names,
		       escaped);
}

/* Which values are missing, and why.  A kernel that never accounts waiting has its own reason. */
static void put_counters(struct screen *screen, const struct report *report)
{
	uint32_t never = report->info->wait_reason[0] ? CMT_F_WAITED : 0;

	put_uncounted(screen, report->uncounted & ~never, report->counters_reason);
	put_uncounted(screen, report->uncounted & never, report->info->wait_reason);
}

static void put_rounded(struct screen *screen, const struct report *report)
{
	uint32_t bits;

	if (!report->replay ||
	    !(report->replay->about.counters & ~(CMT_F_CHANNEL | CMT_F_WAITED) & ~report->uncounted))
		return;
	bits = replay_rounded_bits(&report->replay->about, report->info);
	if (bits)
		screen_wrapped(screen, ATTRIBUTE_NONE, REPLAY_ROUNDED, bits);
}

/* How many records a damaged part had may be unknown, and counts as one record. */
static void put_losses(struct screen *screen, const struct report *report)
{
	const char *bound = report->replay && report->replay->gaps ? "at least " : "";

	if (report->lost_ever)
		screen_wrapped(screen, ATTRIBUTE_BOLD,
			   "LOST %s%" PRIu64 " records (%s%" PRIu64 " since the start)",
			   report->lost ? bound : "", report->lost, bound,
			   report->lost_ever);
	if (report->replay && report->gaps)
		screen_wrapped(screen, ATTRIBUTE_BOLD,
			   "GAPS: records are missing in %u time slots of the interval",
			   report->gaps);
	if (report->dropped_ever)
		screen_wrapped(screen, ATTRIBUTE_BOLD,
			   "DROPPED %" PRIu64 " late or malformed records (%" PRIu64 " since the start)",
			   report->dropped, report->dropped_ever);
}

static void put_incomplete(struct screen *screen, const struct report *report)
{
	const struct beside *beside = &report->beside;
	char text[BESIDE_TEXT_LEN], escaped[4 * CONTAINER_LABEL_LEN];

	if (!beside->incomplete)
		return;
	escape_text(escaped, sizeof(escaped), beside->first, ESCAPE_ASCII);
	if (beside->incomplete > 1)
		snprintf(escaped, sizeof(escaped), "%u rows", beside->incomplete);
	screen_wrapped(screen, ATTRIBUTE_BOLD, "INCOMPLETE: %s: %s%s", escaped,
		       beside_text(text, beside), beside_remedy(beside));
}

/* Print the limits of the values, with reasons. */
static void put_banner(struct screen *screen, const struct report *report)
{
	char reason[sizeof(report->info->reason) + 1] = "";
	char escaped[4 * sizeof(reason)];

	memcpy(reason, report->info->reason, sizeof(report->info->reason));
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	if (report->emulated)
		screen_wrapped(screen, ATTRIBUTE_REVERSE,
			   "EMULATED: these values come from a model, not from hardware (%s)",
			   escaped);
	else if (!report->info->events)
		screen_wrapped(screen, ATTRIBUTE_BOLD,
			   "UNAVAILABLE: cache occupancy and memory bandwidth: %s",
			   escaped);
}

/* One: rows have the others. */
static void put_mark(struct screen *screen, const struct report *report)
{
	const struct mark *mark = marks_first(&report->marks,
					      report->frame.end_ns);
	char line[MARK_LINE];

	if (report->marks.too_dear)
		screen_wrapped(screen, ATTRIBUTE_NONE,
			       "no more verdicts here: they took over %u %% of one CPU; see cmtstat --why",
			       BUDGET_PERCENT);
	if (!mark)
		return;
	mark_line(line, mark, report->frame.end_ns);
	screen_wrapped(screen, ATTRIBUTE_NOTE, "%s", line);
}

/* On the full screen a tenth of its lines */
static void put_incidents(struct screen *screen, const struct report *report)
{
	view_ongoing(screen, &report->ongoing, report->frame.end_ns,
		     screen->opts->window ? screen->opts->height / 10 : TABLE_INCIDENTS);
}

void view_header(struct screen *screen, const struct report *report, bool brief)
{
	if (brief) {
		/* a low screen cuts from below: what limits the values is first */
		put_banner(screen, report);
		put_losses(screen, report);
		put_incomplete(screen, report);
		put_replay(screen, report);
		put_machine(screen, report);
		put_incidents(screen, report);
		put_mark(screen, report);
		return;
	}
	put_replay(screen, report);
	put_machine(screen, report);
	if (report->shares)
		shares_put(screen, report->shares, report->frame.end_ns, report->emulated);
	put_incidents(screen, report);
	put_scope(screen, report);
	put_sampling(screen, report);
	put_too_coarse(screen, report);
	if (origin_is_resctrl(report->info)) {
		screen_wrapped(screen, ATTRIBUTE_NONE,
			       "resctrl does not show: " ORIGIN_NOT_SHOWN);
	} else {
		put_counters(screen, report);
		put_rounded(screen, report);
		view_memory(screen, report);
		put_expand(screen, report);
	}
	put_losses(screen, report);
	put_incomplete(screen, report);
	put_mark(screen, report);
	put_banner(screen, report);
}

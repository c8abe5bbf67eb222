// SPDX-License-Identifier: GPL-2.0-or-later
#include "why_view.h"

#include <inttypes.h>
#include <math.h>

#include "common/format.h"
#include "why_json.h"

#define ID_OUTSIDE (CMT_CULPRIT_NO_CGROUP | CMT_USAGE_UNATTRIBUTED)	/* RMID 0 */

#define REASON_LEN (4 * CMT_REASON_LEN + 1)

static const char *reason_text(char buf[REASON_LEN], const char *reason)
{
	escape_text(buf, REASON_LEN, reason, ESCAPE_ASCII);
	return buf;
}

static void put_reason(FILE *out, const char *what, const char *reason)
{
	char buf[REASON_LEN];

	fprintf(out, "%s: %s\n", what, reason_text(buf, reason));
}

int why_view_begin(FILE *out, const struct why_state *state)
{
	char reason[REASON_LEN];

	if (state->json)
		return why_json_begin(out, state, CMT_CULPRIT_LEARN);
	if (state->emulated)
		fputs("EMULATED: these values come from a model, not from hardware\n",
		      out);
	if (!state->cache_reason[0])
		fprintf(out, "Learning the baselines, for %u ms, and as long for each new container.\n"
			"Verdicts about cache and memory name changes only; what is so from before is in the estimates.\n",
			CMT_CULPRIT_LEARN);
	else
		fprintf(out, "No verdicts about cache and memory, since %s unavailable: %s\n",
			state->cache_lacks, reason_text(reason, state->cache_reason));
	if (state->counters_reason[0] && !state->cache_reason[0])
		fprintf(out, "No counters (%s): verdicts name who took cache, not whether the victim is slower.\n",
			reason_text(reason, state->counters_reason));
	if (state->wait_reason[0])
		put_reason(out, "Not judged: waiting for a CPU", state->wait_reason);
	else
		fputs("Verdicts about waiting for a CPU come once a second, also where nothing changes.\n",
		      out);
	if (state->owners < 2)
		fprintf(out, "Owners with a dedicated RMID: %u.  Verdicts need two or more: see cmtctl scope.\n",
			state->owners);
	return 0;
}

bool why_is_learned(const struct cmt_culprit_counts *counts)
{
	return counts->slots >= 5 * CMT_CULPRIT_LEARN ||
	       (counts->slots >= CMT_CULPRIT_LEARN && !counts->learning);
}

int why_view_learned(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_counts *counts)
{
	if (state->cache_reason[0])
		return 0;
	if (state->json)
		return why_json_learned(out, counts);
	fprintf(out, "Baselines are complete for %u of %u.\n",
		counts->owners - counts->learning, counts->owners);
	return 0;
}

static const char *waits_what(const struct cmt_culprit_verdict *verdict)
{
	if (verdict->nr_suspects)
		return "waits for a CPU, used by";
	return verdict->waited_self_ns > verdict->waited_ns / 2 ?
	       "waits for a CPU, used by its own tasks" : "waits for a CPU";
}

const char *why_what(const struct cmt_culprit_verdict *verdict)
{
	switch (verdict->kind) {
	case CMT_CULPRIT_CACHE:
		return "lost cache to";
	case CMT_CULPRIT_BANDWIDTH:
		return "waits for memory bandwidth, used by";
	case CMT_CULPRIT_THROTTLED:
		return "is throttled by its own quota";
	case CMT_CULPRIT_WAIT:
		return waits_what(verdict);
	case CMT_CULPRIT_STOLEN:
		return "loses CPU time to the hypervisor (steal)";
	default:
		return "has a trouble that this program does not know";
	}
}

const char *why_sure(char buf[WHY_SURE_LEN],
		     const struct cmt_culprit_verdict *verdict)
{
	const char *counted = verdict->flags & CMT_CULPRIT_COUNTED ?
			      "counters confirm" : "no counters";

	if (verdict->kind == CMT_CULPRIT_WAIT)
		snprintf(buf, WHY_SURE_LEN, "%.0f %% of the time in which it could run",
			 100 * verdict->cpu_share);
	else if (!isnan(verdict->cpu_share))
		snprintf(buf, WHY_SURE_LEN, "%.0f %% of the time%s",
			 100 * verdict->cpu_share,
			 isnan(verdict->confidence) ? ", an estimate" : "");
	else if (!isnan(verdict->confidence))
		snprintf(buf, WHY_SURE_LEN, "confidence %.2f, %s",
			 verdict->confidence, counted);
	else
		snprintf(buf, WHY_SURE_LEN, "%s", counted);
	return buf;
}

static void put_victim(FILE *out, const struct cmt_culprit_verdict *verdict)
{
	char before[FORMAT_LEN], now[FORMAT_LEN], again[FORMAT_LEN];

	fprintf(out, "    it held %s -> %s, fetched %s again",
		format_bytes(before, verdict->occupancy_before),
		format_bytes(now, verdict->occupancy_bytes),
		format_bytes(again, verdict->refetched_bytes));
	if (!isnan(verdict->cpi))
		fprintf(out, "; cycles per instruction %.2f -> %.2f, misses per 1,000 %.2f -> %.2f",
			verdict->cpi_before, verdict->cpi,
			verdict->mpki_before, verdict->mpki);
	fputc('\n', out);
}

static void put_suspect(FILE *out, uint32_t number,
			const struct cmt_culprit_suspect *s,
			const struct why_name *name)
{
	char label[WHY_LABEL_LEN], took[FORMAT_LEN], a[FORMAT_LEN], b[FORMAT_LEN];

	fprintf(out, "    %u. %s: ", number, why_label(label, name));
	if (s->taken_bytes)
		fprintf(out, "took %s, ", format_bytes(took, s->taken_bytes));
	fprintf(out, "%.0f %% of all; held %s -> %s, ", 100 * s->share,
		format_bytes(a, s->occupancy_before),
		format_bytes(b, s->occupancy_bytes));
	fprintf(out, "moved %s -> %s\n",
		format_rate(a, (double)s->traffic_before),
		format_rate(b, (double)s->traffic_bytes));
}

/* What a second of waiting is made of. */
static void put_waits(FILE *out, const struct cmt_culprit_verdict *verdict,
		      const struct why_names *names)
{
	char label[WHY_LABEL_LEN];
	double waited = (double)verdict->waited_ns;

	fprintf(out, "    its tasks waited %s%.0f ms of the last second\n",
		verdict->flags & CMT_CULPRIT_PARTIAL ? "at least " : "", waited / 1e6);
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		fprintf(out, "    %u. %s: %.0f %% of this\n", i + 1,
			why_label(label, &names->suspects[i]),
			100 * verdict->suspects[i].share);
	if (verdict->waited_self_ns)
		fprintf(out, "    itself: %.0f %%\n",
			100 * (double)verdict->waited_self_ns / waited);
	if (verdict->waited_unknown_ns)
		fprintf(out, "    not known: %.0f %%\n",
			100 * (double)verdict->waited_unknown_ns / waited);
	if (verdict->flags & CMT_CULPRIT_QUOTA)
		fputs("    it was out of its quota, too, which is not in these values\n", out);
}

static void put_losses(FILE *out, const struct cmt_culprit_verdict *verdict,
		       const struct why_names *names)
{
	if (isnan(verdict->cpu_share))
		put_victim(out, verdict);
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		put_suspect(out, i + 1, &verdict->suspects[i], &names->suspects[i]);
}

static void put_onset(FILE *out, const struct cmt_culprit_verdict *verdict)
{
	fprintf(out, "    for %.0f ms so far",
		(double)(verdict->ts_ns - verdict->since_ns) / 1e6);
	if (isnan(verdict->cpu_share))
		fprintf(out, ", in L3 domain %u", verdict->domain);
	fputc('\n', out);
}

static void put_outside(FILE *out, const struct cmt_culprit_verdict *verdict,
			const struct why_names *names)
{
	char label[WHY_LABEL_LEN];

	if (!verdict->nr_suspects || verdict->suspects[0].id != ID_OUTSIDE)
		return;
	fprintf(out, "    %s: processes outside all containers and services, or the kernel\n",
		why_label(label, &names->suspects[0]));
}

int why_view_verdict(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_verdict *verdict,
		     const struct why_names *names)
{
	char label[WHY_LABEL_LEN], time[FORMAT_LEN], sure[WHY_SURE_LEN];

	if (state->json)
		return why_json_verdict(out, state, verdict, names);
	fprintf(out, "%s %s %s", why_time(time, state, verdict->ts_ns),
		why_label(label, &names->victim), why_what(verdict));
	if (verdict->nr_suspects)
		fprintf(out, " %s", why_label(label, &names->suspects[0]));
	fprintf(out, " (%s)\n", why_sure(sure, verdict));
	put_onset(out, verdict);
	put_outside(out, verdict, names);
	if (verdict->kind == CMT_CULPRIT_WAIT)
		put_waits(out, verdict, names);
	else
		put_losses(out, verdict, names);
	if (verdict->flags & CMT_CULPRIT_CLIPPED)
		fputs("    and there may be more\n", out);
	return 0;
}

int why_view_end(FILE *out, const struct why_state *state,
		 const struct why_end *end)
{
	if (state->json)
		return why_json_end(out, state, end);
	fprintf(out, "%" PRIu64 " ms seen, %" PRIu64 " not known, %s%" PRIu64
		" records lost; %" PRIu64 " verdicts\n", end->counts.slots,
		end->counts.missing, end->lost && end->at_least ? "at least " : "",
		end->lost, end->counts.verdicts);
	if (end->counts.not_followed)
		fputs("Some containers were not followed: there are too many.\n",
		      out);
	return 0;
}

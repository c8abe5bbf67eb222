// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>

#include "common/names.h"
#include "page.h"
#include "print.h"

/* All that a slowdown by cache or memory is estimated from */
#define SLOWDOWN_COUNTERS (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | \
			   CMT_F_LLC_REFERENCES)

static void number(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, "\"%s\":%" PRIu64 ",", name, value);
}

/* A value that is not known is null. */
static void number_if(FILE *out, const char *name, uint64_t value, bool known)
{
	if (known)
		number(out, name, value);
	else
		fprintf(out, "\"%s\":null,", name);
}

static void text(FILE *out, const char *name, const char *value)
{
	fprintf(out, "\"%s\":", name);
	print_text(out, value && value[0] ? value : NULL);
	fputc(',', out);
}

static void real(FILE *out, const char *name, double value)
{
	fprintf(out, "\"%s\":", name);
	print_real(out, value);
	fputc(',', out);
}

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : (double)NAN;
}

static double waited_share(const struct member *member)
{
	return share((double)member->waited_ns,
		     (double)(member->all.slots - member->blank) * MODEL_SLOT_NS);
}

static const char *kind_of(const struct member *member)
{
	switch (member->kind) {
	case CMT_USAGE_OWNER:
		return "container";
	case CMT_USAGE_OVERFLOW:
		return "overflow";
	case CMT_USAGE_UNATTRIBUTED:
		return "unattributed";
	case MEMBER_CHANNEL:
		return "channel";
	case MEMBER_CHANNELS:
		return "channels";
	case MEMBER_RMIDS:
		return "rmids";
	default:
		return "unknown";
	}
}

/* In slots of the page; an earlier begin is the begin of the page. */
static uint64_t slot_of(const struct model *model, uint64_t ns)
{
	return ns > model->start_ns ? (ns - model->start_ns) / MODEL_SLOT_NS : 0;
}

static void print_process(FILE *out, const struct model *model, const struct process *p)
{
	fputc('{', out);
	text(out, "comm", p->comm);
	number(out, "pid", p->pid);
	number(out, "first", slot_of(model, p->first_ns));
	number(out, "last", slot_of(model, p->last_ns));
	real(out, "mean", share(p->held, p->slots));
	real(out, "rate", share(p->moved * 1e9, p->moved_ns));
	real(out, "local", share(p->local * 1e9, p->local_ns));
	real(out, "most", p->most || p->slots > 0 ? (double)p->most : (double)NAN);
	fprintf(out, "\"partial\":%s}", p->partial ? "true" : "false");
}

static void print_processes(FILE *out, const struct model *model,
			    const struct member *member)
{
	if (!member->nr_processes)
		return;
	number(out, "processes_left_out", member->processes_left_out);
	fputs("\"processes\":[", out);
	for (uint32_t i = 0; i < member->nr_processes; i++) {
		fputs(i ? "," : "", out);
		print_process(out, model, &member->processes[i]);
	}
	fputs("],", out);
}

static void print_member(FILE *out, const struct model *model, const struct member *member)
{
	const struct point *all = &member->all;

	fputc('{', out);
	text(out, "label", member->label);
	text(out, "path", member->path);
	text(out, "image", member->image);
	text(out, "kind", kind_of(member));
	text(out, "why", all->known == all->slots && all->rated == all->slots &&
			 !all->partial ? NULL : usage_why_name(member->why & ~CMT_USAGE_WHY_ENDED));
	fprintf(out, "\"user\":%s,", member->user ? "true" : "false");
	number(out, "first", member->first);
	number(out, "last", member->last);
	number(out, "slots", all->slots);
	number(out, "known", all->known);
	number(out, "rated", all->rated);
	number(out, "localed", all->localed);
	number(out, "held", all->held);
	number(out, "partial", all->partial);
	number(out, "bytes_bounded", all->bytes_bounded);
	number(out, "rate_bounded", all->rate_bounded);
	real(out, "mean", share(all->sum, all->known));
	real(out, "least", all->known ? (double)all->least : (double)NAN);
	real(out, "most", all->known ? (double)all->most : (double)NAN);
	real(out, "rate", share(all->rate_sum, all->rated));
	real(out, "rate_most", all->rated ? all->rate_most : (double)NAN);
	real(out, "local", share(all->local_sum, all->localed));
	real(out, "waited", member->waits ? waited_share(member) : (double)NAN);
	fprintf(out, "\"waited_partial\":%s,", member->waits_partial ? "true" : "false");
	fprintf(out, "\"judged\":%s,", 2 * member->little < member->seconds ? "true" : "false");
	print_processes(out, model, member);
	number(out, "verdicts", member->verdicts);
	fprintf(out, "\"suspected\":%" PRIu32 "}", member->suspected);
}

/* Number of the member, or null. */
static void who(FILE *out, const struct model *model, uint64_t id, const char *label)
{
	const struct member *member = model_find(model, id);

	text(out, "label", label);
	if (member)
		number(out, "member", (uint64_t)(member - model->members));
}

/* Else values of cache and memory, and the L3 domain, are not known. */
static bool is_of_memory(const struct cmt_culprit_verdict *verdict)
{
	return isnan(verdict->cpu_share);
}

static void print_suspect(FILE *out, const struct model *model,
			  const struct model_verdict *v, uint32_t i)
{
	const struct cmt_culprit_suspect *s = &v->verdict.suspects[i];
	bool memory = is_of_memory(&v->verdict);

	fputs(i ? ",{" : "{", out);
	who(out, model, s->id, v->suspects[i]);
	number_if(out, "taken", s->taken_bytes, v->verdict.kind == CMT_CULPRIT_CACHE);
	number_if(out, "occupancy", s->occupancy_bytes, memory);
	number_if(out, "occupancy_before", s->occupancy_before, memory);
	number_if(out, "traffic", s->traffic_bytes, memory);
	number_if(out, "traffic_before", s->traffic_before, memory);
	fputs("\"share\":", out);
	print_real(out, s->share);
	fputc('}', out);
}

static void print_verdict(FILE *out, const struct model *model,
			  const struct model_verdict *v)
{
	const struct cmt_culprit_verdict *verdict = &v->verdict;
	bool memory = is_of_memory(verdict);
	char sure[WHY_SURE_LEN];

	fputc('{', out);
	who(out, model, verdict->id, v->victim);
	number(out, "slot", slot_of(model, verdict->ts_ns));
	number(out, "since", slot_of(model, verdict->since_ns));
	text(out, "kind", culprit_kind_name(verdict->kind));
	text(out, "what", why_what(verdict));
	text(out, "sure", why_sure(sure, verdict));
	number_if(out, "domain", verdict->domain, memory);
	real(out, "confidence", verdict->confidence);
	number_if(out, "lost", verdict->lost_bytes, memory);
	number_if(out, "occupancy", verdict->occupancy_bytes, memory);
	number_if(out, "occupancy_before", verdict->occupancy_before, memory);
	number_if(out, "refetched", verdict->refetched_bytes, memory);
	real(out, "cpi", verdict->cpi);
	real(out, "cpi_before", verdict->cpi_before);
	real(out, "mpki", verdict->mpki);
	real(out, "mpki_before", verdict->mpki_before);
	real(out, "cpu_share", verdict->cpu_share);
	fprintf(out, "\"counted\":%s,\"clipped\":%s,\"suspects\":[",
		verdict->flags & CMT_CULPRIT_COUNTED ? "true" : "false",
		verdict->flags & CMT_CULPRIT_CLIPPED ? "true" : "false");
	for (uint32_t i = 0; i < verdict->nr_suspects; i++)
		print_suspect(out, model, v, i);
	fputs("]}", out);
}

/* Without a runner: it is not known. */
static void print_wait(FILE *out, const struct model *model, const struct wait_pair *pair)
{
	fputc('{', out);
	number(out, "member", pair->victim);
	if (pair->runner != WAIT_PAIR_UNKNOWN)
		number(out, "runner", pair->runner);
	real(out, "share", share((double)pair->ns,
				 (double)model->members[pair->victim].waited_ns));
	fprintf(out, "\"ns\":%" PRIu64 "}", pair->ns);
}

static void print_waits(FILE *out, const struct model *model)
{
	number(out, "waits_left_out_ns", model->wait_pairs.left_out_ns);
	fputs("\"waits\":[", out);
	for (uint32_t i = 0; i < model->wait_pairs.nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_wait(out, model, &model->wait_pairs.all[i]);
	}
	fputs("],", out);
}

static void print_cost(FILE *out, const struct model *model, const struct incident *incident,
		       uint32_t i)
{
	const struct cmt_incident_part *part = &incident->told.parts[i];

	fputs(i ? ",{" : "{", out);
	who(out, model, part->by, incident->parts[i]);
	text(out, "resource", slower_resource(part->resource));
	number_if(out, "domain", part->domain, part->resource != CMT_SLOWDOWN_CPU);
	fprintf(out, "\"lost\":%" PRIu64 "}", part->lost_ns);
}

static void print_incident(FILE *out, const struct model *model, const struct incident *incident)
{
	const struct cmt_incident *told = &incident->told;
	bool before = told->flags & CMT_INCIDENT_BEFORE || told->begin_ns < model->start_ns;
	uint64_t end = slot_of(model, told->end_ns);

	fputc('{', out);
	who(out, model, told->id, incident->victim);
	number(out, "begin", slot_of(model, told->begin_ns));
	number(out, "end", end < model->slots ? end : model->slots);
	real(out, "worst", told->worst);
	if (told->flags & CMT_INCIDENT_LOST)
		number(out, "lost", told->lost_ns);
	fprintf(out, "\"open\":%s,\"unknown\":%s,\"before\":%s,\"clipped\":%s,\"costs\":[",
		told->flags & CMT_INCIDENT_OPEN ? "true" : "false",
		told->flags & CMT_INCIDENT_UNKNOWN ? "true" : "false",
		before ? "true" : "false",
		told->flags & CMT_INCIDENT_CLIPPED ? "true" : "false");
	for (uint32_t i = 0; i < told->nr_parts; i++)
		print_cost(out, model, incident, i);
	fputs("]}", out);
}

static void print_incidents(FILE *out, const struct model *model)
{
	number(out, "incidents_left_out", model->incidents.left_out);
	fputs("\"incidents\":[", out);
	for (uint32_t i = 0; i < model->incidents.nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_incident(out, model, &model->incidents.all[i]);
	}
	fputs("],", out);
}

/* Blocks of a level that are in the page or not: first and last of each run. */
static void print_blocks(FILE *out, const struct spool *spool, uint32_t level, bool kept)
{
	const char *comma = "";

	fprintf(out, "\"%s\":[", kept ? "kept" : "left_out");
	for (uint32_t i = 0; i < spool->nr; i++) {
		const struct blob *blob = &spool->blobs[i];
		uint32_t first = blob->block;

		if (blob->level != level || blob->kept != kept)
			continue;
		while (i + 1 < spool->nr && spool->blobs[i + 1].level == level &&
		       spool->blobs[i + 1].kept == kept &&
		       spool->blobs[i + 1].block == spool->blobs[i].block + 1)
			i++;
		fprintf(out, "%s%" PRIu32 ",%" PRIu32, comma, first,
			spool->blobs[i].block);
		comma = ",";
	}
	fputc(']', out);
}

static void print_levels(FILE *out, const struct spool *spool)
{
	fputs("\"levels\":[", out);
	for (uint32_t k = 0; k < PYRAMID_LEVELS; k++) {
		fprintf(out, "%s{\"slots\":%" PRIu64 ",", k ? "," : "", pyramid_slots(k));
		print_blocks(out, spool, k, true);
		fputc(',', out);
		print_blocks(out, spool, k, false);
		fputc('}', out);
	}
	fputs("],", out);
}

static void print_gaps(FILE *out, const struct model *model)
{
	fputs("\"gaps\":[", out);
	for (uint32_t i = 0; i < model->nr_gaps; i++)
		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 ",%d]", i ? "," : "",
			model->gaps[i].slot, model->gaps[i].nr, model->gaps[i].why);
	fputs("],", out);
}

static void print_machine(FILE *out, const struct model *model,
			  const struct page_about *about)
{
	text(out, "file", about->file);
	text(out, "host", about->host);
	text(out, "kernel", about->kernel);
	text(out, "recorder", about->recorder);
	real(out, "real_ms", about->real_known ?
	     ((double)about->real_ns + (double)model->start_ns) / 1e6 : (double)NAN);
	number(out, "slots", model->slots);
	number(out, "gap_slots", model->gap_slots);
	number(out, "l3_bytes", model->l3_bytes);
	number(out, "domains", model->nr_domains);
	number(out, "cpus", model->nr_cpus);
	number(out, "sampling_ns", model->sampling_ns);
	fprintf(out, "\"emulated\":%s,\"from_memory\":%s,", model->emulated ? "true" : "false",
		about->from_memory ? "true" : "false");
}

/* What slowdowns were looked for in: slots, and whether those by cache and memory can be known. */
static void print_judged(FILE *out, const struct model *model, const struct page_about *about)
{
	number(out, "judged", about->culprit.slots);
	fprintf(out, "\"counters\":%s,",
		(model->counters & SLOWDOWN_COUNTERS) == SLOWDOWN_COUNTERS ? "true" : "false");
}

static void print_coding(FILE *out, const struct model *model)
{
	number(out, "unit", model->pyramid.unit_bytes);
	number(out, "bits", OCCUPANCY_BITS);
	number(out, "rate_bits", RATE_BITS);
	real(out, "rate_unit", RATE_UNIT);
	number(out, "local_parts", LOCAL_PARTS);
	number(out, "block", PYRAMID_BLOCK);
}

void page_meta(FILE *out, const struct model *model, const struct page_about *about)
{
	fputc('{', out);
	print_machine(out, model, about);
	print_judged(out, model, about);
	print_coding(out, model);
	print_levels(out, model->spool);
	print_gaps(out, model);
	fputs("\"members\":[", out);
	for (uint32_t i = 0; i < model->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_member(out, model, &model->members[i]);
	}
	fputs("],\"verdicts\":[", out);
	for (uint32_t i = 0; i < model->nr_verdicts; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_verdict(out, model, &model->verdicts[i]);
	}
	fputs("],", out);
	print_incidents(out, model);
	print_waits(out, model);
	fputs("\"notes\":[", out);
	page_notes(out, model, about);
	fputs("]}", out);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "why_json.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>

#include "common/format.h"
#include "common/json.h"
#include "common/names.h"

/* An object that is being filled: the first error stays. */
struct filling {
	struct json_object *object;
	int err;
};

static struct filling begin(const char *record)
{
	struct filling to = { .object = json_object_new_object() };

	if (!to.object)
		to.err = -ENOMEM;
	else if (record)
		to.err = json_add(to.object, "record", json_text(record));
	return to;
}

/* NULL: null; @made: it could not be made if it is NULL */
static void add(struct filling *to, const char *name, struct json_object *value,
		bool made)
{
	if (!to->err && made && !value)
		to->err = -ENOMEM;
	if (to->err)
		json_object_put(value);
	else
		to->err = json_add(to->object, name, value);
}

static void add_number(struct filling *to, const char *name, uint64_t number)
{
	add(to, name, json_object_new_uint64(number), true);
}

/* A value that is not known is null. */
static void add_number_if(struct filling *to, const char *name, uint64_t number, bool known)
{
	add(to, name, known ? json_object_new_uint64(number) : NULL, known);
}

static void add_bool(struct filling *to, const char *name, bool value)
{
	add(to, name, json_object_new_boolean(value), true);
}

static void add_text(struct filling *to, const char *name, const char *text)
{
	add(to, name, json_text(text), text != NULL);
}

static void add_real(struct filling *to, const char *name, double value)
{
	char text[FORMAT_LEN];

	if (isnan(value)) {
		add(to, name, NULL, false);
		return;
	}
	snprintf(text, sizeof(text), "%.3f", value);
	add(to, name, json_object_new_double_s(value, text), true);
}

static void add_time(struct filling *to, const char *name,
		     const struct why_state *state, uint64_t ts_ns)
{
	char time[FORMAT_LEN];

	add_text(to, name, state->clock.nr ? why_time(time, state, ts_ns) : NULL);
}

/* As of every row: null where there is no path, and the bytes where it is no text. */
static void add_name(struct filling *to, const struct why_name *name, uint64_t id)
{
	struct json_object *hex = NULL;

	add_text(to, "container", name->label);
	add_number(to, "id", id);
	add_text(to, "cgroup", name->path);
	if (!to->err)
		to->err = json_hex(name->path, &hex);
	add(to, "cgroup_hex", hex, false);
}

static int finish(struct filling *to, FILE *out)
{
	if (!to->err)
		to->err = json_print(out, to->object);
	json_object_put(to->object);
	return to->err;
}

int why_json_begin(FILE *out, const struct why_state *state, uint32_t learn_ms)
{
	struct filling to = begin("why");

	add_number_if(&to, "learning_ms", learn_ms, !state->cache_reason[0]);
	add_bool(&to, "emulated", state->emulated);
	add_number(&to, "sampling_interval_ns", state->sampling_ns);
	add_text(&to, "counters_reason",
		 state->counters_reason[0] ? state->counters_reason : NULL);
	add_text(&to, "cache_reason", state->cache_reason[0] ? state->cache_reason : NULL);
	add_text(&to, "wait_reason", state->wait_reason[0] ? state->wait_reason : NULL);
	add_number(&to, "owners", state->owners);
	return finish(&to, out);
}

int why_json_learned(FILE *out, const struct cmt_culprit_counts *counts)
{
	struct filling to = begin("learned");

	add_number(&to, "slots", counts->slots);
	add_number(&to, "followed", counts->owners);
	add_number(&to, "learning", counts->learning);
	return finish(&to, out);
}

static struct filling suspect(const struct cmt_culprit_suspect *s,
			      const struct why_name *name, enum cmt_culprit_kind kind)
{
	bool waits = kind == CMT_CULPRIT_WAIT;
	struct filling to = begin(NULL);

	add_name(&to, name, s->id);
	add_real(&to, "share", s->share);
	add_number_if(&to, "taken_bytes", s->taken_bytes, kind == CMT_CULPRIT_CACHE);
	add_number_if(&to, "occupancy_bytes", s->occupancy_bytes, !waits);
	add_number_if(&to, "occupancy_before_bytes", s->occupancy_before, !waits);
	add_number_if(&to, "mbm_total_bytes_per_s", s->traffic_bytes, !waits);
	add_number_if(&to, "mbm_total_before_bytes_per_s", s->traffic_before, !waits);
	return to;
}

/* Returns 0, or an error after which @one is no more. */
static int push(struct json_object *array, struct filling *one)
{
	int err = one->err;

	if (!err && json_object_array_add(array, one->object))
		err = -ENOMEM;
	if (err)
		json_object_put(one->object);
	return err;
}

static void add_suspects(struct filling *to,
			 const struct cmt_culprit_verdict *verdict,
			 const struct why_names *names)
{
	struct json_object *array = json_object_new_array();
	int err = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < verdict->nr_suspects; i++) {
		struct filling one = suspect(&verdict->suspects[i],
					     &names->suspects[i], verdict->kind);

		err = push(array, &one);
	}
	if (err && !to->err)
		to->err = err;
	add(to, "suspects", array, true);
}

static void add_pace(struct filling *to,
		     const struct cmt_culprit_verdict *verdict)
{
	add_real(to, "cpi", verdict->cpi);
	add_real(to, "cpi_before", verdict->cpi_before);
	add_real(to, "mpki", verdict->mpki);
	add_real(to, "mpki_before", verdict->mpki_before);
	add_real(to, "cpu_share", verdict->cpu_share);
}

static void add_waits(struct filling *to, const struct cmt_culprit_verdict *verdict)
{
	bool waits = verdict->kind == CMT_CULPRIT_WAIT;

	add_number_if(to, "waited_ns", verdict->waited_ns, waits);
	add_number_if(to, "waited_self_ns", verdict->waited_self_ns, waits);
	add_number_if(to, "waited_unknown_ns", verdict->waited_unknown_ns, waits);
	add_bool(to, "partial", verdict->flags & CMT_CULPRIT_PARTIAL);
	add_bool(to, "quota", verdict->flags & CMT_CULPRIT_QUOTA);
}

int why_json_verdict(FILE *out, const struct why_state *state,
		     const struct cmt_culprit_verdict *verdict,
		     const struct why_names *names)
{
	bool cache = isnan(verdict->cpu_share);
	struct filling to = begin("verdict");

	add_time(&to, "time", state, verdict->ts_ns);
	add_time(&to, "since", state, verdict->since_ns);
	add_number(&to, "end_ns", verdict->ts_ns);
	add_number(&to, "since_ns", verdict->since_ns);
	add_bool(&to, "emulated", state->emulated);
	add_text(&to, "kind", culprit_kind_name(verdict->kind));
	add_name(&to, &names->victim, verdict->id);
	add_number_if(&to, "domain", verdict->domain, cache);
	add_real(&to, "confidence", verdict->confidence);
	add_bool(&to, "counted", verdict->flags & CMT_CULPRIT_COUNTED);
	add_number_if(&to, "lost_bytes", verdict->lost_bytes, cache);
	add_number_if(&to, "occupancy_bytes", verdict->occupancy_bytes, cache);
	add_number_if(&to, "occupancy_before_bytes", verdict->occupancy_before, cache);
	add_number_if(&to, "refetched_bytes", verdict->refetched_bytes, cache);
	add_pace(&to, verdict);
	add_waits(&to, verdict);
	add_bool(&to, "clipped", verdict->flags & CMT_CULPRIT_CLIPPED);
	add_suspects(&to, verdict, names);
	return finish(&to, out);
}

static struct filling slower_part(const struct slower_part *part)
{
	struct filling to = begin(NULL);

	add_name(&to, &part->by, part->by_id);
	add_text(&to, "resource", slower_resource(part->resource));
	add_number_if(&to, "domain", part->domain, part->resource != CMT_SLOWDOWN_CPU);
	add_real(&to, "share", part->share);
	return to;
}

static void add_slower_parts(struct filling *to, const struct slower *slower)
{
	struct json_object *array = json_object_new_array();
	int err = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < slower->nr_parts; i++) {
		struct filling one = slower_part(&slower->parts[i]);

		err = push(array, &one);
	}
	if (err && !to->err)
		to->err = err;
	add(to, "because_of", array, true);
}

static int json_slower(FILE *out, const struct slower *slower)
{
	struct filling to = begin("slower");

	add_bool(&to, "estimate", true);
	add_name(&to, &slower->name, slower->id);
	add_real(&to, "share", slower->share);
	add_real(&to, "low", slower->low);
	add_real(&to, "high", slower->high);
	add_bool(&to, "too_little", slower->too_little);
	add_slower_parts(&to, slower);
	return finish(&to, out);
}

static bool is_listed(const struct slower *list, uint32_t n, uint64_t id)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].id == id)
			return true;
	return false;
}

int why_json_slower(FILE *out, const struct slower *list, uint32_t n,
		    const struct why_little *little)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < n; i++)
		ret = json_slower(out, &list[i]);
	for (uint32_t i = 0; !ret && i < little->nr; i++) {
		const struct why_little_one *one = &little->list[i];
		const struct slower unknown = {
			.id = one->id, .name = one->name, .too_little = true,
			.share = NAN, .low = NAN, .high = NAN,
		};

		if (!is_listed(list, n, one->id))
			ret = json_slower(out, &unknown);
	}
	return ret;
}

static struct filling incident_part(const struct cmt_incident *told, uint32_t i,
				    const struct why_name *by)
{
	const struct cmt_incident_part *part = &told->parts[i];
	struct filling to = begin(NULL);

	add_name(&to, by, part->by);
	add_text(&to, "resource", slower_resource(part->resource));
	add_number_if(&to, "domain", part->domain, part->resource != CMT_SLOWDOWN_CPU);
	add_real(&to, "share", part->share);
	add_number_if(&to, "lost_ns", part->lost_ns, told->flags & CMT_INCIDENT_LOST);
	return to;
}

static void add_incident_parts(struct filling *to, const struct why_incident *incident)
{
	struct json_object *array = json_object_new_array();
	int err = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < incident->told->nr_parts; i++) {
		struct filling one = incident_part(incident->told, i, &incident->parts[i]);

		err = push(array, &one);
	}
	if (err && !to->err)
		to->err = err;
	add(to, "because_of", array, true);
}

static struct filling remedy(const struct why_incident *incident, uint32_t i)
{
	uint32_t part = incident->remedies[i].part;
	struct filling to = begin(NULL);

	add_name(&to, &incident->parts[part], incident->told->parts[part].by);
	add_text(&to, "what", incident->remedies[i].remedy.what);
	add_text(&to, "commands", incident->remedies[i].remedy.commands);
	return to;
}

static void add_remedies(struct filling *to, const struct why_incident *incident)
{
	struct json_object *array = json_object_new_array();
	int err = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < incident->nr_remedies; i++) {
		struct filling one = remedy(incident, i);

		err = push(array, &one);
	}
	if (err && !to->err)
		to->err = err;
	add(to, "to_end_it", array, true);
}

int why_json_incident(FILE *out, const struct why_state *state,
		      const struct why_incident *incident, bool is_event)
{
	const struct cmt_incident *told = incident->told;
	bool is_open = told->flags & CMT_INCIDENT_OPEN;
	struct filling to = begin("incident");

	add_text(&to, "event", !is_open ? "end" : is_event ? "begin" : "goes on");
	add_bool(&to, "estimate", true);
	add_bool(&to, "emulated", state->emulated);
	add_number(&to, "number", told->number);
	add_time(&to, "begin", state, told->begin_ns);
	add_time(&to, "end", state, told->end_ns);
	add_number(&to, "begin_ns", told->begin_ns);
	add_number(&to, "end_ns", told->end_ns);
	add_bool(&to, "began_before", told->flags & CMT_INCIDENT_BEFORE);
	add_name(&to, &incident->victim, told->id);
	add_real(&to, "share", told->share);
	add_real(&to, "low", told->low);
	add_real(&to, "high", told->high);
	add_real(&to, "worst", told->worst);
	add_number_if(&to, "lost_ns", told->lost_ns, told->flags & CMT_INCIDENT_LOST);
	add_real(&to, "cpi", told->cpi);
	add_real(&to, "cpi_without", told->cpi_without);
	add_real(&to, "mpki", told->mpki);
	add_bool(&to, "clipped", told->flags & CMT_INCIDENT_CLIPPED);
	add_bool(&to, "unknown", told->flags & CMT_INCIDENT_UNKNOWN);
	add_incident_parts(&to, incident);
	add_remedies(&to, incident);
	return finish(&to, out);
}

int why_json_end(FILE *out, const struct why_state *state,
		 const struct why_end *end)
{
	struct filling to = begin("end");

	add_bool(&to, "emulated", state->emulated);
	add_number(&to, "slots", end->counts.slots);
	add_number(&to, "missing", end->counts.missing);
	add_number(&to, "lost", end->lost);
	add_number(&to, "not_followed", end->counts.not_followed);
	add_number(&to, "verdicts_dropped", end->counts.verdicts_dropped);
	add_number(&to, "verdicts", end->counts.verdicts);
	add_number(&to, "counted", end->counts.counted);
	add_number(&to, "referenced", end->counts.referenced);
	return finish(&to, out);
}

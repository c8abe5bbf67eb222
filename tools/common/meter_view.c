// SPDX-License-Identifier: GPL-2.0-or-later
#include "meter_view.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>

#include "format.h"
#include "json.h"
#include "names.h"

static const char *const counters[NR_METER_COUNTERS] = {
	[METER_TOTAL] = "mbm_total",
	[METER_LOCAL] = "mbm_local",
};

static const char *text_of(char buf[METER_TEXT_LEN], struct measure value,
			   const char *text)
{
	snprintf(buf, METER_TEXT_LEN, "%s%s", value.partial ? "> " : "",
		 value.known ? text : "-");
	return buf;
}

const char *meter_text_bytes(char buf[METER_TEXT_LEN], struct measure value)
{
	char text[FORMAT_LEN];

	return text_of(buf, value, format_bytes(text, (uint64_t)value.value));
}

const char *meter_text_rate(char buf[METER_TEXT_LEN], struct measure value)
{
	char text[FORMAT_LEN];

	return text_of(buf, value, format_rate(text, value.value));
}

static int add_bool(struct json_object *object, const char *name, bool value)
{
	return json_add(object, name, json_object_new_boolean(value));
}

static int add_number(struct json_object *object, const char *name,
		      uint64_t number)
{
	return json_add(object, name, json_object_new_uint64(number));
}

/* A whole number, or null. */
static int add_value(struct json_object *object, const char *name,
		     const char *what, struct measure value)
{
	char field[64];

	snprintf(field, sizeof(field), "%s_%s", name, what);
	return json_add(object, field, value.known ?
			json_object_new_uint64((uint64_t)(value.value + 0.5)) :
			NULL);
}

static int add_partial(struct json_object *object, const char *name,
		       struct measure value)
{
	char field[64];

	snprintf(field, sizeof(field), "%s_partial", name);
	return add_bool(object, field, value.partial);
}

static int add_traffic(struct json_object *object, const struct meter *meter,
		       enum meter_counter nr)
{
	struct measure bytes = meter_bytes(meter, nr);
	const char *name = counters[nr];
	int ret = add_value(object, name, "bytes", bytes);

	ret = ret ? ret : add_value(object, name, "bytes_per_s",
				    meter_rate(meter, nr));
	return ret ? ret : add_partial(object, name, bytes);
}

static int add_occupancy(struct json_object *object, const struct meter *meter)
{
	struct measure now = meter_occupancy(meter);
	struct measure most = meter_most(meter);
	int ret = add_value(object, "occupancy", "bytes", now);

	ret = ret ? ret : add_partial(object, "occupancy", now);
	ret = ret ? ret : add_value(object, "occupancy_most", "bytes", most);
	ret = ret ? ret : add_partial(object, "occupancy_most", most);
	ret = ret ? ret : add_value(object, "occupancy_mean", "bytes",
				    meter_mean(meter));
	return ret ? ret : add_number(object, "readings", meter->readings);
}

static int add_domain(struct json_object *list, const struct meter *meter,
		      const struct meter_domain *domain)
{
	struct json_object *object = json_object_new_object();
	struct measure now = meter_domain_occupancy(meter, domain);
	struct measure most = meter_domain_most(meter, domain);
	int ret = object ? add_number(object, "domain", domain->domain) : -ENOMEM;

	ret = ret ? ret : add_value(object, "occupancy", "bytes", now);
	ret = ret ? ret : add_value(object, "occupancy_most", "bytes", most);
	ret = ret ? ret : add_value(object, "mbm_total", "bytes",
				    meter_domain_bytes(meter, domain, METER_TOTAL));
	ret = ret ? ret : add_value(object, "mbm_local", "bytes",
				    meter_domain_bytes(meter, domain, METER_LOCAL));
	if (!ret && json_object_array_add(list, object))
		ret = -ENOMEM;
	if (ret)
		json_object_put(object);
	return ret;
}

static int add_domains(struct json_object *object, const struct meter *meter)
{
	struct json_object *list = json_object_new_array();
	int ret = list ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; !ret && i < meter->nr_domains; i++)
		ret = add_domain(list, meter, &meter->domains[i]);
	if (!ret)
		return json_add(object, "domains", list);
	json_object_put(list);
	return ret;
}

/* Why it is as it is; null: all is known. */
static int add_reason(struct json_object *object, const char *name,
		      const char *text)
{
	struct json_object *value = json_text(text);

	return text && !value ? -ENOMEM : json_add(object, name, value);
}

/* A text of the module's may fill its array. */
static const char *copy_reason(char to[CMT_REASON_LEN + 1], const char *from)
{
	snprintf(to, CMT_REASON_LEN + 1, "%.*s", CMT_REASON_LEN, from);
	return to;
}

static int add_reasons(struct json_object *object, const struct meter *meter,
		       const struct cmt_info *info)
{
	bool mbm = info->events & CMT_F_MBM_TOTAL;
	char reason[CMT_REASON_LEN + 1];
	int ret = add_reason(object, "reason", usage_why_name(meter->why));

	ret = ret ? ret : add_reason(object, "unavailable", info->events ? NULL :
				     copy_reason(reason, info->reason));
	return ret ? ret : add_reason(object, "mbm_reason", mbm ? NULL :
				      copy_reason(reason, info->mbm_reason));
}

int meter_json(struct json_object *object, const struct meter *meter,
	       const struct cmt_info *info)
{
	bool emulated = meter->emulated || info->backend == CMT_BACKEND_EMULATED;
	int ret = add_number(object, "elapsed_ns", meter_elapsed_ns(meter));

	ret = ret ? ret : add_number(object, "end_ns", meter->last_ns);
	ret = ret ? ret : add_bool(object, "emulated", emulated);
	ret = ret ? ret : add_bool(object, "pending", meter->pending);
	ret = ret ? ret : add_occupancy(object, meter);
	ret = ret ? ret : add_traffic(object, meter, METER_TOTAL);
	ret = ret ? ret : add_traffic(object, meter, METER_LOCAL);
	ret = ret ? ret : add_reasons(object, meter, info);
	return ret ? ret : add_domains(object, meter);
}

const char *meter_missing(char buf[METER_REASON_LEN],
			  const struct cmt_info *info)
{
	char reason[CMT_REASON_LEN + 1], escaped[4 * sizeof(reason)];

	buf[0] = '\0';
	if (info->events & CMT_F_MBM_TOTAL)
		return buf;
	copy_reason(reason, info->events ? info->mbm_reason : info->reason);
	escape_text(escaped, sizeof(escaped), reason, ESCAPE_ASCII);
	snprintf(buf, METER_REASON_LEN, "%smemory bandwidth: %s",
		 info->events ? "" : "cache occupancy and ", escaped);
	return buf;
}

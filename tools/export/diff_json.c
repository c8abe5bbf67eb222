// SPDX-License-Identifier: GPL-2.0-or-later
/* One object for each recording, then one for each container. */
#include "diff.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>

#include "common/format.h"
#include "common/json.h"

static const struct {
	const char *name;
} values[NR_DIFF_SORTS] = {
	[DIFF_OCCUPANCY] = { "occupancy_bytes" },
	[DIFF_BANDWIDTH] = { "mbm_total_bytes_per_s" },
	[DIFF_MISSES] = { "llc_misses_per_s" },
	[DIFF_CPI] = { "cpi" },
};

/* NAN and infinite ones are null: not known, or no such bound. */
static struct json_object *real(double value)
{
	return isfinite(value) ? json_object_new_double(value) : NULL;
}

static int add_value(struct json_object *to, const char *name,
		     const struct diff_value *value)
{
	struct json_object *object;
	int ret;

	if (!value->known)
		return json_add(to, name, NULL);
	object = json_object_new_object();
	if (!object)
		return -ENOMEM;
	ret = json_add(object, "value", real(value->value));
	ret = ret ? ret : json_add(object, "least", real(value->lo));
	ret = ret ? ret : json_add(object, "most", real(value->hi));
	ret = ret ? ret : json_add(object, "partial",
				   json_object_new_boolean(value->partial));
	if (ret) {
		json_object_put(object);
		return ret;
	}
	return json_add(to, name, object);
}

static int add_sum(struct json_object *to, const struct diff *diff,
		   const struct diff_row *row, unsigned int side)
{
	const struct diff_sum *sum = &row->sums[side];
	int ret = 0;

	for (int what = 0; !ret && what < NR_DIFF_SORTS; what++) {
		struct diff_value value = diff_value(diff, row, side,
						     (enum diff_sort)what);

		ret = add_value(to, values[what].name, &value);
	}
	if (!ret)
		ret = json_add(to, "occupancy_most_bytes", sum->most_known ?
			       json_object_new_uint64(sum->most) : NULL);
	ret = ret ? ret : json_add(to, "occupancy_most_partial",
				   json_object_new_boolean(sum->most_partial));
	ret = ret ? ret : json_add(to, "seconds",
				   real((double)sum->length_ns / 1e9));
	return ret ? ret : json_add(to, "several",
				    json_object_new_boolean(sum->several));
}

static int add_changes(struct json_object *to, const struct diff *diff,
		       const struct diff_row *row)
{
	int ret = 0;

	for (int what = 0; !ret && what < NR_DIFF_SORTS; what++) {
		struct diff_value change = diff_change(diff, row, (enum diff_sort)what);

		ret = add_value(to, values[what].name, &change);
	}
	return ret;
}

/* An object below @to, to be filled; NULL: out of memory. */
static struct json_object *child(struct json_object *to, const char *name)
{
	struct json_object *object = json_object_new_object();

	if (object && json_add(to, name, object))
		return NULL;
	return object;
}

static int fill_row(struct json_object *to, const struct diff *diff,
		    const struct diff_row *row)
{
	static const char *const sides[] = { "a", "b" };
	struct json_object *object;
	int ret;

	ret = json_add(to, "record", json_object_new_string("container"));
	ret = ret ? ret : json_add(to, "name", json_text(row->name));
	for (unsigned int side = 0; !ret && side < 2; side++) {
		if (!diff_has(row, side)) {
			ret = json_add(to, sides[side], NULL);
			continue;
		}
		object = child(to, sides[side]);
		ret = object ? add_sum(object, diff, row, side) : -ENOMEM;
	}
	if (ret)
		return ret;
	object = child(to, "change");
	return object ? add_changes(object, diff, row) : -ENOMEM;
}

static int fill_side(struct json_object *to, const struct diff *diff, unsigned int side)
{
	const struct span *span = &diff->spans[side];
	const struct cmt_recording_about *about = &span->about;
	int ret;

	ret = json_add(to, "record", json_object_new_string("recording"));
	ret = ret ? ret : json_add(to, "side", json_object_new_string(side ? "b" : "a"));
	ret = ret ? ret : json_add(to, "file", json_text(span->opts.path));
	ret = ret ? ret : json_add(to, "host", json_text(about->host));
	ret = ret ? ret : json_add(to, "boot_id", json_text(about->boot_id));
	ret = ret ? ret : json_add(to, "seconds",
				   real((double)(about->end_ns - about->start_ns) / 1e9));
	ret = ret ? ret : json_add(to, "emulated",
				   json_object_new_boolean(span->emulated));
	ret = ret ? ret : json_add(to, "counter_bits",
				   json_object_new_uint64(span_rounded_bits(span)));
	ret = ret ? ret : json_add(to, "damaged",
				   json_object_new_uint64(about->damaged));
	return ret;
}

static int print_and_free(FILE *out, struct json_object *object, int ret)
{
	if (!ret)
		ret = json_print(out, object);
	json_object_put(object);
	return ret;
}

int diff_json(FILE *out, const struct diff *diff)
{
	struct json_object *object;
	int ret = 0;

	for (unsigned int side = 0; !ret && side < 2; side++) {
		object = json_object_new_object();
		ret = object ? fill_side(object, diff, side) : -ENOMEM;
		ret = print_and_free(out, object, ret);
	}
	for (uint32_t i = 0; !ret && i < diff_shown(diff); i++) {
		object = json_object_new_object();
		ret = object ? fill_row(object, diff, diff->sorted[i]) : -ENOMEM;
		ret = print_and_free(out, object, ret);
	}
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "slower_json.h"

#include <errno.h>
#include <json-c/json.h>

#include "common/format.h"
#include "common/json.h"
#include "slower.h"

static int add_real(struct json_object *object, const char *name, double value)
{
	char text[FORMAT_LEN];

	snprintf(text, sizeof(text), "%.4f", value);
	return json_add(object, name, json_object_new_double_s(value, text));
}

static int fill_part(struct json_object *object, const struct slower_part *part)
{
	int ret = json_add(object, "container", json_text(part->by.label));

	ret = ret ? ret : json_add(object, "id", json_object_new_uint64(part->by_id));
	ret = ret ? ret : json_add(object, "resource", json_text(slower_resource(part->resource)));
	ret = ret ? ret : json_add(object, "domain", part->resource == CMT_SLOWDOWN_CPU ?
				   NULL : json_object_new_uint64(part->domain));
	return ret ? ret : add_real(object, "share", part->share);
}

static int add_part(struct json_object *array, const struct slower_part *part)
{
	struct json_object *object = json_object_new_object();
	int ret = object ? fill_part(object, part) : -ENOMEM;

	if (!ret && !json_object_array_add(array, object))
		return 0;
	json_object_put(object);
	return ret ? ret : -ENOMEM;
}

static int add_parts(struct json_object *object, const struct slower *slower)
{
	struct json_object *array = json_object_new_array();
	int ret = array ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && slower && i < slower->nr_parts; i++)
		ret = add_part(array, &slower->parts[i]);
	if (!ret)
		return json_add(object, "because_of", array);
	json_object_put(array);
	return ret;
}

int slower_json(const struct row *row, struct json_object **value)
{
	struct json_object *object;
	int ret;

	*value = NULL;
	if (!row->slowed.known)
		return 0;
	object = json_object_new_object();
	ret = object ? add_real(object, "share", row->slowed.value) : -ENOMEM;
	ret = ret ? ret : add_real(object, "low", slower_low(row));
	ret = ret ? ret : add_real(object, "high", slower_high(row));
	ret = ret ? ret : json_add(object, "partial",
				   json_object_new_boolean(row->slowed.partial));
	ret = ret ? ret : add_parts(object, row->slower);
	if (ret)
		json_object_put(object);
	else
		*value = object;
	return ret;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* State files as text: JSON of others, read with json-c within bounds. */
#include "runtime.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>

#include "internal.h"

#define DEPTH_MAX	32
/*
 * Values in one file.  An empty object takes 3 bytes of text and 800 of
 * memory, so a small file must not become a large tree.  A list of a thousand
 * containers has about 12,000.
 */
#define VALUES_MAX	32768

/* Strict JSON only: where a string begins and ends is not in doubt. */
static bool modest(const char *bytes, size_t size)
{
	bool quoted = false;
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] == '"')
			quoted = !quoted;
		else if (quoted)
			i += bytes[i] == '\\';
		else
			n += bytes[i] == ',' || bytes[i] == '[' ||
			     bytes[i] == '{';
	}
	return n <= VALUES_MAX;
}

/* NULL: not JSON, or too much of it.  The last of equal keys counts. */
static struct json_object *parse(const char *bytes, size_t size)
{
	struct json_tokener *tok;
	struct json_object *root;

	if (size > CMT_STATE_MAX || !modest(bytes, size))
		return NULL;
	tok = json_tokener_new_ex(DEPTH_MAX);
	if (!tok)
		return NULL;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	root = json_tokener_parse_ex(tok, bytes, (int)size);
	if (json_tokener_get_error(tok) != json_tokener_success) {
		json_object_put(root);
		root = NULL;
	}
	json_tokener_free(tok);
	return root;
}

/* NULL where there is no such member; @object may be anything. */
static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

/* The first source with a value counts. */
static void take(char *to, size_t size, struct json_object *value)
{
	if (!*to && json_object_is_type(value, json_type_string))
		cmt_printable(to, size, json_object_get_string(value),
			      (size_t)json_object_get_string_len(value));
}

#define FIELD(field) offsetof(struct cmt_state, field), \
		     sizeof(((struct cmt_state *)0)->field)

/*
 * Annotations, and docker's labels: of the CRI plugin of containerd, of CRI-O,
 * of kubelet (its labels, which CRI-O and cri-dockerd pass on), of nerdctl.
 */
static const struct {
	const char *key;
	size_t offset, size;
} annotations[] = {
	{ "io.kubernetes.cri.container-name", FIELD(pod_container) },
	{ "io.kubernetes.cri.image-name", FIELD(image) },
	{ "io.kubernetes.cri.sandbox-name", FIELD(pod_name) },
	{ "io.kubernetes.cri.sandbox-namespace", FIELD(pod_namespace) },
	{ "io.kubernetes.cri.sandbox-uid", FIELD(pod) },
	{ "io.kubernetes.container.name", FIELD(pod_container) },
	{ "io.kubernetes.pod.name", FIELD(pod_name) },
	{ "io.kubernetes.pod.namespace", FIELD(pod_namespace) },
	{ "io.kubernetes.pod.uid", FIELD(pod) },
	{ "io.kubernetes.cri-o.ImageName", FIELD(image) },
	{ "io.kubernetes.cri-o.Image", FIELD(image) },
	{ "io.kubernetes.cri-o.KubeName", FIELD(pod_name) },
	{ "io.kubernetes.cri-o.Namespace", FIELD(pod_namespace) },
	{ "nerdctl/name", FIELD(name) },
};

static void take_annotations(struct cmt_state *state,
			     struct json_object *object)
{
	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]);
	     i++)
		take((char *)state + annotations[i].offset,
		     annotations[i].size, member(object, annotations[i].key));
	/* CRI-O and cri-dockerd call the pod's own container so. */
	if (!strcmp(state->pod_container, "POD"))
		state->pod_container[0] = '\0';
}

static void take_docker(struct cmt_state *state, struct json_object *root)
{
	struct json_object *config = member(root, "Config");
	char *name = state->name;

	take(state->image, sizeof(state->image), member(config, "Image"));
	take_annotations(state, member(config, "Labels"));
	take(state->image, sizeof(state->image), member(root, "Image"));
	take(name, sizeof(state->name), member(root, "Name"));
	if (*name == '/')
		memmove(name, name + 1, strlen(name));
}

/* JSON in a string of JSON */
static void take_metadata(struct cmt_state *state, struct json_object *text)
{
	struct json_object *metadata;

	if (!json_object_is_type(text, json_type_string))
		return;
	metadata = parse(json_object_get_string(text),
			 (size_t)json_object_get_string_len(text));
	take(state->image, sizeof(state->image),
	     member(metadata, "image-name"));
	json_object_put(metadata);
}

static bool has_id(struct json_object *entry, const char *id)
{
	struct json_object *value = member(entry, "id");

	return json_object_is_type(value, json_type_string) &&
	       !strcmp(json_object_get_string(value), id);
}

static void take_entry(struct cmt_state *state, struct json_object *entry)
{
	struct json_object *names = member(entry, "names");

	if (json_object_is_type(names, json_type_array))
		take(state->name, sizeof(state->name),
		     json_object_array_get_idx(names, 0));
	take_metadata(state, member(entry, "metadata"));
	take(state->image, sizeof(state->image), member(entry, "image"));
}

static void take_storage(struct cmt_state *state, struct json_object *root,
			 const char *id)
{
	size_t n = json_object_is_type(root, json_type_array) ?
		   json_object_array_length(root) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *entry = json_object_array_get_idx(root, i);

		if (has_id(entry, id)) {
			take_entry(state, entry);
			return;
		}
	}
}

int cmt_state_parse(struct cmt_state *state, enum cmt_state_kind kind,
		    const char *bytes, size_t size, const char *id)
{
	struct json_object *root = parse(bytes, size);

	memset(state, 0, sizeof(*state));
	if (!root)
		return -EINVAL;
	switch (kind) {
	case CMT_STATE_DOCKER:
		take_docker(state, root);
		break;
	case CMT_STATE_OCI:
		take_annotations(state, member(root, "annotations"));
		break;
	case CMT_STATE_STORAGE:
		take_storage(state, root, id);
		break;
	}
	json_object_put(root);
	return state->name[0] || state->image[0] || state->pod_name[0] ?
	       0 : -ENOENT;
}

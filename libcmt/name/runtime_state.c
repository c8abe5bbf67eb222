// SPDX-License-Identifier: LGPL-2.1-or-later
/* State files as text: JSON of others, read with json-c within bounds. */
#include "runtime.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "file/file.h"

#define DEPTH_MAX	32

/* Strict JSON only: where a string begins and ends is not in doubt. */
static size_t count_values(const char *bytes, size_t size)
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
	return n;
}

/*
 * NULL: not JSON, or more values than @values, from which the values are subtracted.  The
 * last of equal keys counts.
 */
static struct json_object *parse(const char *bytes, size_t size, size_t *values)
{
	struct json_tokener *tok;
	struct json_object *root;
	size_t n = size > CMT_STATE_MAX ? SIZE_MAX : count_values(bytes, size);

	if (n > *values)
		return NULL;
	*values -= n;
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

struct key {
	const char *key;	/* NULL ends a table */
	size_t offset, size;
};

/*
 * Each runtime has its own keys: authors of pods and images choose the other ones, as
 * annotations and labels that the runtime copies.
 *
 * The CRI plugin of containerd writes its annotations after those of a pod.
 */
static const struct key containerd_keys[] = {
	{ "io.kubernetes.cri.container-name", FIELD(pod_container) },
	{ "io.kubernetes.cri.image-name", FIELD(image) },
	{ "io.kubernetes.cri.sandbox-name", FIELD(pod_name) },
	{ "io.kubernetes.cri.sandbox-namespace", FIELD(pod_namespace) },
	{ "io.kubernetes.cri.sandbox-uid", FIELD(pod) },
	{ "nerdctl/name", FIELD(name) },
	{ .key = NULL },
};

/*
 * The labels of kubelet: CRI-O writes them last, and of docker's labels those of an image
 * do not replace them.
 */
static const struct key kubelet_keys[] = {
	{ "io.kubernetes.container.name", FIELD(pod_container) },
	{ "io.kubernetes.pod.name", FIELD(pod_name) },
	{ "io.kubernetes.pod.namespace", FIELD(pod_namespace) },
	{ "io.kubernetes.pod.uid", FIELD(pod) },
	{ .key = NULL },
};

static const struct key crio_keys[] = {
	{ "io.kubernetes.cri-o.ImageName", FIELD(image) },
	{ "io.kubernetes.cri-o.Image", FIELD(image) },
	{ .key = NULL },
};

static void take_keys(struct cmt_state *state, const struct key *keys,
		      struct json_object *object)
{
	for (; keys->key; keys++)
		take((char *)state + keys->offset, keys->size, member(object, keys->key));
}

/* Returns false for the pod's own container, which CRI-O and cri-dockerd call POD. */
static bool take_kubelet(struct cmt_state *state, struct json_object *object)
{
	take_keys(state, kubelet_keys, object);
	if (strcmp(state->pod_container, "POD"))
		return true;
	state->pod_container[0] = '\0';
	return false;
}

/*
 * podman has its files beside CRI-O's, with the annotations of images, whose author does
 * not know the id.  In the pod's own container a pod's annotation replaces the image.
 */
static void take_crio(struct cmt_state *state, struct json_object *annotations,
		      const char *id)
{
	struct json_object *own = member(annotations, "io.kubernetes.cri-o.ContainerID");

	if (json_object_is_type(own, json_type_string) &&
	    !strcmp(json_object_get_string(own), id) && take_kubelet(state, annotations))
		take_keys(state, crio_keys, annotations);
}

/* Only the name is not the image's to choose: cri-dockerd's begin so. */
static void take_docker(struct cmt_state *state, struct json_object *root)
{
	static const char of_pod[] = "/k8s_";
	struct json_object *config = member(root, "Config");
	char *name = state->name;

	take(state->image, sizeof(state->image), member(config, "Image"));
	take(state->image, sizeof(state->image), member(root, "Image"));
	take(name, sizeof(state->name), member(root, "Name"));
	if (!strncmp(name, of_pod, sizeof(of_pod) - 1))
		take_kubelet(state, member(config, "Labels"));
	if (*name == '/')
		memmove(name, name + 1, strlen(name));
}

/* JSON in a string of JSON */
static void take_metadata(struct cmt_state *state, struct json_object *text, size_t *values)
{
	struct json_object *metadata;

	if (!json_object_is_type(text, json_type_string))
		return;
	metadata = parse(json_object_get_string(text),
			 (size_t)json_object_get_string_len(text), values);
	take(state->image, sizeof(state->image),
	     member(metadata, "image-name"));
	json_object_put(metadata);
}

static void take_entry(struct cmt_state *state, struct json_object *entry, size_t *values)
{
	struct json_object *names = member(entry, "names");

	if (json_object_is_type(names, json_type_array))
		take(state->name, sizeof(state->name),
		     json_object_array_get_idx(names, 0));
	take_metadata(state, member(entry, "metadata"), values);
	take(state->image, sizeof(state->image), member(entry, "image"));
}

/* With its zero.  False: no room. */
static bool append(char *to, size_t room, size_t *len, const char *text)
{
	size_t n = strlen(text) + 1;

	if (n > room - *len)
		return false;
	memcpy(to + *len, text, n);
	*len += n;
	return true;
}

/* An id with a zero byte is cut there.  Without room for all of it, nothing is appended. */
static bool append_entry(char *to, size_t room, size_t *len, struct json_object *entry,
			 size_t *values)
{
	struct cmt_state state = { .name = "" };
	struct json_object *id = member(entry, "id");
	size_t before = *len;

	if (!json_object_is_type(id, json_type_string))
		return true;
	take_entry(&state, entry, values);
	if (append(to, room, len, json_object_get_string(id)) &&
	    append(to, room, len, state.name) && append(to, room, len, state.image))
		return true;
	*len = before;
	return false;
}

/*
 * No text is longer than in JSON, with its key and quotes: @size bytes are enough.
 * @values: how many the JSON in all strings may have.
 */
static int put_list(struct json_object *root, size_t size, size_t values, char **text,
		    size_t *len)
{
	size_t n = json_object_is_type(root, json_type_array) ?
		   json_object_array_length(root) : 0;
	char *to = malloc(size + 1), *less;

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!append_entry(to, size, len, json_object_array_get_idx(root, i),
				  &values))
			break;
	}
	less = *len ? realloc(to, *len) : NULL;
	if (!less)
		free(to);
	*text = less;
	return *len && !less ? -ENOMEM : 0;
}

int cmt_list_parse(const char *bytes, size_t size, size_t values, char **text, size_t *len)
{
	struct json_object *root = parse(bytes, size, &values);
	int err;

	*text = NULL;
	*len = 0;
	if (!root)
		return -EINVAL;
	err = put_list(root, size, values, text, len);
	json_object_put(root);
	return err;
}

/* The first of equal ids counts. */
int cmt_list_find(const char *text, size_t len, const char *id, struct cmt_state *state)
{
	const char *listed, *name, *image;
	size_t at;

	memset(state, 0, sizeof(*state));
	for (at = 0; at < len; at = (size_t)(image - text) + strlen(image) + 1) {
		listed = text + at;
		name = listed + strlen(listed) + 1;
		image = name + strlen(name) + 1;
		if (strcmp(listed, id))
			continue;
		strcpy(state->name, name);
		strcpy(state->image, image);
		break;
	}
	return state->name[0] || state->image[0] ? 0 : -ENOENT;
}

static int parse_in_list(struct cmt_state *state, const char *bytes, size_t size,
			 size_t values, const char *id)
{
	size_t len;
	char *text;
	int err = cmt_list_parse(bytes, size, values, &text, &len);

	memset(state, 0, sizeof(*state));
	if (!err)
		err = cmt_list_find(text, len, id, state);
	free(text);
	return err;
}

int cmt_state_parse(struct cmt_state *state, enum cmt_state_kind kind,
		    const char *bytes, size_t size, size_t values, const char *id)
{
	struct json_object *root;

	if (kind == CMT_STATE_STORAGE)
		return parse_in_list(state, bytes, size, values, id);
	memset(state, 0, sizeof(*state));
	root = parse(bytes, size, &values);
	if (!root)
		return -EINVAL;
	if (kind == CMT_STATE_DOCKER)
		take_docker(state, root);
	else if (kind == CMT_STATE_CRIO)
		take_crio(state, member(root, "annotations"), id);
	else
		take_keys(state, containerd_keys, member(root, "annotations"));
	json_object_put(root);
	return state->name[0] || state->image[0] || state->pod_name[0] ?
	       0 : -ENOENT;
}

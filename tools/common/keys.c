// SPDX-License-Identifier: GPL-2.0-or-later
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64U

void keys_init(struct keys *keys, size_t size)
{
	*keys = (struct keys){ .size = size };
}

void keys_free(struct keys *keys)
{
	for (uint32_t i = 0; i < keys->nr; i++) {
		free(keys->list[i]->text);
		free(keys->list[i]);
	}
	free(keys->list);
	free(keys->slots);
	keys_init(keys, keys->size);
}

/* FNV-1a: texts that collide only make an export slower. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037ULL;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
	return hash;
}

/* Where @text is, or would be. */
static struct key **slot_of(struct key **slots, uint32_t nr_slots, const char *text,
			    uint64_t hash)
{
	uint32_t at = (uint32_t)(hash ^ hash >> 32) & (nr_slots - 1);

	while (slots[at] && (slots[at]->hash != hash || strcmp(slots[at]->text, text)))
		at = (at + 1) & (nr_slots - 1);
	return &slots[at];
}

/* Room for one more.  On failure all is as before. */
static int grow(struct keys *keys)
{
	uint32_t nr_slots = keys->nr_slots ? 2 * keys->nr_slots : FIRST_SLOTS;
	struct key **slots, **list;

	if (2 * (keys->nr + 1) <= keys->nr_slots)
		return 0;
	list = reallocarray(keys->list, nr_slots / 2, sizeof(*list));
	if (!list)
		return -1;
	keys->list = list;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -1;
	for (uint32_t i = 0; i < keys->nr; i++)
		*slot_of(slots, nr_slots, list[i]->text, list[i]->hash) = list[i];
	free(keys->slots);
	keys->slots = slots;
	keys->nr_slots = nr_slots;
	return 0;
}

static struct key *key_new(const struct keys *keys, const char *text, uint64_t hash)
{
	struct key *key = calloc(1, sizeof(*key) + keys->size);

	if (!key)
		return NULL;
	key->text = strdup(text);
	if (!key->text) {
		free(key);
		return NULL;
	}
	key->hash = hash;
	key->nr = keys->nr;
	return key;
}

void *keys_find(const struct keys *keys, const char *text)
{
	struct key *key;

	if (!keys->nr_slots)
		return NULL;
	key = *slot_of(keys->slots, keys->nr_slots, text, hash_of(text));
	return key ? key->entry : NULL;
}

void *keys_get(struct keys *keys, const char *text)
{
	void *found = keys_find(keys, text);
	struct key *key;

	if (found)
		return found;
	if (grow(keys))
		return NULL;
	key = key_new(keys, text, hash_of(text));
	if (!key)
		return NULL;
	*slot_of(keys->slots, keys->nr_slots, text, key->hash) = key;
	keys->list[keys->nr++] = key;
	return key->entry;
}

void *keys_at(const struct keys *keys, uint32_t nr)
{
	return keys->list[nr]->entry;
}

const char *keys_text(const struct keys *keys, uint32_t nr)
{
	return keys->list[nr]->text;
}

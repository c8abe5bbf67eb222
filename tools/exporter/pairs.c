// SPDX-License-Identifier: GPL-2.0-or-later
#include "pairs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"

#define STALE_NS	3600000000000ULL

static struct pair *find(struct pairs *pairs, const char *labels, uint64_t hash)
{
	uint32_t i;

	for (i = 0; i < pairs->nr; i++)
		if (pairs->all[i].hash == hash && !strcmp(pairs->all[i].labels, labels))
			return &pairs->all[i];
	return NULL;
}

/*
 * Where all are in use, the place of a new pair is that of the pair that has not grown
 * longest, once a scrape has had its last value.  NULL: there is none.
 */
static struct pair *place_for_new(struct pairs *pairs, uint64_t now)
{
	struct pair *oldest = &pairs->all[0];

	if (pairs->nr < PAIRS_MAX)
		return &pairs->all[pairs->nr];
	for (uint32_t i = 1; i < pairs->nr; i++)
		if (pairs->all[i].last_ns < oldest->last_ns)
			oldest = &pairs->all[i];
	return now > oldest->last_ns + pairs->window_ns ? oldest : NULL;
}

static int begin(struct pairs *pairs, struct pair *pair, const char *labels, uint64_t hash)
{
	char *copy = strdup(labels);

	if (!copy)
		return -ENOMEM;
	if (pair == &pairs->all[pairs->nr])
		pairs->nr++;
	else
		free(pair->labels);
	*pair = (struct pair){ .labels = copy, .hash = hash };
	return 0;
}

int pairs_add(struct pairs *pairs, const char *labels, uint64_t n, uint64_t now)
{
	uint64_t hash = labels_hash(labels, strlen(labels));
	struct pair *pair = find(pairs, labels, hash);
	int ret;

	if (!pair) {
		pair = place_for_new(pairs, now);
		ret = pair ? begin(pairs, pair, labels, hash) : -ENOSPC;
		if (ret)
			return ret;
	}
	pair->sum += n;
	pair->last_ns = now;
	return 0;
}

void pairs_forget(struct pairs *pairs, uint64_t now)
{
	uint32_t i, kept = 0;

	for (i = 0; i < pairs->nr; i++) {
		if (now > pairs->all[i].last_ns + STALE_NS)
			free(pairs->all[i].labels);
		else
			pairs->all[kept++] = pairs->all[i];
	}
	pairs->nr = kept;
}

void pairs_free(struct pairs *pairs)
{
	while (pairs->nr)
		free(pairs->all[--pairs->nr].labels);
}

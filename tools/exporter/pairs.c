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

int pairs_add(struct pairs *pairs, const char *labels, uint64_t n, uint64_t now)
{
	uint64_t hash = labels_hash(labels, strlen(labels));
	struct pair *pair = find(pairs, labels, hash);

	if (!pair) {
		if (pairs->nr == PAIRS_MAX)
			return -ENOSPC;
		pair = &pairs->all[pairs->nr];
		*pair = (struct pair){ .labels = strdup(labels), .hash = hash };
		if (!pair->labels)
			return -ENOMEM;
		pairs->nr++;
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

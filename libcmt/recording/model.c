// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "columns.h"

#define CPUS	65536U	/* that a record can name */

struct rec_model *rec_model_new(void)
{
	struct rec_model *model = calloc(1, sizeof(*model));

	if (!model)
		return NULL;
	model->stream_of = malloc(CPUS * sizeof(*model->stream_of));
	if (!model->stream_of) {
		free(model);
		return NULL;
	}
	memset(model->stream_of, 0xff, CPUS * sizeof(*model->stream_of));
	return model;
}

void rec_model_free(struct rec_model *model)
{
	if (!model)
		return;
	free(model->streams);
	free(model->stream_of);
	free(model->order);
	free(model);
}

int rec_model_begin(struct rec_model *model, uint32_t n)
{
	if (cmt_array_reserve(&model->order, &model->room_order, n, sizeof(*model->order)))
		return -ENOMEM;
	/* contexts of before are new ones by the number, until it is used again */
	if (!++model->chunk) {
		memset(model->contexts, 0, sizeof(model->contexts));
		model->chunk = 1;
	}
	memset(model->generations, 0, sizeof(model->generations));
	memset(model->flags, 0, sizeof(model->flags));
	for (uint32_t s = 0; s < model->nr_streams; s++)
		model->stream_of[model->streams[s].cpu] = UINT32_MAX;
	for (int i = 0; i < 4; i++)
		model->units[i] = 1;
	model->nr_streams = 0;
	return 0;
}

struct rec_stream *rec_stream_new(struct rec_model *model, uint32_t cpu)
{
	struct rec_stream *stream;

	if (cmt_grow(&model->streams, model->nr_streams, &model->room_streams,
		     sizeof(*stream)))
		return NULL;
	model->stream_of[cpu] = model->nr_streams;
	stream = &model->streams[model->nr_streams++];
	memset(stream, 0, sizeof(*stream));
	stream->cpu = cpu;
	return stream;
}

struct rec_context *rec_context(struct rec_model *model, unsigned int group, uint32_t a,
				uint32_t b)
{
	uint32_t hash = (a + b * 0x9e3779b1U + group * 0x85ebca6bU) * 0x9e3779b1U;
	struct rec_context *c = &model->contexts[hash >> (32 - REC_CONTEXT_BITS)];

	if (c->chunk == model->chunk && c->group == group && c->key[0] == a && c->key[1] == b)
		return c;
	memset(c, 0, sizeof(*c));
	c->chunk = model->chunk;
	c->group = (uint16_t)group;
	c->key[0] = a;
	c->key[1] = b;
	return c;
}

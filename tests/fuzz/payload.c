// SPDX-License-Identifier: GPL-2.0-or-later
/* What the chunks of a recording have in them, unpacked; the first byte says of which kind. */
#include "fuzz.h"
#include "recording/columns.h"
#include "recording/index.h"
#include "recording/names.h"
#include "recording/owners.h"
#include "recording/sections.h"

#define RECORDS 512

static void get_columns(struct rec_cursor *in)
{
	static struct rec_model *model;
	static struct cmt_record records[RECORDS];
	uint32_t n = rec_get_u32(in) % (RECORDS + 1);
	struct rec_buffer out = { .nr = 0 };
	struct rec_cuts cuts;

	if (!model)
		model = rec_model_new();
	FUZZ_CHECK(model);
	/* what decodes is records, and records can be encoded */
	if (!rec_columns_decode(model, in, records, n))
		FUZZ_CHECK(!rec_columns_encode(model, records, n, 0, &out, &cuts));
	rec_buffer_free(&out);
}

static void get_names(struct rec_cursor *in)
{
	struct rec_buffer texts = { .nr = 0 };
	struct cmt_container container;

	while (!in->bad && in->at < in->end) {
		container = (struct cmt_container){ .sz = sizeof(container) };
		if (!rec_name_get(in, &container, &texts))
			break;
		fuzz_check_printable(container.name);
		FUZZ_CHECK(!container.path || container.own_len <= strlen(container.path));
	}
	rec_buffer_free(&texts);
}

static void get_owners(struct rec_cursor *in)
{
	struct cmt_snapshot *snapshot = NULL;

	if (!rec_owners_get(in, &snapshot))
		cmt_snapshot_free(snapshot);
}

static void get_index(struct rec_cursor *in)
{
	struct cmt_chunk_place *places = NULL;
	uint32_t n;

	if (!rec_index_get(in, 1 << 20, &places, &n))
		free(places);
}

static void get_sections(const uint8_t *data, size_t size, bool head_wanted)
{
	const struct rec_buffer raw = { .bytes = (uint8_t *)data, .nr = size };
	static struct rec_head head;
	struct rec_state state = { .pending = NULL };

	if (head_wanted && !rec_head_get(&head, &raw))
		fuzz_check_printable(head.host);
	if (!head_wanted) {
		rec_state_get(&state, &raw);
		rec_state_free(&state);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rec_cursor in;

	if (!size)
		return 0;
	in = (struct rec_cursor){ .at = data + 1, .end = data + size };
	switch (*data % 6) {
	case 0: get_columns(&in); break;
	case 1: get_names(&in); break;
	case 2: get_owners(&in); break;
	case 3: get_index(&in); break;
	case 4: get_sections(data + 1, size - 1, true); break;
	case 5: get_sections(data + 1, size - 1, false); break;
	}
	return 0;
}

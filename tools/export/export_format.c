// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_format.h"

#include "format.h"

#define REPLACEMENT 0xfffdU

int export_rows(struct export_session *session, const struct cmt_usage_frame *frame)
{
	const struct export_origin *origin = &session->origin;
	struct export_row row = {
		.node = origin->node, .boot = origin->boot,
		.time_known = origin->clock_known,
		.time_ns = origin->clock_ns + frame->start_ns,
		.frame = frame,
	};

	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		row.row = cmt_usage_row_at(frame, i);
		export_row_name(&row);
		session->format->row(session->out, &row);
		session->rows++;
	}
	session->frames++;
	return session->out->err;
}

unsigned int export_utf8(const char *text, uint32_t *code)
{
	unsigned int len = utf8_decode(text, code);

	if (!len)
		*code = REPLACEMENT;
	return len ? len : 1;
}

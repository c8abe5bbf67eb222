// SPDX-License-Identifier: GPL-2.0-or-later
#include "export_format.h"

#include "common/format.h"

#define REPLACEMENT 0xfffdU

static struct export_row row_at(const struct export_session *session, uint64_t begin_ns)
{
	const struct export_origin *origin = &session->origin;

	return (struct export_row){
		.node = origin->node, .boot = origin->boot,
		.grain_ns = session->grain_ns,
		.since_ns = begin_ns > origin->begin_ns ? begin_ns - origin->begin_ns : 0,
		.time_known = origin->clock_known,
		.time_ns = origin->clock_ns + begin_ns,
	};
}

int export_rows(struct export_session *session, const struct cmt_usage_frame *frame)
{
	struct export_row row = row_at(session, frame->start_ns);

	row.frame = frame;
	for (uint32_t i = 0; i < frame->nr_rows; i++) {
		row.row = cmt_usage_row_at(frame, i);
		export_row_name(&row);
		session->format->row(session, &row);
		session->rows++;
	}
	session->frames++;
	return session->out->err;
}

int export_incident(struct export_session *session, const struct why_incident *incident,
		    bool emulated)
{
	struct export_row row = row_at(session, incident->told->begin_ns);

	row.incident = incident;
	row.emulated = emulated;
	for (row.part = 0; row.part < incident->told->nr_parts; row.part++) {
		session->format->row(session, &row);
		session->rows++;
	}
	return session->out->err;
}

unsigned int export_utf8(const char *text, uint32_t *code)
{
	unsigned int len = utf8_decode(text, code);

	if (!len)
		*code = REPLACEMENT;
	return len ? len : 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that are the same for each request, and what all pages of HTML have. */
#ifndef EXPORTER_ANSWER_H
#define EXPORTER_ANSWER_H

#include <microhttpd.h>

#define ANSWER_HTML "text/html; charset=utf-8"

/* "/" without a report */
enum MHD_Result answer_index(struct MHD_Connection *connection);

/* @text: there for ever, a line of plain text. */
enum MHD_Result answer_refusal(struct MHD_Connection *connection, unsigned int status,
			       const char *text);

/* There is no report; @err: as of http_source.report(). */
enum MHD_Result answer_without_report(struct MHD_Connection *connection, int err);

/* Of a page that nobody else is to show, keep or guess at; @policy: that of its content. */
void answer_headers(struct MHD_Response *response, const char *policy);

#endif

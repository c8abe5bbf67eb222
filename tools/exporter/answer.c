// SPDX-License-Identifier: GPL-2.0-or-later
#include "answer.h"

#include <errno.h>
#include <string.h>

#define PLAIN "text/plain; charset=utf-8"

static const char INDEX[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><title>cmt-exporter</title></head>\n"
	"<body><h1>cmt-exporter</h1>\n"
	"<p>Cache occupancy and memory traffic by container: "
	"<a href=\"/metrics\">metrics</a>.</p></body></html>\n";

static const char BEING_MADE[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><title>cmt-exporter</title></head>\n"
	"<body><p>The page of the last ten minutes is being made.  It will be here in some "
	"seconds.</p></body></html>\n";

static struct MHD_Response *response_new(const char *text, const char *type)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (!response)
		return NULL;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Connection", "close");
	return response;
}

/* Takes @response; NULL: no memory. */
static enum MHD_Result queue(struct MHD_Connection *connection, unsigned int status,
			     struct MHD_Response *response)
{
	enum MHD_Result ret;

	if (!response)
		return MHD_NO;
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

enum MHD_Result answer_index(struct MHD_Connection *connection)
{
	return queue(connection, MHD_HTTP_OK, response_new(INDEX, ANSWER_HTML));
}

enum MHD_Result answer_refusal(struct MHD_Connection *connection, unsigned int status,
			       const char *text)
{
	struct MHD_Response *response = response_new(text, PLAIN);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	return queue(connection, status, response);
}

/* Browsers and curl --retry ask again after a second. */
static enum MHD_Result answer_again(struct MHD_Connection *connection)
{
	struct MHD_Response *response = response_new(BEING_MADE, ANSWER_HTML);

	if (response) {
		answer_headers(response, "default-src 'none'; frame-ancestors 'none'");
		MHD_add_response_header(response, "Refresh", "1");
		MHD_add_response_header(response, "Retry-After", "1");
	}
	return queue(connection, MHD_HTTP_SERVICE_UNAVAILABLE, response);
}

enum MHD_Result answer_without_report(struct MHD_Connection *connection, int err)
{
	if (err == -EAGAIN || err == -ENODATA)
		return answer_again(connection);
	return answer_refusal(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
			      "the page could not be made: see the messages of cmt-exporter, and ask again in a second\n");
}

void answer_headers(struct MHD_Response *response, const char *policy)
{
	MHD_add_response_header(response, "Content-Security-Policy", policy);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
}

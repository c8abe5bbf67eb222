// SPDX-License-Identifier: GPL-2.0-or-later
#include "errors.h"

#include <cmt/cmt.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "format.h"

void error_plain(FILE *out, const char *program, const char *what, int err)
{
	fprintf(out, "%s: %s: %s\n", program, what, strerror(-err));
}

void error_ended(FILE *out, const char *program, const char *path, const char *state)
{
	char shown[4 * PATH_MAX];

	escape_text(shown, sizeof(shown), path ? path : "the output", ESCAPE_ASCII);
	fprintf(out, "%s: ended by a signal; %s %s\n", program, shown, state);
}

static const struct reason *find_reason(const struct reason *reasons, int err)
{
	while (reasons && reasons->err && reasons->err != err)
		reasons++;
	return reasons && reasons->err ? reasons : NULL;
}

static void error_call(FILE *out, const char *program, const char *what,
		       const struct cmt_error *error)
{
	fprintf(out, "%s: %s: %s\n", program, what, error->reason);
	if (error->remedy[0])
		fprintf(out, "%s\n", error->remedy);
}

void error_reason(FILE *out, const char *program, const char *what,
		  uint32_t call, int err, const struct reason *reasons)
{
	const struct reason *reason = find_reason(reasons, err);
	struct cmt_error error = { .sz = sizeof(error) };

	if (!reason) {
		cmt_error_explain(&error, call, err, NULL);
		error_call(out, program, what, &error);
		return;
	}
	fprintf(out, "%s: %s: %s\n", program, what, reason->why);
	if (reason->todo)
		fprintf(out, "%s\n", reason->todo);
}

void error_reader(FILE *out, const char *program, int err)
{
	struct cmt_error error = { .sz = sizeof(error) };

	cmt_error_explain(&error, CMT_CALL_READER, err, NULL);
	error_call(out, program, "cannot read the device", &error);
}

void error_open(FILE *out, const char *program, const char *path, bool control,
		int err)
{
	struct cmt_error error = { .sz = sizeof(error) };
	char shown[4 * PATH_MAX];
	uint32_t call = control ? CMT_CALL_OPEN_CONTROL : CMT_CALL_OPEN;

	path = path ? path : CMT_DEVICE_PATH;
	escape_text(shown, sizeof(shown), path, ESCAPE_ASCII);
	cmt_error_explain(&error, call, err, path);
	error_call(out, program, shown, &error);
}

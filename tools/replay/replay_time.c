// SPDX-License-Identifier: GPL-2.0-or-later
/* Moments of a recording as people write them. */
#include "replay.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <time.h>

#include "common/options.h"

#define SECOND_NS	1000000000
#define SPAN_MAX_NS	(3660ULL * 86400 * SECOND_NS)

/* Two digits, up to @max.  Returns the number, or -EINVAL. */
static int two_digits(const char *text, int max)
{
	int n;

	if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
		return -EINVAL;
	n = (text[0] - '0') * 10 + text[1] - '0';
	return n <= max ? n : -EINVAL;
}

/* "12:30", "12:30:05", "12:30:05.25", and Z or nothing. */
static int parse_daytime(const char *text, int64_t *ns)
{
	int hours = two_digits(text, 23), minutes;
	char seconds[24] = "0";
	uint64_t part;
	size_t len;

	if (hours < 0 || text[2] != ':')
		return -EINVAL;
	minutes = two_digits(text + 3, 59);
	if (minutes < 0)
		return -EINVAL;
	text += 5;
	if (*text == ':') {
		len = strcspn(++text, "Z");
		if (len < 2 || len >= sizeof(seconds) || text[0] == '.' || text[1] == '.')
			return -EINVAL;
		memcpy(seconds, text, len);
		seconds[len] = '\0';
		text += len;
	}
	if (*text == 'Z')
		text++;
	if (*text || parse_seconds(seconds, 0, 61ULL * SECOND_NS - 1, &part))
		return -EINVAL;
	*ns = (hours * 3600LL + minutes * 60) * SECOND_NS + (int64_t)part;
	return 0;
}

/* "2026-11-23" and T or a space. */
static int parse_date(const char *text, int64_t *ns)
{
	struct tm tm = { 0 }, same;
	int century = two_digits(text, 99), year, month, day;
	time_t seconds;

	if (century < 0)
		return -EINVAL;
	year = two_digits(text + 2, 99);
	if (year < 0 || text[4] != '-')
		return -EINVAL;
	month = two_digits(text + 5, 12);
	if (month < 1 || text[7] != '-')
		return -EINVAL;
	day = two_digits(text + 8, 31);
	if (day < 1)
		return -EINVAL;
	tm.tm_year = century * 100 + year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	same = tm;
	seconds = timegm(&same);
	/* the 31st of February */
	if (seconds < 0 || same.tm_mday != day || seconds > INT64_MAX / SECOND_NS - 86400)
		return -EINVAL;
	*ns = (int64_t)seconds * SECOND_NS;
	return 0;
}

static int parse_offset(const char *text, struct replay_time *time)
{
	bool back = *text == '-';
	uint64_t ns;

	if (parse_span(text + (back || *text == '+'), 0, SPAN_MAX_NS, &ns) ||
	    (back && !ns))
		return -EINVAL;
	time->kind = REPLAY_OFFSET;
	time->ns = back ? -(int64_t)ns : (int64_t)ns;
	return 0;
}

int replay_time_parse(const char *text, struct replay_time *time)
{
	int64_t day = 0, ns;

	if (!strchr(text, ':'))
		return parse_offset(text, time);
	if (strlen(text) > 10 && (text[10] == 'T' || text[10] == ' ')) {
		if (parse_date(text, &day) || parse_daytime(text + 11, &ns))
			return -EINVAL;
		*time = (struct replay_time){ REPLAY_REALTIME, day + ns };
		return 0;
	}
	if (parse_daytime(text, &ns))
		return -EINVAL;
	*time = (struct replay_time){ REPLAY_DAYTIME, ns };
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "excerpt.h"

#include <errno.h>
#include <stdio.h>

#include "common/format.h"

int excerpt_set_from(void *config, const char *value)
{
	return replay_time_parse(value, &((struct excerpt *)config)->from);
}

int excerpt_set_to(void *config, const char *value)
{
	return replay_time_parse(value, &((struct excerpt *)config)->to);
}

int excerpt_set_output(void *config, const char *value)
{
	((struct excerpt *)config)->output = value;
	return *value ? 0 : -EINVAL;
}

int excerpt_moment(const struct replay *replay, const struct replay_time *time,
		   const char *program, const char *option, uint64_t *ns)
{
	if (time->kind == REPLAY_UNSET || !replay_moment(replay, time, ns))
		return 0;
	fprintf(stderr, "%s: %s: the recording has no wall-clock time: give an offset, such as +90s\n",
		program, option);
	return -EINVAL;
}

const char *excerpt_all(char buf[EXCERPT_ALL_LEN], const struct replay *replay)
{
	const struct cmt_recording_about *about = &replay->about;
	double length = (double)(about->end_ns - about->start_ns) / 1e9;
	char begin[FORMAT_LEN], end[FORMAT_LEN];

	if (replay->clock_known)
		snprintf(buf, EXCERPT_ALL_LEN, "%.3f s, from %s to %s", length,
			 format_time(begin, (int64_t)about->start_ns + replay->offset_ns),
			 format_time(end, (int64_t)about->end_ns + replay->offset_ns));
	else
		snprintf(buf, EXCERPT_ALL_LEN, "%.3f s", length);
	return buf;
}

int excerpt_find(const struct excerpt *excerpt, const struct replay *replay, const char *program,
		 uint64_t *first_ns, uint64_t *end_ns)
{
	const struct cmt_recording_about *about = &replay->about;
	char all[EXCERPT_ALL_LEN];
	int ret;

	*first_ns = about->start_ns;
	*end_ns = about->end_ns + 1;
	ret = excerpt_moment(replay, &excerpt->from, program, "--from", first_ns);
	if (!ret)
		ret = excerpt_moment(replay, &excerpt->to, program, "--to", end_ns);
	if (*first_ns < about->start_ns)
		*first_ns = about->start_ns;
	if (*end_ns > about->end_ns)
		*end_ns = about->end_ns + 1;
	if (ret || (*first_ns < *end_ns && *first_ns <= about->end_ns))
		return ret;
	fprintf(stderr, "%s: nothing is between --from and --to: the recording has %s\n", program,
		excerpt_all(all, replay));
	return -EINVAL;
}

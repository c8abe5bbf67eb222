/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The excerpt of a recording that is wanted, and where to: options of export and report. */
#ifndef TOOLS_EXCERPT_H
#define TOOLS_EXCERPT_H

#include "replay.h"

/* The first member of a configuration, so that options can set it. */
struct excerpt {
	struct replay_time from, to;
	const char *output;	/* NULL: not given */
};

/* As option_spec.set, of a configuration that begins with an excerpt. */
int excerpt_set_from(void *config, const char *value);
int excerpt_set_to(void *config, const char *value);
int excerpt_set_output(void *config, const char *value);

#define EXCERPT_FROM_HELP "begin at +90s, at 5m before the end (-5m), at 12:30:05, or at a date and time"
#define EXCERPT_WANTED "a moment such as +90s, -5m, 12:30:05 or 2026-11-23T12:30:05Z (UTC)"

/*
 * The time of an option in the time of the recording; *@ns is unchanged without the
 * option.  Prints errors on standard error.  Returns 0 or -EINVAL.
 */
int excerpt_moment(const struct replay *replay, const struct replay_time *time,
		   const char *program, const char *option, uint64_t *ns);

/* "5.000 s, from 2026-11-23T12:30:00.000000Z to 2026-11-23T12:30:05.000000Z" */
#define EXCERPT_ALL_LEN 128
const char *excerpt_all(char buf[EXCERPT_ALL_LEN], const struct replay *replay);

/*
 * Find the excerpt in the recording, by @replay->about: from *@first_ns to before
 * *@end_ns.  Prints errors on standard error.  Returns 0 or -EINVAL.
 */
int excerpt_find(const struct excerpt *excerpt, const struct replay *replay, const char *program,
		 uint64_t *first_ns, uint64_t *end_ns);

#endif

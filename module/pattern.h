/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which cgroups are containers: patterns of their paths, as uapi/cmt.h says at
 * CMT_IOC_SET_SCOPE.  Pure.
 */
#ifndef CMT_PATTERN_H
#define CMT_PATTERN_H

#include <linux/types.h>

#include "uapi/cmt.h"

/* As they were given, with one line feed between them. */
struct cmt_pattern_set {
	u32 bytes;
	char text[CMT_PATTERNS_MAX];
};

/* Those that are in force when nobody set others, terminated. */
extern const char cmt_pattern_defaults[];

/*
 * Read @bytes of @text, which is not terminated.  -EINVAL: *bad_at is the byte
 * that is wrong, and @set is not to be used; -E2BIG: it is too long.
 */
int cmt_pattern_parse(struct cmt_pattern_set *set, const char *text, u32 bytes,
		      u32 *bad_at);

/*
 * @names: the components of a path, @depth of them.  Returns how many of them,
 * from the root on, make the path of the first container; 0: there is none.
 */
u32 cmt_pattern_first(const struct cmt_pattern_set *set,
		      const char *const *names, u32 depth);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patterns of paths decide which cgroups are containers: see CMT_IOC_SET_SCOPE in
 * uapi/cmt.h.  Pure.
 */
#ifndef CMT_PATTERN_H
#define CMT_PATTERN_H

#include <linux/types.h>

#include "uapi/cmt.h"

/* The patterns as they were set, with one line feed between them. */
struct cmt_pattern_set {
	u32 bytes;
	char text[CMT_PATTERNS_MAX];
};

/* The patterns in force until others are set, terminated. */
extern const char cmt_pattern_defaults[];

/*
 * Parse @bytes of @text, which is not terminated.  -EINVAL: *bad_at is the offset of the
 * wrong byte, and @set must not be used; -E2BIG: the text is too long.
 */
int cmt_pattern_parse(struct cmt_pattern_set *set, const char *text, u32 bytes,
		      u32 *bad_at);

/* Which cgroups are owners. */
enum cmt_class {
	CMT_CLASS_NONE,
	CMT_CLASS_CONTAINER,
	CMT_CLASS_SERVICE,	/* of the lower class: a pattern with '~' */
};

/*
 * @names: the @depth components of the path of a cgroup.  Returns the class of that cgroup.
 * A path has one container at most, and a service at most, which is above the container.
 */
enum cmt_class cmt_pattern_class(const struct cmt_pattern_set *set,
				 const char *const *names, u32 depth);

#endif

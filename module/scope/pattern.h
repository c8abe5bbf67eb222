/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Patterns of paths decide which cgroups are containers: see CMT_IOC_SET_SCOPE in
 * uapi/cmt.h.  Pure.
 */
#ifndef CMT_PATTERN_H
#define CMT_PATTERN_H

#include <linux/types.h>

#include "uapi/cmt.h"

/* The patterns in the order of the caller, with one line feed between them. */
struct cmt_pattern_set {
	u32 bytes;
	char text[CMT_PATTERNS_MAX];
};

/* The patterns until a caller sets others; terminated. */
extern const char cmt_pattern_defaults[];

/*
 * Parse @bytes of @text, which is not terminated.  -EINVAL: *bad_at is the offset of
 * the first error, and @set must not be used.  -E2BIG: the text is too long.
 */
int cmt_pattern_parse(struct cmt_pattern_set *set, const char *text, u32 bytes,
		      u32 *bad_at);

/* Classes of cgroups.  A cgroup without a class is no owner. */
enum cmt_class {
	CMT_CLASS_NONE,
	CMT_CLASS_CONTAINER,
	CMT_CLASS_SERVICE,	/* the lower class: a pattern with '~' */
};

/*
 * The class of a cgroup.  @names: the @depth components of its path.  A path has at
 * most one container, and at most one service, which is above the container.
 */
enum cmt_class cmt_pattern_class(const struct cmt_pattern_set *set,
				 const char *const *names, u32 depth);

#endif

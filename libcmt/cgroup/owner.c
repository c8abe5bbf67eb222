// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

bool cmt_cgroup_made_by_root(int root_fd, const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	size_t n = slash ? (size_t)(slash - path) : 0;
	char above[PATH_MAX] = ".";
	struct stat root, st;

	if (n + 1 >= sizeof(above))
		return false;
	/* "./system.slice": the path begins with a slash */
	memcpy(above + 1, path, n);
	above[1 + n] = '\0';
	return !fstatat(root_fd, ".", &root, 0) &&
	       !fstatat(root_fd, above, &st, AT_SYMLINK_NOFOLLOW) && st.st_uid == root.st_uid;
}

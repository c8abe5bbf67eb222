// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmt/cmt.h>

const char *cmt_version(void)
{
	return CMT_VERSION;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "errors.h"

#include <cmt/cmt.h>
#include <errno.h>
#include <grp.h>
#include <string.h>
#include <sys/stat.h>

void error_plain(FILE *out, const char *program, const char *what, int err)
{
	fprintf(out, "%s: %s: %s\n", program, what, strerror(-err));
}

void error_reason(FILE *out, const char *program, const char *what, int err,
		  const struct reason *reasons)
{
	while (reasons->err && reasons->err != err)
		reasons++;
	if (!reasons->err) {
		error_plain(out, program, what, err);
		return;
	}
	fprintf(out, "%s: %s: %s\n", program, what, reasons->why);
	if (reasons->todo)
		fprintf(out, "%s\n", reasons->todo);
}

static void say_missing(FILE *out, const char *program, const char *path)
{
	fprintf(out,
		"%s: %s: not there: the cmt module is not loaded\n"
		"Load it, as root: modprobe cmt\n", program, path);
}

/* The group is whatever the administrator's udev rules made it: ask the file. */
static void say_denied(FILE *out, const char *program, const char *path,
		       bool control)
{
	mode_t needed = control ? S_IWGRP : S_IRGRP;
	const struct group *group = NULL;
	struct stat st;

	fprintf(out, "%s: %s: permission denied\n", program, path);
	if (!stat(path, &st) && (st.st_mode & needed) && st.st_gid)
		group = getgrgid(st.st_gid);
	if (group)
		fprintf(out,
			"It belongs to group '%s'. Join it and log in again, as root: usermod -aG %s USER\n",
			group->gr_name, group->gr_name);
	else
		fprintf(out,
			"Only root may %s it: run %s as root\n",
			control ? "change" : "read", program);
}

static void say_abi(FILE *out, const char *program, const char *path)
{
	uint32_t abi;

	fprintf(out, "%s: %s: ", program, path);
	if (cmt_device_abi(path, &abi))
		fprintf(out, "the module speaks another ABI");
	else
		fprintf(out, "the module speaks ABI %u.%u", abi >> 16,
			abi & 0xffff);
	fprintf(out,
		", this program ABI %d.%d\n"
		"Install the module and the tools of one release, then reload the module\n",
		CMT_ABI_MAJOR, CMT_ABI_MINOR);
}

void error_open(FILE *out, const char *program, const char *path, bool control,
		int err)
{
	path = path ? path : CMT_DEVICE_PATH;
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		say_missing(out, program, path);
		break;
	case -EACCES:
	case -EPERM:
		say_denied(out, program, path, control);
		break;
	case -EPROTONOSUPPORT:
		say_abi(out, program, path);
		break;
	case -ENOTTY:
		fprintf(out, "%s: %s: not a cmt device\n", program, path);
		break;
	case -EPROTO:
		fprintf(out,
			"%s: %s: the module's answers contradict each other: not a cmt device, or a damaged module\n",
			program, path);
		break;
	default:
		error_plain(out, program, path, err);
	}
}

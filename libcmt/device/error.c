// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cmt/error.h>

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "device.h"

#define RELEASE \
	"Install the module and the library of one release, then reload the module"
#define CONTROL \
	"This takes CAP_SYS_ADMIN or CAP_PERFMON, which root has"

/* The meaning of an error after some call */
struct meaning {
	int err;		/* 0 ends a table */
	const char *reason;
	const char *remedy;	/* NULL: none */
};

static const struct meaning open_meanings[] = {
	{ -ENOTTY, "not a cmt device", "The device of the cmt module is " CMT_DEVICE_PATH },
	{ -EPROTO, "the module's answers contradict each other: not a cmt device, or a damaged module",
	  NULL },
	{ 0, NULL, NULL },
};

static const struct meaning control_meanings[] = {
	{ -EBADF, "the device is not open for writing",
	  "Open the device with CMT_OPEN_CONTROL" },
	{ -EPERM, "not permitted", CONTROL },
	{ -ENOTTY, "the module is older than this program", RELEASE },
	{ 0, NULL, NULL },
};

static const struct meaning attach_meanings[] = {
	{ -ESRCH, "there is no such process",
	  "The process has ended, or the number is that of a thread or of the kernel" },
	{ -ENOENT, "there is no such cgroup", NULL },
	{ -ENXIO, "there is no such CPU, or the CPU is offline",
	  "CPUs that are online are in /sys/devices/system/cpu/online" },
	{ -EEXIST, "already attached",
	  "To attach in another way, detach first" },
	{ -ENOSPC, "too many owners are attached",
	  "Detach some: cmtctl show lists what is attached" },
	{ -EINVAL, "the module cannot attach this", NULL },
	{ 0, NULL, NULL },
};

static const struct meaning detach_meanings[] = {
	{ -ENOENT, "not attached", "cmtctl show lists what is attached" },
	{ -ESRCH, "there is no such process",
	  "The RMID of a process is released when the process ends" },
	{ -ENXIO, "there is no such CPU", NULL },
	{ 0, NULL, NULL },
};

static const struct meaning reader_meanings[] = {
	{ -EBUSY, "the device has a reader",
	  "Free that reader, or open the device again" },
	{ -ENOMEM, "not enough memory to map the rings", NULL },
	{ -EPERM, "to keep the counters from other programs takes CAP_PERFMON, and the device was opened without CAP_PERFMON",
	  "Start the program again, as root, or in a service with CapabilityBoundingSet=CAP_PERFMON and AmbientCapabilities=CAP_PERFMON, or without --counters-first (CMT_F_COUNTERS_FIRST)" },
	{ -EXDEV, "this process is in a time namespace whose CLOCK_MONOTONIC is not the kernel's",
	  "Run the program in the host's time namespace: as root, nsenter --time -t 1 PROGRAM" },
	{ 0, NULL, NULL },
};

static const struct meaning resctrl_meanings[] = {
	{ -ENOENT, "resctrl is not mounted there",
	  "Mount resctrl, as root: mount -t resctrl resctrl /sys/fs/resctrl" },
	{ -EOPNOTSUPP, "resctrl monitors no L3 cache here: the processor, the kernel or the hypervisor has no such counters",
	  NULL },
	{ -EACCES, "the files of resctrl may not be read", "Run the program as root" },
	{ -ENODEV, "resctrl was unmounted", NULL },
	{ 0, NULL, NULL },
};

/* The meanings of an errno for all calls of libcmt */
static const struct meaning meanings[] = {
	{ -EBADF, "the device is not open for writing", NULL },
	{ -EINTR, "interrupted by a signal", NULL },
	{ -ENODEV, "the device is gone: the cmt module was unloaded", NULL },
	{ -ENOTTY, "not a cmt device, or a module that is older than this program",
	  NULL },
	{ -EPROTO, "the module's answers contradict each other", NULL },
	{ -EPROTONOSUPPORT, "the module speaks another version of the ABI",
	  RELEASE },
	{ -ESTALE, "the event is from before the last advance", NULL },
	{ 0, NULL, NULL },
};

static const struct meaning *find(const struct meaning *table, int err)
{
	while (table->err && table->err != err)
		table++;
	return table->err ? table : NULL;
}

static const char *describe(int err)
{
	const char *text = err <= 0 && err > INT_MIN ? strerrordesc_np(-err) : NULL;

	return text ? text : "unknown error";
}

const char *cmt_strerror(int err)
{
	const struct meaning *meaning = err ? find(meanings, err) : NULL;

	return meaning ? meaning->reason : describe(err);
}

__attribute__((format(printf, 3, 4)))
static void set_text(char *to, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(to, size, format, args);
	va_end(args);
}

#define SET_REASON(error, ...) \
	set_text((error)->reason, sizeof((error)->reason), __VA_ARGS__)
#define SET_REMEDY(error, ...) \
	set_text((error)->remedy, sizeof((error)->remedy), __VA_ARGS__)

/* Is @gid the number of the group in a line of /etc/group?  Cut after its name. */
static bool group_line(char *line, gid_t gid)
{
	char *password = strchr(line, ':');
	char *number = password ? strchr(password + 1, ':') : NULL;
	char *end;

	if (!number || number[1] < '0' || number[1] > '9')
		return false;
	*password = '\0';
	return strtoul(number + 1, &end, 10) == gid && *end == ':';
}

/* Not getgrgid_r(), which may ask a directory service and wait for it. */
static bool group_name(gid_t gid, char *name, size_t size)
{
	FILE *file = fopen("/etc/group", "re");
	char *line = NULL;
	bool found = false;
	size_t room = 0;

	while (file && !found && getline(&line, &room, file) >= 0)
		found = group_line(line, gid);
	if (found)
		cmt_printable(name, size, line, strlen(line));
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* The group is whatever the administrator's udev rules made it: ask the file. */
static void explain_denied(struct cmt_error *error, const char *path,
			   bool control)
{
	mode_t needed = control ? S_IWGRP : S_IRGRP;
	const char *verb = control ? "change" : "read";
	char name[64];
	struct stat st;

	SET_REASON(error, "permission denied");
	if (stat(path, &st)) {
		SET_REMEDY(error, "Root and the group of the device may %s the device",
			   verb);
	} else if (!(st.st_mode & needed) || !st.st_gid) {
		SET_REMEDY(error, "Only root may %s the device", verb);
	} else if (!group_name(st.st_gid, name, sizeof(name))) {
		SET_REMEDY(error,
			   "The device belongs to group %u, which /etc/group does not name: join the group, or be root",
			   (unsigned int)st.st_gid);
	} else {
		SET_REMEDY(error,
			   "The device belongs to group '%s'. Join the group and log in again, as root: usermod -aG %s USER",
			   name, name);
	}
}

static void explain_abi(struct cmt_error *error, const char *path)
{
	char module[32] = "another ABI";
	uint32_t abi;

	if (!cmt_device_abi(path, &abi))
		snprintf(module, sizeof(module), "ABI %u.%u", abi >> 16,
			 abi & 0xffff);
	SET_REASON(error, "the module speaks %s, this library ABI %d.%d", module,
		   CMT_ABI_MAJOR, CMT_ABI_MINOR);
	SET_REMEDY(error, RELEASE);
}

static void explain_missing(struct cmt_error *error, int err, const char *path)
{
	/* what is at another path is not for the module to make */
	if (err == -ENOENT && strcmp(path, CMT_DEVICE_PATH)) {
		SET_REASON(error, "%s", describe(err));
		SET_REMEDY(error, "The device of the cmt module is " CMT_DEVICE_PATH);
		return;
	}
	SET_REASON(error, "not there: the cmt module is not loaded");
	SET_REMEDY(error, "Load the module, as root: modprobe cmt");
}

/* Explain errors that depend on the device at @path. */
static bool explain_open(struct cmt_error *error, int err, const char *path,
			 bool control)
{
	switch (err) {
	case -ENOENT:
	case -ENXIO:
	case -ENODEV:
		explain_missing(error, err, path);
		return true;
	case -EACCES:
	case -EPERM:
		explain_denied(error, path, control);
		return true;
	case -EPROTONOSUPPORT:
		explain_abi(error, path);
		return true;
	default:
		return false;
	}
}

/* @call: CMT_CALL_*.  The second table is for calls that control the module. */
static const struct meaning *meaning_of(uint32_t call, int err)
{
	static const struct meaning *const tables[] = {
		[CMT_CALL_OTHER] = meanings,
		[CMT_CALL_OPEN] = open_meanings,
		[CMT_CALL_OPEN_CONTROL] = open_meanings,
		[CMT_CALL_CONTROL] = control_meanings,
		[CMT_CALL_ATTACH] = attach_meanings,
		[CMT_CALL_DETACH] = detach_meanings,
		[CMT_CALL_READER] = reader_meanings,
		[CMT_CALL_RESCTRL] = resctrl_meanings,
	};
	const struct meaning *meaning;

	if (call >= sizeof(tables) / sizeof(tables[0]))
		call = CMT_CALL_OTHER;
	meaning = find(tables[call], err);
	if (!meaning && (call == CMT_CALL_ATTACH || call == CMT_CALL_DETACH))
		meaning = find(control_meanings, err);
	return meaning ? meaning : find(meanings, err);
}

int cmt_error_explain(struct cmt_error *error, uint32_t call, int err,
		      const char *path)
{
	struct cmt_error known = { .sz = sizeof(known) };
	bool control = call == CMT_CALL_OPEN_CONTROL;
	const struct meaning *meaning;

	if (!cmt_sz_possible(error->sz))
		return -EINVAL;
	if (!(control || call == CMT_CALL_OPEN) ||
	    !explain_open(&known, err, path ? path : CMT_DEVICE_PATH, control)) {
		meaning = meaning_of(call, err);
		SET_REASON(&known, "%s", meaning ? meaning->reason :
						   describe(err));
		SET_REMEDY(&known, "%s", meaning && meaning->remedy ?
						 meaning->remedy : "");
	}
	return cmt_out_copy(error, &known, sizeof(known));
}

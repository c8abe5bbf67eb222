// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cgroups.h"
#include "errors.h"
#include "fields.h"
#include "format.h"

#define SAY_CONTROL \
	"It takes CAP_SYS_ADMIN or CAP_PERFMON: run cmtctl as root"
#define SAY_RELEASE \
	"Install the module and the tools of one release, then reload the module"

static const struct reason attach_reasons[] = {
	{ -EPERM, "not permitted", SAY_CONTROL },
	{ -ESRCH, "there is no such process",
	  "It has ended, or the number is that of a thread or of the kernel" },
	{ -ENOENT, "there is no such cgroup", NULL },
	{ -ENXIO, "there is no such CPU, or it is offline",
	  "Those that are online are in /sys/devices/system/cpu/online" },
	{ -EEXIST, "it is attached already",
	  "To attach it in another way, detach it before" },
	{ -ENOSPC, "too many owners are attached",
	  "Detach some: cmtctl show says what is attached" },
	{ -EINVAL, "the module cannot attach this", NULL },
	{ -ENOTTY, "the module is older than this program", SAY_RELEASE },
	{ 0, NULL, NULL },
};

static const struct reason detach_reasons[] = {
	{ -EPERM, "not permitted", SAY_CONTROL },
	{ -ENOENT, "it is not attached", "cmtctl show says what is" },
	{ -ESRCH, "there is no such process",
	  "What it had went back when it ended" },
	{ -ENXIO, "there is no such CPU", NULL },
	{ -ENOTTY, "the module is older than this program", SAY_RELEASE },
	{ 0, NULL, NULL },
};

static const struct reason cgroup_reasons[] = {
	{ -ENOENT, "there is no such cgroup",
	  "A path is as /proc/PID/cgroup has it, or that of a directory below the cgroup version 2 mount" },
	{ -EXDEV, "it is not below the cgroup version 2 mount", NULL },
	{ -ENODEV, "cgroup version 2 is not mounted", NULL },
	{ 0, NULL, NULL },
};

static const struct {
	const char *word;	/* as the operand has it */
	uint32_t kind;
	uint64_t min, max;	/* of a number */
} kinds[] = {
	{ "pid", CMT_OWNER_PROCESS, 1, INT32_MAX },
	{ "cgroup", CMT_OWNER_CGROUP, 0, 0 },
	{ "cpu", CMT_OWNER_CPU, 0, UINT32_MAX },
};

static const char *word_of(uint32_t kind)
{
	return kinds[kind - 1].word;
}

static int check_id(unsigned int kind, const char *id)
{
	uint64_t number;

	if (kinds[kind].kind == CMT_OWNER_CGROUP)
		return *id ? 0 : -EINVAL;
	return parse_u64(id, kinds[kind].min, kinds[kind].max, &number);
}

int ctl_attach_operands(struct ctl *ctl, char **operands, int nr)
{
	unsigned int i;

	if (nr < 2)
		return options_usage(&cmtctl_program, stderr,
			"attach and detach take pid NUMBER, cgroup PATH or cpu NUMBER");
	for (i = 0; i < 3; i++)
		if (!strcmp(operands[0], kinds[i].word))
			break;
	if (i == 3)
		return options_usage(&cmtctl_program, stderr,
			"'%s' is not pid, cgroup or cpu", operands[0]);
	if (check_id(i, operands[1]))
		return options_usage(&cmtctl_program, stderr,
			"'%s' is not a %s", operands[1], i ? i == 1 ?
			"path" : "CPU number" : "process id");
	if (ctl->config->children && kinds[i].kind != CMT_OWNER_PROCESS)
		return options_usage(&cmtctl_program, stderr,
			"--children: only a process has children");
	ctl->kind = kinds[i].kind;
	ctl->id = operands[1];
	ctl->control = true;
	return 0;
}

/* What the module is asked for. */
static int find_id(const struct ctl *ctl, uint64_t *id)
{
	struct cgroup_mount mount;

	if (ctl->kind != CMT_OWNER_CGROUP)
		return parse_u64(ctl->id, 0, UINT32_MAX, id);
	cgroup_find(&mount);
	return mount.path[0] ? cgroup_id(mount.path, ctl->id, id) : -ENODEV;
}

/* "cannot attach cgroup /x", and why not.  Returns EXIT_RUNTIME. */
static int refuse(const struct ctl *ctl, const char *verb, int err,
		  const struct reason *reasons)
{
	char what[4 * PATH_MAX + 64], id[4 * PATH_MAX];

	escape_text(id, sizeof(id), ctl->id, ESCAPE_ASCII);
	snprintf(what, sizeof(what), "cannot %s %s %s", verb,
		 word_of(ctl->kind), id);
	error_reason(stderr, "cmtctl", what, err, reasons);
	return EXIT_RUNTIME;
}

/* An RMID that is everybody's who waits, or none at all, is not its own. */
static int find_waiting(const struct ctl *ctl,
			const struct cmt_attached *attached, bool *waits)
{
	struct cmt_snapshot *snapshot;
	uint32_t i;
	int ret = cmt_device_snapshot(ctl->dev, &snapshot);

	if (ret)
		return ret;
	*waits = attached->rmid == CMT_RMID_NONE;
	for (i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = &snapshot->records[i];

		*waits |= record->rmid == attached->rmid &&
			  record->flags & CMT_F_OWNER_REST;
	}
	free(snapshot);
	return 0;
}

static int print_json(const struct ctl *ctl, uint64_t id,
		      const struct cmt_attached *attached, bool waits)
{
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "kind", ctl->kind == CMT_OWNER_PROCESS ?
				     "process" : word_of(ctl->kind));
	fields_number(&fields, "id", id, NULL);
	fields_bool(&fields, "attached", attached != NULL);
	if (attached) {
		fields_number(&fields, "rmid", attached->rmid, NULL);
		fields_number(&fields, "generation", attached->generation,
			      NULL);
		fields_bool(&fields, "waiting", waits);
	}
	return fields_end(&fields);
}

static void print_text(const struct ctl *ctl,
		       const struct cmt_attached *attached, bool waits)
{
	char id[4 * PATH_MAX];

	escape_text(id, sizeof(id), ctl->id, ESCAPE_ASCII);
	printf("%s %s: ", word_of(ctl->kind), id);
	if (!attached)
		printf("detached\n");
	else if (waits)
		printf("waits for an RMID, and counts in RMID %u until then\n",
		       attached->rmid);
	else
		printf("RMID %u, generation %u\n", attached->rmid,
		       attached->generation);
}

static int print_result(const struct ctl *ctl, uint64_t id,
			const struct cmt_attached *attached, bool waits)
{
	if (ctl->json)
		return print_json(ctl, id, attached, waits);
	print_text(ctl, attached, waits);
	return 0;
}

int ctl_attach(const struct ctl *ctl, const char **what)
{
	uint32_t options = ctl->config->children ? CMT_ATTACH_CHILDREN : 0;
	struct cmt_attached attached;
	bool waits;
	uint64_t id;
	int ret = find_id(ctl, &id);

	if (ret)
		return refuse(ctl, "attach", ret, cgroup_reasons);
	ret = cmt_device_attach(ctl->dev, ctl->kind, id, options, &attached);
	if (ret)
		return refuse(ctl, "attach", ret, attach_reasons);
	*what = "it is attached, but cannot read who owns the RMIDs";
	ret = find_waiting(ctl, &attached, &waits);
	if (ret)
		return ret;
	*what = "cannot print";
	return print_result(ctl, id, &attached, waits);
}

int ctl_detach(const struct ctl *ctl, const char **what)
{
	uint64_t id;
	int ret = find_id(ctl, &id);

	if (ret)
		return refuse(ctl, "detach", ret, cgroup_reasons);
	ret = cmt_device_detach(ctl->dev, ctl->kind, id);
	if (ret)
		return refuse(ctl, "detach", ret, detach_reasons);
	*what = "cannot print";
	return print_result(ctl, id, NULL, false);
}

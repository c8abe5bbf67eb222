// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cgroups.h"
#include "common/errors.h"
#include "common/fields.h"
#include "common/format.h"

/* Of the search for a cgroup, before the module is asked. */
static const struct reason cgroup_reasons[] = {
	{ -ENOENT, "there is no such cgroup",
	  "Give the path from /proc/PID/cgroup, or that of a directory below the cgroup version 2 mount" },
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

const char *owner_word(uint32_t kind)
{
	return kinds[kind - 1].word;
}

const char *owner_kind(uint32_t kind)
{
	return kind == CMT_OWNER_PROCESS ? "process" : owner_word(kind);
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
			"attach, detach and measure take pid NUMBER, cgroup PATH or cpu NUMBER");
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

int owner_id(const struct ctl *ctl, uint64_t *id)
{
	struct cgroup_mount mount;

	if (ctl->kind != CMT_OWNER_CGROUP)
		return parse_u64(ctl->id, 0, UINT32_MAX, id);
	cgroup_find(&mount);
	return mount.path[0] ? cgroup_id(mount.path, ctl->id, id) : -ENODEV;
}

static int refuse(const struct ctl *ctl, const char *verb, uint32_t call,
		  int err, const struct reason *reasons)
{
	char what[4 * PATH_MAX + 64], id[4 * PATH_MAX];

	escape_text(id, sizeof(id), ctl->id, ESCAPE_ASCII);
	snprintf(what, sizeof(what), "cannot %s %s %s", verb,
		 owner_word(ctl->kind), id);
	error_reason(stderr, "cmtctl", what, call, err, reasons);
	return EXIT_RUNTIME;
}

int owner_refused(const struct ctl *ctl, const char *verb, uint32_t call,
		  int err)
{
	return refuse(ctl, verb, call, err, NULL);
}

int owner_not_found(const struct ctl *ctl, const char *verb, int err)
{
	return refuse(ctl, verb, CMT_CALL_OTHER, err, cgroup_reasons);
}

/* A pending owner counts in the overflow RMID, or in RMID 0. */
static int find_pending(const struct ctl *ctl,
			const struct cmt_attached *attached, bool *pending)
{
	struct cmt_snapshot *snapshot;
	uint32_t i;
	int ret = cmt_device_snapshot(ctl->dev, &snapshot);

	if (ret)
		return ret;
	*pending = attached->rmid == CMT_RMID_NONE;
	for (i = 0; i < snapshot->count; i++) {
		const struct cmt_record *record = cmt_snapshot_at(snapshot, i);

		*pending |= record->rmid == attached->rmid &&
			  record->flags & CMT_F_OWNER_OVERFLOW;
	}
	cmt_snapshot_free(snapshot);
	return 0;
}

static int print_json(const struct ctl *ctl, uint64_t id,
		      const struct cmt_attached *attached, bool pending)
{
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "kind", owner_kind(ctl->kind));
	fields_number(&fields, "id", id, NULL);
	fields_bool(&fields, "attached", attached != NULL);
	if (attached) {
		fields_number(&fields, "rmid", attached->rmid, NULL);
		fields_number(&fields, "generation", attached->generation,
			      NULL);
		fields_bool(&fields, "pending", pending);
	}
	return fields_end(&fields);
}

static void print_text(const struct ctl *ctl,
		       const struct cmt_attached *attached, bool pending)
{
	char id[4 * PATH_MAX];

	escape_text(id, sizeof(id), ctl->id, ESCAPE_ASCII);
	printf("%s %s: ", owner_word(ctl->kind), id);
	if (!attached)
		printf("detached\n");
	else if (pending)
		printf("pending, and counts in RMID %u until an RMID is free\n",
		       attached->rmid);
	else
		printf("RMID %u, generation %u\n", attached->rmid,
		       attached->generation);
}

static int print_result(const struct ctl *ctl, uint64_t id,
			const struct cmt_attached *attached, bool pending)
{
	if (ctl->json)
		return print_json(ctl, id, attached, pending);
	print_text(ctl, attached, pending);
	return 0;
}

int ctl_attach(const struct ctl *ctl, const char **what)
{
	uint32_t options = ctl->config->children ? CMT_ATTACH_CHILDREN : 0;
	struct cmt_attached attached = { .sz = sizeof(attached) };
	bool pending;
	uint64_t id;
	int ret = owner_id(ctl, &id);

	if (ret)
		return owner_not_found(ctl, "attach", ret);
	ret = cmt_device_attach(ctl->dev, ctl->kind, id, options, &attached);
	if (ret)
		return owner_refused(ctl, "attach", CMT_CALL_ATTACH, ret);
	*what = "attached, but cannot read the owners of RMIDs";
	ret = find_pending(ctl, &attached, &pending);
	if (ret)
		return ret;
	*what = "cannot print";
	return print_result(ctl, id, &attached, pending);
}

int ctl_detach(const struct ctl *ctl, const char **what)
{
	uint64_t id;
	int ret = owner_id(ctl, &id);

	if (ret)
		return owner_not_found(ctl, "detach", ret);
	ret = cmt_device_detach(ctl->dev, ctl->kind, id);
	if (ret)
		return owner_refused(ctl, "detach", CMT_CALL_DETACH, ret);
	*what = "cannot print";
	return print_result(ctl, id, NULL, false);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "common/fields.h"

static const struct {
	const char *name;
	uint32_t mode;
} modes[] = {
	{ "respect", CMT_RESCTRL_RESPECT },
	{ "take", CMT_RESCTRL_TAKE },
};

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

const char *resctrl_name(uint32_t mode)
{
	unsigned int i;

	for (i = 0; i < NR_MODES; i++)
		if (modes[i].mode == mode)
			return modes[i].name;
	return "unknown";
}

int ctl_resctrl_operands(struct ctl *ctl, char **operands, int nr)
{
	unsigned int i;

	if (!nr)
		return 0;
	for (i = 0; i < NR_MODES; i++)
		if (!strcmp(operands[0], modes[i].name))
			break;
	if (i == NR_MODES)
		return options_usage(&cmtctl_program, stderr,
			"'%s' is not respect or take", operands[0]);
	ctl->resctrl = modes[i].mode;
	ctl->control = true;
	return 0;
}

static const struct reason set_reasons[] = {
	{ -EINVAL, "the module does not know this mode", ERROR_RELEASE },
	{ 0, NULL, NULL },
};

/* Returns EXIT_RUNTIME where the message was printed here. */
static int set_mode(const struct ctl *ctl, const char **what)
{
	int ret = cmt_device_set_resctrl(ctl->dev, ctl->resctrl);

	*what = ctl->resctrl == CMT_RESCTRL_TAKE ?
		"cannot take the RMIDs of tasks in resctrl groups" :
		"cannot let tasks in resctrl groups keep their RMIDs";
	if (ret != -EINVAL)
		return ret;
	error_reason(stderr, "cmtctl", *what, CMT_CALL_CONTROL, ret, set_reasons);
	return EXIT_RUNTIME;
}

static int print_mode(const struct ctl *ctl, uint32_t mode, bool mounted)
{
	struct fields fields;
	int ret = fields_begin(&fields, ctl->json);

	if (ret)
		return ret;
	fields_text(&fields, "resctrl", resctrl_name(mode));
	fields_bool(&fields, "resctrl_mounted", mounted);
	return fields_end(&fields);
}

int ctl_resctrl(const struct ctl *ctl, const char **what)
{
	uint32_t mode;
	bool mounted;
	int ret = ctl->resctrl ? set_mode(ctl, what) : 0;

	if (ret)
		return ret;
	*what = "cannot read the resctrl mode";
	ret = cmt_device_resctrl(ctl->dev, &mode, &mounted);
	if (ret)
		return ret;
	*what = "cannot print";
	return print_mode(ctl, mode, mounted);
}

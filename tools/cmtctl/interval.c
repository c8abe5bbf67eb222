// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include "common/fields.h"
#include "common/format.h"

int ctl_interval_operands(struct ctl *ctl, char **operands, int nr)
{
	ctl->control = nr > 0;
	if (!nr || !parse_duration(operands[0], &ctl->interval_ns))
		return 0;
	return options_usage(&cmtctl_program, stderr,
			     "'%s' is not a number with ns, us, ms or s",
			     operands[0]);
}

static int print_interval(const struct ctl *ctl, uint32_t interval_ns)
{
	char text[FORMAT_LEN];
	struct fields fields;
	int ret;

	format_duration(text, interval_ns);
	if (!ctl->json) {
		printf("%s\n", text);
		return 0;
	}
	ret = fields_begin(&fields, true);
	if (ret)
		return ret;
	fields_number(&fields, "interval_ns", interval_ns, NULL);
	return fields_end(&fields);
}

/* Its range is the module's matter. */
int ctl_interval(const struct ctl *ctl, const char **what)
{
	uint64_t wanted_ns = ctl->interval_ns;
	uint32_t interval_ns;
	int ret;

	if (ctl->control) {
		*what = "cannot set the interval";
		ret = cmt_device_set_interval(ctl->dev,
			wanted_ns > UINT32_MAX ? UINT32_MAX :
						 (uint32_t)wanted_ns);
		if (ret)
			return ret;
	}
	*what = "cannot read the interval";
	ret = cmt_device_interval(ctl->dev, &interval_ns);
	if (ret)
		return ret;
	*what = "cannot print";
	return print_interval(ctl, interval_ns);
}

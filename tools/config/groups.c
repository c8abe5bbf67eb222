// SPDX-License-Identifier: GPL-2.0-or-later
#include "groups.h"

#include "common/origin.h"

bool view_exists(enum view by, bool light, bool groups)
{
	return !(light && (by == VIEW_CPU || by == VIEW_CHANNEL)) &&
	       !(groups && !groups_have(by));
}

bool groups_have(enum view by)
{
	return by == VIEW_CONTAINER || by == VIEW_DOMAIN;
}

/* NULL, or why @config cannot be shown */
static const char *lacking(const struct config *config, bool live)
{
	if (config->by == VIEW_PROCESS || config->expand)
		return "resctrl counts groups, and no processes";
	if (config->by == VIEW_CPU)
		return "resctrl does not say what runs on a CPU";
	if (config->by == VIEW_CHANNEL)
		return "resctrl does not count memory channels";
	if (config->why)
		return "--why follows each millisecond, and resctrl is read some 10 times a second";
	if (config->light)
		return "--light is for the module: resctrl is read without any sampling";
	if (live && config->interval_ns < GROUPS_INTERVAL_MIN_NS)
		return "--interval: resctrl is read so often that 0.02 is the least";
	return NULL;
}

int groups_check(const struct config *config, const struct cmt_info *info, bool live)
{
	const char *why = origin_is_resctrl(info) ? lacking(config, live) : NULL;

	if (!why)
		return 0;
	fprintf(stderr, "cmtstat: %s\n", why);
	fprintf(stderr, "Groups of resctrl are shown --by container and --by domain; the cmt module shows more: modprobe cmt\n");
	return EXIT_RUNTIME;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <cmt/cmt.h>
#include <stddef.h>

static const struct {
	const char *name, *title;
} vendors[] = {
	[CMT_VENDOR_OTHER] = { "other", "other" },
	[CMT_VENDOR_INTEL] = { "intel", "Intel" },
	[CMT_VENDOR_AMD] = { "amd", "AMD" },
	[CMT_VENDOR_HYGON] = { "hygon", "Hygon" },
};

static const char *const backends[] = {
	[CMT_BACKEND_HARDWARE] = "hardware",
	[CMT_BACKEND_EMULATED] = "emulated",
	[CMT_BACKEND_SOFTWARE] = "software",
};

const char *backend_name(uint32_t backend)
{
	if (backend == CMT_BACKEND_RESCTRL)
		return "resctrl";
	return backend >= CMT_BACKEND_HARDWARE &&
	       backend <= CMT_BACKEND_SOFTWARE ? backends[backend] : "unknown";
}

const char *vendor_name(uint32_t vendor)
{
	return vendor <= CMT_VENDOR_HYGON ? vendors[vendor].name : "unknown";
}

const char *vendor_title(uint32_t vendor)
{
	return vendor <= CMT_VENDOR_HYGON ? vendors[vendor].title : "unknown";
}

const char *culprit_kind_name(enum cmt_culprit_kind kind)
{
	static const char *const names[] = {
		[CMT_CULPRIT_NONE] = "none",
		[CMT_CULPRIT_CACHE] = "cache",
		[CMT_CULPRIT_BANDWIDTH] = "bandwidth",
		[CMT_CULPRIT_THROTTLED] = "throttled",
		[CMT_CULPRIT_WAIT] = "wait",
		[CMT_CULPRIT_STOLEN] = "stolen",
	};

	return kind <= CMT_CULPRIT_STOLEN ? names[kind] : "unknown";
}

const char *usage_why_name(uint32_t why)
{
	static const struct {
		uint32_t why;
		const char *name;
	} reasons[] = {
		{ CMT_USAGE_WHY_ERROR, "error" },
		{ CMT_USAGE_WHY_UNAVAILABLE, "unavailable" },
		{ CMT_USAGE_WHY_ENDED, "ended" },
		{ CMT_USAGE_WHY_GAP, "gap" },
		{ CMT_USAGE_WHY_FIRST, "first-reading" },
		{ CMT_USAGE_WHY_PENDING, "pending" },
		{ CMT_USAGE_WHY_OVERWRITTEN, "rmid-overwritten" },
		{ CMT_USAGE_WHY_OLD, "old" },
		{ CMT_USAGE_WHY_EXCLUDED, "cpu-excluded" },
	};
	size_t i;

	for (i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (why & reasons[i].why)
			return reasons[i].name;
	return NULL;
}

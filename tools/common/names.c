// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#include <uapi/cmt.h>

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

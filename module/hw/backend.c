// SPDX-License-Identifier: GPL-2.0
/* The choice of the backend, and its capabilities */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "hw.h"

const struct cmt_backend *cmt_backend;
struct cmt_backend_caps cmt_caps;

static const char *backend_mbm_reason(void)
{
	return READ_ONCE(cmt_caps.mbm_reason) ?: "";
}

u32 cmt_backend_events(void)
{
	if (backend_mbm_reason()[0])
		return cmt_caps.events & CMT_F_OCCUPANCY;
	return cmt_caps.events & ~hw_bmec_lost(hw_abmc_domains_on());
}

const char *cmt_backend_mbm_reason(void)
{
	const char *reason = backend_mbm_reason();

	if (reason[0])
		return reason;
	if (!(cmt_caps.events & CMT_MBM_EVENTS))
		return "the processor does not count memory traffic";
	reason = hw_bmec_reason(hw_abmc_domains_on());
	if (!reason[0] && hw_mbm_skips())
		return "on AMD only resctrl reads the bandwidth of its groups";
	return reason;
}

static int __init try_backend(const struct cmt_backend *candidate)
{
	cmt_backend = candidate;
	return cmt_backend->init(&cmt_caps);
}

/* The reason of a backend that was chosen by name is that choice. */
static int __init try_named(const struct cmt_backend *candidate,
			    const char *reason)
{
	strscpy(cmt_caps.reason, reason, sizeof(cmt_caps.reason));
	return try_backend(candidate);
}

/* With auto, the reason of the software backend is the feature that the hardware lacks. */
int __init cmt_backend_init(const char *name)
{
	int ret;

	if (!strcmp(name, "emulated"))
		return try_named(&cmt_emulated_backend, "backend=emulated");
	if (!strcmp(name, "software"))
		return try_named(&cmt_software_backend, "backend=software");
	ret = try_backend(&cmt_erdt_backend);
	if (ret == -ENODEV)
		ret = try_backend(&cmt_hw_backend);
	if (ret == -ENODEV && !strcmp(name, "auto"))
		return try_backend(&cmt_software_backend);
	if (ret)
		pr_err("no RDT monitoring: %s\n", cmt_caps.reason);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/* Which backend is used, and what it offers. */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "cmt.h"

const struct cmt_backend *cmt_backend;
struct cmt_backend_caps cmt_caps;

u32 cmt_backend_events(void)
{
	const char *reason = READ_ONCE(cmt_caps.mbm_reason);

	if (reason && reason[0])
		return cmt_caps.events & CMT_F_OCCUPANCY;
	return cmt_caps.events;
}

static int __init try_backend(const struct cmt_backend *candidate)
{
	cmt_backend = candidate;
	return cmt_backend->init(&cmt_caps);
}

/* With auto, what the hardware lacks is the reason given for the model. */
int __init cmt_backend_init(const char *name)
{
	int ret;

	if (!strcmp(name, "emulated")) {
		strscpy(cmt_caps.reason, "backend=emulated",
			sizeof(cmt_caps.reason));
		return try_backend(&cmt_emulated_backend);
	}
	ret = try_backend(&cmt_hw_backend);
	if (ret == -ENODEV && !strcmp(name, "auto"))
		return try_backend(&cmt_emulated_backend);
	if (ret)
		pr_err("no RDT monitoring: %s\n", cmt_caps.reason);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
#include <linux/fs.h>
#include <linux/list.h>

#include "cpu.h"
#include "hw/hw.h"
#include "ring/ring.h"

DEFINE_STATIC_KEY_FALSE(cmt_resctrl_key);

static struct file_system_type *fs_type;	/* NULL: this kernel has no resctrl */

bool cmt_resctrl_mounted(void)
{
	return static_key_enabled(&cmt_resctrl_key);
}

bool cmt_resctrl_is_mounted(void)
{
	return fs_type && !hlist_empty(&fs_type->fs_supers);
}

void cmt_resctrl_set_mode(u32 mode)
{
	WRITE_ONCE(cmt_settings.resctrl, mode);
	cmt_cpus_refresh();
	cmt_settings_emit();
}

static void set_mounted(bool mounted)
{
	if (mounted)
		static_branch_enable(&cmt_resctrl_key);
	else
		static_branch_disable(&cmt_resctrl_key);
	WRITE_ONCE(cmt_settings.resctrl_mounted, mounted);
}

bool cmt_resctrl_follow(void)
{
	bool mounted = cmt_resctrl_is_mounted();

	if (mounted == cmt_resctrl_mounted())
		return false;
	set_mounted(mounted);
	return true;
}

int cmt_resctrl_init(u32 mode)
{
	WRITE_ONCE(cmt_settings.resctrl, mode);
	if (cmt_caps.shared_rmids)
		fs_type = get_fs_type("resctrl");
	return 0;
}

void cmt_resctrl_exit(void)
{
	if (cmt_resctrl_mounted())
		set_mounted(false);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* When sched_switch has its probe (module/scope/probes.c) */
#include <check.h>
#include <errno.h>
#include <string.h>

#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "owner/owner.h"
#include "scope/scope.h"
#include "unit.h"

typeof_member(struct cmt_record, state) cmt_settings;

static struct tracepoint points[] = {
	{ "sched_switch" }, { "sched_process_exit" }, { "task_rename" },
	{ "cgroup_attach_task" }, { "cgroup_rmdir" }, { "cgroup_release" },
	{ "cgroup_mkdir" }, { "sched_process_fork" }, { "sched_wakeup" },
	{ "sched_wakeup_new" },
};

static bool has_process;	/* a process is an owner */
static int switch_error;
static void *switch_probe;
static u32 tries, refreshes;

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tracepoint, void *data),
				void *data)
{
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		fn(&points[i], data);
}

int tracepoint_probe_register(struct tracepoint *tracepoint, void *probe, void *data)
{
	(void)data;
	if (tracepoint != &points[0])
		return 0;
	tries++;
	if (!switch_error)
		switch_probe = probe;
	return switch_error;
}

int tracepoint_probe_unregister(struct tracepoint *tracepoint, void *probe, void *data)
{
	(void)data;
	if (tracepoint == &points[0] && switch_probe == probe)
		switch_probe = NULL;
	return 0;
}

void tracepoint_synchronize_unregister(void)
{
}

bool cmt_owners_any(u32 kind)
{
	return has_process && kind == CMT_OWNER_PROCESS;
}

u32 cmt_owners_joined(void)
{
	return has_process;
}

bool cmt_resctrl_mounted(void)
{
	return false;
}

void cmt_cpus_refresh(void)
{
	refreshes++;
}

void cmt_probe_switch(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state)
{
}

void cmt_probe_switch_waits(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
}

void cmt_probe_wakeup(void *data, struct task_struct *task)
{
}

void cmt_probe_wakeup_new(void *data, struct task_struct *task)
{
}

void cmt_probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
}

void cmt_scope_exit(struct task_struct *task)
{
}

void cmt_probe_rename(void *data, struct task_struct *task, const char *comm)
{
}

void cmt_probe_attach(void *data, struct cgroup *to, const char *path,
		      struct task_struct *task, bool threadgroup)
{
}

void cmt_probe_mkdir(void *data, struct cgroup *cgroup, const char *path)
{
}

void cmt_probe_rmdir(void *data, struct cgroup *cgroup, const char *path)
{
}

static void set_up(void)
{
	cmt_settings.scope = CMT_SCOPE_MANUAL;
	ck_assert_int_eq(cmt_probes_init(), 0);
	ck_assert(!switch_probe);
}

/* Tried again each second while an owner needs the probe */
START_TEST(test_refused)
{
	switch_error = -ENOMEM;
	has_process = true;
	ck_assert_int_eq(cmt_probes_update(), -ENOMEM);
	ck_assert_uint_eq(tries, 1);
	shim_pass(1000);
	ck_assert_uint_eq(tries, 2);
	switch_error = 0;
	shim_pass(999);
	ck_assert_uint_eq(tries, 2);
	shim_pass(1);
	ck_assert_ptr_eq(switch_probe, cmt_probe_switch);
	ck_assert_uint_eq(refreshes, 1);
	shim_pass(5000);
	ck_assert_uint_eq(tries, 3);
	cmt_probes_exit();
	ck_assert(!switch_probe);
}
END_TEST

START_TEST(test_refused_until_the_exit)
{
	switch_error = -ENOMEM;
	has_process = true;
	ck_assert_int_eq(cmt_probes_update(), -ENOMEM);
	cmt_probes_exit();
	shim_pass(5000);
	ck_assert_uint_eq(tries, 1);
}
END_TEST

/* Waiting ends, and the probe that takes over is refused. */
START_TEST(test_refused_after_waits)
{
	has_process = true;
	ck_assert_int_eq(cmt_probes_account_waits(true), 0);
	ck_assert_ptr_eq(switch_probe, cmt_probe_switch_waits);
	switch_error = -ENOMEM;
	ck_assert_int_eq(cmt_probes_account_waits(false), -ENOMEM);
	ck_assert(!switch_probe);
	switch_error = 0;
	shim_pass(1000);
	ck_assert_ptr_eq(switch_probe, cmt_probe_switch);
	cmt_probes_exit();
}
END_TEST

START_TEST(test_last_owner_ends)
{
	has_process = true;
	ck_assert_int_eq(cmt_probes_update(), 0);
	cmt_probes_owner_ended();
	shim_pass(0);
	ck_assert_ptr_eq(switch_probe, cmt_probe_switch);
	has_process = false;
	cmt_probes_owner_ended();
	ck_assert_ptr_eq(switch_probe, cmt_probe_switch);
	shim_pass(0);
	ck_assert(!switch_probe);
	/* at the unload */
	cmt_probes_owner_ended();
	cmt_probes_exit();
	refreshes = 0;
	shim_pass(5000);
	ck_assert_uint_eq(refreshes, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("probes");
	TCase *tcase = tcase_create("sched_switch");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, test_refused);
	tcase_add_test(tcase, test_refused_until_the_exit);
	tcase_add_test(tcase, test_refused_after_waits);
	tcase_add_test(tcase, test_last_owner_ends);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}

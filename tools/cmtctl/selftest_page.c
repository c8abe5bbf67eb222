// SPDX-License-Identifier: GPL-2.0-or-later
#include "selftest.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "cmtctl.h"
#include "common/format.h"
#include "common/json.h"
#include "common/names.h"

static const char *const fill_names[NR_FILLS] = {
	[FILL_NONE] = "a process that rests",
	[FILL_SMALL] = "1/8 of the L3",
	[FILL_MEDIUM] = "1/4 of the L3",
	[FILL_LARGE] = "1/2 of the L3",
	[FILL_FIRST] = "two at once: 1/8",
	[FILL_SECOND] = "two at once: 1/4",
};

void selftest_judge(struct selftest *test)
{
	const enum check_state states[] = {
		test->growth.state, test->traffic.state, test->rates.state,
	};
	bool failed = false, known = test->rates.state && test->growth.state &&
				     (test->traffic.state || test->traffic_reason);

	for (unsigned int i = 0; i < NR_FILLS; i++) {
		failed |= test->fills[i].state == CHECK_FAIL;
		known &= test->fills[i].state != CHECK_UNKNOWN;
	}
	for (unsigned int i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		failed |= states[i] == CHECK_FAIL;
	/* the machine counts it, and no reading had it */
	failed |= !known;
	test->state = failed ? CHECK_FAIL : CHECK_PASS;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static const char *escaped(char *buf, size_t size, const char *text)
{
	escape_text(buf, size, *text ? text : "-", ESCAPE_ASCII);
	return buf;
}

#define TEXT_LEN 512

static void print_name(const char *name, const char *value)
{
	char text[TEXT_LEN];

	printf("%-12s %s\n", name, escaped(text, sizeof(text), value));
}

static void print_assignable(uint32_t assignable)
{
	if (assignable & CMT_ASSIGNABLE_ON)
		printf("%-12s on, %u counters: %u of cmt, %u of others\n", "ABMC",
		       CMT_ASSIGNABLE_ALL(assignable), CMT_ASSIGNABLE_OURS(assignable),
		       CMT_ASSIGNABLE_OTHERS(assignable));
	else
		print_name("ABMC", "off");
}

static void print_module(const struct cmt_info *info)
{
	char version[sizeof(info->module_version) + 1], reason[sizeof(info->reason) + 1];
	char text[TEXT_LEN];

	snprintf(version, sizeof(version), "%.*s", (int)sizeof(info->module_version),
		 info->module_version);
	snprintf(reason, sizeof(reason), "%.*s", (int)sizeof(info->reason), info->reason);
	printf("%-12s %s", "module", escaped(text, sizeof(text), version));
	printf(", backend %s: %s; tools %s\n", backend_name(info->backend),
	       escaped(text, sizeof(text), reason), cmt_version());
}

static void print_machine(const struct selftest *test)
{
	const struct cmt_info *info = test->info;
	char l3[FORMAT_LEN], l2[FORMAT_LEN], text[TEXT_LEN];

	print_name("processor", test->processor.model);
	printf("%-12s %s%s\n", "", escaped(text, sizeof(text), test->processor.signature),
	       test->processor.is_virtual ? ", in a virtual machine" : "");
	print_name("microcode", test->processor.microcode);
	snprintf(text, sizeof(text), "%s %s %s", test->kernel.sysname, test->kernel.release,
		 test->kernel.machine);
	print_name("kernel", text);
	print_module(info);
	printf("%-12s L3 domain of %s, L2 of %s, %u CPUs, %u RMIDs (%u usable), unit of %u B, MBM of %u bits\n",
	       "cache", format_bytes(l3, info->l3_bytes),
	       test->cache.l2_bytes ? format_bytes(l2, test->cache.l2_bytes) : "-",
	       info->nr_cpus, info->nr_rmids, info->rmids_usable, info->upscale_bytes,
	       info->counter_bits);
	printf("%-12s %s, %smounted\n", "resctrl", resctrl_name(test->resctrl),
	       test->mounted ? "" : "not ");
	print_assignable(info->assignable);
}

static void print_state(enum check_state state)
{
	static const char *const words[] = {
		[CHECK_UNKNOWN] = "-", [CHECK_PASS] = "pass", [CHECK_FAIL] = "FAIL",
	};

	printf("%-5s", words[state]);
}

static void print_row(enum check_state state, const char *name, uint64_t known_as,
		      bool known, uint64_t said, uint64_t least, uint64_t most)
{
	char a[FORMAT_LEN], b[FORMAT_LEN], c[FORMAT_LEN], d[FORMAT_LEN];

	print_state(state);
	printf("%-22s %10s %10s   %s to %s", name, format_bytes(a, known_as),
	       known ? format_bytes(b, said) : "-", format_bytes(c, least),
	       format_bytes(d, most));
}

static void print_fill(const struct fill *fill, const char *name)
{
	char residue[FORMAT_LEN];

	print_row(fill->state, name, fill->filled, fill->known, fill->held, fill->least,
		  fill->most);
	printf("; RMID %u", fill->rmid);
	if (fill->known)
		printf(", L3 %u", fill->domain);
	if (fill->known && fill->residue)
		printf(", %s before", format_bytes(residue, fill->residue));
	putchar('\n');
}

static void print_traffic(const struct selftest *test)
{
	const struct traffic_check *traffic = &test->traffic;

	if (test->traffic_reason) {
		printf("%-5s%-22s not checked: %s\n", "-", "read from memory",
		       test->traffic_reason);
		return;
	}
	print_row(traffic->state, "read from memory", traffic->read, traffic->total_known,
		  traffic->total, traffic->least, traffic->most);
	if (traffic->local_known)
		printf("; %.0f %% of it local", percent(traffic->local, traffic->total));
	putchar('\n');
}

static bool knows_growth(const struct selftest *test)
{
	return test->fills[FILL_LARGE].known && test->fills[FILL_SMALL].known;
}

static void print_checks(const struct selftest *test)
{
	printf("\n%-5s%-22s %10s %10s   %s\n", "", "CHECK", "KNOWN", "COUNTED", "PASSES");
	for (unsigned int i = 0; i < NR_FILLS; i++)
		print_fill(&test->fills[i], fill_names[i]);
	print_row(test->growth.state, "from 1/8 to 1/2", test->growth.filled,
		  knows_growth(test), test->growth.held, test->growth.least, test->growth.most);
	putchar('\n');
	print_traffic(test);
	print_state(test->rates.state);
	printf("%-22s %" PRIu64 " errors (%.2f %%), %" PRIu64 " unavailable (%.2f %%) of %" PRIu64 " readings\n",
	       "readings of ticks", test->rates.errors,
	       percent(test->rates.errors, test->rates.readings), test->rates.unavailable,
	       percent(test->rates.unavailable, test->rates.readings), test->rates.readings);
}

static void print_costs(const struct selftest *test)
{
	unsigned int events = (unsigned int)__builtin_popcount(test->info->events);
	char interval[FORMAT_LEN];

	printf("\n%-12s %u ticks each %s: ", "ticks", test->ticks.ticks,
	       format_duration(interval, test->interval_ns));
	if (test->ticks.known)
		printf("median %u ns, longest %u ns; ", test->ticks.median_ns,
		       test->ticks.most_ns);
	printf("%.3f %% of the CPU time; missed %" PRIu64 ", put off %" PRIu64 " readings\n",
	       percent(test->tick_share_ns, test->tick_time_ns), test->missed, test->deferred);
	if (test->ticks.reading_known)
		printf("%-12s %.0f ns for an RMID in a tick: %u MSR accesses, and a record\n",
		       "reading", test->ticks.reading_ns, 2 * events);
	else
		printf("%-12s not known: too few ticks differ in their readings\n", "reading");
	printf("%-12s interrupts off for %" PRIu64 " ns at most, owner lock held for %" PRIu64 " ns, since the module was loaded\n",
	       "longest", test->irqs_off_ns, test->lock_held_ns);
	printf("%-12s %" PRIu64 " times another agent wrote the RMID of a CPU meanwhile\n",
	       "overwritten", test->overwritten);
}

static void print_text(const struct selftest *test)
{
	printf("cmt self-test: %s, in %.1f s\n\n",
	       test->state == CHECK_PASS ? "PASS" : "FAIL", (double)test->elapsed_ns / 1e9);
	print_machine(test);
	print_checks(test);
	print_costs(test);
	if (test->state == CHECK_FAIL)
		printf("\nOther load and a cache allocation of resctrl (schemata) change what a process can hold.\nRun it again on an idle machine; if it fails again, report this page.\n");
}

/* A member of an object; a failure stays in @err. */
static void put(struct json_object *object, const char *name, struct json_object *value,
		int *err)
{
	if (!*err)
		*err = json_add(object, name, value);
	else
		json_object_put(value);
}

static void put_number(struct json_object *object, const char *name, uint64_t value, int *err)
{
	put(object, name, json_object_new_uint64(value), err);
}

static void put_known(struct json_object *object, const char *name, bool known,
		      uint64_t value, int *err)
{
	put(object, name, known ? json_object_new_uint64(value) : NULL, err);
}

static void put_text(struct json_object *object, const char *name, const char *text, int *err)
{
	put(object, name, text && *text ? json_text(text) : NULL, err);
}

static void put_machine(struct json_object *page, const struct selftest *test, int *err)
{
	const struct cmt_info *info = test->info;
	char version[sizeof(info->module_version) + 1];

	snprintf(version, sizeof(version), "%.*s", (int)sizeof(info->module_version),
		 info->module_version);
	put_text(page, "processor", test->processor.model, err);
	put_text(page, "signature", test->processor.signature, err);
	put_text(page, "microcode", test->processor.microcode, err);
	put(page, "virtual", json_object_new_boolean(test->processor.is_virtual), err);
	put_text(page, "kernel", test->kernel.release, err);
	put_text(page, "module_version", version, err);
	put_text(page, "library_version", cmt_version(), err);
	put_text(page, "backend", backend_name(info->backend), err);
	put_text(page, "vendor", vendor_name(info->vendor), err);
	put_number(page, "l3_bytes", info->l3_bytes, err);
	put_known(page, "l2_bytes", test->cache.l2_bytes, test->cache.l2_bytes, err);
	put_number(page, "cpus", info->nr_cpus, err);
	put_number(page, "rmids", info->nr_rmids, err);
	put_number(page, "rmids_usable", info->rmids_usable, err);
	put_number(page, "upscale_bytes", info->upscale_bytes, err);
	put_number(page, "counter_bits", info->counter_bits, err);
	put_text(page, "resctrl", resctrl_name(test->resctrl), err);
	put(page, "resctrl_mounted", json_object_new_boolean(test->mounted), err);
	put(page, "abmc", json_object_new_boolean(!!(info->assignable & CMT_ASSIGNABLE_ON)), err);
	put_number(page, "abmc_counters", CMT_ASSIGNABLE_ALL(info->assignable), err);
}

static struct json_object *fill_object(const struct fill *fill, const char *name, int *err)
{
	struct json_object *object = json_object_new_object();

	if (!object) {
		*err = -ENOMEM;
		return NULL;
	}
	put_text(object, "check", name, err);
	put_text(object, "state", check_state_name(fill->state), err);
	put_number(object, "filled_bytes", fill->filled, err);
	put_known(object, "held_bytes", fill->known, fill->held, err);
	put_known(object, "residue_bytes", fill->known, fill->residue, err);
	put_number(object, "least_bytes", fill->least, err);
	put_number(object, "most_bytes", fill->most, err);
	put_number(object, "rmid", fill->rmid, err);
	put_number(object, "generation", fill->generation, err);
	put_known(object, "domain", fill->known, fill->domain, err);
	return object;
}

static void put_fills(struct json_object *page, const struct selftest *test, int *err)
{
	struct json_object *fills = json_object_new_array();

	put(page, "fills", fills, err);
	for (unsigned int i = 0; !*err && i < NR_FILLS; i++) {
		struct json_object *fill = fill_object(&test->fills[i], fill_names[i], err);

		if (fill && json_object_array_add(fills, fill))
			*err = -ENOMEM;
	}
	put_text(page, "growth_state", check_state_name(test->growth.state), err);
	put_number(page, "growth_filled_bytes", test->growth.filled, err);
	put_known(page, "growth_held_bytes", knows_growth(test), test->growth.held, err);
}

static void put_traffic(struct json_object *page, const struct selftest *test, int *err)
{
	const struct traffic_check *traffic = &test->traffic;

	put_text(page, "traffic_state", check_state_name(traffic->state), err);
	put_text(page, "traffic_reason", test->traffic_reason, err);
	put_known(page, "read_bytes", !test->traffic_reason, traffic->read, err);
	put_known(page, "mbm_total_bytes", traffic->total_known, traffic->total, err);
	put_known(page, "mbm_local_bytes", traffic->local_known, traffic->local, err);
}

static void put_costs(struct json_object *page, const struct selftest *test, int *err)
{
	const struct tick_cost *ticks = &test->ticks;

	put_text(page, "rates_state", check_state_name(test->rates.state), err);
	put_number(page, "readings", test->rates.readings, err);
	put_number(page, "read_errors", test->rates.errors, err);
	put_number(page, "read_unavailable", test->rates.unavailable, err);
	put_number(page, "interval_ns", test->interval_ns, err);
	put_number(page, "ticks", ticks->ticks, err);
	put_known(page, "tick_median_ns", ticks->known, ticks->median_ns, err);
	put_known(page, "tick_most_ns", ticks->known, ticks->most_ns, err);
	put_known(page, "reading_ns", ticks->reading_known, (uint64_t)ticks->reading_ns, err);
	put_number(page, "busy_ns", test->tick_share_ns, err);
	put_number(page, "cpu_time_ns", test->tick_time_ns, err);
	put_number(page, "missed", test->missed, err);
	put_number(page, "deferred", test->deferred, err);
	put_number(page, "irqs_off_ns", test->irqs_off_ns, err);
	put_number(page, "lock_held_ns", test->lock_held_ns, err);
	put_number(page, "pqr_overwritten", test->overwritten, err);
}

static int print_json(const struct selftest *test)
{
	struct json_object *page = json_object_new_object();
	int err = page ? 0 : -ENOMEM;

	put_text(page, "selftest", check_state_name(test->state), &err);
	put_number(page, "elapsed_ns", test->elapsed_ns, &err);
	put_machine(page, test, &err);
	put_fills(page, test, &err);
	put_traffic(page, test, &err);
	put_costs(page, test, &err);
	err = err ? err : json_print(stdout, page);
	json_object_put(page);
	return err;
}

int selftest_print(const struct selftest *test, bool json)
{
	if (json)
		return print_json(test);
	print_text(test);
	return 0;
}

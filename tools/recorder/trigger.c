// SPDX-License-Identifier: GPL-2.0-or-later
#include "trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/format.h"

#define BIT(kind)	(1U << (kind))
#define WATCHED		(BIT(RULE_CULPRIT) | BIT(RULE_SLOWER))
#define INTERVAL_NS	1000000000ULL
#define TURN_NS		10000000ULL	/* on a machine where one slot takes 1 ms, too */

/* @kinds: BIT of each */
static bool has_rule(const struct trigger *trigger, uint32_t kinds)
{
	for (uint32_t i = 0; i < trigger->nr_rules; i++)
		if (kinds & BIT(trigger->rules[i].kind))
			return true;
	return false;
}

int trigger_device(struct trigger *trigger, const struct record_config *config)
{
	int ret = 0;

	memcpy(trigger->rules, config->rules, sizeof(trigger->rules));
	trigger->nr_rules = config->nr_rules;
	if (has_rule(trigger, WATCHED))
		ret = cmt_device_open(&trigger->dev, config->device, 0);
	if (!ret && has_rule(trigger, ~WATCHED))
		ret = cmt_device_open(&trigger->usage_dev, config->device, 0);
	return ret;
}

static int open_usage(struct trigger *trigger)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .device = trigger->usage_dev,
		.by = CMT_USAGE_BY_CONTAINER, .interval_ns = INTERVAL_NS,
	};

	return cmt_usage_new(&trigger->usage, &opts);
}

/* Can a verdict name a suspect here?  Who has the CPU is known on any machine. */
static bool names_suspects(const struct cmt_info *info, uint32_t counters)
{
	char reason[CMT_REASON_LEN + 1];

	return !watch_lacks(info, reason) ||
	       (counters & CMT_F_WAITED && !info->wait_reason[0]);
}

/* @reason: "", or of cmt_info, where it fills its room */
static void say_rule(const struct rule *rule, const char *why, const char *reason)
{
	char text[4 * TRIGGER_WHY], raw[CMT_REASON_LEN + 1], escaped[4 * CMT_REASON_LEN + 1];

	snprintf(raw, sizeof(raw), "%.*s", CMT_REASON_LEN, reason);
	escape_text(text, sizeof(text), rule->text, ESCAPE_ASCII);
	escape_text(escaped, sizeof(escaped), raw, ESCAPE_ASCII);
	fprintf(stderr, RECORD_NAME ": --on %s: %s%s%s\n", text, why, *escaped ? ": " : "",
		escaped);
}

/* Why the rule cannot hold as things are, with the machine's reason; NULL: it can. */
static const char *cannot_hold(const struct rule *rule, const struct cmt_info *info,
			       uint32_t counters, const char **reason)
{
	bool waits = counters & CMT_F_WAITED && !info->wait_reason[0];

	*reason = "";
	if (rule->kind == RULE_CULPRIT && !names_suspects(info, counters))
		return "neither cache occupancy and memory bandwidth nor the waiting for a CPU is measured here";
	if (rule->kind == RULE_SLOWER && !waits && !(counters & CMT_F_CYCLES)) {
		*reason = info->wait_reason;
		return "cannot hold with --no-counters where the waiting for a CPU is not accounted";
	}
	if (rule->kind == RULE_OCCUPANCY && !(info->events & CMT_F_OCCUPANCY)) {
		*reason = info->reason;
		return "cannot hold here: no cache occupancy";
	}
	if (rule->kind == RULE_BANDWIDTH && !(info->events & CMT_F_MBM_TOTAL)) {
		*reason = info->mbm_reason[0] ? info->mbm_reason : info->reason;
		return "cannot hold here: no memory bandwidth";
	}
	return NULL;
}

/* Traffic can be known later, when resctrl no longer has the processor's counters. */
static bool may_hold_later(const struct rule *rule, const struct cmt_info *info)
{
	return rule->kind == RULE_BANDWIDTH && info->backend != CMT_BACKEND_SOFTWARE;
}

/* Returns 0, or -ENOTSUP: a rule never holds.  A message for each one that cannot hold now. */
static int check_rules(const struct trigger *trigger, uint32_t counters)
{
	const struct cmt_device *dev = trigger->dev ? trigger->dev : trigger->usage_dev;
	const struct cmt_info *info = dev ? cmt_device_info(dev) : NULL;
	const char *why, *reason;
	int ret = 0;

	for (uint32_t i = 0; i < trigger->nr_rules; i++) {
		why = cannot_hold(&trigger->rules[i], info, counters, &reason);
		if (!why)
			continue;
		say_rule(&trigger->rules[i], why, reason);
		if (!may_hold_later(&trigger->rules[i], info))
			ret = -ENOTSUP;
	}
	return ret;
}

/* The sampling interval is no reason to end: it changes while the recorder runs. */
static void check_interval(struct trigger *trigger, uint32_t sampling_ns)
{
	bool coarse = sampling_ns > WATCH_SLOT_NS;
	char why[160], now[FORMAT_LEN];

	if (!sampling_ns || coarse == trigger->coarse)
		return;
	trigger->coarse = coarse;
	snprintf(why, sizeof(why),
		 "cannot hold while the sampling interval is %s; it needs 1 ms or less: cmtctl interval 1ms",
		 format_duration(now, sampling_ns));
	for (uint32_t i = 0; coarse && i < trigger->nr_rules; i++)
		if (BIT(trigger->rules[i].kind) & WATCHED)
			say_rule(&trigger->rules[i], why, "");
}

/* Of those that were asked for; another program may have them now, and that may end. */
static void check_counted(const struct trigger *trigger)
{
	char reason[CMT_REASON_LEN] = "";
	uint32_t counted = 0;

	if (cmt_device_counters(trigger->dev, &counted, reason))
		strcpy(reason, "the module does not count");
	if (counted & CMT_F_WAITED || !(WATCH_COUNTERS & ~counted))
		return;
	for (uint32_t i = 0; i < trigger->nr_rules; i++)
		if (trigger->rules[i].kind == RULE_SLOWER)
			say_rule(&trigger->rules[i],
				 "cannot hold while the processor's counters do not count, and the waiting for a CPU is not accounted",
				 reason);
}

static int open_watch(struct trigger *trigger, const struct record_config *config)
{
	uint32_t sampling_ns;
	int ret;

	if (!cmt_device_interval(trigger->dev, &sampling_ns))
		check_interval(trigger, sampling_ns);
	trigger->watching = true;
	ret = watch_open(&trigger->watch, trigger->dev, config->counters & ~CMT_F_CHANNEL,
			 config->peak_bytes, WATCH_AGAIN_NS);
	if (!ret)
		check_counted(trigger);
	return ret;
}

int trigger_open(struct trigger *trigger, const struct record_config *config)
{
	int ret = check_rules(trigger, config->counters);

	if (ret)
		return ret;
	if (has_rule(trigger, BIT(RULE_SLOWER))) {
		trigger->slowers = calloc(1, sizeof(*trigger->slowers));
		if (!trigger->slowers)
			return -ENOMEM;
	}
	if (trigger->dev)
		ret = open_watch(trigger, config);
	if (!ret && trigger->usage_dev)
		ret = open_usage(trigger);
	return ret;
}

void trigger_close(struct trigger *trigger)
{
	if (trigger->watching)
		watch_close(&trigger->watch);
	free(trigger->slowers);
	cmt_usage_free(trigger->usage);
	if (trigger->dev)
		cmt_device_close(trigger->dev);
	if (trigger->usage_dev)
		cmt_device_close(trigger->usage_dev);
	*trigger = (struct trigger){ 0 };
}

static void count_culprit(struct trigger *trigger)
{
	for (uint32_t i = 0; i < trigger->nr_rules; i++)
		trigger->fired[i] += trigger->rules[i].kind == RULE_CULPRIT;
}

static const char *tell_culprit(struct trigger *trigger,
				const struct why_names *names)
{
	char victim[4 * CONTAINER_LABEL_LEN], suspect[4 * CONTAINER_LABEL_LEN];

	escape_text(victim, sizeof(victim), names->victim.label, ESCAPE_ASCII);
	escape_text(suspect, sizeof(suspect), names->suspects[0].label,
		    ESCAPE_ASCII);
	snprintf(trigger->why, sizeof(trigger->why), "culprit: %.100s, by %.100s",
		 victim, suspect);
	return trigger->why;
}

/* @fired: the text of a rule; NULL: none fired */
static const char *tell_rule(struct trigger *trigger, const char *fired)
{
	if (!fired)
		return NULL;
	escape_text(trigger->why, sizeof(trigger->why), fired, ESCAPE_ASCII);
	return trigger->why;
}

/* @ret: of the last cmt_usage_next(), which also ends within an interval */
static bool has_more(const struct cmt_usage *usage, int ret)
{
	return ret > 0 || (!ret && !cmt_usage_timeout(usage));
}

static bool goes_on(const struct cmt_usage *usage, int ret, uint64_t begin_ns)
{
	return has_more(usage, ret) && clock_ns(CLOCK_MONOTONIC) - begin_ns < TURN_NS;
}

static void note_end(struct trigger *trigger, const struct cmt_usage *usage, int ret)
{
	trigger->more |= has_more(usage, ret);
	if (ret < 0 && !trigger->err)
		trigger->err = ret;
}

/* Once a second, when there are new ones. */
static const char *pump_slower(struct trigger *trigger)
{
	uint64_t last_ns = trigger->watch.slowers_ns;
	const char *fired = NULL;

	watch_slowers(&trigger->watch, trigger->slowers);
	if (trigger->watch.slowers_ns == last_ns)
		return NULL;
	for (uint32_t i = 0; i < trigger->nr_rules; i++) {
		if (!rule_fires_slower(&trigger->rules[i], trigger->slowers))
			continue;
		fired = trigger->rules[i].text;
		trigger->fired[i]++;
	}
	return tell_rule(trigger, fired);
}

/*
 * The verdicts of a slot.  One without a suspect fires no rule, nor does one where no rule
 * is for it.
 */
static const char *slot_fires(struct trigger *trigger)
{
	const struct cmt_culprit_verdict *verdict;
	const char *fired = NULL;
	struct why_names names;

	while (watch_verdict(&trigger->watch, &verdict, &names) > 0) {
		if (!verdict->nr_suspects || !has_rule(trigger, BIT(RULE_CULPRIT)))
			continue;
		count_culprit(trigger);
		if (!fired)
			fired = tell_culprit(trigger, &names);
	}
	return fired;
}

static const char *pump_culprit(struct trigger *trigger)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const struct cmt_usage *usage = trigger->watch.usage;
	const char *fired = NULL, *slot;
	int ret;

	do {
		ret = watch_next(&trigger->watch);
		slot = ret > 0 ? slot_fires(trigger) : NULL;
		fired = fired ? fired : slot;
	} while (goes_on(usage, ret, begin_ns));
	if (trigger->watch.frame)
		check_interval(trigger, trigger->watch.frame->sampling_ns);
	watch_look(&trigger->watch);
	note_end(trigger, usage, ret);
	return fired;
}

static void refresh_names(struct trigger *trigger)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now - trigger->named_ns < INTERVAL_NS)
		return;
	trigger->named_ns = now;
	cmt_usage_refresh(trigger->usage, CMT_USAGE_NAMES);
}

static const char *frame_fires(struct trigger *trigger, const struct cmt_usage_frame *frame)
{
	const char *fired = NULL;

	for (uint32_t i = 0; i < trigger->nr_rules; i++) {
		if (!rule_fires(&trigger->rules[i], frame))
			continue;
		fired = trigger->rules[i].text;
		trigger->fired[i]++;
	}
	return fired;
}

static const char *pump_usage(struct trigger *trigger)
{
	const uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	const struct cmt_usage_frame *frame;
	const char *fired = NULL, *last;
	int ret;

	do {
		ret = cmt_usage_next(trigger->usage, &frame);
		if (ret > 0)
			refresh_names(trigger);
		last = ret > 0 ? frame_fires(trigger, frame) : NULL;
		fired = last ? last : fired;
	} while (goes_on(trigger->usage, ret, begin_ns));
	note_end(trigger, trigger->usage, ret);
	return tell_rule(trigger, fired);
}

const char *trigger_pump(struct trigger *trigger)
{
	const char *fired = NULL, *other = NULL;

	trigger->err = 0;
	trigger->more = false;
	if (trigger->watching)
		fired = pump_culprit(trigger);
	if (trigger->slowers)
		other = pump_slower(trigger);
	fired = fired ? fired : other;
	if (trigger->usage)
		other = pump_usage(trigger);
	return fired ? fired : other;
}

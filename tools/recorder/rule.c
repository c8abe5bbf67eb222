// SPDX-License-Identifier: GPL-2.0-or-later
#include "rule.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "common/options.h"

#define LIMIT_MAX (1ULL << 50)

/*
 * Copy the next word to @word.  Returns the text after it, or NULL: it is too long, or
 * there is none.
 */
static const char *next_word(const char *text, char *word, size_t size)
{
	size_t len;

	text += strspn(text, " \t");
	len = strcspn(text, " \t");
	if (!len || len >= size)
		return NULL;
	memcpy(word, text, len);
	word[len] = '\0';
	return text + len;
}

static const char *parse_kind(const char *word, struct rule *rule)
{
	if (!strcmp(word, "occupancy"))
		rule->kind = RULE_OCCUPANCY;
	else if (!strcmp(word, "bandwidth"))
		rule->kind = RULE_BANDWIDTH;
	else if (!strcmp(word, "slower"))
		rule->kind = RULE_SLOWER;
	else
		return "a rule begins with culprit, occupancy, bandwidth or slower";
	return NULL;
}

static const char *parse_limit_percent(char *word, struct rule *rule)
{
	size_t len = strlen(word);
	uint64_t percent;

	if (rule->below)
		return "a slowdown can only be above a limit";
	if (!len || word[len - 1] != '%')
		return "the limit must be a percentage, such as 10%";
	word[len - 1] = '\0';
	if (parse_u64(word, 1, 99, &percent))
		return "the limit must be from 1% to 99%";
	rule->limit = (double)percent / 100;
	return NULL;
}

/* Units are those of tables.  K is that of earlier versions. */
static const char *parse_limit_rate(char *word, struct rule *rule)
{
	size_t len = strlen(word);
	uint64_t limit;

	if (len && word[len - 1] == 'K')
		word[len - 1] = 'k';
	if (parse_bytes(word, 0, LIMIT_MAX, &limit))
		return "the limit must be a number of bytes a second, such as 500k or 1.5G";
	rule->limit = (double)limit;
	return NULL;
}

static const char *parse_limit_bytes(const char *word, struct rule *rule)
{
	uint64_t limit;

	if (parse_size(word, 0, LIMIT_MAX, &limit))
		return "the limit must be a number of bytes, such as 20M";
	rule->limit = (double)limit;
	return NULL;
}

static const char *parse_limit(const char *text, struct rule *rule)
{
	char word[32];

	text = next_word(text, word, sizeof(word));
	if (!text || (strcmp(word, ">") && strcmp(word, "<")))
		return "behind the container's name must be > or <, with spaces around it";
	rule->below = *word == '<';
	text = next_word(text, word, sizeof(word));
	if (!text)
		return "the limit is missing";
	if (text[strspn(text, " \t")])
		return "nothing may follow the limit";
	if (rule->kind == RULE_SLOWER)
		return parse_limit_percent(word, rule);
	return rule->kind == RULE_BANDWIDTH ? parse_limit_rate(word, rule) :
					      parse_limit_bytes(word, rule);
}

const char *rule_parse(const char *text, struct rule *rule)
{
	const char *why;
	char word[16];

	*rule = (struct rule){ .text = text, .kind = RULE_CULPRIT };
	text = next_word(text, word, sizeof(word));
	if (text && !strcmp(word, "culprit"))
		return text[strspn(text, " \t")] ? "nothing may follow culprit" : NULL;
	why = parse_kind(text ? word : "", rule);
	if (why)
		return why;
	text = next_word(text, rule->glob, sizeof(rule->glob));
	if (!text)
		return "the name or a pattern of a container is missing";
	return parse_limit(text, rule);
}

static bool is_named(const struct rule *rule, const char *label)
{
	const char *rest = strchr(label, ':');

	return !fnmatch(rule->glob, label, 0) ||
	       (rest && !fnmatch(rule->glob, rest + 1, 0));
}

static bool is_of(const struct rule *rule, const struct cmt_usage_row *row)
{
	char buf[CONTAINER_LABEL_LEN];

	return row->kind == CMT_USAGE_OWNER && is_named(rule, usage_row_label(buf, row));
}

enum side { SIDE_UNKNOWN, SIDE_WITHIN, SIDE_BEYOND };

/*
 * A value that is not known is on no side; nor is a lower bound below the limit, for a rule
 * with <.  For one with > it is within: some rows have no more than lower bounds for good.
 */
static enum side side_of_value(const struct rule *rule, bool known, bool partial, double value)
{
	bool beyond = rule->below ? value < rule->limit : value > rule->limit;

	if (!known || (rule->below && partial && beyond))
		return SIDE_UNKNOWN;
	return beyond ? SIDE_BEYOND : SIDE_WITHIN;
}

static enum side side_of(const struct rule *rule, const struct cmt_usage_row *row)
{
	if (rule->kind == RULE_BANDWIDTH)
		return side_of_value(rule, row->total.known, row->total.partial, row->total.rate);
	return side_of_value(rule, row->occupancy.known, row->occupancy.partial,
			     (double)row->occupancy.last_bytes);
}

/*
 * The rule goes on to hold while the container that was beyond has no value.  Others
 * without a value do not count: they may have none for good.
 */
bool rule_fires(struct rule *rule, const struct cmt_usage_frame *frame)
{
	bool held = rule->holds, unknown = false;

	if (rule->kind == RULE_CULPRIT || rule->kind == RULE_SLOWER)
		return false;
	rule->holds = false;
	for (uint32_t i = 0; i < frame->nr_rows && !rule->holds; i++) {
		const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);
		enum side side = is_of(rule, row) ? side_of(rule, row) : SIDE_WITHIN;

		rule->holds = side == SIDE_BEYOND;
		if (rule->holds)
			rule->holder = row->cgroup_id;
		unknown |= side == SIDE_UNKNOWN && row->cgroup_id == rule->holder;
	}
	rule->holds |= held && unknown;
	return rule->holds && !held;
}

/* Where slowdowns are not known, the rule neither begins nor ends to hold. */
bool rule_fires_slower(struct rule *rule, const struct slowers *slowers)
{
	bool held = rule->holds;

	if (rule->kind != RULE_SLOWER || !slowers->known)
		return false;
	rule->holds = false;
	for (uint32_t i = 0; i < slowers->nr && !rule->holds; i++)
		rule->holds = slowers->list[i].share > rule->limit &&
			      is_named(rule, slowers->list[i].name.label);
	return rule->holds && !held;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/format.h"
#include "config/groups.h"
#include "table/columns.h"

#define MIN_NS 100000000ULL	/* every source has these intervals */
#define MAX_NS 60000000000ULL
#define LINE_MOST 128U

static int set_flag(bool *flag, const char *value)
{
	*flag = !strcmp(value, "yes");
	return *flag || !strcmp(value, "no") ? 0 : -EINVAL;
}

static int set_by(struct settings *to, const char *value)
{
	return by_parse(value, &to->by);
}

static int set_sort(struct settings *to, const char *value)
{
	return sort_key_parse(value, &to->sort);
}

static int set_reverse(struct settings *to, const char *value)
{
	return set_flag(&to->reverse, value);
}

static int set_interval(struct settings *to, const char *value)
{
	return parse_seconds(value, MIN_NS, MAX_NS, &to->interval_ns);
}

static int set_expand(struct settings *to, const char *value)
{
	return set_flag(&to->expand, value);
}

static int set_color(struct settings *to, const char *value)
{
	return set_flag(&to->color, value);
}

static const struct {
	const char *name;
	const char *expects;
	int (*set)(struct settings *to, const char *value);
} table[NR_SETTINGS] = {
	[SETTING_BY] = { "by", "container, process, cpu, domain or channel", set_by },
	[SETTING_SORT] = { "sort", "a key of --sort", set_sort },
	[SETTING_REVERSE] = { "reverse", "yes or no", set_reverse },
	[SETTING_INTERVAL] = { "interval", "a number of seconds from 0.1 to 60", set_interval },
	[SETTING_EXPAND] = { "expand", "yes or no", set_expand },
	[SETTING_COLOR] = { "color", "yes or no", set_color },
};

const char *setting_name(enum setting setting)
{
	return table[setting].name;
}

const char *setting_text(char buf[SETTING_LEN], const struct settings *settings,
			 enum setting setting)
{
	const bool flags[NR_SETTINGS] = {
		[SETTING_REVERSE] = settings->reverse, [SETTING_EXPAND] = settings->expand,
		[SETTING_COLOR] = settings->color,
	};

	if (setting == SETTING_BY)
		return by_name(settings->by);
	if (setting == SETTING_SORT)
		return sort_key_name(settings->sort);
	if (setting != SETTING_INTERVAL)
		return flags[setting] ? "yes" : "no";
	snprintf(buf, SETTING_LEN, "%.9g", (double)settings->interval_ns / 1e9);
	return buf;
}

/* A line in its parts, without spaces around them; more than there is room for is cut. */
struct setting_line {
	char name[LINE_MOST], value[LINE_MOST];
	bool whole;		/* "name = value", and nothing is cut */
};

static void trim(char to[LINE_MOST], const char *from, size_t len)
{
	while (len && strchr(" \t\r", from[len - 1]))
		len--;
	for (; len && strchr(" \t", *from); len--)
		from++;
	if (len >= LINE_MOST)
		len = LINE_MOST - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

static void split(struct setting_line *line, const char *text, size_t len)
{
	const char *equals = memchr(text, '=', len);
	size_t name = equals ? (size_t)(equals - text) : len;

	line->whole = equals && len < LINE_MOST && !memchr(text, '\0', len);
	trim(line->name, text, name);
	trim(line->value, equals ? equals + 1 : "", equals ? len - name - 1 : 0);
}

/* NR_SETTINGS: there is none of this name. */
static enum setting find(const struct setting_line *line)
{
	unsigned int i = 0;

	while (i < NR_SETTINGS && strcmp(table[i].name, line->name))
		i++;
	return line->whole ? i : NR_SETTINGS;
}

static void add_mistake(struct mistakes *mistakes, unsigned int number,
			const struct setting_line *line, enum setting setting)
{
	char name[64];

	if (mistakes->nr++ >= MISTAKES_TOLD)
		return;
	escape_text(name, sizeof(name), line->name, ESCAPE_ASCII);
	snprintf(mistakes->told[mistakes->nr - 1], MISTAKE_LEN, "%u: %s: %s", number, name,
		 !line->whole ? "not \"name = value\"" : setting == NR_SETTINGS ?
		 "there is no such option" : table[setting].expects);
}

static void parse_line(struct settings *settings, const char *text, size_t len,
		       unsigned int number, struct mistakes *mistakes)
{
	struct settings changed = *settings;
	struct setting_line line;
	enum setting setting;

	split(&line, text, len);
	if (line.name[0] == '#' || (!line.name[0] && !line.value[0] && !line.whole))
		return;
	setting = find(&line);
	if (setting == NR_SETTINGS || table[setting].set(&changed, line.value)) {
		add_mistake(mistakes, number, &line, setting);
		return;
	}
	changed.given |= 1U << setting;
	*settings = changed;
}

/* The length of the first line, without its end. */
static size_t line_len(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len);

	return end ? (size_t)(end - text) : len;
}

void settings_parse(struct settings *settings, const char *text, size_t len,
		    struct mistakes *mistakes)
{
	unsigned int number = 0;
	size_t n;

	*settings = (struct settings){ 0 };
	*mistakes = (struct mistakes){ 0 };
	for (; len; text += n, len -= n) {
		n = line_len(text, len);
		parse_line(settings, text, n, ++number, mistakes);
		n += n < len;
	}
}

static void print_setting(FILE *out, const struct settings *settings, enum setting setting)
{
	char buf[SETTING_LEN];

	fprintf(out, "%s = %s\n", setting_name(setting),
		setting_text(buf, settings, setting));
}

void settings_print(FILE *out, const char *text, size_t len,
		    const struct settings *settings)
{
	struct setting_line line;
	uint32_t left = settings->given;
	enum setting setting;
	size_t n;

	for (; len; text += n, len -= n) {
		n = line_len(text, len);
		split(&line, text, n);
		setting = find(&line);
		if (setting == NR_SETTINGS || !(settings->given & 1U << setting))
			fprintf(out, "%s", fwrite(text, 1, n, out) == n ? "\n" : "");
		else if (left & 1U << setting)
			print_setting(out, settings, setting);
		left &= setting == NR_SETTINGS ? left : ~(1U << setting);
		n += n < len;
	}
	for (setting = 0; setting < NR_SETTINGS; setting++)
		if (left & 1U << setting)
			print_setting(out, settings, setting);
}

static bool has(const struct settings *settings, enum setting setting)
{
	return settings->given & 1U << setting;
}

/* The kept order is of the kept view. */
static void apply_sort(const struct settings *settings, struct config *config)
{
	enum view of = has(settings, SETTING_BY) ? settings->by : VIEW_CONTAINER;

	if (config->sort != SORT_DEFAULT || config->by != of)
		return;
	if (has(settings, SETTING_SORT) &&
	    (settings->sort != SORT_SLOWER || of == VIEW_CONTAINER))
		config->sort = settings->sort;
	if (has(settings, SETTING_REVERSE))
		config->reverse = settings->reverse;
}

void settings_apply(const struct settings *settings, struct config *config, bool groups)
{
	/* a pattern is of the names of a view; the others are of containers only */
	bool fixed = config->by_given || config->filter || config->expand || config->slower;

	if (has(settings, SETTING_BY) && !fixed &&
	    view_exists(settings->by, config->light, groups)) {
		config->by = settings->by;
		config->by_given = true;
	}
	apply_sort(settings, config);
	if (has(settings, SETTING_INTERVAL) && !config->interval_given)
		config->interval_ns = settings->interval_ns;
	if (has(settings, SETTING_EXPAND) && config->by == VIEW_CONTAINER && !groups)
		config->expand |= settings->expand;
	if (has(settings, SETTING_COLOR))
		config->color_off = !settings->color;
}

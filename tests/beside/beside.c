// SPDX-License-Identifier: GPL-2.0-or-later
/* The states of cmt in which a client is asked, and the rows of the table. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "../lab/lab.h"
#include "beside.h"

void answers_begin(const struct client *client, struct answers *answers)
{
	memset(answers, 0, sizeof(*answers));
	for (int state = 0; state < NR_STATES; state++)
		for (int i = 0; i < MAX_VALUES; i++)
			answers->in[state][i] = (struct answer) {
				NAN, client->values[i].truth, client->values[i].truth,
			};
}

/*
 * The cache is on while the tool is asked: it makes all else slow.  Lines that stay would
 * keep the RMIDs of groups that are removed in resctrl's limbo.
 */
static void ask(const struct client *client, enum state state, struct answers *answers)
{
	cmt_follow();
	lab_switch(true);
	walkers_refill();
	client->ask(state, answers->in[state]);
	walkers_go(false);
	lab_switch(false);
	lab_ask(LAB_FLUSH, 0);
}

static void stop(const struct client *client, enum state from, enum state to,
		 struct answers *answers)
{
	client->stop();
	for (enum state state = from; client->admits && state <= to; state++)
		answers->admitted[state] = client->admits();
}

/* cmt comes and goes while the tool runs. */
static void ask_later(const struct client *client, struct answers *answers)
{
	client->start();
	ask(client, WITHOUT, answers);
	cmt_load();
	ask(client, LATER, answers);
	readers_start(client->all_readers);
	ask(client, LATER_READ, answers);
	readers_stop();
	cmt_unload();
	ask(client, UNLOADED, answers);
	stop(client, LATER, UNLOADED, answers);
}

static void ask_first(const struct client *client, struct answers *answers)
{
	cmt_load();
	client->start();
	ask(client, FIRST, answers);
	readers_start(client->all_readers);
	ask(client, FIRST_READ, answers);
	stop(client, FIRST, FIRST_READ, answers);
	readers_stop();
	cmt_unload();
}

void beside(const struct client *client)
{
	struct answers answers;

	answers_begin(client, &answers);
	ask_later(client, &answers);
	ask_first(client, &answers);
	stage_clear();
	judge(client, &answers);
}

/* "1,234.5", or what stands for a value that the tool does not print */
static const char *number(double value, int decimals)
{
	static char texts[4][32];
	static unsigned int n;
	char *text = texts[n++ % 4];
	int digits, end;

	if (isnan(value))
		return "nothing";
	snprintf(text, sizeof(texts[0]), "%.*f", decimals, value);
	digits = (int)strcspn(text, ".");
	end = *text == '-' ? 2 : 1;
	for (int at = digits - 3; at >= end; at -= 3) {
		memmove(text + at + 1, text + at, strlen(text + at) + 1);
		text[at] = ',';
	}
	return text;
}

static bool is_near(double a, double b, double allowed)
{
	return fabs(a - b) <= allowed;	/* no NAN is */
}

/* "8,016"; with "(8,010)", the truth of the moment, when it is not that of the table */
static int print_answer(char *to, size_t size, const struct value *value,
			const struct answer *answer, bool wrong)
{
	const char *stars = wrong ? "**" : "";
	int n, decimals = value->decimals;

	n = snprintf(to, size, " | %s%s%s", stars, number(answer->is, decimals), stars);
	if (isnan(value->truth) ||
	    (answer->least == value->truth && answer->most == value->truth))
		return n;
	n += snprintf(to + n, size - n, " (%s", number(answer->least, decimals));
	if (!is_near(answer->least, answer->most, value->allowed))
		n += snprintf(to + n, size - n, " to %s", number(answer->most, decimals));
	return n + snprintf(to + n, size - n, ")");
}

static bool is_wrong(const struct value *value, const struct answer *answer)
{
	return !(answer->is >= answer->least - value->allowed &&
		 answer->is <= answer->most + value->allowed);	/* no NAN is */
}

/* What a row says of a wrong value; NULL: it is not allowed.  Only a loaded cmt has owners. */
static const char *excuse(const struct value *value, const struct answers *answers,
			  enum state state, const struct answer *answer)
{
	if (state == WITHOUT)
		return NULL;
	if (answers->admitted[state])
		return "the tool says so";
	return value->less && state != UNLOADED && answer->is < answer->least ?
	       value->less : NULL;
}

/* Returns whether the row is as it has to be. */
static bool print_row(const struct client *client, struct answers *answers, unsigned int i)
{
	const struct value *value = &client->values[i];
	const char *verdict = "same";
	char row[512];
	int n;

	n = snprintf(row, sizeof(row), "| %s | %s", value->name,
		     isnan(value->truth) ? "" : number(value->truth, value->decimals));
	for (int state = 0; state < NR_STATES; state++) {
		struct answer *answer = &answers->in[state][i];
		bool wrong;

		if (isnan(answer->least))
			answer->least = answer->most = answers->in[WITHOUT][i].is;
		wrong = is_wrong(value, answer);
		n += print_answer(row + n, sizeof(row) - n, value, answer, wrong);
		if (wrong && verdict)
			verdict = excuse(value, answers, state, answer);
	}
	note("%s | %s | %s |", row, number(value->allowed, value->decimals),
	     verdict ? verdict : "**differs**");
	return verdict;
}

void judge(const struct client *client, struct answers *answers)
{
	unsigned int wrong = 0, i;

	for (i = 0; i < MAX_VALUES && client->values[i].name; i++)
		wrong += !print_row(client, answers, i);
	CHECK(!wrong, "%u of %u values are wrong", wrong, i);
}

struct look {
	double is, truth;
};

#define NEAR_LOOKS 3	/* The tool's value is settled when these are near each other. */
/*
 * The truth is that of these looks: a tool shows a moment before, and a reader of cmt that
 * runs once a second takes a megabyte of the cache.
 */
#define LOOKS 8
#define LOOK_MS 150

static bool are_near(const struct look *looks, double allowed)
{
	return is_near(looks[0].is, looks[1].is, allowed) &&
	       is_near(looks[1].is, looks[2].is, allowed) &&
	       is_near(looks[0].is, looks[2].is, allowed);
}

void settle(struct answer *answer, reading_fn tool, void *arg, double allowed,
	    double (*truth)(void))
{
	struct look looks[LOOKS] = { };
	struct patience patience = patience_of(20000);
	int n = 0;

	do {
		memmove(looks, looks + 1, sizeof(looks) - sizeof(looks[0]));
		looks[LOOKS - 1].is = tool(arg);
		looks[LOOKS - 1].truth = truth ? truth() : NAN;
		sleep_ms(LOOK_MS);
	} while (++n < LOOKS || (!are_near(looks + LOOKS - NEAR_LOOKS, allowed) &&
				 patience_left(&patience)));
	answer->is = looks[LOOKS - 1].is;
	if (!truth)
		return;
	/* fmin() of a NAN and a number is the number */
	answer->least = answer->most = truth();
	for (int i = 0; i < LOOKS; i++) {
		answer->least = fmin(answer->least, looks[i].truth);
		answer->most = fmax(answer->most, looks[i].truth);
	}
}

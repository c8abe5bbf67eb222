// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's own selftests of resctrl.  One of them takes its readings in six seconds;
 * what happens to cmt meanwhile happens after the first second.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lab/lab.h"
#include "beside.h"

#define OUTPUT	"/run/selftest.said"
#define TRIES	3

static const char *const *argv;
static const char *const *keys;

/* The number behind the last "KEY: " in the output */
static double number_of(const char *key)
{
	char text[16384], *at, *last = NULL;

	read_file(OUTPUT, text, sizeof(text));
	for (at = text; (at = strstr(at, key)); at += strlen(key))
		last = at;
	return last ? strtod(last + strlen(key), NULL) : (double)NAN;
}

/* Its "not ok" is a line of its own, and not this suite's, which counts such lines. */
static void note_end(int status, char *text)
{
	size_t len = strlen(text);
	char *rest, *line = strtok_r(len > 400 ? text + len - 400 : text, "\n", &rest);

	for (note("status %d", status); line; line = strtok_r(NULL, "\n", &rest))
		note("said: %s", line);
}

/* Whether the selftest passed */
static bool run(struct answer *answers, void (*change)(void))
{
	char text[16384];
	pid_t pid;
	int status;

	lab_switch(true);
	lab_ask(LAB_FLUSH, 0);
	pid = program_start(OUTPUT, argv);
	WAIT_FOR(strstr(read_file(OUTPUT, text, sizeof(text)), "Benchmark PID"), 20000,
		 "it does not begin");
	if (change)
		change();
	status = program_end(pid, 0);
	lab_switch(false);
	for (int i = 0; i < MAX_VALUES && keys[i]; i++)
		answers[i].is = number_of(keys[i]);
	if (!status && strstr(read_file(OUTPUT, text, sizeof(text)), "\nok 1 "))
		return true;
	note_end(status, text);
	return false;
}

/*
 * On a busy host the selftest of traffic fails by itself: resctrl's bytes are of a longer
 * time than those of the memory controllers.  So it may try again, in the same state.
 */
static void ask(struct answer *answers, void (*change)(void), void (*undo)(void))
{
	for (int try = 0; try < TRIES && !run(answers, change); try++)
		if (undo && try + 1 < TRIES)
			undo();
}

static void load_and_read(void)
{
	cmt_load();
	readers_start(false);
}

static void unload(void)
{
	readers_stop();
	cmt_unload();
}

static void watch(const struct client *client)
{
	struct answers answers;

	answers_begin(client, &answers);
	stage();
	ask(answers.in[WITHOUT], NULL, NULL);
	ask(answers.in[LATER], cmt_load, cmt_unload);
	ask(answers.in[FIRST], NULL, NULL);
	readers_start(false);
	ask(answers.in[FIRST_READ], NULL, NULL);
	ask(answers.in[UNLOADED], unload, load_and_read);
	ask(answers.in[LATER_READ], load_and_read, unload);
	unload();
	judge(client, &answers);
}

void selftest_cmt(void)
{
	static const char *const cmt[] = { "resctrl_tests", "-t", "cmt", NULL };
	static const char *const texts[] = { "Average LLC val: ", "Percent diff=", NULL };
	static const struct client client = {
		.values = {
			/* 5 of 16 bits of the cache's mask */
			{ .name = "selftest cmt: average, bytes",
			  .truth = CACHE_KIB * 1024 / 16 * 5, .allowed = CACHE_KIB * 1024 / 20 },
			{ .name = "selftest cmt: difference, %",
			  .truth = 0, .allowed = 15 },
		},
	};

	argv = cmt;
	keys = texts;
	watch(&client);
}

void selftest_mbm(void)
{
	/* 16 MB in the place of 250: the lab takes seconds to write those first */
	static const char *const mbm[] = { "resctrl_tests", "-t", "mbm", "-b", "fill_buf",
					   "16", "1", "1", "0", "mbm", NULL };
	static const char *const texts[] = { "avg_diff_per: ", NULL };
	static const struct client client = {
		.values = {
			{ .name = "selftest mbm: difference from the memory controllers, %",
			  .truth = 0, .allowed = 8 },
		},
	};

	kernel_module_load("/lib/intel-uncore.ko");
	argv = mbm;
	keys = texts;
	watch(&client);
}

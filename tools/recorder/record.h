/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cmtstat record */
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include "common/options.h"
#include "common/origin.h"
#include "rule.h"

#define RECORD_NAME "cmtstat record"

struct record_config {
	const char *output;	/* NULL: not given */
	bool force;		/* replace existing files */
	bool quiet;
	bool seccomp;		/* load a seccomp filter */
	uint64_t duration_ns;	/* 0: until a signal, or the command's end */
	uint64_t max_bytes;	/* of a file; 0: no limit */
	uint64_t max_files;	/* including the current one */
	bool max_files_given;
	uint32_t counters;	/* as of struct config */
	uint32_t recorder_flags;	/* CMT_RECORDER_ROUND or 0 */
	/* A flight recorder: */
	uint64_t keep_ns;	/* 0: it is none */
	uint64_t max_memory;
	const char *directory;	/* saves go there */
	const char *socket;	/* the socket of cmtctl save; NULL: none */
	uint64_t distance_ns;	/* between saves for rules */
	uint64_t peak_bytes;	/* as of struct config */
	struct rule rules[RULES];
	uint32_t nr_rules;
	const char *bad_rule;	/* why one is none */
	bool flight_given;	/* an option that only a flight recorder has */
	const char *device;	/* NULL: the default */
	enum origin origin;
};

extern const struct record_config record_defaults;

/* Run a flight recorder until a signal ends it.  Returns the exit status. */
int flight_run(const struct record_config *config);

extern const struct program record_program;

/* As main(), with argv[0] "record". */
int record_main(int argc, char **argv);

#endif

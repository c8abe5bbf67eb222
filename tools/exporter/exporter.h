/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of cmt-exporter */
#ifndef EXPORTER_H
#define EXPORTER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"
#include "common/origin.h"

/* Above the range that exporters of Prometheus share, which is full. */
#define EXPORTER_LISTEN "127.0.0.1:19753"

/*
 * How long each duty takes at most before the others have their turn: the rings that they
 * read hold 250 ms, and clients wait.
 */
#define EXPORTER_TURN_NS 20000000ULL

struct exporter_config {
	struct sockaddr_storage listen;
	socklen_t listen_len;
	uint64_t interval_ns;
	uint64_t window_ns;	/* 0: not given */
	uint64_t max_containers;
	uint64_t peak_bytes;	/* of an L3 domain, a second; 0: not known */
	uint32_t counters;	/* CMT_F_WAITED | CMT_F_CYCLES | ... */
	bool channels;
	bool culprit;
	bool domains;
	bool histograms;
	bool page;		/* serve the last ten minutes at "/" */
	bool seccomp;		/* load a seccomp filter */
	const char *root;	/* NULL: this machine's */
	const char *device;	/* NULL: the default */
	enum origin origin;
};

/* With the address of EXPORTER_LISTEN, and without a window. */
void exporter_defaults(struct exporter_config *config);

/*
 * When all options are parsed: the default of the window, which depends on the interval.
 * Returns NULL, or why the two do not go together, or with the number of containers.
 */
const char *exporter_set_window(struct exporter_config *config);

extern const struct program exporter_program;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of cmtctl. */
#ifndef TOOLS_CMTCTL_H
#define TOOLS_CMTCTL_H

#include <cmt/cmt.h>
#include <stdbool.h>

#include "common/options.h"
#include "patterns.h"

struct ctl_config {
	const char *device;	/* NULL: the default */
	bool json;
	bool children;
	bool force;
	uint64_t measure_ns;	/* --interval; 0: not given */
	uint64_t count;		/* --count; 0: not given */
	bool patterns_given;
	struct patterns patterns;	/* of --patterns */
	const char *file;		/* NULL: none */
};

extern const struct program cmtctl_program;

/* In the order of cmtctl_program.commands. */
enum ctl_command {
	CTL_INFO,
	CTL_RMIDS,
	CTL_SHOW,
	CTL_STATS,
	CTL_UNCORE,
	CTL_INTERVAL,
	CTL_SCOPE,
	CTL_RESCTRL,
	CTL_ATTACH,
	CTL_DETACH,
	CTL_MEASURE,
	CTL_SAVE,
	CTL_DOCTOR,
	CTL_SELFTEST,
	NR_CTL_COMMANDS,
};

struct ctl {
	struct cmt_device *dev;
	int opened;		/* 0, or why there is no dev: -errno */
	struct ctl_config *config;
	bool json;
	bool control;		/* it changes something */
	/* The values of the operands, after the check */
	uint64_t interval_ns;
	uint32_t scope;		/* CMT_SCOPE_*; 0: none was given */
	uint32_t resctrl;	/* CMT_RESCTRL_*; 0: none was given */
	uint32_t kind;		/* CMT_OWNER_*, of attach, detach, measure */
	const char *id;
	const char *socket;	/* of save; NULL: the service's */
};

/*
 * Check the operands, and print what is wrong with them.  Returns 0 or EXIT_USAGE.
 * Sets control.
 */
int ctl_interval_operands(struct ctl *ctl, char **operands, int nr);
int ctl_scope_operands(struct ctl *ctl, char **operands, int nr);
int ctl_resctrl_operands(struct ctl *ctl, char **operands, int nr);
int ctl_attach_operands(struct ctl *ctl, char **operands, int nr);
int ctl_save_operands(struct ctl *ctl, char **operands, int nr);

/* "pid", "cgroup" or "cpu", as the operand has it; and as JSON has it. */
const char *owner_word(uint32_t kind);
const char *owner_kind(uint32_t kind);

/*
 * The id of the operand's owner.  Returns 0, or the error of the lookup of the cgroup.
 */
int owner_id(const struct ctl *ctl, uint64_t *id);

/*
 * "cannot attach cgroup /x", and why not: @err of owner_id() or of @call,
 * CMT_CALL_*.  Returns EXIT_RUNTIME.
 */
int owner_refused(const struct ctl *ctl, const char *verb, uint32_t call,
		  int err);
int owner_not_found(const struct ctl *ctl, const char *verb, int err);

/* "respect" or "take", of CMT_RESCTRL_*. */
const char *resctrl_name(uint32_t mode);

/*
 * Each does its work on an open device and returns 0, -errno with @what as the failed
 * action, or EXIT_RUNTIME after it has printed its message.  Output goes to standard
 * output.
 */
int ctl_info(const struct ctl *ctl, const char **what);
int ctl_rmids(const struct ctl *ctl, const char **what);
int ctl_stats(const struct ctl *ctl, const char **what);
int ctl_uncore(const struct ctl *ctl, const char **what);
int ctl_interval(const struct ctl *ctl, const char **what);
int ctl_scope(const struct ctl *ctl, const char **what);
int ctl_resctrl(const struct ctl *ctl, const char **what);
int ctl_show(const struct ctl *ctl, const char **what);
int ctl_attach(const struct ctl *ctl, const char **what);
int ctl_detach(const struct ctl *ctl, const char **what);
int ctl_measure(const struct ctl *ctl, const char **what);

/* Talks to the flight recorder, and needs no device. */
int ctl_save(const struct ctl *ctl, const char **what);

/* Exit status of selftest: there is no verdict. */
#define EXIT_CANNOT 2

/* Fills the cache by known amounts, and compares; returns EXIT_CANNOT, too. */
int ctl_selftest(const struct ctl *ctl, const char **what);

/*
 * Prints what keeps cmt from measuring here; a device that does not open is a finding.
 */
int ctl_doctor(const struct ctl *ctl, const char **what);

#endif

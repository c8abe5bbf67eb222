/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals as flags: blocked except while waiting, so that none is missed */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern volatile sig_atomic_t signal_stop;	/* INT, TERM, HUP, QUIT */
extern volatile sig_atomic_t signal_redraw;	/* WINCH */
extern volatile sig_atomic_t signal_continue;	/* CONT */
extern volatile sig_atomic_t signal_suspend;	/* TSTP */

extern volatile sig_atomic_t signal_save;	/* USR1, after signals_take_save() */

/* @screen: also catch the signals of a full screen. */
void signals_setup(bool screen);

/* After signals_setup(): SIGUSR1 is a flag, too. */
void signals_take_save(void);

#define SIGNALS_FOREVER UINT64_MAX

/*
 * ppoll(2) with the signals open, for at most @timeout_ns.  Returns as poll(2),
 * or -errno; -EINTR: a flag was set.
 */
int signals_poll(struct pollfd *fds, nfds_t nr_fds, uint64_t timeout_ns);

/* For work that does not wait: has one come that ends the program? */
bool signals_stopped(void);

/* Stop as Ctrl-Z asked; returns on SIGCONT. */
void signals_suspend(void);

/*
 * Write all of @text.  Returns 0, -errno, or -EINTR: signal_stop is set and the reader
 * of @fd does not read, so the rest was not written.
 */
int signals_write(int fd, const char *text, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals as flags: blocked but while waiting, so that none is missed. */
#ifndef TOOLS_SIGNALS_H
#define TOOLS_SIGNALS_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

extern volatile sig_atomic_t signal_stop;	/* INT, TERM, HUP, QUIT */
extern volatile sig_atomic_t signal_redraw;	/* WINCH, CONT */
extern volatile sig_atomic_t signal_suspend;	/* TSTP */

/* @screen: also catch what concerns a full screen. */
void signals_setup(bool screen);

/* ppoll(2) with the signals open, for at most @timeout_ns. */
int signals_poll(struct pollfd *fds, nfds_t nr_fds, uint64_t timeout_ns);

/* Stop as Ctrl-Z asked, and come back on SIGCONT. */
void signals_suspend(void);

#endif

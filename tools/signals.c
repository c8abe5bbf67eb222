// SPDX-License-Identifier: GPL-2.0-or-later
#include "signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

volatile sig_atomic_t signal_stop;
volatile sig_atomic_t signal_redraw;
volatile sig_atomic_t signal_suspend;

static sigset_t while_waiting;

static void handle(int sig)
{
	switch (sig) {
	case SIGWINCH:
	case SIGCONT:
		signal_redraw = 1;
		break;
	case SIGTSTP:
		signal_suspend = 1;
		break;
	default:
		signal_stop = 1;
	}
}

void signals_setup(bool screen)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		SIGWINCH, SIGCONT, SIGTSTP,	/* full screen only */
	};
	struct sigaction action = { .sa_handler = handle };
	unsigned int i, nr = screen ? 7 : 4;
	struct sigaction before;
	sigset_t block;

	sigemptyset(&block);
	sigfillset(&action.sa_mask);
	for (i = 0; i < nr; i++) {
		/* what nohup(1) and shells set to be ignored stays so */
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(&block, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &block, &while_waiting);
	for (i = 0; i < nr; i++)
		sigdelset(&while_waiting, signals[i]);
	/* a closed pipe is an error of write(2), which is looked at */
	signal(SIGPIPE, SIG_IGN);
}

int signals_poll(struct pollfd *fds, nfds_t nr_fds, uint64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_nsec = (long)(timeout_ns % 1000000000),
	};
	int ret = ppoll(fds, nr_fds, &timeout, &while_waiting);

	return ret < 0 ? -errno : ret;
}

void signals_suspend(void)
{
	signal_suspend = 0;
	raise(SIGSTOP);
	signal_redraw = 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STOP_AGAIN_S 1
#define CHUNK_MAX 65536

volatile sig_atomic_t signal_stop;
volatile sig_atomic_t signal_redraw;
volatile sig_atomic_t signal_continue;
volatile sig_atomic_t signal_suspend;
volatile sig_atomic_t signal_save;

static sigset_t while_waiting;

/*
 * A stop signal may arrive between the check of the flag and a write(2) that
 * blocks: SIGALRM interrupts that write, again and again until the process
 * ends.
 */
static void handle(int sig)
{
	switch (sig) {
	case SIGWINCH:
		signal_redraw = 1;
		break;
	case SIGCONT:
		signal_continue = 1;
		break;
	case SIGTSTP:
		signal_suspend = 1;
		break;
	case SIGUSR1:
		signal_save = 1;
		break;
	default:
		signal_stop = 1;
		alarm(STOP_AGAIN_S);
	}
}

void signals_setup(bool screen)
{
	static const int signals[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM,
		SIGWINCH, SIGCONT, SIGTSTP,	/* full screen only */
	};
	struct sigaction action = { .sa_handler = handle };
	unsigned int i, nr = screen ? 8 : 5;
	struct sigaction before;
	sigset_t block;

	sigemptyset(&block);
	sigfillset(&action.sa_mask);
	for (i = 0; i < nr; i++) {
		/* a signal that nohup(1) or a shell ignores stays ignored */
		if (!sigaction(signals[i], NULL, &before) &&
		    before.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(&block, signals[i]);
	}
	/* the alternate screen is left in the background, too */
	if (screen)
		sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &while_waiting);
	for (i = 0; i < nr; i++)
		sigdelset(&while_waiting, signals[i]);
	if (screen)
		sigaddset(&while_waiting, SIGTTOU);
	/* a closed pipe, and the limit of a file's size, are errors of write(2), which are looked at */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

void signals_take_save(void)
{
	struct sigaction action = { .sa_handler = handle };
	sigset_t block;

	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	sigdelset(&while_waiting, SIGUSR1);
}

int signals_poll(struct pollfd *fds, nfds_t nr_fds, uint64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_nsec = (long)(timeout_ns % 1000000000),
	};
	int ret = ppoll(fds, nr_fds,
			timeout_ns == SIGNALS_FOREVER ? NULL : &timeout,
			&while_waiting);

	return ret < 0 ? -errno : ret;
}

bool signals_stopped(void)
{
	signals_poll(NULL, 0, 0);
	return signal_stop;
}

void signals_suspend(void)
{
	signal_suspend = 0;
	raise(SIGSTOP);
	signal_continue = 1;
}

/* Returns 0: @fd takes something, or -EINTR. */
static int wait_for_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	int ret;

	do {
		ret = signals_poll(&room, 1, signal_stop ? 0 : SIGNALS_FOREVER);
	} while (ret == -EINTR);
	return ret > 0 ? 0 : ret ? ret : -EINTR;
}

/*
 * A pipe that has room has room for PIPE_BUF bytes; a terminal may block in the
 * middle, where a signal interrupts it.
 */
static ssize_t write_open(int fd, const char *text, size_t len)
{
	sigset_t before;
	ssize_t n;

	sigprocmask(SIG_SETMASK, &while_waiting, &before);
	n = write(fd, text, len);
	if (n < 0)
		n = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return n;
}

static size_t chunk_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode) ? PIPE_BUF : CHUNK_MAX;
}

int signals_write(int fd, const char *text, size_t len)
{
	size_t chunk = chunk_of(fd);

	while (len) {
		ssize_t n = wait_for_room(fd);

		if (!n)
			n = write_open(fd, text, len < chunk ? len : chunk);
		else if (n == -EINTR)
			return -EINTR;
		if (n < 0 && n != -EINTR && n != -EAGAIN)
			return (int)n;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

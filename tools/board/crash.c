// SPDX-License-Identifier: GPL-2.0-or-later
#include "crash.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LEAVE_MAX 1024

static char leave_bytes[LEAVE_MAX];
static size_t leave_len;
static struct termios keys_before;
static volatile sig_atomic_t keys_kept, is_armed;

/* The signal is raised again when this returns, with its default action. */
static void handle(int sig)
{
	ssize_t n = 0;

	if (is_armed)
		n = write(STDOUT_FILENO, leave_bytes, leave_len);
	if (is_armed && keys_kept && n >= 0)
		tcsetattr(STDIN_FILENO, TCSANOW, &keys_before);
	raise(sig);
}

void crash_setup(const char *leave, size_t len)
{
	leave_len = len <= LEAVE_MAX ? len : 0;
	if (leave_len)
		memcpy(leave_bytes, leave, leave_len);
}

void crash_keep_keys(const struct termios *keys)
{
	keys_kept = 0;
	if (!keys)
		return;
	keys_before = *keys;
	keys_kept = 1;
}

void crash_arm(bool armed)
{
	static const int signals[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGUSR1, SIGUSR2,
		SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
	};
	const struct sigaction action = {
		.sa_handler = handle, .sa_flags = (int)SA_RESETHAND,
	};
	static bool installed;
	struct sigaction before;
	size_t i;

	is_armed = armed;
	for (i = 0; !installed && i < sizeof(signals) / sizeof(signals[0]); i++)
		/* one that is ignored stays ignored */
		if (sigaction(signals[i], NULL, &before) || before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	installed = true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/caps.h"
#include "common/clock.h"
#include "common/errors.h"
#include "common/format.h"

enum {
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128,	/* and its number */
};

/* The answers of the anchor and of the command; the end of file follows. */
struct answer {
	pid_t pid;		/* of the command; 0: there is none */
	int err;		/* of exec(3), then; or of fork(2) */
};

/* The signals that launch_wait() takes. */
static void wait_set(sigset_t *set)
{
	static const int signals[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
	};
	size_t i;

	sigemptyset(set);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
}

static void say(int fd, pid_t pid, int err)
{
	const struct answer answer = { pid, err };

	/* fewer than PIPE_BUF bytes: all or none; a reader that is gone has ended */
	if (write(fd, &answer, sizeof(answer)) < 0)
		_exit(EXIT_FAILURE);
}

static void run_command(char **argv, int answers, const sigset_t *mask)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	say(answers, 0, -errno);
	_exit(EXIT_FAILURE);
}

/* All signals are blocked: the anchor ends when @go is closed, or is killed. */
static void run_anchor(char **argv, int go, int answers, const sigset_t *mask)
{
	char byte;
	long pid;

	if (read(go, &byte, 1) != 1)
		_exit(EXIT_SUCCESS);
	pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		run_command(argv, answers, mask);
	say(answers, pid < 0 ? 0 : (pid_t)pid, pid < 0 ? -errno : 0);
	close(answers);
	if (caps_drop(false))
		_exit(EXIT_FAILURE);
	while (read(go, &byte, 1) > 0)
		continue;
	_exit(EXIT_SUCCESS);
}

static void close_pair(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Returns the process id of the anchor, in which this does not return, or -errno. */
static pid_t fork_anchor(char **argv, const int go[2], const int answers[2])
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(answers[0]);
		run_anchor(argv, go[0], answers[1], &before);
	}
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int launch_prepare(struct launch *launch, char **argv)
{
	int go[2], answers[2], ret;

	*launch = (struct launch){ 0 };
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(answers, O_CLOEXEC)) {
		ret = -errno;
		close_pair(go);
		return ret;
	}
	launch->anchor = fork_anchor(argv, go, answers);
	close(go[0]);
	close(answers[1]);
	launch->go = go[1];
	launch->answers = answers[0];
	if (launch->anchor > 0)
		return 0;
	close(go[1]);
	close(answers[0]);
	return launch->anchor;
}

/* Rights to change something are needed once, and not by the readings. */
int launch_register(const struct launch *launch, struct cmt_device *dev,
		    const char *program)
{
	int ret = caps_drop(true);

	if (!ret)
		ret = cmt_register(dev, CMT_OWNER_PROCESS,
				   (uint64_t)launch->anchor,
				   CMT_ATTACH_CHILDREN, NULL);
	if (ret)
		error_reason(stderr, program, "cannot measure a command",
			     CMT_CALL_ATTACH, ret, NULL);
	return ret;
}

int launch_say_failed(const char *program, char **argv, int err)
{
	char name[4 * LINE_MAX];

	escape_text(name, sizeof(name), argv[0], ESCAPE_ASCII);
	error_plain(stderr, program, name, err);
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

/* From here on the command may end, and signals are for it. */
static void catch_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	wait_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int launch_start(struct launch *launch)
{
	struct answer answer;
	int err = 0;

	catch_signals();
	launch->begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (write(launch->go, "", 1) != 1)
		return -EPIPE;
	while (read(launch->answers, &answer, sizeof(answer)) ==
	       (ssize_t)sizeof(answer)) {
		if (answer.pid)
			launch->pid = answer.pid;
		if (answer.err)
			err = answer.err;
	}
	if (err && launch->pid)
		waitpid(launch->pid, NULL, 0);
	if (err)
		launch->pid = 0;
	/* the anchor was killed */
	return err || launch->pid ? err : -ESRCH;
}

/*
 * Signals from a terminal or the kernel go to all processes of the group, and are not
 * forwarded.
 */
static void send_on(const struct launch *launch, const siginfo_t *info)
{
	if (info->si_signo != SIGCHLD && info->si_code <= 0 &&
	    info->si_pid != launch->pid)
		kill(launch->pid, info->si_signo);
}

static int reap(struct launch *launch)
{
	pid_t pid = wait4(launch->pid, &launch->status, WNOHANG, &launch->usage);

	if (pid <= 0)
		return pid ? -errno : 0;
	launch->end_ns = clock_ns(CLOCK_MONOTONIC);
	return 1;
}

int launch_wait(struct launch *launch, uint64_t timeout_ns)
{
	const struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_nsec = (long)(timeout_ns % 1000000000),
	};
	siginfo_t info;
	sigset_t set;

	wait_set(&set);
	if (sigtimedwait(&set, &info, &timeout) > 0)
		send_on(launch, &info);
	return reap(launch);
}

int launch_exit_status(const struct launch *launch)
{
	int status = launch->status;

	return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) :
				     WEXITSTATUS(status);
}

void launch_finish(struct launch *launch)
{
	close(launch->go);
	close(launch->answers);
	waitpid(launch->anchor, NULL, 0);
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "forbidden.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing is there, so that nothing runs. */
static long call_execve(void)
{
	char *argv[] = { NULL };

	return execve("/nonexistent/program", argv, argv);
}

static long make_code(void)
{
	void *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return map == MAP_FAILED ? -1 : munmap(map, 4096);
}

static long call_mprotect(void)
{
	static char page[8192];
	char *start = page + 4096 - (unsigned long)page % 4096;

	return mprotect(start, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}

static long make_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static long open_to_write(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static long load_program(void)
{
	return syscall(SYS_bpf, 0, NULL, 0);
}

static long set_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_CORE, &limit))
		return 0;
	return setrlimit(RLIMIT_CORE, &limit);
}

void forbidden_calls(FILE *out)
{
	static const struct {
		const char *name;
		long (*call)(void);
	} calls[] = {
		{ "bpf", load_program },
		{ "execve", call_execve },
		{ "mmap of code", make_code },
		{ "mprotect to code", call_mprotect },
		{ "open to write", open_to_write },
		{ "setrlimit", set_limit },
		{ "socket", make_socket },
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		errno = 0;
		fprintf(out, "forbidden %s: %s\n", calls[i].name,
			calls[i].call() < 0 ? strerror(errno) : "allowed");
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* What calls are made of */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "guestfuzz.h"

uint32_t draw(struct fuzzer *f, uint32_t n)
{
	uint32_t word = f->used < WORDS ? f->words[f->used++] : rng_next(&f->rng);

	return n ? word % n : word;
}

bool draw_one_in(struct fuzzer *f, uint32_t n)
{
	return !draw(f, n);
}

uint64_t draw_odd(struct fuzzer *f)
{
	uint32_t kind = draw(f, 4);
	uint64_t number = 1ULL << draw(f, 64);

	if (kind == 0)
		return draw(f, 16);
	if (kind == 1)
		return ~0ULL - draw(f, 16);
	return number - 1 + draw(f, 3);
}

uint64_t draw_address(struct fuzzer *f)
{
	uint64_t arena = (uintptr_t)f->arena;

	switch (draw(f, 7)) {
	case 0:	return 0;
	case 1:	return arena + ARENA_END;
	case 2:	return arena + ARENA_NONE - draw(f, 256);
	case 3:	return arena + ARENA_READ_ONLY + draw(f, 256);
	case 4:	return 0xffff888000000000ULL + draw(f, 0);	/* the kernel's */
	case 5:	return 0x7fffffffffffULL - draw(f, 64);		/* the last of a user */
	}
	return draw_odd(f);
}

void check_result(const char *what, long result)
{
	static const int allowed[] = {
		EFAULT, EINVAL, ENOTTY, EBADF, EPERM, EACCES, ENOMEM, ENOSPC, ENOENT,
		ESRCH, ENXIO, EEXIST, EBUSY, EAGAIN, EINTR, ENAMETOOLONG, ENODEV,
		ESPIPE, EOPNOTSUPP, E2BIG, EOVERFLOW, EIO, EMFILE, ENFILE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (result >= 0 || result == -allowed[i])
			return;
	FAIL("%s: error %ld", what, -result);
}

static uint64_t slots[NR_SLOT_KINDS][NR_SLOTS];
static uint32_t opened;

uint64_t slot_look(enum slots kind, uint32_t i)
{
	return __atomic_load_n(&slots[kind][i], __ATOMIC_SEQ_CST);
}

int slot_fd(uint64_t slot)
{
	return (int)(uint32_t)slot - 1;
}

void slot_set(enum slots kind, uint32_t i, int fd)
{
	uint64_t slot = 0;

	if (fd >= 0)
		slot = (uint64_t)__atomic_add_fetch(&opened, 1, __ATOMIC_RELAXED) << 32 |
			(uint32_t)(fd + 1);
	slot = __atomic_exchange_n(&slots[kind][i], slot, __ATOMIC_SEQ_CST);
	if (slot)
		close(slot_fd(slot));
}

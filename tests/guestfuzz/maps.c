// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings of rings: only complete ones, and never to be written */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "guestfuzz.h"

#define PAGE	4096UL

static struct fuzz_map *draw_map(struct fuzzer *f)
{
	return &f->maps[draw(f, NR_MAPS)];
}

static void map_forget(struct fuzz_map *map)
{
	if (map->at)
		munmap(map->at, map->bytes);
	map->at = NULL;
}

static uint64_t draw_length(struct fuzzer *f)
{
	uint64_t bytes = fuzz->info.ring_bytes;

	switch (draw(f, 12)) {
	case 0:	return bytes - PAGE;
	case 1:	return bytes + PAGE;
	case 2:	return bytes * 2;
	case 3:	return draw(f, 64) * PAGE;
	case 4:	return draw_odd(f) & 0x3ffffff;
	case 5:	return bytes - draw(f, 4095);	/* is rounded up */
	}
	return bytes;
}

static uint64_t draw_offset(struct fuzzer *f)
{
	uint64_t offset = draw(f, fuzz->info.nr_cpus) * fuzz->info.ring_bytes;

	switch (draw(f, 10)) {
	case 0:	return offset + draw(f, 32) * PAGE;
	case 1:	return fuzz->info.nr_cpus * fuzz->info.ring_bytes;
	case 2:	return draw(f, 0) * fuzz->info.ring_bytes;
	case 3:	return draw_odd(f) & ~(PAGE - 1);
	}
	return offset;
}

static int draw_prot(struct fuzzer *f)
{
	return draw_one_in(f, 6) ? (int)draw(f, 8) : PROT_READ;
}

static void check_map(uint64_t bytes, uint64_t offset, int prot, int flags)
{
	uint64_t ring = fuzz->info.ring_bytes;
	bool private = (flags & MAP_TYPE) == MAP_PRIVATE;

	CHECK(!(prot & PROT_WRITE), "%s mapping for writing",
	      private ? "a private" : "a shared");
	CHECK((bytes + PAGE - 1) / PAGE * PAGE == ring && offset % ring == 0 &&
	      offset / ring < fuzz->info.nr_cpus,
	      "a mapping of %#llx bytes at %#llx, rings have %#llx",
	      (unsigned long long)bytes, (unsigned long long)offset,
	      (unsigned long long)ring);
}

long fuzz_mmap(struct fuzzer *f)
{
	uint32_t slot = draw(f, NR_SLOTS);
	uint64_t bytes = draw_length(f), offset = draw_offset(f), before;
	int prot = draw_prot(f), flags = draw_one_in(f, 4) ? MAP_PRIVATE : MAP_SHARED;
	struct fuzz_map *map = draw_map(f);
	char *at;

	flags |= draw_one_in(f, 8) ? MAP_POPULATE : 0;
	before = slot_look(SLOTS_DEV, slot);
	at = mmap(NULL, bytes, prot, flags, slot_fd(before), offset);
	if (at == MAP_FAILED)
		return -errno;
	map_forget(map);
	map->at = at;
	map->bytes = (bytes + PAGE - 1) / PAGE * PAGE;
	map->judged = slot_look(SLOTS_DEV, slot) == before;
	if (map->judged)
		check_map(bytes, offset, prot, flags);
	return 0;
}

/* The rest of it stays.  No other thread gets the hole, which may be touched. */
long fuzz_munmap(struct fuzzer *f)
{
	struct fuzz_map *map = draw_map(f);
	uint64_t from, bytes;

	if (!map->at)
		return -EINVAL;
	from = draw(f, map->bytes / PAGE) * PAGE;
	bytes = (1 + draw(f, 4)) * PAGE;
	if (draw_one_in(f, 2) || from + bytes > map->bytes) {
		map_forget(map);
		return 0;
	}
	map->judged = false;
	return mmap(map->at + from, bytes, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? -errno : 0;
}

/* It may move and become smaller, but not grow. */
long fuzz_mremap(struct fuzzer *f)
{
	struct fuzz_map *map = draw_map(f);
	uint64_t bytes = map->bytes;
	char *at;

	if (!map->at)
		return -EINVAL;
	if (draw_one_in(f, 2))
		bytes = bytes > PAGE && draw_one_in(f, 2) ? bytes - PAGE : bytes + PAGE;
	at = mremap(map->at, map->bytes, bytes, draw_one_in(f, 2) ? MREMAP_MAYMOVE : 0);
	if (at == MAP_FAILED)
		return -errno;
	CHECK(bytes <= map->bytes || !map->judged, "a mapping grew");
	map->at = at;
	map->bytes = bytes;
	return 0;
}

long fuzz_mprotect(struct fuzzer *f)
{
	static const int advices[] = { MADV_DONTNEED, MADV_WILLNEED, MADV_COLD,
				       MADV_DODUMP, MADV_DOFORK, MADV_REMOVE };
	struct fuzz_map *map = draw_map(f);
	int prot = draw(f, 8), ret;

	if (!map->at)
		return -EINVAL;
	switch (draw(f, 4)) {
	case 0:	return mlock(map->at, map->bytes) ? -errno : 0;
	case 1:	return msync(map->at, map->bytes, MS_SYNC) ? -errno : 0;
	case 2:	return madvise(map->at, map->bytes, advices[draw(f, 6)]) ? -errno : 0;
	}
	ret = mprotect(map->at, map->bytes, prot);
	CHECK(ret || !(prot & PROT_WRITE) || !map->judged, "a ring can be written");
	return ret ? -errno : 0;
}

static __thread sigjmp_buf back;
static __thread volatile sig_atomic_t guarded;

static void on_fault(int signal)
{
	if (guarded)
		siglongjmp(back, 1);
	note("signal %d outside of a touch", signal);
	_Exit(1);
}

__attribute__((constructor)) static void catch_faults(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

/* The rings of CPUs that were never online have no pages. */
long fuzz_touch(struct fuzzer *f)
{
	struct fuzz_map *map = draw_map(f);
	bool writes = draw_one_in(f, 3);
	volatile char *at;

	if (!map->at)
		return -EINVAL;
	at = map->at + draw(f, map->bytes);
	/* where it is not surely a ring, nothing is written */
	writes &= map->judged;
	if (sigsetjmp(back, 1)) {
		guarded = false;
		return -EFAULT;
	}
	guarded = true;
	if (writes)
		*at = 1;
	else
		(void)*at;
	guarded = false;
	CHECK(!writes || !map->judged, "a ring was written");
	return 0;
}

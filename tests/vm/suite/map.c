// SPDX-License-Identifier: GPL-2.0-or-later
/* The maps: rights, bounds, and no write access. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

static int try_map(const struct dev *dev, uint64_t length, int prot, int flags,
		   uint64_t offset)
{
	void *map = mmap64(NULL, length, prot, flags, dev->fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, length);
	return 0;
}

static void map_not_writable(void)
{
	const int rw_prot = PROT_READ | PROT_WRITE;
	struct dev ro, rw;
	uint64_t bytes;
	void *map;
	int err;

	dev_open(&ro, O_RDONLY);
	dev_open(&rw, O_RDWR);
	bytes = ro.info.ring_bytes;

	err = try_map(&ro, bytes, rw_prot, MAP_SHARED, 0);
	CHECK(err == -EACCES, "read-only, shared: %s", strerror(-err));
	err = try_map(&rw, bytes, rw_prot, MAP_SHARED, 0);
	CHECK(err == -EPERM, "read-write, shared: %s", strerror(-err));
	err = try_map(&rw, bytes, PROT_WRITE, MAP_SHARED, 0);
	CHECK(err == -EPERM, "write only: %s", strerror(-err));
	err = try_map(&ro, bytes, rw_prot, MAP_PRIVATE, 0);
	CHECK(err == -EPERM || err == -EACCES, "read-only, private: %s",
	      strerror(-err));
	err = try_map(&rw, bytes, rw_prot, MAP_PRIVATE, 0);
	CHECK(err == -EPERM, "read-write, private: %s", strerror(-err));

	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, rw.fd, 0);
	CHECK(map != MAP_FAILED, "mmap: %m");
	CHECK(mprotect(map, 4096, rw_prot) && errno == EACCES,
	      "mprotect made the header writable: %m");
	CHECK(mprotect(map, bytes, rw_prot) && errno == EACCES,
	      "mprotect made the ring writable: %m");
	munmap(map, bytes);
	map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, rw.fd, 0);
	CHECK(map == MAP_FAILED || (mprotect(map, bytes, rw_prot) &&
				    errno == EACCES),
	      "mprotect made a private map writable");
	if (map != MAP_FAILED)
		munmap(map, bytes);
	dev_close(&ro);
	dev_close(&rw);
}

static void map_bad_geometry(void)
{
	struct dev dev;
	uint64_t bytes;
	unsigned int i;

	dev_open(&dev, O_RDWR);
	bytes = dev.info.ring_bytes;
	const struct {
		uint64_t length, offset;
	} bad[] = {
		{ 4096, 0 }, { bytes - 4096, 0 }, { bytes + 4096, 0 },
		{ 2 * bytes, 0 }, { bytes, 4096 }, { bytes, bytes - 4096 },
		{ bytes - 4096, 4096 }, { bytes, bytes * dev.info.nr_cpus },
		{ bytes, bytes << 20 }, { 4096, bytes * dev.info.nr_cpus },
	};

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int err = try_map(&dev, bad[i].length, PROT_READ, MAP_SHARED,
				  bad[i].offset);

		CHECK(err == -EINVAL, "length %#llx at %#llx: %s",
		      (unsigned long long)bad[i].length,
		      (unsigned long long)bad[i].offset, strerror(-err));
	}
	CHECK(!dev_stats(&dev).readers, "a refused map made a reader");
	dev_close(&dev);
}

static void expect_signal(int signal, void (*fn)(const volatile char *),
			  const volatile char *at)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork: %m");
	if (pid == 0) {
		fn(at);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	      WTERMSIG(status) == signal, "status %#x, not signal %d", status,
	      signal);
}

static void load_byte(const volatile char *at)
{
	(void)*at;
}

static void store_byte(const volatile char *at)
{
	*(volatile char *)at = 1;
}

static void map_store_faults(void)
{
	struct dev dev;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	expect_signal(SIGSEGV, store_byte, (char *)dev.rings[0].header);
	expect_signal(SIGSEGV, store_byte, (char *)dev.rings[0].slots);
	dev_close(&dev);
}

#define CPU1 "/sys/devices/system/cpu/cpu1/online"

/* A CPU that has not been online since the load has a ring without slots. */
static void map_absent_cpu(void)
{
	uint32_t cpu, absent = 0;
	struct dev dev;

	CHECK(!write_file(CPU1, "0"), "CPU 1 does not go offline");
	CHECK(!module_load("ring_records=1024"), "load");
	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (cpu = 0; cpu < dev.info.nr_cpus; cpu++) {
		const struct ring *r = &dev.rings[cpu];

		if (ring_state(r) != CMT_RING_ABSENT)
			continue;
		absent++;
		CHECK(!ring_head(r), "ring %u: absent, with records", cpu);
		expect_signal(SIGBUS, load_byte, (char *)r->slots);
	}
	CHECK(absent && ring_state(&dev.rings[1]) == CMT_RING_ABSENT,
	      "CPU 1 is not absent");
	CHECK(dev_stats(&dev).cpus_online == dev.info.nr_cpus - absent,
	      "%u CPUs online", dev_stats(&dev).cpus_online);
	/* the page that raised SIGBUS exists when the CPU is online */
	CHECK(!write_file(CPU1, "1"), "CPU 1 does not come back");
	load_byte((char *)dev.rings[1].slots);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* A map can be cut, moved and inherited.  It cannot grow. */
static void map_juggling(void)
{
	uint64_t bytes;
	struct dev dev;
	pid_t pid;
	char *map;

	dev_open(&dev, O_RDONLY);
	bytes = dev.info.ring_bytes;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, dev.fd, 0);
	CHECK(map != MAP_FAILED, "mmap: %m");
	CHECK(mremap(map, bytes, 2 * bytes, MREMAP_MAYMOVE) == MAP_FAILED,
	      "a map grew");
	map = mremap(map, bytes, bytes, MREMAP_MAYMOVE);
	CHECK(map != MAP_FAILED, "mremap: %m");

	pid = fork();
	if (pid == 0) {
		load_byte(map);
		load_byte(map + bytes - 1);
		_exit(0);
	}
	expect_exit_0(pid, "child with the map");
	CHECK(!munmap(map + 4096, 4096), "cut: %m");
	load_byte(map);
	load_byte(map + bytes - 1);
	CHECK(dev_stats(&dev).readers == 1, "%u readers",
	      dev_stats(&dev).readers);
	munmap(map, bytes);
	dev_close(&dev);
}

#define PAGE 4096UL

/* A ring without writes for a second at a time.  All its pages differ. */
static char *map_still(struct dev *dev, unsigned long *pages)
{
	dev_open(dev, O_RDWR);
	dev_map(dev, FROM_NOW);
	*pages = dev->info.ring_bytes / PAGE;
	WAIT_FOR(ring_head(&dev->rings[1]) > dev->info.ring_records, 10000,
		 "ring 1 does not fill");
	dev_set_interval(dev, 1000000000);
	return mmap(NULL, dev->info.ring_bytes, PROT_READ, MAP_SHARED, dev->fd,
		    dev->info.ring_bytes);
}

static bool same_page(const char *a, const char *b)
{
	return !memcmp(a, b, PAGE);
}

/*
 * The pages from the first one on are those of the complete map; a tick may come
 * between.
 */
static void check_pages(const struct dev *dev, const char *at,
			unsigned long first, unsigned long count)
{
	const char *whole = (const char *)dev->rings[1].header;
	unsigned long i;

	for (i = 0; i < count; i++)
		WAIT_FOR(same_page(at + i * PAGE, whole + (first + i) * PAGE),
			 3000, "page %lu is another one", first + i);
}

/* Checks the check: pages differ, and rings differ. */
static void map_pages_differ(void)
{
	unsigned long pages, i;
	struct dev dev;
	char *map;

	map = map_still(&dev, &pages);
	CHECK(map != MAP_FAILED, "mmap: %m");
	check_pages(&dev, map, 0, pages);
	for (i = 0; i + 1 < pages; i++)
		CHECK(!same_page(map + i * PAGE, map + (i + 1) * PAGE) &&
		      !same_page(map + i * PAGE,
				 (char *)dev.rings[0].header + i * PAGE),
		      "page %lu is as another one", i);
	dev_close(&dev);
}

static void map_cut(void)
{
	unsigned long pages, middle;
	struct dev dev;
	char *map;

	map = map_still(&dev, &pages);
	CHECK(map != MAP_FAILED, "mmap: %m");
	middle = pages / 2;
	CHECK(!munmap(map, PAGE), "munmap of the first page: %m");
	check_pages(&dev, map + PAGE, 1, pages - 1);
	CHECK(!munmap(map + middle * PAGE, PAGE), "munmap in the middle: %m");
	/* touched pages are in the page tables: the module must be asked again */
	CHECK(!madvise(map + PAGE, (middle - 1) * PAGE, MADV_DONTNEED) &&
	      !madvise(map + (middle + 1) * PAGE, (pages - middle - 1) * PAGE,
		       MADV_DONTNEED), "madvise: %m");
	check_pages(&dev, map + PAGE, 1, middle - 1);
	check_pages(&dev, map + (middle + 1) * PAGE, middle + 1,
		    pages - middle - 1);
	CHECK(!munmap(map + (pages - 1) * PAGE, PAGE), "munmap at the end: %m");
	check_pages(&dev, map + (middle + 1) * PAGE, middle + 1,
		    pages - middle - 2);
	munmap(map, pages * PAGE);
	dev_close(&dev);
}

static void map_moved(void)
{
	unsigned long pages;
	char *map, *to;
	struct dev dev;

	map = map_still(&dev, &pages);
	CHECK(map != MAP_FAILED, "mmap: %m");
	/* a part of the map, before any page of it was touched */
	to = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	CHECK(to != MAP_FAILED, "mmap: %m");
	CHECK(mremap(map + 3 * PAGE, 4 * PAGE, 4 * PAGE,
		     MREMAP_MAYMOVE | MREMAP_FIXED, to) == to, "mremap: %m");
	check_pages(&dev, to, 3, 4);
	check_pages(&dev, map, 0, 3);
	check_pages(&dev, map + 7 * PAGE, 7, pages - 7);
	/* the same part, touched; and the remaining part after it shrinks */
	CHECK(mremap(to, 4 * PAGE, 2 * PAGE, 0) == to, "shrink: %m");
	CHECK(mremap(to + PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		     map + 5 * PAGE) == map + 5 * PAGE, "back: %m");
	check_pages(&dev, map + 5 * PAGE, 4, 1);
	CHECK(!madvise(map + 5 * PAGE, PAGE, MADV_DONTNEED), "madvise: %m");
	check_pages(&dev, map + 5 * PAGE, 4, 1);
	/* no map grows or is duplicated */
	CHECK(mremap(to, PAGE, 2 * PAGE, MREMAP_MAYMOVE) == MAP_FAILED,
	      "a part grew");
	CHECK(mremap(map + 7 * PAGE, (pages - 7) * PAGE, (pages - 6) * PAGE,
		     MREMAP_MAYMOVE) == MAP_FAILED, "the end grew");
	CHECK(mremap(to, 0, PAGE, MREMAP_MAYMOVE) == MAP_FAILED,
	      "a part was doubled");
	munmap(to, PAGE);
	munmap(map, pages * PAGE);
	dev_close(&dev);
}

static void map_locked(void)
{
	unsigned long pages;
	struct dev dev;
	char *map;

	map = map_still(&dev, &pages);
	CHECK(map != MAP_FAILED, "mmap: %m");
	CHECK(!mlock(map + 2 * PAGE, 3 * PAGE), "mlock: %m");
	CHECK(!munmap(map, PAGE), "munmap: %m");
	check_pages(&dev, map + PAGE, 1, pages - 1);
	CHECK(!munlock(map + 3 * PAGE, PAGE), "munlock: %m");
	CHECK(!mlockall(MCL_CURRENT | MCL_FUTURE), "mlockall: %m");
	check_pages(&dev, map + PAGE, 1, pages - 1);
	CHECK(!munlockall(), "munlockall: %m");
	CHECK(!mprotect(map + 4 * PAGE, PAGE, PROT_NONE), "mprotect: %m");
	expect_signal(SIGSEGV, load_byte, map + 4 * PAGE);
	CHECK(!mprotect(map + 4 * PAGE, PAGE, PROT_READ), "mprotect: %m");
	check_pages(&dev, map + PAGE, 1, pages - 1);
	munmap(map, pages * PAGE);
	dev_close(&dev);
}

#define ADVICE_MAX 26	/* also 100 and 101: deliberate memory failures */

/* For any advice about a part, no page changes its content or becomes writable. */
static void map_advised(void)
{
	unsigned long pages;
	struct dev dev;
	char *map;
	int advice;

	map = map_still(&dev, &pages);
	CHECK(map != MAP_FAILED, "mmap: %m");
	CHECK(!munmap(map, PAGE), "munmap: %m");
	for (advice = 0; advice < ADVICE_MAX; advice++) {
		madvise(map + 2 * PAGE, 3 * PAGE, advice);
		/* undo MADV_DONTFORK: the forked processes access the map */
		madvise(map + 2 * PAGE, 3 * PAGE, MADV_DOFORK);
		check_pages(&dev, map + PAGE, 1, pages - 1);
		expect_signal(SIGSEGV, store_byte, map + 3 * PAGE);
		CHECK(mprotect(map + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE) &&
		      errno == EACCES, "advice %d made it writable", advice);
	}
	munmap(map, pages * PAGE);
	dev_close(&dev);
}

#define STILL "ring_records=1024 interval_us=200"

const struct test map_tests[] = {
	{ "map_not_writable", map_not_writable, "ring_records=1024", 0 },
	{ "map_bad_geometry", map_bad_geometry, "ring_records=1024", 0 },
	{ "map_store_faults", map_store_faults, "ring_records=1024", 0 },
	{ "map_absent_cpu", map_absent_cpu, NULL, 0 },
	{ "map_juggling", map_juggling, "ring_records=1024", 0 },
	{ "map_pages_differ", map_pages_differ, STILL, 0 },
	{ "map_cut", map_cut, STILL, 40 },
	{ "map_moved", map_moved, STILL, 40 },
	{ "map_locked", map_locked, STILL, 40 },
	{ "map_advised", map_advised, STILL, 60 },
	{ }
};

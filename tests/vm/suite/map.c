// SPDX-License-Identifier: GPL-2.0-or-later
/* The maps: who may, how much, and nobody writes. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
	/* what was SIGBUS is there when the CPU is */
	CHECK(!write_file(CPU1, "1"), "CPU 1 does not come back");
	load_byte((char *)dev.rings[1].slots);
	dev_close(&dev);
	CHECK(!module_unload(), "unload");
}

/* A map can be cut, moved, inherited; it cannot grow. */
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

const struct test map_tests[] = {
	{ "map_not_writable", map_not_writable, "ring_records=1024", 0 },
	{ "map_bad_geometry", map_bad_geometry, "ring_records=1024", 0 },
	{ "map_store_faults", map_store_faults, "ring_records=1024", 0 },
	{ "map_absent_cpu", map_absent_cpu, NULL, 0 },
	{ "map_juggling", map_juggling, "ring_records=1024", 0 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Waiting: read(), poll() and epoll. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dev.h"
#include "suite.h"

static void set_watermark(const struct dev *dev, uint32_t records)
{
	struct cmt_watermark arg = { .size = sizeof(arg), .records = records };

	CHECK(!ioctl(dev->fd, CMT_IOC_SET_WATERMARK, &arg),
	      "SET_WATERMARK %u: %m", records);
}

static void set_nonblock(const struct dev *dev, bool on)
{
	CHECK(!fcntl(dev->fd, F_SETFL, on ? O_NONBLOCK : 0), "F_SETFL: %m");
}

/* The number of records that read() returns, or -errno. */
static int64_t take(const struct dev *dev)
{
	uint64_t records[2] = { 0, 0x5a5a };
	ssize_t n = read(dev->fd, records, sizeof(records));

	if (n < 0)
		return -errno;
	CHECK(n == 8 && records[0] && records[1] == 0x5a5a,
	      "read %zd bytes, %llu records", n, (unsigned long long)records[0]);
	return records[0];
}

static int ready(const struct dev *dev, int timeout_ms)
{
	struct pollfd p = { .fd = dev->fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	CHECK(n >= 0 && (!n || p.revents == POLLIN), "poll %d, revents %#x", n,
	      p.revents);
	return n;
}

static uint64_t sum_of_heads(const struct dev *dev)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		sum += ring_head(&dev->rings[cpu]);
	return sum;
}

/* Wait until some ring has this number of records more. */
static void wait_heads(const struct dev *dev, uint64_t records)
{
	uint64_t heads[64];
	uint32_t cpu;
	bool enough;

	CHECK(dev->info.nr_cpus <= 64, "%u CPUs", dev->info.nr_cpus);
	for (cpu = 0; cpu < dev->info.nr_cpus; cpu++)
		heads[cpu] = ring_head(&dev->rings[cpu]);
	do {
		sleep_ms(1);
		for (cpu = 0, enough = false; cpu < dev->info.nr_cpus; cpu++)
			enough |= ring_head(&dev->rings[cpu]) >=
				  heads[cpu] + records;
	} while (!enough);
}

/* From now on the rings are not written for a second. */
static void quiet(const struct dev *dev)
{
	dev_set_interval(dev, 1000000000);
}

static void poll_read(void)
{
	uint64_t before, taken = 0;
	struct dev dev;
	uint32_t mark;
	int64_t n;
	int i;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	set_nonblock(&dev, true);
	take(&dev);
	before = sum_of_heads(&dev);
	set_nonblock(&dev, false);
	for (mark = 1; mark <= 256; mark *= 16) {
		set_watermark(&dev, mark);
		for (i = 0; i < 5; i++) {
			n = take(&dev);
			CHECK(n >= mark, "watermark %u: %lld", mark,
			      (long long)n);
			taken += n;
		}
	}
	/* the heads were sampled shortly after the first read(), or before */
	CHECK(taken <= sum_of_heads(&dev) - before + 1024 &&
	      taken + 2048 >= sum_of_heads(&dev) - before,
	      "read() told of %llu records, the heads of %llu",
	      (unsigned long long)taken,
	      (unsigned long long)(sum_of_heads(&dev) - before));
	dev_close(&dev);
}

/* Without samples the result of read() is exact. */
static void poll_exact(void)
{
	struct dev dev, heads;
	uint64_t least, most, after;
	int64_t n;

	dev_open(&heads, O_RDONLY);
	dev_map(&heads, FROM_NOW);
	most = dev_stats(&heads).records;
	dev_open(&dev, O_RDONLY | O_NONBLOCK);
	least = dev_stats(&dev).records;
	set_watermark(&dev, 64);
	WAIT_FOR(ready(&dev, 0), 5000, "no records");
	CHECK(ready(&dev, 0), "poll() has eaten them");
	dev_close(&heads);
	WAIT_FOR(!dev_stats(&dev).readers, 5000, "there is a reader");
	after = dev_stats(&dev).records;
	n = take(&dev);
	/* it was opened in between, and other processes may begin and end */
	least = after - least;
	most = dev_stats(&dev).records - most;
	CHECK(n >= (int64_t)least && n <= (int64_t)most,
	      "%lld records, there are %llu to %llu", (long long)n,
	      (unsigned long long)least, (unsigned long long)most);
	CHECK(take(&dev) == -EAGAIN, "all again");
	dev_close(&dev);
}

static void poll_bad_read(void)
{
	char bytes[16];
	struct iovec split[2] = { { bytes, 4 }, { bytes + 4, 4 } };
	struct dev dev;
	int i;

	dev_open(&dev, O_RDONLY | O_NONBLOCK);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 8; i++)
		CHECK(syscall(SYS_read, dev.fd, bytes, i) < 0 && errno == EINVAL,
		      "read of %d bytes: %m", i);
	CHECK(readv(dev.fd, split, 2) < 0 && errno == EINVAL, "readv: %m");
	CHECK(pread(dev.fd, bytes, 8, 0) < 0 && errno == ESPIPE, "pread: %m");
	CHECK(write(dev.fd, bytes, 8) < 0 && errno == EBADF, "write: %m");
	WAIT_FOR(ready(&dev, 0), 5000, "no records");
	CHECK(syscall(SYS_read, dev.fd, NULL, 8) < 0 && errno == EFAULT, "read(NULL): %m");
	WAIT_FOR(ready(&dev, 0), 5000, "no records");
	CHECK(syscall(SYS_read, dev.fd, -4096L, 8) < 0 && errno == EFAULT,
	      "read into the kernel: %m");
	set_watermark(&dev, dev.info.ring_records / 2);
	take(&dev);
	CHECK(take(&dev) == -EAGAIN, "not EAGAIN");
	dev_close(&dev);
}

static int epoll_of(const struct dev *dev, uint32_t events)
{
	struct epoll_event event = { .events = events };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	CHECK(fd >= 0, "epoll_create1: %m");
	CHECK(!epoll_ctl(fd, EPOLL_CTL_ADD, dev->fd, &event), "ADD: %m");
	return fd;
}

static int epoll_ready(int fd, int timeout_ms)
{
	struct epoll_event event;

	return epoll_wait(fd, &event, 1, timeout_ms);
}

/* Records that are unread when a descriptor is added are reported. */
static void poll_epoll_level(void)
{
	struct dev dev;
	int fd, i;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	set_watermark(&dev, 16);
	wait_heads(&dev, 32);
	fd = epoll_of(&dev, EPOLLIN);
	for (i = 0; i < 3; i++)
		CHECK(epoll_ready(fd, 0) == 1, "look %d: nothing to read", i);
	CHECK(ready(&dev, 0) == 1 && ready(&dev, 0) == 1, "poll() says no");
	CHECK(epoll_ready(fd, 0) == 1, "after poll(): nothing to read");

	quiet(&dev);
	set_watermark(&dev, 512);
	set_nonblock(&dev, true);
	take(&dev);
	CHECK(take(&dev) == -EAGAIN, "512 records at once");
	CHECK(epoll_ready(fd, 0) == 0 && !ready(&dev, 0), "ready after read()");
	/* later records wake it */
	dev_set_interval(&dev, 100000);
	CHECK(epoll_ready(fd, 15000) == 1, "not woken");
	CHECK(take(&dev) >= 512, "woken early");
	dev_close(&dev);
}

/*
 * Edge-triggered: one event for each time that the watermark is reached after a read().
 */
static void poll_epoll_edge(void)
{
	struct dev dev;
	int fd, i;

	dev_open(&dev, O_RDWR | O_NONBLOCK);
	dev_map(&dev, FROM_NOW);
	set_watermark(&dev, 8);
	fd = epoll_of(&dev, EPOLLIN | EPOLLET);
	for (i = 0; i < 50; i++) {
		CHECK(epoll_ready(fd, 15000) == 1, "event %d does not come", i);
		while (take(&dev) > 0)
			;
	}
	/* a lower watermark is an edge, too, also without a new record */
	set_watermark(&dev, 1024);
	take(&dev);
	epoll_ready(fd, 0);
	wait_heads(&dev, 64);
	quiet(&dev);
	CHECK(take(&dev) == -EAGAIN && epoll_ready(fd, 0) == 0, "ready early");
	set_watermark(&dev, 32);
	CHECK(epoll_ready(fd, 500) == 1, "a lower watermark does not wake");
	dev_close(&dev);
}

/* A reader that blocks once, until the watermark is reached. */
struct sleeper {
	struct dev dev;
	pthread_t thread;
	pid_t tid;
	bool by_read;
	bool woken;
};

static void *sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	__atomic_store_n(&s->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	if (s->by_read)
		CHECK(take(&s->dev) > 0, "read: %m");
	else
		CHECK(ready(&s->dev, -1) == 1, "poll: %m");
	__atomic_store_n(&s->woken, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_woken(struct sleeper *s)
{
	return __atomic_load_n(&s->woken, __ATOMIC_ACQUIRE);
}

/* Returns when the reader sleeps. */
static void sleeper_start(struct sleeper *s, uint32_t watermark, bool by_read)
{
	memset(s, 0, sizeof(*s));
	s->by_read = by_read;
	dev_open(&s->dev, O_RDONLY);
	set_watermark(&s->dev, watermark);
	CHECK(!pthread_create(&s->thread, NULL, sleeper_main, s), "pthread");
	WAIT_FOR(__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) &&
		 process_is(s->tid, 'S'), 5000, "it does not sleep");
}

/* The number of times that the kernel has scheduled the reader. */
static unsigned long times_run(const struct sleeper *s)
{
	char path[64], text[4096], *p;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", s->tid);
	read_file(path, text, sizeof(text));
	p = strstr(text, "\nvoluntary_ctxt_switches:");
	CHECK(p, "no voluntary_ctxt_switches");
	return strtoul(strchr(p, ':') + 1, NULL, 10);
}

static void only_the_due(bool by_read)
{
	unsigned long before;
	struct sleeper late;
	struct dev soon;
	int i;

	dev_open(&soon, O_RDONLY);
	dev_map(&soon, FROM_NOW);
	set_watermark(&soon, 4);
	sleeper_start(&late, 32768, by_read);
	/* the reader may be preempted before it sleeps */
	sleep_ms(20);
	before = times_run(&late);
	for (i = 0; i < 40; i++)
		CHECK(take(&soon) >= 4, "read: %m");
	CHECK(!is_woken(&late), "it has reached its watermark: no test");
	CHECK(times_run(&late) == before,
	      "woken %lu times for another's watermark",
	      times_run(&late) - before);
	dev_close(&soon);
	dev_close(&late.dev);
	/* the thread holds the device open until the process ends */
}

static void poll_wakes_only_due_descriptors(void)
{
	only_the_due(false);
	only_the_due(true);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int signal)
{
	(void)signal;
	alarms++;
}

static void set_alarm(int flags)
{
	struct itimerval every = { { 0, 20000 }, { 0, 20000 } };
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };

	alarms = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void poll_read_signal(void)
{
	struct dev dev;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	quiet(&dev);
	set_watermark(&dev, 2048);
	set_alarm(0);
	CHECK(take(&dev) == -EINTR && alarms, "a signal does not end it");
	/* with SA_RESTART the reader goes on */
	set_alarm(SA_RESTART);
	dev_set_interval(&dev, 1000000);
	CHECK(take(&dev) >= 2048 && alarms, "not restarted");
	dev_close(&dev);
}

/* Without samples: lifecycle and CPU records also wake a reader. */
static void wake_without_ticks(bool by_read)
{
	struct sleeper s;

	sleeper_start(&s, 1, by_read);
	CHECK(!is_woken(&s) && !dev_stats(&s.dev).readers, "woken early");
	reap(park(0, NULL), SIGKILL);
	WAIT_FOR(is_woken(&s), 5000, "an ALLOC does not wake");
	pthread_join(s.thread, NULL);
	dev_close(&s.dev);

	sleeper_start(&s, 1, by_read);
	cpu_online(1, false);
	WAIT_FOR(is_woken(&s), 5000, "CPU_OFFLINE does not wake");
	pthread_join(s.thread, NULL);
	dev_close(&s.dev);

	sleeper_start(&s, 1, by_read);
	cpu_online(1, true);
	WAIT_FOR(is_woken(&s), 5000, "CPU_ONLINE does not wake");
	pthread_join(s.thread, NULL);
	dev_close(&s.dev);
}

static void poll_without_ticks(void)
{
	wake_without_ticks(false);
	wake_without_ticks(true);
}

/*
 * The only sampling reader ends while another reader waits.  That reader sleeps on, and
 * is woken later.
 */
static void poll_sampler_stops(void)
{
	struct sleeper s;
	struct dev reader;
	unsigned int i;

	dev_open(&reader, O_RDONLY);
	dev_map(&reader, FROM_NOW);
	sleeper_start(&s, 16384, false);
	dev_close(&reader);
	CHECK(!dev_stats(&s.dev).readers && !is_woken(&s), "it reads");
	set_watermark(&s.dev, 64);
	for (i = 0; i < 200 && !is_woken(&s); i++)
		reap(park(0, NULL), SIGKILL);
	WAIT_FOR(is_woken(&s), 5000, "not woken");
	pthread_join(s.thread, NULL);
	dev_close(&s.dev);
}

struct looper {
	struct dev dev;
	pthread_t thread;
	uint64_t end_ns, wakes;
};

static void *looper_main(void *arg)
{
	struct looper *l = arg;

	while (now_ns() < l->end_ns) {
		CHECK(ready(&l->dev, 15000) == 1, "a wake-up was lost");
		CHECK(take(&l->dev) > 0, "read: %m");
		l->wakes++;
	}
	return NULL;
}

/* No wake-up is lost between a reader that is about to sleep and a tick. */
static void poll_no_wake_lost(void)
{
	static struct looper loopers[8];
	struct dev dev;
	unsigned int i;

	dev_open(&dev, O_RDONLY);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < 8; i++) {
		struct looper *l = &loopers[i];

		dev_open(&l->dev, O_RDONLY);
		set_watermark(&l->dev, 1 + i * i);
		l->end_ns = now_ns() + 2000000000ULL;
		CHECK(!pthread_create(&l->thread, NULL, looper_main, l),
		      "pthread_create");
	}
	for (i = 0; i < 8; i++) {
		pthread_join(loopers[i].thread, NULL);
		note("watermark %u: %llu wake-ups", 1 + i * i,
		     (unsigned long long)loopers[i].wakes);
		CHECK(loopers[i].wakes > 10, "watermark %u: %llu wake-ups",
		      1 + i * i, (unsigned long long)loopers[i].wakes);
	}
	dev_close(&dev);
}

/* A record at any moment before a reader sleeps wakes it: rounds of one record each. */
static void check_single_wakes(unsigned int rounds)
{
	struct sleeper s;
	uint64_t begin;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		memset(&s, 0, sizeof(s));
		s.by_read = i & 1;
		dev_open(&s.dev, O_RDWR);
		CHECK(!pthread_create(&s.thread, NULL, sleeper_main, &s),
		      "pthread_create");
		while (!__atomic_load_n(&s.tid, __ATOMIC_ACQUIRE))
			;
		for (begin = now_ns(); now_ns() < begin + i * 2000;)
			;
		dev_set_interval(&s.dev, 1000000 + i);
		WAIT_FOR(is_woken(&s), 5000, "round %u: not woken", i);
		pthread_join(s.thread, NULL);
		dev_close(&s.dev);
	}
}

/*
 * The same with a single record, after which no other record could wake the reader: a
 * STATE record, without samples and without lifecycle records.
 */
static void poll_no_single_wake_lost(void)
{
	check_single_wakes(200 / slowness);
}

static bool arming = true;

static void *arm_main(void *arg)
{
	const struct sleeper *s = arg;

	while (__atomic_load_n(&arming, __ATOMIC_ACQUIRE))
		CHECK(!ready(&s->dev, 0), "a high watermark is reached");
	return NULL;
}

/*
 * Nor while other descriptors are armed all the time: a reader with a high watermark
 * sleeps, and other threads ask for it.
 */
static void poll_no_wake_lost_to_another(void)
{
	struct sleeper other;
	pthread_t threads[2];
	unsigned int i;

	sleeper_start(&other, 32768, false);
	for (i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, arm_main, &other),
		      "pthread_create");
	check_single_wakes(200 / slowness);
	__atomic_store_n(&arming, false, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	/* the sleeper holds the device open until the process ends */
	CHECK(!is_woken(&other), "a high watermark is reached");
	dev_close(&other.dev);
}

#define MANY 800

/* Many descriptors of one program do not delay the wake-ups of others. */
static void poll_many_descriptors(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC), fds[MANY], i;
	struct cmt_stats before, after;
	struct dev dev;

	dev_open(&dev, O_RDWR);
	dev_map(&dev, FROM_NOW);
	for (i = 0; i < MANY; i++) {
		fds[i] = open(DEV_PATH, O_RDONLY | O_CLOEXEC);
		CHECK(fds[i] >= 0, "descriptor %d: %m", i);
		CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event),
		      "ADD: %m");
	}
	before = dev_stats(&dev);
	set_watermark(&dev, 64);
	for (i = 0; i < 10; i++) {
		CHECK(epoll_ready(epoll, 15000) == 1, "no event");
		CHECK(take(&dev) >= 64, "read: %m");
	}
	after = dev_stats(&dev);
	note("%llu ticks, %llu missed", (unsigned long long)
	     (after.ticks - before.ticks),
	     (unsigned long long)(after.missed - before.missed));
	for (i = 0; i < MANY; i++)
		close(fds[i]);
	dev_close(&dev);
}

const struct test poll_tests[] = {
	{ "poll_read", poll_read, "ring_records=4096", 40 },
	{ "poll_exact", poll_exact, "", 0 },
	{ "poll_bad_read", poll_bad_read, "", 0 },
	{ "poll_epoll_level", poll_epoll_level, "ring_records=4096", 40 },
	{ "poll_epoll_edge", poll_epoll_edge, "ring_records=4096", 40 },
	{ "poll_wakes_only_due_descriptors", poll_wakes_only_due_descriptors, "ring_records=65536", 40 },
	{ "poll_read_signal", poll_read_signal, "ring_records=4096", 40 },
	{ "poll_without_ticks", poll_without_ticks, "scope=process", 40 },
	{ "poll_sampler_stops", poll_sampler_stops,
	  "scope=process ring_records=65536", 40 },
	{ "poll_no_wake_lost", poll_no_wake_lost,
	  "interval_us=200 ring_records=4096", 60 },
	{ "poll_no_single_wake_lost", poll_no_single_wake_lost, "scope=manual",
	  60 },
	{ "poll_no_wake_lost_to_another", poll_no_wake_lost_to_another,
	  "scope=manual ring_records=65536", 60 },
	{ "poll_many_descriptors", poll_many_descriptors, "", 40 },
	{ }
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: readers WRITER FILE RECORDS: four readers of different speeds follow the
 * rings that WRITER fills with RECORDS records each.  Every few milliseconds one of
 * the readers is killed, and another one goes on where its last account ends.  For
 * each reader and ring, emitted = delivered + lost, to the record.  The reader without a
 * pause has a hundredth of the records delivered, also on a busy host, and each of the others
 * some.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conserve.h"
#include "ring/ring.h"

#define NR_READERS	4
#define BATCH		512
#define KILL_EVERY_NS	3000000

/* Batches and pauses: from one that keeps up to one that loses most */
static const struct speed {
	unsigned int batch, pause_us;
} speeds[NR_READERS] = { { BATCH, 0 }, { 64, 50 }, { BATCH, 2000 }, { 16, 5000 } };

/* An account of one ring, as of one batch */
struct account {
	uint64_t pos, delivered, lost;
	uint64_t gaps;		/* records that no index said, counted apart from lost */
	uint64_t torn;
};

/* Of one reader: a reader that is killed leaves the account before the last one whole. */
struct ledger {
	struct account accounts[NR_RINGS][2];
	uint32_t valid[NR_RINGS];	/* which of the two */
	uint32_t done;
};

static struct ledger *ledgers;
static struct cmt_info info;
static const char *image;
static uint64_t emitted;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pause_for(unsigned int us)
{
	struct timespec ts = { 0, us * 1000L };

	if (us)
		nanosleep(&ts, NULL);
}

static void take_batch(struct cmt_ring *ring, uint16_t cpu, struct account *account,
		       unsigned int batch)
{
	static struct cmt_record records[BATCH];
	struct cmt_record good;
	uint64_t lost, index;
	int n = cmt_ring_copy(ring, records, batch, &lost), i;

	if (n < 0) {
		fprintf(stderr, "ring %u: error %d\n", cpu, n);
		exit(1);
	}
	for (i = 0; i < n; i++) {
		index = ring->pos - (unsigned int)n + (unsigned int)i;
		record_make(&good, cpu, index);
		account->torn += !!memcmp(&records[i], &good, sizeof(good));
		account->gaps += records[i].ts - account->pos;
		account->pos = records[i].ts + 1;
	}
	account->delivered += (unsigned int)n;
	account->lost += lost;
	/* none was copied, and some were lost: their place is known by the ring alone */
	if (account->pos != ring->pos) {
		account->gaps += ring->pos - account->pos;
		account->pos = ring->pos;
	}
}

static void account_commit(struct ledger *ledger, unsigned int cpu,
			   const struct account *account)
{
	uint32_t next = !ledger->valid[cpu];

	ledger->accounts[cpu][next] = *account;
	__atomic_store_n(&ledger->valid[cpu], next, __ATOMIC_RELEASE);
}

/* Returns whether the ring is read to its end. */
static bool follow(struct cmt_ring *ring, unsigned int cpu, struct ledger *ledger,
		   const struct speed *speed)
{
	struct account account = ledger->accounts[cpu][ledger->valid[cpu]];

	if (cmt_ring_refresh(ring)) {
		fprintf(stderr, "ring %u makes no sense\n", cpu);
		exit(1);
	}
	if (ring->pos != ring->head) {
		take_batch(ring, (uint16_t)cpu, &account, speed->batch);
		account_commit(ledger, cpu, &account);
	}
	return ring->state == CMT_RING_OFFLINE && ring->pos == ring->head;
}

static void ring_open(struct cmt_ring *ring, unsigned int cpu, struct ledger *ledger)
{
	/* the writer's first store may be to come */
	while (cmt_ring_init(ring, image + cpu * RING_BYTES, RING_BYTES, &info, cpu,
			     true))
		pause_for(1000);
	ring->pos = ledger->accounts[cpu][ledger->valid[cpu]].pos;
	ring->start = ring->pos;
}

static void reader(unsigned int i)
{
	struct ledger *ledger = &ledgers[i];
	struct cmt_ring rings[NR_RINGS];
	unsigned int cpu, ended = 0;

	for (cpu = 0; cpu < NR_RINGS; cpu++)
		ring_open(&rings[cpu], cpu, ledger);
	while (ended < NR_RINGS) {
		for (ended = cpu = 0; cpu < NR_RINGS; cpu++)
			ended += follow(&rings[cpu], cpu, ledger, &speeds[i]);
		pause_for(speeds[i].pause_us);
	}
	ledger->done = 1;
	exit(0);
}

static pid_t start(unsigned int i)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	reader(i);
	return 0;
}

/* Until the writer has ended; returns how many were killed. */
static unsigned int kill_readers(pid_t *readers, pid_t writer)
{
	unsigned int kills = 0, i = 0;
	int status;

	while (!waitpid(writer, &status, WNOHANG)) {
		pause_for(KILL_EVERY_NS / 1000);
		i = (i + 1) % NR_READERS;
		kill(readers[i], SIGKILL);
		if (waitpid(readers[i], &status, 0) != readers[i])
			die("waitpid");
		if (WIFEXITED(status) && WEXITSTATUS(status))
			exit(1);
		readers[i] = start(i);
		kills++;
	}
	if (status) {
		fprintf(stderr, "the writer ended with status %#x\n", (unsigned int)status);
		exit(1);
	}
	return kills;
}

static bool judge(unsigned int i)
{
	uint64_t least = speeds[i].pause_us ? 1 : emitted * NR_RINGS / 100;
	struct account sum = { 0 };
	bool good = ledgers[i].done;
	unsigned int cpu;

	for (cpu = 0; cpu < NR_RINGS; cpu++) {
		const struct account *a = &ledgers[i].accounts[cpu][ledgers[i].valid[cpu]];

		good &= a->delivered + a->lost == emitted && a->lost == a->gaps &&
			!a->torn;
		sum.delivered += a->delivered;
		sum.lost += a->lost;
		sum.gaps += a->gaps;
		sum.torn += a->torn;
	}
	good &= sum.delivered >= least;
	printf("%s - reader %u: emitted %llu, delivered %llu, lost %llu, torn %llu\n",
	       good ? "ok" : "not ok", i, (unsigned long long)emitted * NR_RINGS,
	       (unsigned long long)sum.delivered, (unsigned long long)sum.lost,
	       (unsigned long long)sum.torn);
	return good;
}

static void map_all(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || ftruncate(fd, NR_RINGS * RING_BYTES))
		die(path);
	image = mmap(NULL, NR_RINGS * RING_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	ledgers = mmap(NULL, NR_READERS * sizeof(*ledgers), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED || ledgers == MAP_FAILED)
		die("mmap");
	info = (struct cmt_info){
		.abi_version = CMT_ABI_VERSION, .instance = INSTANCE,
		.nr_cpus = NR_RINGS, .ring_records = RING_RECORDS,
		.ring_bytes = RING_BYTES,
	};
}

int main(int argc, char **argv)
{
	pid_t readers[NR_READERS], writer;
	unsigned int i, good = 0, kills;
	int status;

	if (argc != 4)
		return 2;
	emitted = strtoull(argv[3], NULL, 0);
	map_all(argv[2]);
	for (i = 0; i < NR_READERS; i++)
		readers[i] = start(i);
	writer = fork();
	if (!writer) {
		execl(argv[1], argv[1], argv[2], argv[3], NULL);
		die(argv[1]);
	}
	kills = kill_readers(readers, writer);
	for (i = 0; i < NR_READERS; i++)
		if (waitpid(readers[i], &status, 0) != readers[i] || status)
			fprintf(stderr, "reader %u ended with status %#x\n", i,
				(unsigned int)status);
	printf("# %u rings, %u readers killed and started again\n", NR_RINGS, kills);
	for (i = 0; i < NR_READERS; i++)
		good += judge(i);
	printf("%u passed, %u failed\n", good, NR_READERS - good);
	return good != NR_READERS;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cache of the lab processor against another one, written to be obvious:
 * a list per set in the order of use, counts made by counting.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu/cmt-lab-cache.h"

#define SETS	8
#define WAYS	4
#define LINE	64
#define RMIDS	6
#define SPACES	5
#define TRACKED	4	/* of them; the last one is counted as 0 */
#define LINES	(SETS * WAYS * 3)
#define STEPS	200000
#define THREADS	4

struct entry {
	uint32_t line, rmid, space;
	int dirty, local, user;
};

struct list {
	struct entry e[WAYS];	/* the last used first */
	int n;
};

static struct list lists[SETS];
static uint64_t total[RMIDS], local_bytes[RMIDS], writebacks;
static uint64_t region_bytes[RMIDS][LAB_REGIONS];
static uint32_t expected[SPACES];
static uint64_t wrong_most;
static struct lab_evicted evicted[SPACES][SPACES];
static uint64_t evictions;

static unsigned int failed, passed;

static void expect(const char *what, uint64_t got, uint64_t want)
{
	if (got != want && !failed++)
		printf("# %s: %llu, not %llu\n", what,
		       (unsigned long long)got, (unsigned long long)want);
}

static void move(const struct entry *e)
{
	total[e->rmid] += LINE;
	local_bytes[e->rmid] += e->local ? LINE : 0;
	region_bytes[e->rmid][(e->local ? 0 : 1) + e->line / (4096 / LINE) % 2 * 2] += LINE;
}

static void drop(struct list *l, int i, int keep)
{
	if (l->e[i].dirty) {
		writebacks++;
		move(&l->e[i]);
		l->e[i].dirty = 0;
	}
	if (!keep)
		memmove(&l->e[i], &l->e[i + 1],
			(--l->n - i) * sizeof(l->e[0]));
}

static void evict(struct list *l, const struct entry *by)
{
	const struct entry *e = &l->e[WAYS - 1];
	struct lab_evicted *pair =
		&evicted[e->space % TRACKED][by->space % TRACKED];

	pair->lines++;
	pair->user += e->user && by->user;
	evictions++;
	drop(l, WAYS - 1, 0);
}

static int at(const struct list *l, uint32_t line)
{
	int i;

	for (i = 0; i < l->n; i++)
		if (l->e[i].line == line)
			return i;
	return -1;
}

static enum lab_hit model_access(struct entry new, int write)
{
	struct list *l = &lists[new.line % SETS];
	int i = at(l, new.line);
	enum lab_hit hit = LAB_MISS;

	if (i >= 0) {
		new = l->e[i];
		hit = write && !new.dirty ? LAB_HIT_DIRTIED : LAB_HIT;
		memmove(&l->e[1], &l->e[0], i * sizeof(new));
	} else {
		if (l->n == WAYS)
			evict(l, &new);
		memmove(&l->e[1], &l->e[0], l->n++ * sizeof(new));
		move(&new);
	}
	new.dirty |= write;
	l->e[0] = new;
	return hit;
}

static void model_snoop(uint32_t line, int keep)
{
	struct list *l = &lists[line % SETS];
	int i = at(l, line);

	if (i >= 0)
		drop(l, i, keep);
}

static uint64_t model_count(int rmid, int space)
{
	uint64_t n = 0;
	int s, i;

	for (s = 0; s < SETS; s++)
		for (i = 0; i < lists[s].n; i++)
			n += (rmid < 0 || (int)lists[s].e[i].rmid == rmid) &&
			     (space < 0 || (int)lists[s].e[i].space == space);
	return n * LINE;
}

static uint64_t model_user(int rmid, int space)
{
	uint64_t n = 0;
	int s, i;

	for (s = 0; s < SETS; s++)
		for (i = 0; i < lists[s].n; i++)
			n += lists[s].e[i].user &&
			     (rmid < 0 || (int)lists[s].e[i].rmid == rmid) &&
			     (int)lists[s].e[i].space == space;
	return n * LINE;
}

static uint64_t model_wrong(void)
{
	uint64_t n = 0;
	int s, i;

	for (s = 0; s < SETS; s++) {
		for (i = 0; i < lists[s].n; i++) {
			const struct entry *e = &lists[s].e[i];

			n += expected[e->space] &&
			     e->rmid != expected[e->space] &&
			     (e->rmid != 0 || e->user);
		}
	}
	return n * LINE;
}

static void compare_evicted(struct lab_cache *c)
{
	uint64_t sum = 0;
	int v, by;

	for (v = 0; v < SPACES; v++) {
		for (by = 0; by < SPACES; by++) {
			struct lab_evicted e = lab_cache_evicted(c, v, by);

			expect("evicted", e.lines, evicted[v][by].lines);
			expect("evicted user", e.user, evicted[v][by].user);
			sum += e.lines;
		}
	}
	expect("all evicted", sum, evictions);
}

static void compare(struct lab_cache *c)
{
	uint64_t all;
	int r, s, i;

	for (r = 0; r < RMIDS; r++) {
		struct lab_traffic t = lab_cache_traffic(c, r);

		expect("of RMID", lab_cache_of_rmid(c, r), model_count(r, -1));
		expect("total", t.total, total[r]);
		expect("local", t.local, local_bytes[r]);
		for (i = 0; i < LAB_REGIONS; i++)
			expect("region", t.region[i], region_bytes[r][i]);
		for (s = 0; s < SPACES; s++) {
			expect("of pair", lab_cache_of_pair(c, r, s),
			       model_count(r, s));
			expect("of user", lab_cache_of_user(c, r, s, &all),
			       model_user(r, s));
			expect("of all user", all, model_user(-1, s));
		}
	}
	for (s = 0; s < SPACES; s++)
		expect("of space", lab_cache_of_space(c, s),
		       model_count(-1, s));
	expect("write-backs", lab_cache_writebacks(c), writebacks);
	compare_evicted(c);
	expect("wrong", lab_cache_wrong(c).now, model_wrong());
	expect("most wrong", lab_cache_wrong(c).most, wrong_most);
}

static void reset_evicted(struct lab_cache *c)
{
	static uint64_t before;

	before += evictions;
	expect("evictions", lab_cache_evicted_reset(c), before);
	memset(evicted, 0, sizeof(evicted));
	evictions = 0;
}

/* What is wrong at most is that at every step. */
static void note_wrong(struct lab_cache *c, int reset)
{
	uint64_t now = model_wrong();

	if (reset)
		lab_cache_wrong_reset(c);
	if (reset || now > wrong_most)
		wrong_most = now;
}

static void step(struct lab_cache *c, unsigned int *seed)
{
	uint32_t line = rand_r(seed) % LINES;
	int write = rand_r(seed) % 3 == 0, local = line & 1;
	struct lab_filler who = {
		.rmid = rand_r(seed) % RMIDS, .space = rand_r(seed) % SPACES,
		.way_mask = ~0U, .user = rand_r(seed) & 1,
	};
	struct entry e = { line, who.rmid, who.space, 0, local, who.user };
	enum lab_hit hit;

	if (rand_r(seed) % 100 == 0) {
		expected[who.space] = who.rmid;
		lab_cache_expect(c, who.space, who.rmid);
		return;
	}
	if (rand_r(seed) % 50 == 0) {
		lab_cache_snoop(c, line, write);
		model_snoop(line, write);
		return;
	}
	hit = lab_cache_touch(c, line, write);
	expect("hit", hit, model_access(e, write));
	if (hit == LAB_MISS)
		lab_cache_fill(c, line, write, local, &who);
}

static void result(const char *name)
{
	printf("%s - %s\n", failed ? "not ok" : "ok", name);
	passed += !failed;
}

static void test_model(void)
{
	struct lab_cache *c = lab_cache_new(SETS, WAYS, LINE, RMIDS, SPACES);
	unsigned int seed = 1;
	int i;

	lab_cache_track(c, TRACKED);
	for (i = 0; i < STEPS && !failed; i++) {
		step(c, &seed);
		if (i % 5003 == 0)
			reset_evicted(c);
		note_wrong(c, i % 1009 == 0);
		if (i % 97 == 0)
			compare(c);
	}
	lab_cache_flush(c);
	for (i = 0; i < SETS; i++)
		while (lists[i].n)
			drop(&lists[i], 0, 0);
	compare(c);
	lab_cache_free(c);
	result("the cache is what an obvious one is");
}

static void test_way_mask(void)
{
	struct lab_cache *c = lab_cache_new(SETS, WAYS, LINE, RMIDS, SPACES);
	struct lab_filler one = { 1, 1, 1, 0 }, rest = { 2, 2, 0xe, 0 };
	uint32_t i;

	for (i = 0; i < 10 * SETS * WAYS; i++) {
		if (lab_cache_touch(c, i, false) == LAB_MISS)
			lab_cache_fill(c, i, false, true, i % 2 ? &one : &rest);
	}
	for (i = 0; i < 10 * SETS * WAYS; i++)
		lab_cache_fill(c, 1000000 + i, false, true,
			       i / SETS % 2 ? &one : &rest);
	expect("one way", lab_cache_of_rmid(c, 1), SETS * LINE);
	expect("three ways", lab_cache_of_rmid(c, 2), 3 * SETS * LINE);
	lab_cache_free(c);
	result("a filler stays in its ways");
}

static void *hammer(void *arg)
{
	struct lab_cache *c = arg;
	unsigned int seed = (uintptr_t)&seed;
	int i;

	for (i = 0; i < STEPS; i++) {
		uint32_t line = rand_r(&seed) % LINES;
		struct lab_filler who = {
			rand_r(&seed) % RMIDS, rand_r(&seed) % SPACES, ~0U, 0,
		};

		if (lab_cache_touch(c, line, i & 1) == LAB_MISS)
			lab_cache_fill(c, line, i & 1, true, &who);
	}
	return NULL;
}

static void test_threads(void)
{
	struct lab_cache *c = lab_cache_new(SETS, WAYS, LINE, RMIDS, SPACES);
	uint64_t by_rmid = 0, by_space = 0, traffic = 0, gone = 0;
	pthread_t threads[THREADS];
	int i;

	lab_cache_track(c, SPACES);
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hammer, c);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < RMIDS; i++) {
		by_rmid += lab_cache_of_rmid(c, i);
		traffic += lab_cache_traffic(c, i).total;
	}
	for (i = 0; i < SPACES; i++)
		by_space += lab_cache_of_space(c, i);
	for (i = 0; i < SPACES * SPACES; i++)
		gone += lab_cache_evicted(c, i / SPACES, i % SPACES).lines;
	expect("all that was filled is there or evicted", lab_cache_fills(c),
	       gone + SETS * WAYS);
	expect("all lines by RMID", by_rmid, SETS * WAYS * LINE);
	expect("all lines by space", by_space, SETS * WAYS * LINE);
	expect("traffic", traffic,
	       LINE * (lab_cache_fills(c) + lab_cache_writebacks(c)));
	lab_cache_free(c);
	result("no line is lost between threads");
}

int main(void)
{
	printf("1..3\n");
	test_model();
	test_way_mask();
	test_threads();
	printf("%u passed, %u failed\n", passed, 3 - passed);
	return passed == 3 ? 0 : 1;
}

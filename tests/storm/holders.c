// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that register owners, read them, and release them: one by one, by closing
 * the descriptor, by dying, or by the death of the last child that has the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storm.h"

#define MOST_HELD	16
#define DOMAINS		4
#define ALL_ROOM	2048
#define HUNGRY_TRIES	200
#define VALUES		(CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)

/* The registrations of this process, with the last reading of each */
struct held {
	uint32_t kind;			/* id; 0: no registration */
	uint64_t id;
	struct cmt_record last;		/* the last reading; type 0: not read yet */
};

static struct dev dev;
static bool opened;
static struct held held[MOST_HELD];

/* -ENOENT: the owner had ended when it was registered again without success. */
static void let_go(struct held *h)
{
	int err = owner_unregister(&dev, h->kind, h->id);

	CHECK(!err || err == -ENOENT, "UNREGISTER: %s", strerror(-err));
	h->kind = 0;
	did(DEED_unregisters);
}

static struct held *find_held(uint32_t kind, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < MOST_HELD; i++)
		if (held[i].kind == kind && held[i].id == id)
			return &held[i];
	return NULL;
}

/* EEXIST: it is registered already, and has not ended. */
static void take_hold(struct rng *rng)
{
	uint32_t kind = CMT_OWNER_PROCESS + rng_below(rng, 3);
	struct held *place = &held[rng_below(rng, MOST_HELD)], *old;
	uint64_t id = storm_some_id(rng, kind);
	bool children = kind == CMT_OWNER_PROCESS && rng_one_in(rng, 2);
	int err;

	if (place->kind)
		let_go(place);
	old = find_held(kind, id);
	err = owner_order(&dev, CMT_IOC_REGISTER, kind, id,
			  children ? CMT_ATTACH_CHILDREN : 0, NULL);
	CHECK(err != -EEXIST || old, "REGISTER: it is not, and is registered");
	storm_check_errno("REGISTER", err, ALLOW(ESRCH, ENOENT, ENXIO, EEXIST,
						 ENOSPC, EINVAL));
	did(DEED_registers);
	if (err)
		return;
	if (old)
		old->kind = 0;
	*place = (struct held){ .kind = kind, .id = id };
}

static bool same_owner(const struct cmt_record *a, const struct cmt_record *b)
{
	return a->rmid == b->rmid && a->generation == b->generation;
}

static void check_sample(const struct cmt_record *r)
{
	CHECK(r->type == CMT_REC_SAMPLE && r->rmid && r->rmid < dev.info.nr_rmids,
	      "READ: a record of type %u, RMID %u", r->type, r->rmid);
	CHECK(r->ts <= now_ns(), "READ: of a time that is to come");
	CHECK(dev.info.backend != CMT_BACKEND_SOFTWARE ||
	      !(r->flags & VALUES), "READ: flags %#x without counters",
	      r->flags);
}

/*
 * Without resctrl a held owner keeps its RMID.  A CPU's owner may have ended, and
 * another one begun.
 */
static void check_since(const struct held *h, const struct cmt_record *r)
{
	const struct cmt_record *last = &h->last;

	if (!last->type)
		return;
	CHECK(same_owner(last, r) || storm->resctrl || h->kind == CMT_OWNER_CPU,
	      "what is held had RMID %u, generation %u, and has %u, %u",
	      last->rmid, last->generation, r->rmid, r->generation);
	CHECK(r->ts >= last->ts, "READ: time goes back");
	if (!same_owner(last, r) || r->domain != last->domain ||
	    r->base != last->base || !(last->flags & r->flags & CMT_F_MBM_TOTAL))
		return;
	CHECK(r->sample.mbm_total_bytes >= last->sample.mbm_total_bytes,
	      "READ: RMID %u had %llu bytes of traffic, and has %llu", r->rmid,
	      (unsigned long long)last->sample.mbm_total_bytes,
	      (unsigned long long)r->sample.mbm_total_bytes);
}

static struct held *some_held(struct rng *rng)
{
	unsigned int i, from = rng_below(rng, MOST_HELD);

	for (i = 0; i < MOST_HELD; i++)
		if (held[(from + i) % MOST_HELD].kind)
			return &held[(from + i) % MOST_HELD];
	return NULL;
}

static void read_held(struct rng *rng)
{
	struct held *h = some_held(rng);
	struct cmt_record r[DOMAINS] = { };
	int n;

	if (!h)
		return;
	n = owner_read(&dev, h->kind, h->id, r, DOMAINS);
	storm_check_errno("READ", n < 0 ? n : 0, ALLOW(ENOENT, ESRCH, EAGAIN));
	did(DEED_reads);
	if (n <= 0)
		return;
	check_sample(&r[0]);
	check_since(h, &r[0]);
	h->last = r[0];
}

/* By domain and then by RMID, each once */
static void read_all(void)
{
	static struct cmt_record r[ALL_ROOM];
	int i, n;

	/*
	 * after a fork: the kernel must not have to copy the pages while allocations
	 * fail
	 */
	memset(r, 0, sizeof(r));
	n = owner_read(&dev, 0, 0, r, ALL_ROOM);
	storm_check_errno("READ", n < 0 ? n : 0, ALLOW(ENOSPC));
	did(DEED_reads);
	for (i = 0; i < n; i++) {
		check_sample(&r[i]);
		CHECK(!i || r[i].domain > r[i - 1].domain ||
		      (r[i].domain == r[i - 1].domain &&
		       r[i].rmid > r[i - 1].rmid), "READ: out of order");
	}
}

/*
 * While allocations fail, one of the module's allocations fails.  Most actions make
 * none, or work without it.
 */
static void go_hungry(void)
{
	unsigned int tries = HUNGRY_TRIES;
	int err = 0;

	while (tries-- && !err && !storm_closing()) {
		err = owner_register(&dev, CMT_OWNER_CPU, 0, NULL);
		storm_check_errno("REGISTER", err, ALLOW(ENOSPC));
		if (!err)
			CHECK(!owner_unregister(&dev, CMT_OWNER_CPU, 0),
			      "UNREGISTER: %m");
	}
}

/*
 * The child has the descriptor longer than its parent, which may be killed.  Without
 * failing allocations: if fork() gets no memory for a stack, Linux 6.1's vmalloc warns,
 * and panics.
 */
static void lend(struct rng *rng)
{
	unsigned int ms = rng_below(rng, 50);
	pid_t pid;

	famine_suspend(true);
	pid = fork();
	if (pid) {
		famine_suspend(false);
		return;
	}
	while (ms-- && !storm_closing())
		sleep_ms(1);
	_exit(0);
}

static void let_all_go(struct rng *rng)
{
	unsigned int i;

	if (rng_one_in(rng, 3))
		lend(rng);
	for (i = 0; i < MOST_HELD; i++)
		if (held[i].kind)
			did(DEED_releases);
	memset(held, 0, sizeof(held));
	dev_close(&dev);
	opened = false;
}

void act_holder(struct rng *rng)
{
	struct held *h;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (!opened) {
		famine_join();
		opened = storm_open(&dev, O_RDWR);
		if (opened && storm->famine)
			go_hungry();
		return;
	}
	switch (rng_below(rng, 7)) {
	case 0:
	case 1:
	case 2:
		take_hold(rng);
		break;
	case 3:
	case 4:
		read_held(rng);
		break;
	case 5:
		read_all();
		break;
	case 6:
		h = some_held(rng);
		if (h)
			let_go(h);
		break;
	}
	if (rng_one_in(rng, 10) || storm_closing())
		let_all_go(rng);
	usleep(rng_below(rng, 20000));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* An independent check of the pool, from its records only. */
#include <string.h>

#include "dev.h"
#include "suite.h"

struct replay {
	struct history *history;
	const struct cmt_info *info;
	uint64_t freed_at[MAX_RMIDS];	/* 0: never had an owner */
	uint32_t queue[MAX_RMIDS];	/* freed, in order */
	unsigned int head;
	unsigned int queued;
};

uint64_t owner_key(const struct cmt_record *r)
{
	uint64_t kind = owner_kind(r);

	/* a group of resctrl has other members with time */
	if (kind == CMT_F_OWNER_RESCTRL)
		return kind << 47 | 1;
	if (kind == CMT_F_OWNER_CGROUP)
		return kind << 47 | r->owner.cgroup_id;
	return kind << 47 | (uint64_t)r->tgid << 1 | 1;
}

/*
 * RMIDs are taken in the order of the queue.  Each CPU reads the residue before it writes
 * the ALLOC.  So the ALLOCs of two CPUs may be in either order.
 */
#define AT_ONCE 4

static uint32_t *queue_at(struct replay *p, unsigned int i)
{
	return &p->queue[(p->head + i) % MAX_RMIDS];
}

static void replay_reuse(struct replay *p, const struct cmt_record *r)
{
	struct history *h = p->history;
	uint64_t limbo_ns = r->ts - p->freed_at[r->rmid];
	unsigned int i = 0;

	while (i < p->queued && *queue_at(p, i) != r->rmid)
		i++;
	CHECK(i < p->queued && i < AT_ONCE,
	      "not FIFO: RMID %u handed out, %u others were freed before it",
	      r->rmid, i);
	for (; i; i--)
		*queue_at(p, i) = *queue_at(p, i - 1);
	p->head = (p->head + 1) % MAX_RMIDS;
	p->queued--;
	CHECK(limbo_ns >= p->info->limbo_ns,
	      "RMID %u: only %llu ns in limbo", r->rmid,
	      (unsigned long long)limbo_ns);
	if (!h->reused++ || limbo_ns < h->least_limbo_ns)
		h->least_limbo_ns = limbo_ns;
}

static void replay_alloc(struct replay *p, const struct cmt_record *r)
{
	struct history *h = p->history;

	CHECK(!h->owner[r->rmid], "RMID %u given to %u while %#llx has it",
	      r->rmid, r->tgid, (unsigned long long)h->owner[r->rmid]);
	if (p->freed_at[r->rmid])
		replay_reuse(p, r);
	else
		CHECK(h->reused < AT_ONCE,
		      "not FIFO: RMID %u was free all the time", r->rmid);
	CHECK(r->generation != h->generation[r->rmid],
	      "RMID %u: generation %u twice", r->rmid, r->generation);
	h->owner[r->rmid] = owner_key(r);
	h->generation[r->rmid] = r->generation;
	h->allocs++;
}

static void replay_owned(struct replay *p, const struct cmt_record *r)
{
	struct history *h = p->history;

	CHECK(h->owner[r->rmid] == owner_key(r) &&
	      h->generation[r->rmid] == r->generation,
	      "type %u: RMID %u is of %#llx generation %u, not of %u generation %u",
	      r->type, r->rmid, (unsigned long long)h->owner[r->rmid],
	      h->generation[r->rmid], r->tgid, r->generation);
	if (r->type != CMT_REC_FREE)
		return;
	h->owner[r->rmid] = 0;
	h->frees++;
	p->freed_at[r->rmid] = r->ts;
	p->queue[(p->head + p->queued++) % MAX_RMIDS] = r->rmid;
}

void history_replay(struct history *history, const struct log *log,
		    const struct cmt_info *info)
{
	struct replay p = { .history = history, .info = info };
	uint64_t last = 0;
	size_t i;

	memset(history, 0, sizeof(*history));
	CHECK(info->limbo_ns >= 2000000, "limbo is %llu ns",
	      (unsigned long long)info->limbo_ns);
	for (i = 0; i < log->count; i++) {
		const struct cmt_record *r = &log->records[i];

		if (!is_lifecycle(r))
			continue;
		CHECK(r->ts > last, "two lifecycle records at %llu",
		      (unsigned long long)r->ts);
		last = r->ts;
		if (r->type == CMT_REC_ALLOC)
			replay_alloc(&p, r);
		else if (r->type == CMT_REC_ALLOC_FAIL)
			history->fails++;
		else
			replay_owned(&p, r);
	}
}

void history_matches(const struct history *history,
		     const struct snapshot *snapshot)
{
	uint32_t i, active = history->allocs - history->frees;

	CHECK(snapshot->count == active, "snapshot has %u, the records say %u",
	      snapshot->count, active);
	for (i = 0; i < snapshot->count; i++) {
		const struct cmt_record *r = &snapshot->records[i];

		CHECK(history->owner[r->rmid] == owner_key(r) &&
		      history->generation[r->rmid] == r->generation,
		      "snapshot: RMID %u is of %u, the records say %#llx",
		      r->rmid, r->tgid,
		      (unsigned long long)history->owner[r->rmid]);
	}
}

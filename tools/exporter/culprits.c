// SPDX-License-Identifier: GPL-2.0-or-later
#include "culprits.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/names.h"
#include "common/rows.h"
#include "labels.h"

#define COOLDOWN_NS	10000000000ULL	/* as cmtstat --why */
#define LOOK_NS		900000000ULL	/* frames of all rows come once a second */

int culprits_open(struct culprits *culprits, const struct cmt_info *info,
		  uint64_t peak_bytes)
{
	const struct cmt_culprit_opts opts = {
		.sz = sizeof(opts), .max_owners = culprit_room(info),
		.unit_bytes = info->upscale_bytes,
		.peak_bytes = peak_bytes, .cooldown_ns = COOLDOWN_NS,
	};

	culprits->emulated = info->backend == CMT_BACKEND_EMULATED;
	culprits->looked_ns = 0;
	return cmt_culprit_new(&culprits->engine, &opts);
}

void culprits_close(struct culprits *culprits)
{
	if (!culprits->engine)
		return;
	culprits->not_followed = culprits_counts(culprits).not_followed;
	cmt_culprit_free(culprits->engine);
	culprits->engine = NULL;
	slowdowns_free(&culprits->slowdowns);
}

void culprits_free(struct culprits *culprits)
{
	culprits_close(culprits);
	pairs_free(&culprits->pairs);
}

struct cmt_culprit_counts culprits_counts(const struct culprits *culprits)
{
	struct cmt_culprit_counts counts = { .sz = sizeof(counts) };

	if (culprits->engine)
		cmt_culprit_counts(culprits->engine, &counts);
	counts.not_followed += culprits->not_followed;
	return counts;
}

static void add_name(struct labels *labels, const char *prefix,
		     const struct cmt_usage_frame *frame,
		     struct cmt_containers *containers, uint64_t id)
{
	struct cmt_usage_row gone;

	labels_of_party(labels, prefix,
			culprit_row(frame, containers, id, &gone));
}

static void add_kind(struct labels *labels, enum cmt_culprit_kind kind)
{
	const char *name = culprit_kind_name(kind);

	labels_add(labels, "kind", name, strlen(name));
}

static void count(struct culprits *culprits,
		  const struct cmt_culprit_verdict *verdict,
		  const struct cmt_usage_frame *frame,
		  struct cmt_containers *containers)
{
	struct labels labels = { .len = 0 };

	if (verdict->kind >= CULPRIT_KINDS)
		return;
	culprits->kinds[culprits->emulated][verdict->kind]++;
	add_kind(&labels, verdict->kind);
	add_name(&labels, "victim", frame, containers, verdict->id);
	if (verdict->nr_suspects)
		add_name(&labels, "suspect", frame, containers,
			 verdict->suspects[0].id);
	labels_emulated(&labels, culprits->emulated);
	if (pairs_add(&culprits->pairs, labels.text, 1, verdict->ts_ns))
		culprits->others[culprits->emulated][verdict->kind]++;
}

static void count_all(struct culprits *culprits,
		      const struct cmt_usage_frame *frame,
		      struct cmt_containers *containers)
{
	const struct cmt_culprit_verdict *verdict;

	while (cmt_culprit_next(culprits->engine, &verdict) > 0)
		count(culprits, verdict, frame, containers);
}

void culprits_add(struct culprits *culprits, const struct cmt_usage_frame *frame,
		  struct cmt_containers *containers)
{
	/* a frame that the clock ended early is no slot, and has no verdicts */
	if (cmt_culprit_add_frame(culprits->engine, frame) > 0)
		count_all(culprits, frame, containers);
}

void culprits_look(struct culprits *culprits, const struct cmt_usage_frame *frame,
		   struct cmt_containers *containers, const char *root)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	char path[PATH_MAX];

	if (now - culprits->looked_ns < LOOK_NS)
		return;
	culprits->looked_ns = now;
	pairs_forget(&culprits->pairs, now);
	slowdowns_read(&culprits->slowdowns, culprits->engine, frame, containers,
		       culprits->emulated);
	snprintf(path, sizeof(path), "%s/sys/fs/cgroup", root ? root : "");
	if (cmt_culprit_refresh(culprits->engine, frame, root ? path : NULL) > 0)
		count_all(culprits, frame, containers);
}

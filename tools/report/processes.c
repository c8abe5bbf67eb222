// SPDX-License-Identifier: GPL-2.0-or-later
#include "processes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

void processes_init(struct processes *processes, struct model *model)
{
	*processes = (struct processes){ .model = model };
	keys_init(&processes->keys, sizeof(struct process));
}

void processes_free(struct processes *processes)
{
	keys_free(&processes->keys);
}

/* A process that executes another program is another one.  NULL: no room, or no memory. */
static struct process *process_of(struct processes *processes, uint32_t member,
				  const struct cmt_usage_row *row)
{
	char key[64 + CMT_COMM_LEN];
	struct process *process;

	snprintf(key, sizeof(key), "%u %u %s", member, row->pid, row->comm);
	if (processes->keys.nr >= PROCESSES_MOST && !keys_find(&processes->keys, key))
		return NULL;
	process = keys_get(&processes->keys, key);
	if (process && !process->last_ns) {
		process->member = member;
		process->pid = row->pid;
		memcpy(process->comm, row->comm, sizeof(process->comm));
	}
	return process;
}

static void add_rate(double *bytes, double *ns, const struct cmt_usage_rate *rate,
		     uint64_t length_ns)
{
	if (!rate->known || !isfinite(rate->rate))
		return;
	*bytes += rate->rate * (double)length_ns / 1e9;
	*ns += (double)length_ns;
}

static void add_row(struct process *process, const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row)
{
	const struct cmt_usage_occupancy *o = &row->occupancy;
	uint64_t length = frame->end_ns - frame->start_ns;

	if (!process->last_ns)
		process->first_ns = frame->start_ns;
	process->last_ns = frame->end_ns;
	process->held += (double)o->mean_bytes * o->slots;
	process->slots += o->slots;
	if (o->most_bytes > process->most)
		process->most = o->most_bytes;
	process->partial |= row->occupancy.partial || row->total.partial || row->local.partial;
	add_rate(&process->moved, &process->moved_ns, &row->total, length);
	add_rate(&process->local, &process->local_ns, &row->local, length);
}

static int add_children(struct processes *processes, const struct cmt_usage_frame *frame,
			const struct cmt_usage_row *row)
{
	struct model *model = processes->model;
	const struct member *member = model_find(model, cmt_culprit_id(frame, row));

	for (uint32_t i = 0; member && i < row->nr_children; i++) {
		const struct cmt_usage_row *child =
			cmt_usage_child_at(frame, row->first_child + i);
		struct process *process;

		if (!child->pid)
			continue;
		process = process_of(processes, (uint32_t)(member - model->members), child);
		if (process)
			add_row(process, frame, child);
		else if (processes->keys.nr < PROCESSES_MOST)
			return -ENOMEM;
		else
			processes->left_out++;
	}
	return 0;
}

int processes_add(struct processes *processes, const struct cmt_usage_frame *frame)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < frame->nr_rows; i++)
		ret = add_children(processes, frame, cmt_usage_row_at(frame, i));
	return ret;
}

static double mean_of(const struct process *process)
{
	return process->slots > 0 ? process->held / process->slots : -1;
}

/* By member; in each the processes with the greatest occupancy first. */
static int by_need(const void *a, const void *b)
{
	const struct process *x = *(struct process *const *)a, *y = *(struct process *const *)b;
	double more = mean_of(y) - mean_of(x);

	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return more > 0 ? 1 : more < 0 ? -1 : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* @all: @nr processes of one member */
static int give(struct member *member, struct process *const *all, uint32_t nr)
{
	uint32_t shown = nr < PROCESSES_SHOWN ? nr : PROCESSES_SHOWN;

	member->processes = calloc(shown, sizeof(*member->processes));
	if (!member->processes)
		return -ENOMEM;
	for (uint32_t i = 0; i < shown; i++)
		member->processes[i] = *all[i];
	member->nr_processes = shown;
	member->processes_left_out = nr - shown;
	return 0;
}

int processes_finish(struct processes *processes)
{
	uint32_t nr = processes->keys.nr, end;
	struct process **all = calloc(nr ? nr : 1, sizeof(struct process *));
	int ret = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; all && i < nr; i++)
		all[i] = keys_at(&processes->keys, i);
	if (all)
		qsort(all, nr, sizeof(struct process *), by_need);
	for (uint32_t i = 0; !ret && i < nr; i = end) {
		for (end = i; end < nr && all[end]->member == all[i]->member;)
			end++;
		ret = give(&processes->model->members[all[i]->member], &all[i], end - i);
	}
	free(all);
	return ret;
}

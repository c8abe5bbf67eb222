// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Part of the extension module: slots and frames into blocks.  Python calls these
 * functions without its lock, so they touch no object of Python's.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmt/cmt.h>

#include "blocks.h"

/* More than that at once, without a slot: the caller may want to stop. */
#define FEEDS	256
/* Readings that are on their way from memory. */
#define FETCH	16

struct slot_queue {
	struct cmt_slots *slots;
	struct slot_block *first, **last;
	/* The owners of the slot at hand, and which one each reading has. */
	size_t room;
	const struct cmt_owner **found;
	int32_t *owner_of;
	/* Those of the slot before. */
	uint64_t serial;
	uint32_t nr_owners;
	struct cmt_owner *owners;
};

static size_t align8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static int queue_grow(struct slot_queue *queue, size_t n)
{
	void *p;

	if (n <= queue->room)
		return 0;
	n += n / 2;
	p = realloc(queue->found, n * sizeof(*queue->found));
	if (!p)
		return -ENOMEM;
	queue->found = p;
	p = realloc(queue->owner_of, n * sizeof(*queue->owner_of));
	if (!p)
		return -ENOMEM;
	queue->owner_of = p;
	p = realloc(queue->owners, n * sizeof(*queue->owners));
	if (!p)
		return -ENOMEM;
	queue->owners = p;
	queue->room = n;
	return 0;
}

/* Readings are not where they came from in the order in which they are handed out. */
static void fetch_ahead(const struct cmt_slot *slot, uint32_t i)
{
	if (i + FETCH < slot->nr_entries) {
		const struct cmt_slot_entry *entry = cmt_slot_entry_at(slot,
								       i + FETCH);

		__builtin_prefetch(entry);
		__builtin_prefetch(&entry->owner);
	}
}

/* Readings are by RMID: an owner of the same RMID is among the last ones found. */
static uint32_t find_owners(struct slot_queue *queue, const struct cmt_slot *slot)
{
	const struct cmt_owner *last = NULL;
	uint32_t i, at = 0, n = 0, run = 0;

	for (i = 0; i < slot->nr_entries; i++) {
		const struct cmt_owner *owner = cmt_slot_entry_at(slot, i)->owner;

		fetch_ahead(slot, i);
		if (owner && owner != last) {
			if (n && queue->found[n - 1]->rmid != owner->rmid)
				run = n;
			for (at = run; at < n && queue->found[at] != owner; at++)
				;
			if (at == n)
				queue->found[n++] = owner;
			last = owner;
		}
		queue->owner_of[i] = owner ? (int32_t)at : -1;
	}
	return n;
}

/* The place of a CPU's owner among @n that are by RMID, or a new one after all. */
static int32_t find_cpu_owner(struct slot_queue *queue, uint32_t n, uint32_t *all,
			      const struct cmt_owner *owner)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (queue->found[mid]->rmid < owner->rmid)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n && queue->found[low]->rmid == owner->rmid; low++)
		if (queue->found[low]->generation == owner->generation)
			return (int32_t)low;
	queue->found[*all] = owner;
	return (int32_t)(*all)++;
}

static uint32_t find_cpu_owners(struct slot_queue *queue,
				const struct cmt_slot *slot, uint32_t n)
{
	int32_t *owner_of = queue->owner_of + slot->nr_entries;
	uint32_t i, all = n;

	for (i = 0; i < slot->nr_cpus; i++) {
		const struct cmt_owner *owner = cmt_slot_cpu_at(slot, i)->owner;

		owner_of[i] = owner ? find_cpu_owner(queue, n, &all, owner) : -1;
	}
	return all;
}

/* Are the owners in @block those of the block before?  They mostly are. */
static void number_owners(struct slot_queue *queue, struct slot_block *block,
			  const struct cmt_owner *owners)
{
	size_t size = block->nr_owners * sizeof(*owners);

	if (!queue->serial || queue->nr_owners != block->nr_owners ||
	    memcmp(queue->owners, owners, size)) {
		memcpy(queue->owners, owners, size);
		queue->nr_owners = block->nr_owners;
		queue->serial++;
	}
	block->owners_serial = queue->serial;
}

static void put_owners(struct slot_queue *queue, struct slot_block *block)
{
	struct cmt_owner *owners = (void *)((char *)block + block->owners_at);
	uint32_t i;

	memset(owners, 0, block->nr_owners * sizeof(*owners));
	for (i = 0; i < block->nr_owners; i++) {
		const struct cmt_owner *found = queue->found[i];

		memcpy(&owners[i], found, found->sz < sizeof(*found) ?
					  found->sz : sizeof(*found));
	}
	number_owners(queue, block, owners);
}

static int64_t measured(uint32_t flags, uint32_t flag, uint64_t value)
{
	if (!(flags & flag))
		return -1;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* The array @member of @n elements at @base, which is aligned for all of them. */
#define COLUMN(base, n, columns, member)				\
	((__typeof__(((struct columns *)0)->member) *)(void *)		\
	 ((base) + (size_t)(n) * offsetof(struct columns, member)))

#define ENTRY(member) (COLUMN(base, n, entry_columns, member)[i])

static void put_entry(char *base, uint32_t n, uint32_t i,
		      const struct cmt_slot_entry *entry, int32_t owner)
{
	uint32_t flags = entry->flags;

	ENTRY(ts_ns) = entry->ts;
	ENTRY(occupancy_bytes) = measured(flags, CMT_F_OCCUPANCY,
					  entry->occupancy_bytes);
	ENTRY(residual_bytes) = measured(flags, CMT_F_RESIDUAL,
					 entry->residual_bytes);
	ENTRY(mbm_total_bytes) = measured(flags, CMT_F_MBM_TOTAL,
					  entry->mbm_total_bytes);
	ENTRY(mbm_local_bytes) = measured(flags, CMT_F_MBM_LOCAL,
					  entry->mbm_local_bytes);
	ENTRY(cgroup_id) = entry->owner ? entry->owner->cgroup_id : 0;
	ENTRY(samples) = entry->samples;
	ENTRY(flags) = flags;
	ENTRY(rmid) = entry->rmid;
	ENTRY(generation) = entry->generation;
	ENTRY(domain) = entry->domain;
	ENTRY(cpu) = entry->cpu;
	ENTRY(pid) = entry->owner ? entry->owner->tgid : 0;
	ENTRY(owner) = owner;
}

#define CPU(member) (COLUMN(base, n, cpu_columns, member)[i])

static void put_cpu(char *base, uint32_t n, uint32_t i,
		    const struct cmt_slot_cpu *cpu, int32_t owner)
{
	CPU(missed) = cpu->missed;
	CPU(deferred) = cpu->deferred;
	CPU(busy_ns) = cpu->busy_ns;
	CPU(cpu) = cpu->cpu;
	CPU(domain) = cpu->domain;
	CPU(ticks) = cpu->ticks;
	CPU(busy_ticks) = cpu->busy_ticks;
	CPU(rmid) = cpu->rmid;
	CPU(generation) = cpu->generation;
	CPU(flags) = cpu->flags;
	CPU(interval_ns) = cpu->interval_ns;
	CPU(read) = cpu->read;
	CPU(waiting) = cpu->waiting;
	CPU(owner) = owner;
}

static struct slot_block *slot_block_new(const struct cmt_slot *slot,
					 uint32_t nr_owners)
{
	struct slot_block head = {
		.start_ns = slot->start_ns, .end_ns = slot->end_ns,
		.lost = slot->lost, .gaps = slot->gaps,
		.nr_entries = slot->nr_entries, .nr_cpus = slot->nr_cpus,
		.nr_owners = nr_owners,
	};
	struct slot_block *block;

	head.entries_at = align8(sizeof(head));
	head.cpus_at = align8(head.entries_at + (size_t)slot->nr_entries *
			      sizeof(struct entry_columns));
	head.owners_at = align8(head.cpus_at + (size_t)slot->nr_cpus *
				sizeof(struct cpu_columns));
	head.size = head.owners_at + nr_owners * sizeof(struct cmt_owner);
	block = malloc(head.size);
	if (block)
		*block = head;
	return block;
}

/* The library's callback: no slot is in the queue that is not complete. */
static int queue_slot(void *ctx, const struct cmt_slot *slot)
{
	struct slot_queue *queue = ctx;
	struct slot_block *block;
	uint32_t i, n;

	if (queue_grow(queue, (size_t)slot->nr_entries + slot->nr_cpus))
		return -ENOMEM;
	n = find_cpu_owners(queue, slot, find_owners(queue, slot));
	block = slot_block_new(slot, n);
	if (!block)
		return -ENOMEM;
	for (i = 0; i < slot->nr_entries; i++) {
		fetch_ahead(slot, i);
		put_entry((char *)block + block->entries_at, slot->nr_entries, i,
			  cmt_slot_entry_at(slot, i), queue->owner_of[i]);
	}
	for (i = 0; i < slot->nr_cpus; i++)
		put_cpu((char *)block + block->cpus_at, slot->nr_cpus, i,
			cmt_slot_cpu_at(slot, i),
			queue->owner_of[slot->nr_entries + i]);
	put_owners(queue, block);
	*queue->last = block;
	queue->last = &block->next;
	return 0;
}

/* The oldest slot, to be freed with free(); NULL: there is none. */
static struct slot_block *slot_queue_take(struct slot_queue *queue)
{
	struct slot_block *block = queue->first;

	if (block)
		queue->first = block->next;
	if (!queue->first)
		queue->last = &queue->first;
	return block;
}

static void slot_queue_free(struct slot_queue *queue)
{
	struct slot_block *block;

	cmt_slots_free(queue->slots);
	while ((block = slot_queue_take(queue)))
		free(block);
	free(queue->found);
	free(queue->owner_of);
	free(queue->owners);
	free(queue);
}

static int slot_queue_new(struct slot_queue **queue,
			  const struct cmt_slots_opts *opts)
{
	struct slot_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	q->last = &q->first;
	err = queue_grow(q, 64);
	if (!err)
		err = cmt_slots_new(&q->slots, opts, queue_slot, q);
	if (err) {
		slot_queue_free(q);
		return err;
	}
	*queue = q;
	return 0;
}

static struct cmt_slots *slot_queue_slots(struct slot_queue *queue)
{
	return queue->slots;
}

/* Feed until a slot is there.  0: nothing is ready; or as cmt_reader_feed(). */
static int slot_queue_feed(struct slot_queue *queue, struct cmt_reader *reader)
{
	int i, n = 0;

	for (i = 0; i < FEEDS; i++) {
		n = cmt_reader_feed(reader, queue->slots);
		if (n <= 0 || queue->first)
			break;
	}
	return n;
}

#define NR_TEXTS 8

static void container_texts(const struct cmt_container *container,
			    const char **texts)
{
	texts[0] = container->name;
	texts[1] = container->id;
	texts[2] = container->pod;
	texts[3] = container->path;
	texts[4] = container->container_name;
	texts[5] = container->pod_name;
	texts[6] = container->pod_namespace;
	texts[7] = container->image;
}

/* Returns the bytes that a container takes, at @to unless that is NULL. */
static size_t container_put(char *to, const struct cmt_container *container)
{
	struct container_head head = { .present = 0 };
	const char *texts[NR_TEXTS];
	size_t size = sizeof(head);

	if (!container)
		return 0;
	container_texts(container, texts);
	for (int i = 0; i < NR_TEXTS; i++) {
		const char *text = texts[i] ? texts[i] : "";
		size_t length = strlen(text) + 1;

		if (to)
			memcpy(to + size, text, length);
		head.present |= texts[i] ? 1U << i : 0;
		size += length;
	}
	head.cgroup_id = container->cgroup_id;
	head.runtime = (int32_t)container->runtime;
	head.flags = container->flags;
	head.uid = container->uid;
	head.own_len = container->own_len;
	if (to)
		memcpy(to, &head, sizeof(head));
	return size;
}

/* Row @i of the rows, then of the children. */
static const struct cmt_usage_row *row_at(const struct cmt_usage_frame *frame,
					  uint32_t i)
{
	return i < frame->nr_rows ? cmt_usage_row_at(frame, i) :
				    cmt_usage_child_at(frame, i - frame->nr_rows);
}

/* In a column a value that is not known cannot be taken for one: -1, NaN. */
static void rate_hide(struct cmt_usage_rate *rate)
{
	if (rate->known)
		return;
	rate->bytes = UINT64_MAX;
	rate->rate = NAN;
	rate->lo = NAN;
	rate->hi = NAN;
}

static void counters_hide(struct cmt_usage_counters *counters)
{
	uint32_t values = counters->known ? counters->values : 0;

	if (!counters->known)
		counters->ran_ns = UINT64_MAX;
	if (!(values & CMT_F_CYCLES))
		counters->cycles = UINT64_MAX;
	if (!(values & CMT_F_INSTRUCTIONS))
		counters->instructions = UINT64_MAX;
	if (!(values & CMT_F_LLC_MISSES))
		counters->llc_misses = UINT64_MAX;
	if (!(values & CMT_F_LLC_REFERENCES))
		counters->llc_references = UINT64_MAX;
	if (!(values & CMT_F_WAITED))
		counters->waited_ns = UINT64_MAX;
}

static void row_put(struct cmt_usage_row *to, const struct cmt_usage_frame *frame,
		    const struct cmt_usage_row *row)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, row, frame->row_size < sizeof(*to) ? frame->row_size :
							 sizeof(*to));
	to->container = NULL;
	if (!to->occupancy.known) {
		to->occupancy.last_bytes = UINT64_MAX;
		to->occupancy.age_ns = UINT64_MAX;
	}
	if (!to->occupancy.residual_known)
		to->occupancy.residual_bytes = UINT64_MAX;
	/* slots first: an owner that ended may have held 0 in all of them */
	if (!to->occupancy.slots && !to->occupancy.known && !to->occupancy.most_bytes)
		to->occupancy.most_bytes = UINT64_MAX;
	if (!to->occupancy.slots) {
		to->occupancy.least_bytes = UINT64_MAX;
		to->occupancy.mean_bytes = UINT64_MAX;
	}
	rate_hide(&to->total);
	rate_hide(&to->local);
	counters_hide(&to->counters);
}

static struct usage_block *usage_block_new(const struct cmt_usage_frame *frame)
{
	uint32_t nr = frame->nr_rows + frame->nr_children;
	struct usage_block *block;
	size_t rows_at, names_at, channels_at, waits_at, size;

	rows_at = align8(sizeof(*block));
	names_at = rows_at + nr * sizeof(struct cmt_usage_row);
	size = names_at + ((size_t)nr + 1) * sizeof(size_t);
	for (uint32_t i = 0; i < nr; i++)
		size += container_put(NULL, row_at(frame, i)->container);
	channels_at = align8(size);
	waits_at = align8(channels_at + frame->nr_channels * sizeof(struct cmt_usage_channel));
	size = waits_at + frame->nr_waits * sizeof(struct cmt_usage_wait_part);
	block = calloc(1, size);
	if (!block)
		return NULL;
	block->size = size;
	block->rows_at = rows_at;
	block->names_at = names_at;
	block->channels_at = channels_at;
	block->waits_at = waits_at;
	block->nr = nr;
	block->frame = *frame;
	memcpy(block->channels_reason, frame->channels_reason,
	       strnlen(frame->channels_reason,
		       sizeof(block->channels_reason) - 1));
	block->frame.channels_reason = NULL;
	block->frame.channels = NULL;
	block->frame.waits = NULL;
	block->frame.rows = NULL;
	block->frame.children = NULL;
	return block;
}

static void channels_put(struct usage_block *block,
			 const struct cmt_usage_frame *frame)
{
	struct cmt_usage_channel *to;
	uint32_t i;

	to = (void *)((char *)block + block->channels_at);
	for (i = 0; i < frame->nr_channels; i++)
		memcpy(&to[i], cmt_usage_channel_at(frame, i),
		       frame->channel_size < sizeof(*to) ? frame->channel_size :
							   sizeof(*to));
}

static void waits_put(struct usage_block *block, const struct cmt_usage_frame *frame)
{
	struct cmt_usage_wait_part *to = (void *)((char *)block + block->waits_at);

	for (uint32_t i = 0; i < frame->nr_waits; i++)
		memcpy(&to[i], cmt_usage_wait_part_at(frame, i),
		       frame->wait_size < sizeof(*to) ? frame->wait_size : sizeof(*to));
}

/* A copy of a frame, to be freed with free(); NULL: no memory. */
static struct usage_block *usage_block_copy(const struct cmt_usage_frame *frame)
{
	struct usage_block *block = usage_block_new(frame);
	struct cmt_usage_row *rows;
	size_t *names, at;
	uint32_t i;

	if (!block)
		return NULL;
	rows = (void *)((char *)block + block->rows_at);
	names = (void *)((char *)block + block->names_at);
	at = block->names_at + ((size_t)block->nr + 1) * sizeof(*names);
	for (i = 0; i < block->nr; i++) {
		const struct cmt_usage_row *row = row_at(frame, i);

		row_put(&rows[i], frame, row);
		names[i] = at;
		at += container_put((char *)block + at, row->container);
	}
	names[i] = at;
	channels_put(block, frame);
	waits_put(block, frame);
	return block;
}

// SPDX-License-Identifier: GPL-2.0-or-later
#include "cells.h"

#include <stdio.h>
#include <string.h>

#include "common/names.h"
#include "why/marks.h"
#include "why/slower.h"

static void set_text(struct cell *cell, const char *text)
{
	cell->kind = CELL_TEXT;
	cell->text = text;
}

static void set_number(struct cell *cell, uint64_t number)
{
	cell->kind = CELL_NUMBER;
	cell->number = number;
}

static void set_bool(struct cell *cell, bool value)
{
	cell->kind = CELL_BOOL;
	cell->number = value;
}

void get_container(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_text(cell, container_label(cell->buf, row));
}

void get_runtime(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->runtime != CMT_RUNTIME_NONE)
		set_text(cell, cmt_runtime_name(row->container->runtime));
}

void get_name(const struct row *row, struct cell *cell)
{
	if (row->container)
		set_text(cell, row->container->name);
}

void get_id(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->id[0])
		set_text(cell, row->container->id);
}

void get_pod(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod[0])
		set_text(cell, row->container->pod);
}

void get_container_name(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->container_name)
		set_text(cell, row->container->container_name);
}

void get_pod_name(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod_name)
		set_text(cell, row->container->pod_name);
}

void get_namespace(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->pod_namespace)
		set_text(cell, row->container->pod_namespace);
}

void get_image(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->image)
		set_text(cell, row->container->image);
}

/* A process below its container's row does not repeat the container's name. */
void get_shown_name(const struct row *row, struct cell *cell)
{
	const char *text = cell->buf;

	if (row->child)
		snprintf(cell->buf, sizeof(cell->buf), "  %u %s", row->pid,
			 row->comm);
	else if (row_in_cgroup(row) && row->container)
		text = row->container->name;
	else
		text = container_label(cell->buf, row);
	set_text(cell, text);
}

void get_shown_runtime(const struct row *row, struct cell *cell)
{
	if (row->child)
		set_text(cell, "");
	else
		get_runtime(row, cell);
}

void get_shown_pod(const struct row *row, struct cell *cell)
{
	const struct cmt_container *c = row->container;

	if (!row->child && c && (c->pod_name || c->pod[0]))
		set_text(cell, c->pod_name ? c->pod_name : c->pod);
}

void get_kind(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_text(cell, row_kind(row));
}

void get_attached(const struct row *row, struct cell *cell)
{
	if (row->kind == CMT_USAGE_OWNER)
		set_bool(cell, row->attached);
}

void get_processes(const struct row *row, struct cell *cell)
{
	if (row->processes_known)
		set_number(cell, row->processes);
}

void get_cgroup(const struct row *row, struct cell *cell)
{
	if (row->container && row->container->path && row->owner != CMT_OWNER_RESCTRL)
		set_text(cell, row->container->path);
}

void get_cgroup_id(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row))
		set_number(cell, row->cgroup_id);
}

void get_rmids(const struct row *row, struct cell *cell)
{
	if (row->kind != CMT_USAGE_UNATTRIBUTED)
		set_number(cell, row->rmids);
}

void get_pid(const struct row *row, struct cell *cell)
{
	if (row->kind == CMT_USAGE_OWNER && row->owner == CMT_OWNER_PROCESS)
		set_number(cell, row->pid);
}

void get_comm(const struct row *row, struct cell *cell)
{
	if (row->kind == CMT_USAGE_OWNER && row->comm[0] && !row_is_foreign(row))
		set_text(cell, row->comm);
}

/* A row that is no process shows its kind. */
void get_shown_comm(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row) && row->comm[0])
		set_text(cell, row->comm);
	else if (!row_in_cgroup(row))
		get_container(row, cell);
}

void get_shown_container(const struct row *row, struct cell *cell)
{
	if (row_in_cgroup(row))
		get_container(row, cell);
}

void get_rmid(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->rmid);
}

void get_generation(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->generation);
}

void get_domain(const struct row *row, struct cell *cell)
{
	if (row->seen)
		set_number(cell, row->domain);
}

static void set_bytes(struct cell *cell, const struct measure *m)
{
	if (!m->known)
		return;
	cell->kind = CELL_BYTES;
	cell->number = (uint64_t)m->value;
	cell->partial = m->partial;
}

void get_occupancy(const struct row *row, struct cell *cell)
{
	set_bytes(cell, &row->occupancy);
}

void get_percent(const struct row *row, struct cell *cell)
{
	if (!row->occupancy.known || !row->l3_bytes)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100 * row->occupancy.value / (double)row->l3_bytes;
	cell->partial = row->occupancy.partial;
}

void get_least(const struct row *row, struct cell *cell)
{
	set_bytes(cell, &row->least);
}

void get_most(const struct row *row, struct cell *cell)
{
	set_bytes(cell, &row->most);
}

void get_bar(const struct row *row, struct cell *cell)
{
	if (!row->occupancy.known || !row->l3_bytes)
		return;
	cell->kind = CELL_BAR;
	cell->real = row->occupancy.value / (double)row->l3_bytes;
	cell->most = row->most.known ?
		     row->most.value / (double)row->l3_bytes : cell->real;
}

void get_trail(const struct row *row, struct cell *cell)
{
	if (!row->trail)
		return;
	cell->kind = CELL_TRAIL;
	cell->trail = row->trail;
}

static void set_rate(struct cell *cell, const struct measure *m)
{
	if (!m->known)
		return;
	cell->kind = CELL_RATE;
	cell->real = m->value;
	cell->partial = m->partial;
}

void get_total(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->total);
}

void get_local(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->local);
}

static void set_percent(struct cell *cell, const struct measure *share)
{
	if (!share->known)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100 * share->value;
	cell->partial = share->partial;
}

void get_cpu_percent(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->cpu_share);
}

void get_wait_percent(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->wait_share);
}

static void set_ratio(struct cell *cell, const struct measure *m)
{
	if (!m->known)
		return;
	cell->kind = CELL_RATIO;
	cell->real = m->value;
	cell->partial = m->partial;
}

void get_ipc(const struct row *row, struct cell *cell)
{
	set_ratio(cell, &row->ipc);
}

void get_mpki(const struct row *row, struct cell *cell)
{
	set_ratio(cell, &row->mpki);
}

void get_slower(const struct row *row, struct cell *cell)
{
	if (row->slowed.known)
		set_text(cell, slower_text(cell->buf, sizeof(cell->buf), row));
}

void get_ran(const struct row *row, struct cell *cell)
{
	if (row->counters.known)
		set_number(cell, row->counters.ran_ns);
}

static void set_sum(const struct row *row, struct cell *cell, uint32_t value,
		    uint64_t sum)
{
	if (row->counters.known && (row->counters.values & value))
		set_number(cell, sum);
}

void get_cycles(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_CYCLES, row->counters.cycles);
}

void get_instructions(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_INSTRUCTIONS, row->counters.instructions);
}

void get_misses(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_LLC_MISSES, row->counters.llc_misses);
}

void get_references(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_LLC_REFERENCES, row->counters.llc_references);
}

void get_waited(const struct row *row, struct cell *cell)
{
	set_sum(row, cell, CMT_F_WAITED, row->counters.waited_ns);
}

void get_wait_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->wait_share.partial);
}

void get_wait_quota(const struct row *row, struct cell *cell)
{
	if (row->counters.values & CMT_F_WAITED)
		set_bool(cell, row->counters.quota);
}

void get_counters_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->counters.partial);
}

void get_socket(const struct row *row, struct cell *cell)
{
	set_number(cell, row->socket);
}

void get_channel(const struct row *row, struct cell *cell)
{
	set_number(cell, row->channel);
}

void get_read(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->read);
}

void get_written(const struct row *row, struct cell *cell)
{
	set_rate(cell, &row->written);
}

void get_read_bytes(const struct row *row, struct cell *cell)
{
	if (row->read.known)
		set_number(cell, row->read_bytes);
}

void get_written_bytes(const struct row *row, struct cell *cell)
{
	if (row->written.known)
		set_number(cell, row->written_bytes);
}

void get_share(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->share);
}

void get_idle(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->idle);
}

void get_idle_reason(const struct row *row, struct cell *cell)
{
	const char *name = usage_why_name(row->idle_why);

	if (name)
		set_text(cell, name);
}

void get_residual(const struct row *row, struct cell *cell)
{
	if (!row->residual_known)
		return;
	cell->kind = CELL_BYTES;
	cell->number = row->residual_bytes;
}

void get_occupancy_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->occupancy.partial);
}

void get_total_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->total.partial);
}

void get_local_partial(const struct row *row, struct cell *cell)
{
	set_bool(cell, row->local.partial);
}

void get_occupancy_coverage(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->occupancy_part);
}

void get_total_coverage(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->total_part);
}

void get_local_coverage(const struct row *row, struct cell *cell)
{
	set_percent(cell, &row->local_part);
}

void get_age(const struct row *row, struct cell *cell)
{
	if (row->age_ns)
		set_number(cell, row->age_ns / 1000000);
}

void get_reason(const struct row *row, struct cell *cell)
{
	const char *name = row->borrowed ? "borrowed-id" :
			   usage_why_name(row->why | row->counters.why);

	if (name)
		set_text(cell, name);
}

/*
 * The completeness of a partial value, rounded down, so that it is not 100.  A missing
 * value is shown by its column.
 */
static void put_part(char *buf, size_t size, const char *what,
		     const struct measure *part)
{
	size_t len = strlen(buf);

	if (part->known && part->value > 0 && part->value < 1)
		snprintf(buf + len, size - len, "%s%s %u %%", len ? ", " : "",
			 what, (unsigned int)(100 * part->value));
}

/* Time without a quota is not in what the row waited. */
static void put_quota(char *buf, size_t size, const struct row *row)
{
	size_t len = strlen(buf);

	if (row->counters.quota)
		snprintf(buf + len, size - len, "%squota", len ? ", " : "");
}

void get_lack(const struct row *row, struct cell *cell)
{
	get_reason(row, cell);
	if (cell->kind == CELL_ABSENT)
		cell->buf[0] = '\0';
	else
		snprintf(cell->buf, sizeof(cell->buf), "%s", cell->text);
	put_quota(cell->buf, sizeof(cell->buf), row);
	put_part(cell->buf, sizeof(cell->buf), "occ", &row->occupancy_part);
	put_part(cell->buf, sizeof(cell->buf), "bw", &row->total_part);
	if (cell->buf[0])
		set_text(cell, cell->buf);
}

void get_letter(const struct row *row, struct cell *cell)
{
	const char text[] = { row->letter, '\0' };

	if (!row->letter)
		return;
	strcpy(cell->buf, text);
	set_text(cell, cell->buf);
}

/* A mark comes before the reasons of missing values. */
void get_note(const struct row *row, struct cell *cell)
{
	char lack[sizeof(cell->buf)] = "";
	size_t len;

	get_lack(row, cell);
	if (!row->mark)
		return;
	if (cell->kind == CELL_TEXT)
		snprintf(lack, sizeof(lack), ", %s", cell->text);
	mark_text(cell->buf, sizeof(cell->buf), row->mark, row->suspected);
	len = strlen(cell->buf);
	snprintf(cell->buf + len, sizeof(cell->buf) - len, "%s", lack);
	set_text(cell, cell->buf);
}

void get_cpu(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->cpu);
}

/* Rows that are no CPU may hold cache in every domain. */
void get_cpu_domain(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->domain);
}

void get_busy(const struct row *row, struct cell *cell)
{
	if (!row->ticks)
		return;
	cell->kind = CELL_PERCENT;
	cell->real = 100.0 * row->busy_ticks / row->ticks;
}

void get_ticks(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->ticks);
}

void get_missed(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->missed);
}

void get_lost(const struct row *row, struct cell *cell)
{
	if (row->is_cpu)
		set_number(cell, row->lost);
}

void get_sampler(const struct row *row, struct cell *cell)
{
	if (row->is_cpu && row->seen)
		set_number(cell, row->busy_ns);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cells of a row: one function for each column.  A cell begins as CELL_ABSENT. */
#ifndef TOOLS_CELLS_H
#define TOOLS_CELLS_H

#include "columns.h"

void get_container(const struct row *row, struct cell *cell);
void get_runtime(const struct row *row, struct cell *cell);
void get_name(const struct row *row, struct cell *cell);
void get_id(const struct row *row, struct cell *cell);
void get_pod(const struct row *row, struct cell *cell);
void get_container_name(const struct row *row, struct cell *cell);
void get_pod_name(const struct row *row, struct cell *cell);
void get_namespace(const struct row *row, struct cell *cell);
void get_image(const struct row *row, struct cell *cell);
void get_shown_name(const struct row *row, struct cell *cell);
void get_shown_runtime(const struct row *row, struct cell *cell);
void get_shown_pod(const struct row *row, struct cell *cell);
void get_kind(const struct row *row, struct cell *cell);
void get_attached(const struct row *row, struct cell *cell);
void get_processes(const struct row *row, struct cell *cell);
void get_cgroup(const struct row *row, struct cell *cell);
void get_cgroup_id(const struct row *row, struct cell *cell);
void get_rmids(const struct row *row, struct cell *cell);
void get_pid(const struct row *row, struct cell *cell);
void get_comm(const struct row *row, struct cell *cell);
void get_shown_comm(const struct row *row, struct cell *cell);
void get_shown_container(const struct row *row, struct cell *cell);
void get_rmid(const struct row *row, struct cell *cell);
void get_generation(const struct row *row, struct cell *cell);
void get_domain(const struct row *row, struct cell *cell);
void get_occupancy(const struct row *row, struct cell *cell);
void get_percent(const struct row *row, struct cell *cell);
void get_least(const struct row *row, struct cell *cell);
void get_most(const struct row *row, struct cell *cell);
void get_bar(const struct row *row, struct cell *cell);
void get_trail(const struct row *row, struct cell *cell);
void get_total(const struct row *row, struct cell *cell);
void get_local(const struct row *row, struct cell *cell);
void get_cpu_percent(const struct row *row, struct cell *cell);
void get_wait_percent(const struct row *row, struct cell *cell);
void get_ipc(const struct row *row, struct cell *cell);
void get_mpki(const struct row *row, struct cell *cell);
void get_slower(const struct row *row, struct cell *cell);
void get_ran(const struct row *row, struct cell *cell);
void get_cycles(const struct row *row, struct cell *cell);
void get_instructions(const struct row *row, struct cell *cell);
void get_misses(const struct row *row, struct cell *cell);
void get_references(const struct row *row, struct cell *cell);
void get_waited(const struct row *row, struct cell *cell);
void get_wait_partial(const struct row *row, struct cell *cell);
void get_wait_quota(const struct row *row, struct cell *cell);
void get_counters_partial(const struct row *row, struct cell *cell);
void get_socket(const struct row *row, struct cell *cell);
void get_channel(const struct row *row, struct cell *cell);
void get_read(const struct row *row, struct cell *cell);
void get_written(const struct row *row, struct cell *cell);
void get_read_bytes(const struct row *row, struct cell *cell);
void get_written_bytes(const struct row *row, struct cell *cell);
void get_share(const struct row *row, struct cell *cell);
void get_idle(const struct row *row, struct cell *cell);
void get_idle_reason(const struct row *row, struct cell *cell);
void get_residual(const struct row *row, struct cell *cell);
void get_occupancy_coverage(const struct row *row, struct cell *cell);
void get_total_coverage(const struct row *row, struct cell *cell);
void get_local_coverage(const struct row *row, struct cell *cell);
void get_occupancy_partial(const struct row *row, struct cell *cell);
void get_total_partial(const struct row *row, struct cell *cell);
void get_local_partial(const struct row *row, struct cell *cell);
void get_age(const struct row *row, struct cell *cell);
void get_letter(const struct row *row, struct cell *cell);
/* Why values are missing, and how much of them is there; of a complete row, nothing */
void get_lack(const struct row *row, struct cell *cell);
void get_note(const struct row *row, struct cell *cell);
void get_reason(const struct row *row, struct cell *cell);
void get_cpu(const struct row *row, struct cell *cell);
void get_cpu_domain(const struct row *row, struct cell *cell);
void get_busy(const struct row *row, struct cell *cell);
void get_ticks(const struct row *row, struct cell *cell);
void get_missed(const struct row *row, struct cell *cell);
void get_lost(const struct row *row, struct cell *cell);
void get_sampler(const struct row *row, struct cell *cell);

#endif

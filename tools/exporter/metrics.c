// SPDX-License-Identifier: GPL-2.0-or-later
#include "metrics.h"

#include <string.h>

#include "common/names.h"
#include "common/rows.h"
#include "labels.h"
#include "metrics_fine.h"

/* struct metric.what of series. */
enum {
	SERIES_LAST, SERIES_LEAST, SERIES_MOST, SERIES_RESIDUAL,
	SERIES_DEGRADED, SERIES_RMIDS, SERIES_PENDING,
};

/* struct metric.what of the machine. */
enum {
	MACHINE_UP, MACHINE_OPENS, MACHINE_DOMAIN_BYTES, MACHINE_DOMAINS,
	MACHINE_CPUS, MACHINE_EXCLUDED, MACHINE_SAMPLING, MACHINE_USABLE, MACHINE_PENDING,
	MACHINE_BUSY, MACHINE_MISSED, MACHINE_LOST, MACHINE_DROPPED,
	MACHINE_INTERVALS, MACHINE_SLOTS, MACHINE_GAPS, MACHINE_END,
	EXPORTER_SHOWN, EXPORTER_HIDDEN, EXPORTER_ROWS, EXPORTER_PAGES,
	EXPORTER_RENDER, PROCESS_CPU, PROCESS_RESIDENT, PROCESS_START,
};

/* A sum has no least and no most. */
static struct value extreme_of(const struct writer *w,
			       const struct series *series)
{
	struct series_extreme extreme = series_extreme(w->exposition->set,
						       series);
	uint64_t n = w->metric->what == SERIES_LEAST ? extreme.least :
						       extreme.most;

	return value_whole_if(n != SERIES_UNKNOWN, n);
}

static struct value series_value(const struct writer *w,
				 const struct series *series)
{
	switch (w->metric->what) {
	case SERIES_LEAST:
	case SERIES_MOST:
		return extreme_of(w, series);
	case SERIES_LAST:
		return value_whole_if(series->occupancy_known, series->occupancy);
	case SERIES_RESIDUAL:
		return value_whole_if(series->occupancy_known && !series->residual_unknown,
				series->residual);
	case SERIES_DEGRADED:
		return value_whole_if(series->occupancy_known,
				series->occupancy_degraded);
	case SERIES_RMIDS:
		return value_whole(series->rmids);
	case SERIES_PENDING:
		return value_whole_if(w->exposition->machine->pending_known,
				series->pending);
	}
	return value_none();
}

/* Gauges have only the values of the last interval. */
static void emit_series(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i;

	for (i = 0; i < set->nr; i++)
		if (set->all[i]->seen)
			metric_line(w, set->all[i]->labels, NULL,
				    series_value(w, set->all[i]));
}

static void emit_info(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i;

	for (i = 0; i < set->nr; i++)
		if (set->all[i]->seen && set->all[i]->info)
			metric_line(w, set->all[i]->info, NULL, value_whole(1));
}

static struct value count_of(const struct series *series, int which)
{
	uint64_t n = series->counts[which];

	if (!(series->counted & 1U << which))
		return value_none();
	return which == COUNT_RAN || which == COUNT_WAITED ? value_ns(n) : value_whole(n);
}

static void emit_count(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i;

	for (i = 0; i < set->nr; i++)
		metric_line(w, set->all[i]->labels, NULL,
			    count_of(set->all[i], w->metric->what));
}

static void emit_memory(struct writer *w)
{
	const struct series_set *set = w->exposition->set;
	uint32_t i;

	for (i = 0; i < set->nr; i++) {
		metric_line(w, set->all[i]->labels, "kind=\"total\"",
			    count_of(set->all[i], COUNT_TOTAL));
		metric_line(w, set->all[i]->labels, "kind=\"local\"",
			    count_of(set->all[i], COUNT_LOCAL));
	}
}

static void emit_incomplete(struct writer *w)
{
	static const struct {
		const char *label;
		uint32_t values;	/* CMT_F_*: any of them */
	} kinds[] = {
		[INCOMPLETE_OCCUPANCY] = { "value=\"occupancy\"",
					   CMT_F_OCCUPANCY },
		[INCOMPLETE_MEMORY] = { "value=\"memory\"", CMT_F_MBM_TOTAL },
		[INCOMPLETE_LOCAL] = { "value=\"memory_local\"", CMT_F_MBM_LOCAL },
		[INCOMPLETE_COUNTERS] = { "value=\"counters\"", CMT_F_CYCLES },
		[INCOMPLETE_WAIT] = { "value=\"cpu_wait\"", CMT_F_WAITED },
	};
	const struct machine *machine = w->exposition->machine;
	const struct series_set *set = w->exposition->set;
	uint32_t i, kind;

	for (i = 0; i < set->nr; i++)
		for (kind = 0; kind < NR_INCOMPLETE; kind++)
			if ((machine->info.events | machine->counted) &
			    kinds[kind].values)
				metric_line(w, set->all[i]->labels,
					    kinds[kind].label,
					    value_whole(set->all[i]->incomplete[kind]));
}

/* Of the last interval, and none while there is no device. */
static struct value last_value(const struct writer *w)
{
	const struct machine *machine = w->exposition->machine;

	if (!machine->seen)
		return value_none();
	switch (w->metric->what) {
	case MACHINE_DOMAINS:
		return value_whole_if(machine->nr_domains, machine->nr_domains);
	case MACHINE_CPUS:
		return value_whole(machine->nr_cpus);
	case MACHINE_EXCLUDED:
		return value_whole(w->exposition->set->cpus_excluded);
	case MACHINE_SAMPLING:
		return machine->sampling_ns ? value_ns(machine->sampling_ns) : value_none();
	case MACHINE_PENDING:
		return value_whole_if(machine->stats_known, machine->stats.pending);
	case MACHINE_END:
		return value_real(machine->end);
	}
	return value_none();
}

static struct value exporter_value(const struct writer *w)
{
	const struct exposition *e = w->exposition;

	switch (w->metric->what) {
	case EXPORTER_SHOWN:
		return value_whole(e->set->nr_containers);
	case EXPORTER_HIDDEN:
		return value_whole(e->set->nr_others);
	case EXPORTER_ROWS:
		return value_whole(e->set->rows_dropped +
				   e->machine->channels.dropped);
	case EXPORTER_PAGES:
		return value_whole(e->pages);
	case EXPORTER_RENDER:
		return e->render_ns ? value_ns(e->render_ns) : value_none();
	case PROCESS_CPU:
		return value_ns(w->cpu_ns);
	case PROCESS_RESIDENT:
		return value_whole_if(w->resident, w->resident);
	case PROCESS_START:
		return value_real(e->started);
	}
	return last_value(w);
}

static struct value machine_value(const struct writer *w)
{
	const struct machine *m = w->exposition->machine;

	switch (w->metric->what) {
	case MACHINE_UP:
		return value_whole(m->up);
	case MACHINE_OPENS:
		return value_whole(m->opens);
	case MACHINE_DOMAIN_BYTES:
		return value_whole_if(m->up && m->info.l3_bytes, m->info.l3_bytes);
	case MACHINE_USABLE:
		return value_whole_if(m->up, m->info.rmids_usable);
	case MACHINE_BUSY:
		return value_ns(m->busy_ns);
	case MACHINE_MISSED:
		return value_whole(m->missed);
	case MACHINE_LOST:
		return value_whole(m->lost);
	case MACHINE_DROPPED:
		return value_whole(m->dropped);
	case MACHINE_INTERVALS:
		return value_whole(m->intervals);
	case MACHINE_SLOTS:
		return value_whole(m->slots);
	case MACHINE_GAPS:
		return value_whole(m->gaps);
	}
	return exporter_value(w);
}

static void emit_machine(struct writer *w)
{
	metric_line(w, NULL, NULL, machine_value(w));
}

static void emit_rmids(struct writer *w)
{
	const struct machine *m = w->exposition->machine;

	if (!m->stats_known)
		return;
	metric_line(w, NULL, "state=\"active\"", value_whole(m->stats.rmids_active));
	metric_line(w, NULL, "state=\"limbo\"", value_whole(m->stats.rmids_limbo));
	metric_line(w, NULL, "state=\"free\"", value_whole(m->stats.rmids_free));
	metric_line(w, NULL, "state=\"foreign\"",
		    value_whole(m->stats.rmids_foreign));
}

/* It takes occupancy and traffic at a millisecond each. */
static bool can_judge(const struct writer *w)
{
	const uint32_t needed = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL;
	const struct machine *m = w->exposition->machine;

	return w->exposition->fine->culprits.engine && m->seen &&
	       (m->info.events & needed) == needed && m->sampling_ns &&
	       m->sampling_ns <= 1000000;
}

static void emit_available(struct writer *w)
{
	static const struct {
		const char *label;
		uint32_t value;
	} kinds[] = {
		{ "value=\"occupancy\"", CMT_F_OCCUPANCY },
		{ "value=\"memory_total\"", CMT_F_MBM_TOTAL },
		{ "value=\"memory_local\"", CMT_F_MBM_LOCAL },
		{ "value=\"cycles\"", CMT_F_CYCLES },
		{ "value=\"instructions\"", CMT_F_INSTRUCTIONS },
		{ "value=\"llc_misses\"", CMT_F_LLC_MISSES },
		{ "value=\"llc_references\"", CMT_F_LLC_REFERENCES },
		{ "value=\"cpu_wait\"", CMT_F_WAITED },
	};
	const struct machine *m = w->exposition->machine;
	size_t i;

	for (i = 0; m->up && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		metric_line(w, NULL, kinds[i].label,
			    value_whole(((m->info.events | m->counters) &
				   kinds[i].value) != 0));
	if (!m->up)
		return;
	metric_line(w, NULL, "value=\"memory_channels\"",
		    value_whole(m->channels.now > 0));
	metric_line(w, NULL, "value=\"culprit\"", value_whole(can_judge(w)));
	metric_line(w, NULL, "value=\"slowdown\"",
		    value_whole(w->exposition->fine->culprits.slowdowns.counted));
	metric_line(w, NULL, "value=\"slowdown_cache\"",
		    value_whole(w->exposition->fine->culprits.slowdowns.referenced));
}

static void add_label(struct labels *labels, const char *name,
		      const char *value)
{
	labels_add(labels, name, value, strlen(value));
}

/* Of a field that may not be terminated. */
static void add_field(struct labels *labels, const char *name,
		      const char *value, size_t size)
{
	char text[CMT_REASON_LEN + 1] = "";

	memcpy(text, value, size < sizeof(text) ? size : sizeof(text) - 1);
	add_label(labels, name, text);
}

static void emit_build(struct writer *w)
{
	struct labels labels = { .len = 0 };

	add_label(&labels, "version", cmt_version());
	metric_line(w, labels.text, NULL, value_whole(1));
}

static void emit_backend(struct writer *w)
{
	const struct machine *m = w->exposition->machine;
	struct labels labels = { .len = 0 };

	if (!m->up)
		return;
	add_label(&labels, "backend", backend_name(m->info.backend));
	add_label(&labels, "vendor", vendor_name(m->info.vendor));
	if (m->scope)
		add_label(&labels, "scope", scope_name(m->scope));
	add_field(&labels, "module_version", m->info.module_version,
		  sizeof(m->info.module_version));
	add_field(&labels, "reason", m->info.reason, sizeof(m->info.reason));
	metric_line(w, labels.text, NULL, value_whole(1));
}

#define G METRIC_GAUGE
#define C METRIC_COUNTER
#define H METRIC_HISTOGRAM
#define I METRIC_INFO
const struct metric metrics[] = {
	{ "cmt_up", G, NULL, emit_machine, MACHINE_UP,
	  "1: the device is being read. 0: it is not, and there are no values." },
	{ "cmt_build", I, NULL, emit_build, 0,
	  "The version of the exporter." },
	{ "cmt_backend", I, NULL, emit_backend, 0,
	  "The source of the values. Values of the backend emulated come from a model." },
	{ "cmt_value_available", G, NULL, emit_available, 0,
	  "1: the machine has the value, and an option or the default requests it." },
	{ "cmt_container", I, NULL, emit_info, 0,
	  "Further labels of a container." },
	{ "cmt_l3_occupancy_bytes", G, "bytes", emit_series, SERIES_LAST,
	  "L3 cache that the container holds, in all domains." },
	{ "cmt_l3_occupancy_least_bytes", G, "bytes", emit_series, SERIES_LEAST,
	  "The least of all milliseconds of the window." },
	{ "cmt_l3_occupancy_most_bytes", G, "bytes", emit_series, SERIES_MOST,
	  "The most of all milliseconds of the window." },
	{ "cmt_l3_occupancy_residual_bytes", G, "bytes", emit_series,
	  SERIES_RESIDUAL,
	  "Of cmt_l3_occupancy_bytes at most this was there before the container was, if known." },
	{ "cmt_l3_occupancy_degraded", G, NULL, emit_series, SERIES_DEGRADED,
	  "1: cmt_l3_occupancy_bytes is a lower bound, or older than the interval." },
	{ "cmt_memory_bytes", C, "bytes", emit_memory, 0,
	  "Memory traffic of the L3 caches, to all memory and to that of the same node." },
	{ "cmt_cpu_seconds", C, "seconds", emit_count, COUNT_RAN,
	  "CPU time, on the CPUs that are sampled. Not of RMID 0 and of CPUs: they have idle time." },
	{ "cmt_cpu_wait_seconds", C, "seconds", emit_count, COUNT_WAITED,
	  "Time for which tasks could have run and others did, of all tasks together." },
	{ "cmt_cycles", C, NULL, emit_count, COUNT_CYCLES,
	  "Unhalted cycles." },
	{ "cmt_instructions", C, NULL, emit_count, COUNT_INSTRUCTIONS,
	  "Retired instructions." },
	{ "cmt_llc_misses", C, NULL, emit_count, COUNT_LLC_MISSES,
	  "Misses of the last-level cache." },
	{ "cmt_llc_references", C, NULL, emit_count, COUNT_LLC_REFERENCES,
	  "References to the last-level cache." },
	{ "cmt_incomplete_intervals", C, NULL, emit_incomplete, 0,
	  "Intervals in which the value was a lower bound or not known." },
	{ "cmt_container_rmids", G, NULL, emit_series, SERIES_RMIDS,
	  "Owners of the container with a dedicated RMID." },
	{ "cmt_container_pending_owners", G, NULL, emit_series, SERIES_PENDING,
	  "Pending owners of the container: their values are in the overflow RMID." },
	{ "cmt_l3_domain_occupancy_bytes", G, "bytes", emit_part_occupancy, 0,
	  "L3 cache that the container holds in one domain." },
	{ "cmt_memory_domain_bytes", C, "bytes", emit_part_memory, 0,
	  "Memory traffic of the L3 cache of one domain." },
	{ "cmt_l3_occupancy_ratio", H, "ratio", emit_histogram,
	  HISTOGRAM_OCCUPANCY,
	  "Milliseconds by the share of the L3 cache of a domain that the container held." },
	{ "cmt_memory_bandwidth_bytes_per_second", H, "bytes_per_second",
	  emit_histogram, HISTOGRAM_BANDWIDTH,
	  "Milliseconds by the memory bandwidth of the container in a domain." },
	{ "cmt_fine_slots", C, NULL, emit_fine, FINE_FRAMES,
	  "Milliseconds that histograms and verdicts are of." },
	{ "cmt_fine_records_lost", C, NULL, emit_fine, FINE_LOST,
	  "Records that were lost to histograms and verdicts." },
	{ "cmt_culprit_verdicts", C, NULL, emit_culprit_kinds, 0,
	  "Verdicts on what slowed a container down: inferred, not measured." },
	{ "cmt_culprit_pair_verdicts", C, NULL, emit_culprit_pairs, 0,
	  "Verdicts by victim and first suspect: inferred, not measured." },
	{ "cmt_cpu_wait_pair_seconds", C, "seconds", emit_wait_pairs, 0,
	  "cmt_cpu_wait_seconds by victim and by who ran on the CPU, in proportion to their times." },
	{ "cmt_slowdown_ratio", G, "ratio", emit_slowdown_pairs, 0,
	  "Part of its time that the victim would not need without the suspect: by cache and memory estimated." },
	{ "cmt_slowdown_victim_ratio", G, "ratio", emit_slowdown_victims, 0,
	  "Part of its time that the victim would not need without all its neighbours." },
	{ "cmt_culprit_learning", G, NULL, emit_fine, FINE_LEARNING,
	  "Containers times domains whose baselines are too short for a verdict." },
	{ "cmt_culprit_not_followed", C, NULL, emit_fine, FINE_NOT_FOLLOWED,
	  "Values of a millisecond that there was no room to follow." },
	{ "cmt_memory_channel_bytes", C, "bytes", emit_channels, 0,
	  "Traffic of the memory channel, of all RMIDs, the kernel and devices." },
	{ "cmt_memory_channel_incomplete_intervals", C, NULL,
	  emit_channels_incomplete, 0,
	  "Intervals in which the channel was not read, or not all the time." },
	{ "cmt_memory_channels", I, NULL, emit_channels_reason, 0,
	  "Why no memory channel is read, or not every one." },
	{ "cmt_rmids", G, NULL, emit_rmids, 0,
	  "RMIDs by state. foreign: owned by resctrl or another agent." },
	{ "cmt_rmids_usable", G, NULL, emit_machine, MACHINE_USABLE,
	  "How many RMIDs can have an owner at once." },
	{ "cmt_pending_owners", G, NULL, emit_machine, MACHINE_PENDING,
	  "Pending owners: they share the overflow RMID." },
	{ "cmt_l3_domain_size_bytes", G, "bytes", emit_machine,
	  MACHINE_DOMAIN_BYTES, "Size of the L3 cache of one domain." },
	{ "cmt_l3_domains", G, NULL, emit_machine, MACHINE_DOMAINS,
	  "L3 domains seen so far." },
	{ "cmt_cpus", G, NULL, emit_machine, MACHINE_CPUS,
	  "CPUs that were sampled in the last interval." },
	{ "cmt_cpus_excluded", G, NULL, emit_machine, MACHINE_EXCLUDED,
	  "1: there are CPUs that are excluded from sampling. No row has what ran there." },
	{ "cmt_sampling_interval_seconds", G, "seconds", emit_machine,
	  MACHINE_SAMPLING, "Time between two readings." },
	{ "cmt_sampling_busy_seconds", C, "seconds", emit_machine, MACHINE_BUSY,
	  "CPU time that the module spent reading, all CPUs." },
	{ "cmt_ticks_missed", C, NULL, emit_machine, MACHINE_MISSED,
	  "Ticks of the module that did not happen, all CPUs." },
	{ "cmt_records_lost", C, NULL, emit_machine, MACHINE_LOST,
	  "Records that were overwritten before the exporter read them." },
	{ "cmt_records_dropped", C, NULL, emit_machine, MACHINE_DROPPED,
	  "Records that were late or malformed." },
	{ "cmt_intervals", C, NULL, emit_machine, MACHINE_INTERVALS,
	  "Intervals that the exporter took in." },
	{ "cmt_slots", C, NULL, emit_machine, MACHINE_SLOTS,
	  "Milliseconds with a reading." },
	{ "cmt_slot_gaps", C, NULL, emit_machine, MACHINE_GAPS,
	  "Milliseconds of cmt_slots_total of which records are lost." },
	{ "cmt_last_interval_timestamp_seconds", G, "seconds", emit_machine,
	  MACHINE_END, "When the last interval ended, since 1970." },
	{ "cmt_device_opens", C, NULL, emit_machine, MACHINE_OPENS,
	  "How often the device was opened." },
	{ "cmt_exporter_containers", G, NULL, emit_machine, EXPORTER_SHOWN,
	  "Containers with dedicated series." },
	{ "cmt_exporter_containers_hidden", G, NULL, emit_machine,
	  EXPORTER_HIDDEN,
	  "Containers that are in the series container=(others)." },
	{ "cmt_exporter_rows_dropped", C, NULL, emit_machine, EXPORTER_ROWS,
	  "Values of an interval that there was no memory or no room for." },
	{ "cmt_exporter_pages", C, NULL, emit_machine, EXPORTER_PAGES,
	  "Pages of metrics that were made. Clients share a page." },
	{ "cmt_exporter_page_seconds", G, "seconds", emit_machine,
	  EXPORTER_RENDER, "How long it took to make the page before this one." },
	{ "process_cpu_seconds", C, "seconds", emit_machine, PROCESS_CPU,
	  "CPU time of the exporter." },
	{ "process_resident_memory_bytes", G, "bytes", emit_machine,
	  PROCESS_RESIDENT, "Resident memory of the exporter." },
	{ "process_start_time_seconds", G, "seconds", emit_machine,
	  PROCESS_START, "When the exporter began, since 1970." },
	{ .name = NULL },
};

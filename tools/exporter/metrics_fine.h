/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics that exist only on request: their struct metric.emit */
#ifndef EXPORTER_METRICS_FINE_H
#define EXPORTER_METRICS_FINE_H

struct writer;

/* struct metric.what of emit_fine(). */
enum { FINE_FRAMES, FINE_LOST, FINE_LEARNING, FINE_NOT_FOLLOWED };

/* With --domains. */
void emit_part_occupancy(struct writer *w);
void emit_part_memory(struct writer *w);

/* With --channels. */
void emit_channels(struct writer *w);
void emit_channels_incomplete(struct writer *w);
void emit_channels_reason(struct writer *w);

/* With --histograms; struct metric.what is an enum histogram_kind. */
void emit_histogram(struct writer *w);

/* With --culprit. */
void emit_culprit_kinds(struct writer *w);
void emit_culprit_pairs(struct writer *w);
void emit_wait_pairs(struct writer *w);
void emit_slowdown_pairs(struct writer *w);
void emit_slowdown_victims(struct writer *w);

/* With one of the latter two. */
void emit_fine(struct writer *w);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "sections.h"

#include <errno.h>
#include <stdlib.h>

#include "device/device.h"
#include "owners.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "structures of uapi/cmt.h are recorded as they are");

#define OWNERS_MOST	65536U	/* pending, and rows of cpus */
/* In the flags of a row of cpus, of a value that recordings had and that is not used */
#define CPU_WAITED	(1U << 1)

/* Sections of HEAD. */
enum { HEAD_INFO = 1, HEAD_CLOCKS, HEAD_COUNTERS, HEAD_HOST, HEAD_KERNEL, HEAD_BOOT_ID,
       HEAD_PROGRAM, HEAD_COUNTER_BITS };
/* Sections of STATE. */
enum { STATE_CLOCKS = 1, STATE_STATS, STATE_PENDING, STATE_UNCORE, STATE_READER,
       STATE_NUMBERS, STATE_REASON, STATE_CPUS };

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void put_section(struct rec_buffer *out, unsigned int number, const void *bytes,
			size_t n)
{
	rec_put_varint(out, number);
	rec_put_varint(out, n);
	rec_put(out, bytes, n);
}

/* Put the content of @section, and empty it. */
static void put_built(struct rec_buffer *out, unsigned int number,
		      struct rec_buffer *section)
{
	out->failed |= section->failed;
	put_section(out, number, section->bytes, section->nr);
	section->nr = 0;
}

/* The next section, or 0: there is none. */
static uint64_t get_section(struct rec_cursor *in, struct rec_cursor *section)
{
	uint64_t number, n;

	if (in->bad || in->at == in->end)
		return 0;
	number = rec_get_varint(in);
	n = rec_get_varint(in);
	*section = (struct rec_cursor){ .at = in->at };
	in->bad |= !rec_get(in, n) || !number;
	section->end = in->at;
	return in->bad ? 0 : number;
}

/* A structure of another version: missing members are 0, further ones are ignored. */
static void get_bytes(struct rec_cursor *section, void *to, size_t size)
{
	size_t n = (size_t)(section->end - section->at);

	memset(to, 0, size);
	memcpy(to, section->at, n < size ? n : size);
}

/*
 * A structure of uapi/cmt.h, which begins with its size.  The size in a file may be that
 * of a later version, or any other number.
 */
static void get_sized(struct rec_cursor *section, void *to, uint32_t size)
{
	uint32_t there = least((uint32_t)(section->end - section->at), size);

	get_bytes(section, to, size);
	memcpy(to, &there, sizeof(there));
}

static void get_text(struct rec_cursor *section, char *to, size_t size)
{
	char text[256] = "";

	get_bytes(section, text, sizeof(text) - 1);
	cmt_text(to, size, text);
}

static void put_clocks(struct rec_buffer *out, unsigned int number, uint64_t monotonic,
		       uint64_t realtime)
{
	uint64_t clocks[2] = { htole64(monotonic), htole64(realtime) };

	put_section(out, number, clocks, sizeof(clocks));
}

static void get_clocks(struct rec_cursor *section, uint64_t *monotonic, uint64_t *realtime)
{
	*monotonic = rec_get_u64(section);
	*realtime = rec_get_u64(section);
}

void rec_head_put(const struct rec_head *head, struct rec_buffer *out)
{
	uint32_t counters = htole32(head->counters), bits = htole32(head->counter_bits);
	uint32_t size = head->info.size < CMT_INFO_ROOM ? head->info.size : CMT_INFO_ROOM;

	put_section(out, HEAD_INFO, head->info_room,
		    size > sizeof(head->info) ? size : sizeof(head->info));
	put_clocks(out, HEAD_CLOCKS, head->monotonic_ns, head->realtime_ns);
	put_section(out, HEAD_COUNTERS, &counters, sizeof(counters));
	put_section(out, HEAD_HOST, head->host, strlen(head->host));
	put_section(out, HEAD_KERNEL, head->kernel, strlen(head->kernel));
	put_section(out, HEAD_BOOT_ID, head->boot_id, strlen(head->boot_id));
	put_section(out, HEAD_PROGRAM, head->program, strlen(head->program));
	put_section(out, HEAD_COUNTER_BITS, &bits, sizeof(bits));
}

static void get_info(struct rec_head *head, struct rec_cursor *section)
{
	get_bytes(section, head->info_room, sizeof(head->info_room));
	cmt_info_texts(&head->info);
	head->has_info = head->info.abi_version >> 16 == CMT_ABI_MAJOR &&
			 cmt_info_possible(&head->info);
}

static void head_section(struct rec_head *head, uint64_t number, struct rec_cursor *section)
{
	switch (number) {
	case HEAD_INFO:
		get_info(head, section);
		break;
	case HEAD_CLOCKS:
		get_clocks(section, &head->monotonic_ns, &head->realtime_ns);
		break;
	case HEAD_COUNTERS:
		head->counters = rec_get_u32(section);
		break;
	case HEAD_HOST:
		get_text(section, head->host, sizeof(head->host));
		break;
	case HEAD_KERNEL:
		get_text(section, head->kernel, sizeof(head->kernel));
		break;
	case HEAD_BOOT_ID:
		get_text(section, head->boot_id, sizeof(head->boot_id));
		break;
	case HEAD_PROGRAM:
		get_text(section, head->program, sizeof(head->program));
		break;
	case HEAD_COUNTER_BITS:
		head->counter_bits = rec_get_u32(section);
		break;
	}
}

int rec_head_get(struct rec_head *head, const struct rec_buffer *raw)
{
	struct rec_cursor in = { .at = raw->bytes, .end = raw->bytes + raw->nr };
	struct rec_cursor section;
	uint64_t number;

	memset(head, 0, sizeof(*head));
	while ((number = get_section(&in, &section)))
		head_section(head, number, &section);
	return in.bad || !head->has_info ? -EBADMSG : 0;
}

static void put_reader(struct rec_buffer *out, const struct cmt_reader_counts *c)
{
	rec_put_u64(out, c->emitted);
	rec_put_u64(out, c->delivered);
	rec_put_u64(out, c->lost);
	rec_put_u64(out, c->late);
	rec_put_u64(out, c->malformed);
	rec_put_u64(out, c->pending);
	rec_put_u64(out, c->quiet);
}

static void get_reader(struct rec_cursor *in, struct cmt_reader_counts *c)
{
	c->sz = sizeof(*c);
	c->emitted = rec_get_u64(in);
	c->delivered = rec_get_u64(in);
	c->lost = rec_get_u64(in);
	c->late = rec_get_u64(in);
	c->malformed = rec_get_u64(in);
	c->pending = rec_get_u64(in);
	c->quiet = rec_get_u64(in);
}

static void put_numbers(struct rec_buffer *out, const struct cmt_recording_state *state)
{
	rec_put_u32(out, state->scope);
	rec_put_u32(out, state->interval_ns);
	rec_put_u32(out, state->counters);
}

static uint32_t rows(const struct cmt_recording_state *state)
{
	return least(state->nr_cpus, OWNERS_MOST);
}

static int row_copy(struct cmt_culprit_cpu *cpu, const struct cmt_recording_state *state,
		    uint32_t i)
{
	return cmt_opts_copy(cpu, sizeof(*cpu), cmt_recording_cpu_at(state, i));
}

static void put_cpus(struct rec_buffer *out, const struct cmt_recording_state *state)
{
	uint32_t n = rows(state);

	rec_put_varint(out, n);
	for (uint32_t i = 0; i < n; i++) {
		struct cmt_culprit_cpu cpu = { 0 };

		row_copy(&cpu, state, i);
		rec_put_varint(out, cpu.id);
		rec_put_u64(out, cpu.start_ns);
		rec_put_u64(out, cpu.end_ns);
		rec_put_u32(out, cpu.valid);
		rec_put_varint(out, cpu.throttled_ns);
		rec_put_varint(out, 0);
		rec_put_varint(out, cpu.stolen_ns);
	}
}

static int get_cpus(struct rec_cursor *in, struct rec_state *to)
{
	uint32_t n = rec_get_count(in, 1 + 8 + 8 + 4 + 3);

	free(to->cpus);
	to->cpus = calloc(n + 1ULL, sizeof(*to->cpus));
	if (!to->cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct cmt_culprit_cpu *cpu = &to->cpus[i];

		cpu->sz = sizeof(*cpu);
		cpu->id = rec_get_varint(in);
		cpu->start_ns = rec_get_u64(in);
		cpu->end_ns = rec_get_u64(in);
		cpu->valid = rec_get_u32(in) & ~CPU_WAITED;
		cpu->throttled_ns = rec_get_varint(in);
		rec_get_varint(in);
		cpu->stolen_ns = rec_get_varint(in);
	}
	to->state.cpus = to->cpus;
	to->state.cpu_size = sizeof(*to->cpus);
	to->state.nr_cpus = n;
	return in->bad ? -EBADMSG : 0;
}

static void put_uncore(struct rec_buffer *out, const struct cmt_uncore *from)
{
	uint32_t n = least(from->size, sizeof(*from));
	struct cmt_uncore uncore = { 0 };

	memcpy(&uncore, from, n);
	uncore.boxes = 0;
	put_section(out, STATE_UNCORE, &uncore, n);
}

/* The first OWNERS_MOST of them. */
static void put_pending(struct rec_buffer *out, const struct cmt_snapshot *pending)
{
	struct cmt_snapshot some = *pending;

	some.count = least(some.count, OWNERS_MOST);
	rec_snapshot_put(&some, out);
}

bool rec_state_possible(const struct cmt_recording_state *state)
{
	struct cmt_culprit_cpu cpu;

	if (state->reserved || (state->nr_cpus && !state->cpus) ||
	    (state->stats && state->stats->size < CMT_STATS_SIZE) ||
	    (state->uncore && state->uncore->size < CMT_UNCORE_SIZE))
		return false;
	for (uint32_t i = 0; i < rows(state); i++)
		if (row_copy(&cpu, state, i))
			return false;
	return true;
}

void rec_state_put(const struct cmt_recording_state *state, struct rec_buffer *out)
{
	struct rec_buffer section = { 0 };

	put_clocks(out, STATE_CLOCKS, state->monotonic_ns, state->realtime_ns);
	if (state->stats)
		put_section(out, STATE_STATS, state->stats,
			    least(state->stats->size, sizeof(*state->stats)));
	if (state->pending) {
		put_pending(&section, state->pending);
		put_built(out, STATE_PENDING, &section);
	}
	if (state->uncore)
		put_uncore(out, state->uncore);
	if (state->reader) {
		put_reader(&section, state->reader);
		put_built(out, STATE_READER, &section);
	}
	put_numbers(&section, state);
	put_built(out, STATE_NUMBERS, &section);
	put_section(out, STATE_REASON, state->counters_reason,
		    strnlen(state->counters_reason, sizeof(state->counters_reason)));
	if (state->nr_cpus) {
		put_cpus(&section, state);
		put_built(out, STATE_CPUS, &section);
	}
	rec_buffer_free(&section);
}

static int get_pending(struct rec_cursor *in, struct rec_state *to)
{
	cmt_snapshot_free(to->pending);
	to->pending = NULL;
	return rec_owners_get(in, &to->pending);
}

static void get_uncore(struct rec_cursor *in, struct rec_state *to)
{
	struct cmt_uncore *uncore = &to->uncore;

	get_sized(in, uncore, sizeof(*uncore));
	uncore->boxes = 0;
	cmt_text(uncore->reason, sizeof(uncore->reason), uncore->reason);
	cmt_text(uncore->channels_reason, sizeof(uncore->channels_reason),
		 uncore->channels_reason);
	to->state.uncore = uncore;
}

static int state_section(struct rec_state *to, uint64_t number, struct rec_cursor *in)
{
	struct cmt_recording_state *state = &to->state;

	switch (number) {
	case STATE_CLOCKS:
		get_clocks(in, &state->monotonic_ns, &state->realtime_ns);
		break;
	case STATE_STATS:
		get_sized(in, &to->stats, sizeof(to->stats));
		state->stats = &to->stats;
		break;
	case STATE_PENDING:
		return get_pending(in, to);
	case STATE_UNCORE:
		get_uncore(in, to);
		break;
	case STATE_READER:
		get_reader(in, &to->reader);
		state->reader = &to->reader;
		break;
	case STATE_NUMBERS:
		state->scope = rec_get_u32(in);
		state->interval_ns = rec_get_u32(in);
		state->counters = rec_get_u32(in);
		break;
	case STATE_REASON:
		get_text(in, state->counters_reason, sizeof(state->counters_reason));
		break;
	case STATE_CPUS:
		return get_cpus(in, to);
	}
	return in->bad ? -EBADMSG : 0;
}

int rec_state_get(struct rec_state *to, const struct rec_buffer *raw)
{
	struct rec_cursor in = { .at = raw->bytes, .end = raw->bytes + raw->nr };
	struct rec_cursor section;
	uint64_t number;
	int err = 0;

	rec_state_free(to);
	to->state.sz = sizeof(to->state);
	while (!err && (number = get_section(&in, &section)))
		err = state_section(to, number, &section);
	to->state.pending = to->pending;
	return err ? err : in.bad ? -EBADMSG : 0;
}

void rec_state_free(struct rec_state *state)
{
	cmt_snapshot_free(state->pending);
	free(state->cpus);
	*state = (struct rec_state){ 0 };
}

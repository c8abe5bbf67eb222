// SPDX-License-Identifier: GPL-2.0-or-later
#include "made.h"

#include <stdio.h>
#include <string.h>

#include "record/record.h"
#include "story.h"

#define MS		1000000ULL
#define TURN		32U	/* ms after which one is read that does not run */
#define PERIOD_MS	10000U	/* batch takes from web for the last 2 s of it */
#define TAKES_MS	2000U
#define COARSE_MS	10U
#define PATH_ROOM	320U
#define VALUES (CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL)
#define COUNTED (CMT_F_CYCLES | CMT_F_INSTRUCTIONS | CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)
#define PERF (COUNTED | CMT_F_WAITED)
#define WAITED_NS	4096U	/* of WEB, a millisecond, unless it is made to wait */

enum { WEB = 1, BATCH, NAMELESS, GONE, FAULTY, ENDS, FIRST_HOSTILE };

/* Paths as a user may choose them: of a spreadsheet, a page, a terminal, a query. */
static const char *const hostile_paths[] = {
	"/user.slice/user-1000.slice/=cmd|' C calc'!A0,\"x\"\nnext",
	"/user.slice/user-1000.slice/</script><script>alert(1)</script>",
	"/user.slice/user-1000.slice/\xff\xfe\x80 not utf-8 \xc3",
	"/user.slice/user-1000.slice/\xe2\x80\xaegnp.exe\x1b[31mred\x07",
	"/user.slice/user-1000.slice/a\\b'); DROP TABLE cmt.usage; --\t{\"a\":1}",
	"/user.slice/user-1000.slice/\xf0\x9f\x90\xb3 \xe5\xae\xb9\xe5\x99\xa8 \xe2\x80\xa8",
};

#define NR_HOSTILE (sizeof(hostile_paths) / sizeof(hostile_paths[0]))

struct load {
	uint64_t occupancy, total, local;
};

struct machine {
	const struct made *made;
	struct load loads[MADE_RMIDS];
	uint64_t ms;
	uint64_t moved;		/* by all RMIDs */
};

static uint32_t noise(const struct machine *m, uint32_t rmid)
{
	uint32_t x = rmid * 2654435761U ^ (uint32_t)m->ms * 2246822519U ^
		     m->made->seed * 3266489917U;

	x = (x ^ x >> 15) * 2246822519U;
	return x ^ x >> 13;
}

static const char *given_name(const struct made *made, uint32_t rmid)
{
	return made->names ? made->names[(rmid - 1) / 2] : NULL;
}

static void path_of(const struct made *made, uint32_t rmid, char path[PATH_ROOM])
{
	const char *given = given_name(made, rmid);

	if (given && rmid % 2)
		snprintf(path, PATH_ROOM, "/user.slice/user-1000.slice/%s", given);
	else if (made->hostile && rmid >= FIRST_HOSTILE && rmid - FIRST_HOSTILE < NR_HOSTILE)
		snprintf(path, PATH_ROOM, "%s", hostile_paths[rmid - FIRST_HOSTILE]);
	else	/* another boot has other ids */
		snprintf(path, PATH_ROOM, "/system.slice/docker-%024x%08x%032x.scope",
			 made->later ? 1U : 0U, rmid, made->seed);
}

static int put_name(const struct made *made, uint32_t rmid)
{
	struct cmt_container container = {
		.sz = sizeof(container),
		.cgroup_id = MADE_CGROUP + rmid + (made->later ? 5000U : 0U),
		.runtime = CMT_RUNTIME_DOCKER, .image = "docker.io/library/made:1",
	};
	const char *given = given_name(made, rmid);
	char path[PATH_ROOM], name[32];

	path_of(made, rmid, path);
	cmt_container_name(path, &container);
	container.path = path;
	snprintf(name, sizeof(name), "c%u", rmid);
	container.container_name = rmid == WEB ? "web" : rmid == BATCH ? "batch" : name;
	if (made->story)
		container.container_name = story_name(rmid);
	if (given)
		container.container_name = container.image = given;
	if (container.runtime == CMT_RUNTIME_DOCKER)
		snprintf(container.name, sizeof(container.name), "%s",
			 container.container_name);
	else
		container.container_name = container.image = NULL;
	return made->name(made->ctx, &container);
}

/* The container that an RMID is of: of c3 and what follows, two RMIDs have one. */
static uint32_t group_of(const struct made *made, uint32_t rmid)
{
	return made->processes && !made->names && rmid > BATCH ? (rmid - 1) | 1 : rmid;
}

static int own(const struct machine *m, uint32_t rmid, uint16_t type, uint64_t ts)
{
	struct cmt_record record = {
		.ts = ts, .type = type, .rmid = rmid, .generation = 1,
		.flags = CMT_F_OWNER_CGROUP,
	};

	const char *given = given_name(m->made, rmid);

	record.owner.cgroup_id = MADE_CGROUP + group_of(m->made, rmid) +
				 (m->made->later ? 5000U : 0U);
	if (m->made->processes) {
		record.flags = 0;
		record.tgid = 100 + rmid;
		snprintf(record.owner.comm, sizeof(record.owner.comm), "worker-%u", rmid);
		if (given)
			snprintf(record.owner.comm, sizeof(record.owner.comm), "%s", given);
	}
	return m->made->record(m->made->ctx, &record);
}

/* What one holds: batch grows by what web loses. */
static uint64_t held(const struct machine *m, uint32_t rmid)
{
	uint64_t at = m->ms % PERIOD_MS, taken = 0;
	uint64_t extra = m->made->later && m->made->domains < 2 ? 48 : 0;

	if (m->made->story)
		return story_held(m->ms, rmid, noise(m, rmid));
	if (at >= PERIOD_MS - TAKES_MS)
		taken = (at - (PERIOD_MS - TAKES_MS)) * 64 / TAKES_MS;
	if (rmid == WEB)
		return MADE_UNIT * (128 - taken);
	if (rmid == BATCH)
		return MADE_UNIT * (64 + taken + extra);
	return MADE_UNIT * (rmid % 64 + noise(m, rmid) % 4);
}

static bool runs(const struct machine *m, uint32_t rmid)
{
	return !m->made->idle || rmid <= BATCH || noise(m, rmid + m->ms / 5 % 997) % 20 == 0;
}

static void run(struct machine *m, uint32_t rmid)
{
	struct load *load = &m->loads[rmid];

	load->occupancy = held(m, rmid);
	load->total += MADE_UNIT * (1ULL + noise(m, rmid) % 8);
	m->moved += MADE_UNIT * (1ULL + noise(m, rmid) % 8);
	load->local = load->total / 2;
}

static bool is_gone(const struct machine *m, uint32_t rmid)
{
	return (rmid == GONE && m->made->later) ||
	       (m->made->hostile && rmid == ENDS && m->ms > m->made->ms / 2);
}

static int put_sample_of(const struct machine *m, uint32_t rmid, uint32_t domain, uint64_t ts)
{
	uint32_t domains = m->made->domains ? m->made->domains : 1;
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_SAMPLE, .flags = VALUES, .rmid = rmid, .domain = domain,
		.generation = rmid ? 1 : 0, .cpu = (uint16_t)((rmid + domain) % MADE_CPUS),
	};

	record.sample.occupancy_bytes = m->loads[rmid].occupancy;
	record.sample.mbm_total_bytes = m->loads[rmid].total / domains;
	record.sample.mbm_local_bytes = m->loads[rmid].local / domains;
	if (domains > 1) {
		record.sample.occupancy_bytes /= domains * MADE_UNIT;
		record.sample.occupancy_bytes += m->made->later;
		record.sample.occupancy_bytes *= MADE_UNIT;
	}
	if (m->made->beside && rmid <= BATCH)
		record.flags |= CMT_F_PQR_OVERWRITTEN;
	if (m->made->beside && rmid == WEB)
		memset(&record.sample, 0, sizeof(record.sample));
	if (m->made->hostile && rmid == FAULTY) {
		record.flags = CMT_F_ERROR;
		memset(&record.sample, 0, sizeof(record.sample));
	}
	return m->made->record(m->made->ctx, &record);
}

static int put_sample(const struct machine *m, uint32_t rmid, uint64_t ts)
{
	int ret = put_sample_of(m, rmid, 0, ts);

	for (uint32_t i = 1; !ret && i < m->made->domains; i++)
		ret = put_sample_of(m, rmid, i, ts);
	return ret;
}

static int put_perf(const struct machine *m, uint32_t rmid, uint64_t ts)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_PERF, .flags = PERF, .rmid = rmid,
		.generation = rmid ? 1 : 0, .cpu = (uint16_t)(rmid % MADE_CPUS),
		.ran_ns = 10000 + noise(m, rmid) % 4096,
	};

	record.ran_ns *= made_sampling_ms(m->made, m->ms);
	record.perf.cycles = 30000 + noise(m, rmid) % 1024;
	record.perf.instructions = 2 * record.perf.cycles / (rmid == BATCH ? 4 : 1) +
				   noise(m, rmid + MADE_RMIDS) % 128;
	/* an interval of a second in which it retires nothing */
	if (m->made->hostile && rmid == NAMELESS && m->ms > 900 && m->ms < 2100)
		record.perf.instructions = 0;
	record.perf.llc_misses = 100 + noise(m, rmid) % 64;
	record.perf.llc_references = 1000;
	if (rmid == WEB)
		record.perf.waited_ns = made_sampling_ms(m->made, m->ms) *
					(m->made->waits ? m->made->waits : WAITED_NS);
	record.flags |= rmid == BATCH ? CMT_F_WAIT_QUOTA : 0;
	if (m->made->story)
		story_count(&record, m->ms, rmid, noise(m, rmid));
	if (m->made->uncounted) {
		record.flags &= ~COUNTED;
		record.perf.cycles = record.perf.instructions = 0;
		record.perf.llc_misses = record.perf.llc_references = 0;
	}
	if (m->made->unaccounted) {
		record.flags &= ~(CMT_F_WAITED | CMT_F_WAIT_QUOTA);
		record.perf.waited_ns = 0;
	}
	return m->made->record(m->made->ctx, &record);
}

static int put_tick(const struct machine *m, uint32_t cpu, uint64_t ts)
{
	struct cmt_record record = {
		.ts = ts, .type = CMT_REC_TICK, .cpu = (uint16_t)cpu,
		.interval_ns = made_sampling_ms(m->made, m->ms) * (uint32_t)MS,
	};

	return m->made->record(m->made->ctx, &record);
}

static int put_lost(const struct machine *m, uint64_t ts)
{
	struct cmt_record record = { .ts = ts, .type = CMT_REC_LOST };
	struct cmt_gap gap = { .lost = 7, .begin = ts - MS, .end = ts };

	memcpy(record.payload, &gap, sizeof(gap));
	return m->made->record(m->made->ctx, &record);
}

/* Three quarters are read, and each channel has as much as another one. */
static int put_channels(const struct machine *m, uint64_t ts)
{
	uint64_t all = m->moved + m->ms * MADE_DEVICES;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < m->made->channels; i++) {
		struct cmt_record record = {
			.ts = ts + i, .type = CMT_REC_CHANNEL, .flags = CMT_F_CHANNEL,
			.channel = i,
		};

		record.channels.read_bytes = all / 4 * 3 / m->made->channels;
		record.channels.written_bytes = all / 4 / m->made->channels;
		ret = m->made->record(m->made->ctx, &record);
	}
	return ret;
}

static int put_container(struct machine *m, uint32_t rmid, uint64_t ts)
{
	bool ran = runs(m, rmid);
	int ret = 0;

	if (is_gone(m, rmid))
		return 0;
	if (ran)
		run(m, rmid);
	if (ran || (rmid + m->ms) % TURN == 0)
		ret = put_sample(m, rmid, ts);
	return !ret && ran ? put_perf(m, rmid, ts) : ret;
}

uint32_t made_sampling_ms(const struct made *made, uint64_t ms)
{
	return made->coarse & (ms <= made->ms / 2 ? 1 : 2) ? COARSE_MS : 1;
}

static int put_ms(struct machine *m)
{
	const struct made *made = m->made;
	uint64_t ts = MADE_BEGIN_NS + m->ms * MS;
	int ret = 0;

	if (m->ms % made_sampling_ms(made, m->ms))
		return 0;
	if (made->hostile && m->ms == made->ms / 4)
		ret = put_lost(m, ts++);
	if (made->hostile && m->ms == made->ms / 2)
		ret = own(m, ENDS, CMT_REC_FREE, ts++);
	for (uint32_t rmid = 1; !ret && rmid <= made->containers; rmid++)
		ret = put_container(m, rmid, ts++);
	/* a sum of all RMIDs needs RMID 0 */
	if (!ret && made->channels)
		ret = put_sample(m, 0, ts++);
	if (!ret)
		ret = put_channels(m, ts);
	ts += made->channels;
	for (uint32_t cpu = 0; !ret && cpu < MADE_CPUS; cpu++)
		ret = put_tick(m, cpu, ts++);
	if (!ret && made->second && m->ms % 1000 == 0)
		ret = made->second(made->ctx, ts);
	return ret;
}

int made_run(const struct made *made)
{
	struct machine m = { .made = made };
	int ret = 0;

	if (made->containers >= MADE_RMIDS)
		return -1;
	for (uint32_t rmid = 1; !ret && rmid <= made->containers; rmid++) {
		if (rmid == GONE && made->later)
			continue;
		/* a cgroup that nobody could ask about */
		if ((!made->hostile || rmid != NAMELESS) && group_of(made, rmid) == rmid)
			ret = put_name(made, rmid);
		if (!ret)
			ret = own(&m, rmid, CMT_REC_EXISTING, MADE_BEGIN_NS);
		run(&m, rmid);
	}
	for (m.ms = 1; !ret && m.ms <= made->ms; m.ms++)
		ret = put_ms(&m);
	return ret;
}

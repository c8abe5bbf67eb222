// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report_page FILE SECONDS CONTAINERS MIB: a page of a machine that is made up, for tests
 * in a browser.
 *
 * Of the containers a few run in each millisecond, for 5 ms, and another is read in each
 * slot, as the module does.  Container 3 loses its cache to container 7 for 40 ms at a
 * quarter of the time, and there is a verdict of it.  At half of the time 0.3 s are missing.
 * A page of less than 10 s has no verdict, no wait and no incident.  In one of less than 2 s
 * the containers are there one after another, for a millisecond each.
 * The last container comes at a third and ends at two thirds.  Some names are hostile.
 * A value says its container and slot: occupancy is 64 KiB times (10 + container % 50 +
 * slot / 5 % 16), bandwidth 64 MB/s times (1 + container % 9) times (1 + slot / 200 % 3).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/page.h"

#define MS	1000000ULL
#define T0	(5000 * MS)
#define UNIT	65536ULL
#define TURN	32U
#define RUNNING	16U	/* of 16 CPUs */
#define QUIET	10000U	/* slots; a shorter page has nothing to tell */
#define JOBS	2000U	/* slots; in a shorter page no two containers are there at once */
#define SMALL	10U	/* incidents that cost little */
#define HOSTILE	(sizeof(names) / sizeof(names[0]))

static const char *const names[] = {
	"</script><script>window.pwned=1</script>",
	"<img src=x onerror=\"window.pwned=1\">",
	"\xe2\x80\xae" "evil\xe2\x80\xac\xe2\x80\xa8line",
	"&lt;b&gt;'\"`${window.pwned=1}\\u003cscript\\u003e",
	"\x1b[31mred\x07\xff\xfe",
	"]]><!--<![CDATA[",
};

static struct cmt_usage_row *rows;
static struct cmt_container *containers;
static uint64_t *last;		/* slot of each one's last reading */
static uint32_t nr_containers;
static uint64_t slots;

static void make_containers(void)
{
	for (uint32_t i = 0; i < nr_containers; i++) {
		struct cmt_container *c = &containers[i];

		*c = (struct cmt_container){
			.sz = sizeof(*c), .cgroup_id = 1000 + i, .path = "/made/up",
			.runtime = CMT_RUNTIME_DOCKER,
		};
		if (i >= 10 && i < 10 + HOSTILE) {
			snprintf(c->name, sizeof(c->name), "%s", names[i - 10]);
			c->path = c->name;
		} else {
			snprintf(c->name, sizeof(c->name), "service-%03u", i);
		}
	}
}

static bool is_there(uint32_t i, uint64_t slot)
{
	if (slots < JOBS)
		return slot % nr_containers == i;
	return i + 1 < nr_containers || (slot >= slots / 3 && slot < slots * 2 / 3);
}

/* The moment of the verdict. */
static bool is_taken(uint64_t slot)
{
	return slots >= QUIET && slot >= slots / 4 && slot < slots / 4 + 40;
}

static uint64_t occupancy_of(uint32_t i, uint64_t slot)
{
	uint64_t units = 10 + i % 50 + slot / 5 % 16;

	if (is_taken(slot) && i == 3)
		units = 2;
	if (is_taken(slot) && i == 7)
		units += 60;
	return units * UNIT;
}

/* Its bandwidth is of all slots since its last reading. */
static void add_row(struct cmt_usage_frame *frame, uint32_t i, uint64_t slot)
{
	uint64_t span = slot - last[i];
	double rate = 64e6 * (1 + i % 9) * (1 + (double)(slot / 200 % 3));

	last[i] = slot;
	rows[frame->nr_rows++] = (struct cmt_usage_row){
		.kind = CMT_USAGE_OWNER, .owner = CMT_OWNER_CGROUP,
		.cgroup_id = 1000 + i, .container = &containers[i],
		.rmids = 1, .l3_bytes = 128ULL << 20,
		.occupancy = { .known = true, .slots = 1,
			       .last_bytes = occupancy_of(i, slot) },
		.total = { .known = true, .rate = rate,
			   .bytes = (uint64_t)(rate * (double)span / 1000) },
	};
}

/* Who runs, and whose turn it is to be read. */
static void add_rows(struct cmt_usage_frame *frame, uint64_t slot)
{
	uint32_t turns = nr_containers / RUNNING ? nr_containers / RUNNING : 1;

	for (uint32_t i = 0; i < nr_containers; i++) {
		bool runs = (i / RUNNING + slot / 5) % turns == 0 || (is_taken(slot) && i < 8);
		bool read = (i + slot) % TURN == 0;

		if (is_there(i, slot) && (runs || read || !frame->brief))
			add_row(frame, i, slot);
	}
}

static uint32_t row_of(const struct cmt_usage_frame *frame, uint32_t i)
{
	for (uint32_t n = 0; n < frame->nr_rows; n++)
		if (rows[n].cgroup_id == 1000 + i)
			return n;
	return CMT_USAGE_WAIT_UNKNOWN;
}

/* In the moment of the verdict the third waits, for the seventh and a little for itself. */
static void add_waits(struct cmt_usage_frame *frame, uint64_t slot)
{
	static struct cmt_usage_wait_part parts[2];
	uint32_t victim = row_of(frame, 3);

	frame->nr_waits = is_taken(slot) ? 2 : 0;
	if (!frame->nr_waits)
		return;
	rows[victim].counters = (struct cmt_usage_counters){
		.known = true, .values = CMT_F_WAITED, .waited_ns = 600000,
	};
	parts[0] = (struct cmt_usage_wait_part){
		.row = victim, .by = row_of(frame, 7), .ns = 500000,
	};
	parts[1] = (struct cmt_usage_wait_part){ .row = victim, .by = victim, .ns = 100000 };
	frame->waits = parts;
	frame->wait_size = sizeof(parts[0]);
}

static int add_slots(struct model *model)
{
	struct cmt_usage_frame frame = {
		.by = CMT_USAGE_BY_CONTAINER, .row_size = sizeof(*rows), .rows = rows,
		.nr_cpus = 16, .nr_domains = 1, .sampling_ns = MS, .emulated = true,
	};
	int ret = 0;

	for (uint64_t slot = 0; !ret && slot < slots; slot++) {
		if (slot >= slots / 2 && slot < slots / 2 + 300)
			continue;
		frame.start_ns = T0 + slot * MS;
		frame.end_ns = frame.start_ns + MS;
		frame.brief = slots >= JOBS && slot % 1000;
		frame.nr_rows = 0;
		add_rows(&frame, slot);
		add_waits(&frame, slot);
		ret = model_add(model, &frame);
	}
	return ret;
}

static int add_verdict(struct model *model)
{
	struct why_names texts = { .victim.label = "docker:service-003" };
	struct cmt_culprit_verdict verdict = {
		.id = 1003, .kind = CMT_CULPRIT_CACHE, .nr_suspects = 1,
		.ts_ns = T0 + (slots / 4 + 20) * MS, .since_ns = T0 + slots / 4 * MS,
		.confidence = 0.97, .lost_bytes = 20 * UNIT, .occupancy_bytes = 2 * UNIT,
		.occupancy_before = 22 * UNIT, .cpi = 2.5, .cpi_before = 1.1,
		.mpki = 9, .mpki_before = 2, .cpu_share = (double)NAN, .flags = CMT_CULPRIT_COUNTED,
		.suspects = { { .id = 1007, .share = 0.9, .taken_bytes = 18 * UNIT,
				.occupancy_bytes = 80 * UNIT,
				.occupancy_before = 20 * UNIT,
				.traffic_bytes = 900000000,
				.traffic_before = 100000000 } },
	};

	strcpy(texts.suspects[0].label, "docker:service-007");
	return model_verdict(model, &verdict, &texts);
}

/* Small ones of other victims, each by four neighbours: 1 ms was lost, 2 ms, ... */
static int add_small_incidents(struct model *model)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < SMALL; i++) {
		struct cmt_incident told = {
			.number = 3 + i, .id = 1020 + i, .flags = CMT_INCIDENT_LOST,
			.begin_ns = T0 + (i + 1) * slots / 16 * MS, .nr_parts = 4,
			.end_ns = T0 + ((i + 1) * slots / 16 + 500) * MS,
			.worst = 0.06, .lost_ns = (i + 1) * MS,
		};
		struct why_incident incident = { .told = &told };

		snprintf(incident.victim.label, CONTAINER_LABEL_LEN, "docker:service-%03u", 20 + i);
		for (uint32_t k = 0; k < told.nr_parts; k++) {
			told.parts[k].by = 1030 + k;
			told.parts[k].resource = k ? CMT_SLOWDOWN_MEMORY : CMT_SLOWDOWN_CPU;
			told.parts[k].lost_ns = told.lost_ns / (k + 2);
			snprintf(incident.parts[k].label, CONTAINER_LABEL_LEN,
				 "docker:service-%03u", 30 + k);
		}
		ret = incidents_add(&model->incidents, &incident);
	}
	return ret;
}

/* The same as an incident, and one with a hostile name of which it is not known what was lost. */
static int add_incidents(struct model *model)
{
	struct cmt_incident told = {
		.number = 1, .id = 1003, .flags = CMT_INCIDENT_LOST, .nr_parts = 1,
		.begin_ns = T0 + slots / 4 * MS, .end_ns = T0 + (slots / 4 + 40) * MS,
		.worst = 0.25, .lost_ns = 8 * MS,
		.parts = { { .by = 1007, .resource = CMT_SLOWDOWN_CACHE, .lost_ns = 8 * MS } },
	};
	struct why_incident incident = {
		.told = &told, .victim.label = "docker:service-003",
		.parts[0].label = "docker:service-007",
	};
	int ret = incidents_add(&model->incidents, &incident);

	told.flags = CMT_INCIDENT_OPEN | CMT_INCIDENT_BEFORE;
	told.begin_ns = T0;
	told.end_ns = T0 + slots * MS;
	strcpy(incident.victim.label, names[0]);
	strcpy(incident.parts[0].label, names[1]);
	if (!ret)
		ret = incidents_add(&model->incidents, &incident);
	if (!ret)
		ret = add_small_incidents(model);
	if (!ret)
		incidents_finish(&model->incidents);
	return ret;
}

static int make(struct model *model, FILE *out, uint64_t limit)
{
	static struct cmt_info info = {
		.events = CMT_F_OCCUPANCY | CMT_F_MBM_TOTAL | CMT_F_MBM_LOCAL,
	};
	const struct page_about about = {
		.file = "made-up.cmt", .host = "made-up<&>", .kernel = "6.1",
		.recorder = "report_page", .real_known = true,
		.real_ns = 1700000000LL * 1000000000, .info = &info, .complete = true,
		.culprit = { .slots = slots },
	};
	int ret = add_slots(model);

	if (!ret && slots >= QUIET)
		ret = add_verdict(model);
	if (!ret && slots >= QUIET)
		ret = add_incidents(model);
	if (!ret)
		ret = model_finish(model, T0 + slots * MS);
	return ret ? ret : page_write(out, model, &about, limit);
}

int main(int argc, char **argv)
{
	struct model *model = calloc(1, sizeof(*model));
	struct spool spool;
	FILE *out;
	int ret;

	if (argc != 5 || !model)
		return 2;
	slots = strtoull(argv[2], NULL, 10) * 1000;
	nr_containers = (uint32_t)strtoul(argv[3], NULL, 10);
	rows = calloc(nr_containers, sizeof(*rows));
	containers = calloc(nr_containers, sizeof(*containers));
	last = calloc(nr_containers, sizeof(*last));
	out = fopen(argv[1], "w");
	if (!rows || !containers || !last || !out)
		return 1;
	make_containers();
	ret = spool_open(&spool, "/tmp");
	model_init(model, &spool, UNIT, T0);
	if (!ret)
		ret = make(model, out, strtoull(argv[4], NULL, 10) << 20);
	fprintf(stderr, "%s: %ld bytes, %u blobs, %s\n", argv[1], ftell(out), spool.nr,
		ret ? strerror(-ret) : "made");
	model_free(model);
	spool_close(&spool);
	fclose(out);
	free(model);
	free(rows);
	free(containers);
	free(last);
	return ret ? 1 : 0;
}

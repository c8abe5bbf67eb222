// SPDX-License-Identifier: GPL-2.0-or-later
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "common/clock.h"
#include "common/format.h"
#include "common/json.h"
#include "common/meter_view.h"

/* The meaning of a flag of the values for the command, as a sentence */
static const struct {
	uint32_t why;
	const char *text;
} meanings[] = {
	{ CMT_USAGE_WHY_PENDING,
	  "no RMID was free for a part of the time: that part is in the overflow RMID" },
	{ CMT_USAGE_WHY_GAP, "some traffic was not counted" },
	{ CMT_USAGE_WHY_ERROR, "a counter reported an error" },
	{ CMT_USAGE_WHY_UNAVAILABLE, "a counter reported that it has no data" },
	{ CMT_USAGE_WHY_OVERWRITTEN,
	  "an RMID of resctrl, or of another program, counted some of it: cmtctl resctrl take counts it for cmt" },
	{ CMT_USAGE_WHY_ENDED, "the measurement ended before the command" },
};

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void put_command(FILE *out, const struct summary *summary)
{
	int status = summary->launch->status;
	char escaped[4 * LINE_MAX];

	escape_text(escaped, sizeof(escaped), summary->argv[0], ESCAPE_ASCII);
	if (WIFSIGNALED(status))
		fprintf(out, "\ncmtstat: %s: ended by signal %d (%s)\n\n", escaped,
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fprintf(out, "\ncmtstat: %s: exit status %d\n\n", escaped,
			WEXITSTATUS(status));
}

static void put_times(FILE *out, const struct launch *launch)
{
	double user = seconds(&launch->usage.ru_utime);
	double system = seconds(&launch->usage.ru_stime);

	fprintf(out, "%14.3f s    elapsed\n",
		(double)(launch->end_ns - launch->begin_ns) / 1e9);
	fprintf(out, "%14.3f s    CPU time: %.3f s user, %.3f s system\n",
		user + system, user, system);
}

/* "  L3 0: 1.0 MiB  L3 1: -", where there are several. */
static void put_domains(FILE *out, const struct meter *meter)
{
	char bytes[METER_TEXT_LEN];
	uint32_t i;

	for (i = 0; meter->nr_domains > 1 && i < meter->nr_domains; i++) {
		const struct meter_domain *domain = &meter->domains[i];

		fprintf(out, "  L3 %u: %s", domain->domain,
			meter_text_bytes(bytes, meter_domain_most(meter, domain)));
	}
	fputc('\n', out);
}

static void put_occupancy(FILE *out, const struct meter *meter)
{
	char bytes[METER_TEXT_LEN];

	fprintf(out, "%16s    most L3 cache held",
		meter_text_bytes(bytes, meter_most(meter)));
	put_domains(out, meter);
	fprintf(out, "%16s    L3 cache held, mean of %u readings\n",
		meter_text_bytes(bytes, meter_mean(meter)), meter->readings);
}

static void put_traffic(FILE *out, const struct meter *meter,
			enum meter_counter nr, const char *name)
{
	char bytes[METER_TEXT_LEN], rate[METER_TEXT_LEN];

	fprintf(out, "%16s    memory traffic, %s: %s\n",
		meter_text_bytes(bytes, meter_bytes(meter, nr)), name,
		meter_text_rate(rate, meter_rate(meter, nr)));
}

/* Print the limits of the values, with reasons. */
static void put_notes(FILE *out, const struct summary *summary)
{
	const struct cmt_info *info = summary->info;
	char missing[METER_REASON_LEN];
	size_t i;

	fputc('\n', out);
	for (i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (summary->meter->why & meanings[i].why)
			fprintf(out, "INCOMPLETE: %s\n", meanings[i].text);
	if (summary->meter->emulated || info->backend == CMT_BACKEND_EMULATED)
		fputs("EMULATED: these values come from a model, not from hardware\n",
		      out);
	if (*meter_missing(missing, info))
		fprintf(out, "UNAVAILABLE: %s\n", missing);
}

void summary_text(FILE *out, const struct summary *summary)
{
	put_command(out, summary);
	put_times(out, summary->launch);
	put_occupancy(out, summary->meter);
	put_traffic(out, summary->meter, METER_TOTAL, "total");
	put_traffic(out, summary->meter, METER_LOCAL, "local");
	put_notes(out, summary);
}

static int add_number(struct json_object *object, const char *name,
		      uint64_t number)
{
	return json_add(object, name, json_object_new_uint64(number));
}

/* @number or null */
static int add_maybe(struct json_object *object, const char *name, bool known,
		     int number)
{
	return json_add(object, name,
			known ? json_object_new_int(number) : NULL);
}

static int add_argv(struct json_object *object, char **argv)
{
	struct json_object *list = json_object_new_array();
	struct json_object *value;

	for (; list && *argv; argv++) {
		value = json_text(*argv);
		if (value && !json_object_array_add(list, value))
			continue;
		json_object_put(value);
		json_object_put(list);
		return -ENOMEM;
	}
	return list ? json_add(object, "command", list) : -ENOMEM;
}

static uint64_t time_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 +
	       (uint64_t)time->tv_usec * 1000;
}

static int add_launch(struct json_object *object, const struct launch *launch)
{
	int status = launch->status;
	char time[FORMAT_LEN];
	int ret;

	format_time(time, (int64_t)clock_ns(CLOCK_REALTIME));
	ret = json_add(object, "time", json_text(time));
	ret = ret ? ret : add_maybe(object, "status", WIFEXITED(status),
				    WEXITSTATUS(status));
	ret = ret ? ret : add_maybe(object, "signal", WIFSIGNALED(status),
				    WTERMSIG(status));
	ret = ret ? ret : add_number(object, "wall_ns",
				     launch->end_ns - launch->begin_ns);
	ret = ret ? ret : add_number(object, "user_ns",
				     time_ns(&launch->usage.ru_utime));
	return ret ? ret : add_number(object, "system_ns",
				      time_ns(&launch->usage.ru_stime));
}

int summary_json(FILE *out, const struct summary *summary)
{
	struct json_object *object = json_object_new_object();
	int ret = object ? json_add(object, "record", json_text("command")) :
			   -ENOMEM;

	ret = ret ? ret : add_argv(object, summary->argv);
	ret = ret ? ret : add_launch(object, summary->launch);
	ret = ret ? ret : meter_json(object, summary->meter, summary->info);
	ret = ret ? ret : json_print(out, object);
	json_object_put(object);
	return ret;
}

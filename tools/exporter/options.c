// SPDX-License-Identifier: GPL-2.0-or-later
#include "exporter.h"

#include <arpa/inet.h>
#include <cmt/cmt.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>

#define MIN_INTERVAL_NS 100000000ULL
#define MAX_INTERVAL_NS 60000000000ULL
#define MAX_WINDOW_NS	3600000000000ULL
#define DEFAULT_WINDOW_NS 15000000000ULL
#define WINDOW_INTERVALS 3600
#define MAX_CONTAINERS	10000
#define MAX_EXTREMES	5000000	/* 80 MB: struct series_extreme of all series */
#define COUNTERS	(CMT_F_CYCLES | CMT_F_INSTRUCTIONS | \
			 CMT_F_LLC_MISSES | CMT_F_LLC_REFERENCES)

/* A numeric address only: a name may mean another one tomorrow. */
static int resolve(struct exporter_config *config, const char *host,
		   const char *port)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
	};
	struct addrinfo *found;

	if (getaddrinfo(host, port, &hints, &found))
		return -EINVAL;
	memcpy(&config->listen, found->ai_addr, found->ai_addrlen);
	config->listen_len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int set_listen(void *config, const char *value)
{
	const char *colon = strrchr(value, ':');
	size_t len = colon ? (size_t)(colon - value) : 0;
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;

	if (!len || len >= sizeof(host) ||
	    parse_u64(colon + 1, 0, 65535, &port))
		return -EINVAL;
	if (value[0] == '[' && value[len - 1] == ']') {
		value++;
		len -= 2;
	} else if (memchr(value, ':', len)) {
		return -EINVAL;
	}
	memcpy(host, value, len);
	host[len] = '\0';
	return len ? resolve(config, host, colon + 1) : -EINVAL;
}

static int set_interval(void *config, const char *value)
{
	return parse_seconds(value, MIN_INTERVAL_NS, MAX_INTERVAL_NS,
			     &((struct exporter_config *)config)->interval_ns);
}

static int set_window(void *config, const char *value)
{
	return parse_seconds(value, MIN_INTERVAL_NS, MAX_WINDOW_NS,
			     &((struct exporter_config *)config)->window_ns);
}

static int set_max_containers(void *config, const char *value)
{
	return parse_u64(value, 1, MAX_CONTAINERS,
			 &((struct exporter_config *)config)->max_containers);
}

static int set_counters(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->counters |= COUNTERS;
	return 0;
}

static int set_counters_first(void *config, const char *value)
{
	((struct exporter_config *)config)->counters |= CMT_F_COUNTERS_FIRST;
	return set_counters(config, value);
}

static int set_channels(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->channels = true;
	return 0;
}

static int set_culprit(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->culprit = true;
	return 0;
}

static int set_peak(void *config, const char *value)
{
	return parse_bytes(value, PEAK_MIN, PEAK_MAX,
			   &((struct exporter_config *)config)->peak_bytes);
}

static int set_domains(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->domains = true;
	return 0;
}

static int set_histograms(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->histograms = true;
	return 0;
}

static int set_page(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->page = true;
	return 0;
}

static int set_no_seccomp(void *config, const char *value)
{
	(void)value;
	((struct exporter_config *)config)->seccomp = false;
	return 0;
}

static int set_root(void *config, const char *value)
{
	((struct exporter_config *)config)->root = value;
	return *value ? 0 : -EINVAL;
}

static int set_device(void *config, const char *value)
{
	((struct exporter_config *)config)->device = value;
	return *value ? 0 : -EINVAL;
}

static int set_source(void *config, const char *value)
{
	return origin_parse(value, &((struct exporter_config *)config)->origin);
}

void exporter_defaults(struct exporter_config *config)
{
	*config = (struct exporter_config){
		.interval_ns = 1000000000,
		.max_containers = 1000, .counters = CMT_F_WAITED, .seccomp = true,
	};
	set_listen(config, EXPORTER_LISTEN);
}

const char *exporter_set_window(struct exporter_config *config)
{
	if (!config->window_ns)
		config->window_ns = config->interval_ns > DEFAULT_WINDOW_NS ?
				    config->interval_ns : DEFAULT_WINDOW_NS;
	if (config->window_ns < config->interval_ns)
		return "--window: not less than --interval";
	if (config->window_ns > WINDOW_INTERVALS * config->interval_ns)
		return "--window: at most 3600 times --interval";
	if (config->window_ns > MAX_EXTREMES / config->max_containers * config->interval_ns)
		return "--window, --max-containers: the intervals of the window times the containers are more than 5000000, which takes too much memory; give a shorter --window, a longer --interval or fewer containers";
	return NULL;
}

enum {
	KEY_SOURCE = OPTION_LONG_ONLY,
	KEY_NO_SECCOMP,
	KEY_COUNTERS_FIRST,
	KEY_PAGE,
};

static const struct option_spec options[] = {
	{ 'l', "listen", "ADDR:PORT", "serve there, default " EXPORTER_LISTEN,
	  "a numeric address and a port, such as 127.0.0.1:19753 or [::1]:19753",
	  set_listen, NULL },
	{ 'i', "interval", "SECONDS", "renew values so often, 0.1 to 60, default 1",
	  "a number of seconds from 0.1 to 60", set_interval, NULL },
	{ 'w', "window", "SECONDS", "least and most are of so long, default 15, or the interval if that is longer",
	  "a number of seconds from 0.1 to 3600", set_window, NULL },
	{ 'm', "max-containers", "N", "show the N largest, the others in one, default 1000",
	  "a whole number from 1 to 10000", set_max_containers, NULL },
	{ 'c', "counters", NULL, "count cycles, instructions and LLC misses, too",
	  NULL, set_counters, NULL },
	{ KEY_COUNTERS_FIRST, "counters-first", NULL,
	  "--counters, also where other programs need these counters",
	  NULL, set_counters_first, NULL },
	{ 'C', "channels", NULL, "also show the traffic of each memory channel",
	  NULL, set_channels, NULL },
	{ 'D', "domains", NULL, "also show the values of containers in each L3 domain",
	  NULL, set_domains, NULL },
	{ 'H', "histograms", NULL, "show histograms of the milliseconds, too",
	  NULL, set_histograms, NULL },
	{ 'W', "culprit", NULL, "also count verdicts: which container takes cache or bandwidth from which",
	  NULL, set_culprit, NULL },
	{ 'P', "peak", "BYTES",
	  "for verdicts: the greatest traffic of a cache's memory, bytes a second, such as 40G",
	  PEAK_EXPECTS, set_peak, NULL },
	{ KEY_PAGE, "page", NULL, "serve the last ten minutes at /, as the page of cmtstat report",
	  NULL, set_page, NULL },
	{ 'r', "root", "DIR", "names of containers are in files below DIR, not /",
	  "a path", set_root, WORDS_FILES },
	{ 'd', "device", "PATH", "read PATH instead of /dev/cmt",
	  "a path", set_device, WORDS_FILES },
	{ KEY_SOURCE, "source", "SOURCE", ORIGIN_HELP, ORIGIN_WANTED, set_source,
	  ORIGIN_WORDS },
	{ KEY_NO_SECCOMP, "no-seccomp", NULL,
	  "load no seccomp filter: all system calls stay allowed",
	  NULL, set_no_seccomp, NULL },
	{ 'h', "help", NULL, "print this and exit", NULL, NULL, NULL },
	{ 'V', "version", NULL, "print the version and exit", NULL, NULL, NULL },
	{ .name = NULL },
};

const struct program exporter_program = {
	.name = "cmt-exporter",
	.synopsis = "[options]",
	.about = "Serve cache occupancy and memory traffic of containers to Prometheus.\n",
	.options = options,
};

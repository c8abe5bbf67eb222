// SPDX-License-Identifier: GPL-2.0-or-later
#include "served.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/errors.h"
#include "report/report.h"

static int write_page(struct report *report, int fd)
{
	FILE *out = fdopen(fd, "w");
	int ret;

	if (!out)
		return -errno;
	ret = report_write(report, out, SERVED_POINTS);
	/* the exporter has the file, too */
	if (fclose(out) && !ret)
		ret = -errno;
	return ret;
}

static int make_report(const struct recent *recent, struct replay *replay, int fd)
{
	const struct report_opts opts = {
		.file = "cmt-exporter --page", .from_memory = true,
		.is_short = recent->keep.short_of,
		.from_ns = replay->about.start_ns, .to_ns = replay->about.end_ns + 1,
	};
	struct report *report = calloc(1, sizeof(*report));
	int ret;

	if (!report)
		return -ENOMEM;
	ret = replay->about.start_ns ? report_open(report, replay, &opts) : -ENODATA;
	if (!ret)
		ret = write_page(report, fd);
	/* the process ends */
	return ret;
}

/* In the child: the kept chunks are a snapshot. */
static int make_page(void *ctx, int fd)
{
	struct recent *recent = ctx;
	struct replay replay;
	int ret, file = memfd_create("cmt-recent", MFD_CLOEXEC);

	if (file < 0)
		return -errno;
	ret = recent_write(recent, file);
	if (!ret)
		ret = replay_open_fd(&replay, file, "cmt-exporter --page");
	return ret ? ret : make_report(recent, &replay, fd);
}

void served_open(struct served *served, struct recent *recent)
{
	*served = (struct served){
		.recent = recent, .fd = -1,
		.child = { .make = make_page, .ctx = recent,
			   .limit_ns = SERVED_LIMIT_NS },
	};
	page_policy(served->policy);
}

static void drop_page(struct served *served)
{
	if (served->fd >= 0)
		close(served->fd);
	served->fd = -1;
}

void served_close(struct served *served)
{
	child_end(&served->child);
	drop_page(served);
}

static void fail(struct served *served, int err)
{
	static const struct reason reasons[] = {
		{ -ECHILD, "the process that made it was killed", NULL },
		{ -EFBIG, "it is larger than 16 MiB", NULL },
		{ -ETIMEDOUT, "it took more than 60 s", NULL },
		{ .err = 0 },
	};

	served->err = err;
	served->end_ns = clock_ns(CLOCK_MONOTONIC) + SERVED_AGAIN_NS;
	if (err != -ENODATA)
		error_reason(stderr, "cmt-exporter", "no page was made", CMT_CALL_OTHER, err,
			     reasons);
}

/* Takes @fd. */
static void take_page(struct served *served, int fd)
{
	struct stat st;

	served->fd = fd;
	if (fstat(fd, &st) || !st.st_size || (uint64_t)st.st_size > SERVED_BYTES) {
		drop_page(served);
		fail(served, -EFBIG);
		return;
	}
	served->bytes = (uint64_t)st.st_size;
	served->version++;
	served->err = 0;
	served->end_ns = clock_ns(CLOCK_MONOTONIC) + SERVED_NS;
}

void served_step(struct served *served)
{
	int ret;

	if (clock_ns(CLOCK_MONOTONIC) >= served->end_ns) {
		drop_page(served);
		served->err = 0;
	}
	ret = child_step(&served->child);
	if (ret >= 0)
		take_page(served, ret);
	else if (ret != -EAGAIN)
		fail(served, ret);
}

static int begin(struct served *served)
{
	int ret = recent_flush(served->recent);

	/* where reading has failed, the collector's next step finds it, too */
	if (!ret || !served->recent->dev)
		ret = child_begin(&served->child);
	if (ret)
		fail(served, ret);
	return ret ? ret : -EAGAIN;
}

int served_report(void *ctx, bool asked, struct http_report *report)
{
	struct served *served = ctx;

	served_step(served);
	*report = (struct http_report){
		.fd = served->fd, .bytes = served->bytes, .version = served->version,
		.policy = served->policy,
	};
	if (served->fd >= 0)
		return 0;
	if (served->err)
		return served->err;
	return served->child.pid || !asked ? -EAGAIN : begin(served);
}

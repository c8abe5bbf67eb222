// SPDX-License-Identifier: GPL-2.0-or-later
/* agent [ROUNDS]: cache and bandwidth of each container, every 10 ms, till ^C. */
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmt/cmt.h>

int main(int argc, char **argv)
{
	struct cmt_usage_opts opts = { sizeof(opts), .interval_ns = 10000000 };
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : -1UL;
	const struct cmt_usage_frame *frame;
	struct cmt_usage *usage;
	int ret = cmt_device_open(&opts.device, NULL, 0);

	setlinebuf(stdout);	/* whole lines, whatever ends it */
	if (ret || (ret = cmt_usage_new(&usage, &opts)))
		error(1, -ret, "/dev/cmt: modprobe cmt makes it, its group cmt may read it");
	while (rounds && ret >= 0 && (ret = cmt_usage_next(usage, &frame)) >= 0) {
		for (uint32_t i = 0; ret && i < frame->nr_rows; i++) {
			const struct cmt_usage_row *row = cmt_usage_row_at(frame, i);

			if (row->occupancy.known)	/* a rate that is not is nan; >: a lower bound */
				printf("%.2f s %1s%9.1f KiB%s %1s%7.1f MB/s  %s\n", frame->start_ns / 1e9,
				       row->occupancy.partial ? ">" : "", row->occupancy.last_bytes / 1024.0,
				       frame->emulated ? " EMULATED" : "", row->total.partial ? ">" : "",
				       row->total.rate / 1e6, row->container ? row->container->name : "(others)");
		}
		rounds -= ret;
		cmt_usage_refresh(usage, CMT_USAGE_NAMES);
		ret = cmt_usage_wait(usage, -1);
	}
	cmt_usage_free(usage);
	cmt_device_close(opts.device);
	return ret < 0;
}

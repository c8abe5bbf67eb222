// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmtctl.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/fields.h"
#include "common/format.h"

static const char *access_name(const struct cmt_box *box)
{
	static const char *const names[] = {
		[CMT_BOX_MSR] = "MSR",
		[CMT_BOX_MMIO] = "MMIO",
		[CMT_BOX_PCI] = "PCI",
	};

	return box->access < sizeof(names) / sizeof(names[0]) ?
	       names[box->access] : "unknown";
}

static int json_tables(const struct cmt_uncore *uncore)
{
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "record", "tables");
	fields_number(&fields, "sockets", uncore->sockets, NULL);
	fields_number(&fields, "boxes", uncore->count, NULL);
	fields_number(&fields, "refused", uncore->refused, NULL);
	fields_text(&fields, "reason",
		    uncore->reason[0] ? uncore->reason : NULL);
	fields_number(&fields, "channels", uncore->channels, NULL);
	fields_text(&fields, "channels_reason", uncore->channels_reason[0] ?
		    uncore->channels_reason : NULL);
	return fields_end(&fields);
}

static int json_box(const struct cmt_box *box)
{
	struct fields fields;
	int ret = fields_begin(&fields, true);

	if (ret)
		return ret;
	fields_text(&fields, "record", "box");
	fields_number(&fields, "socket", box->socket, NULL);
	fields_number(&fields, "type", box->type, NULL);
	fields_number(&fields, "id", box->id, NULL);
	fields_text(&fields, "access", access_name(box));
	fields_number(&fields, "box_ctrl", box->ctl, NULL);
	fields_number(&fields, "width", box->bits, NULL);
	fields_number(&fields, "regs", box->counters, NULL);
	fields_number(&fields, "ctrl_offset", box->ctl_offset, NULL);
	fields_number(&fields, "ctr_offset", box->ctr_offset, NULL);
	fields_number(&fields, "status_offset", box->status_offset, NULL);
	return fields_end(&fields);
}

static int print_json(const struct cmt_uncore *uncore,
		      const struct cmt_box *boxes)
{
	int ret = json_tables(uncore);

	for (uint32_t i = 0; !ret && i < uncore->count; i++)
		ret = json_box(&boxes[i]);
	return ret;
}

/* segment:bus:device.function+offset */
static void format_ctl(char *text, size_t size, const struct cmt_box *box)
{
	uint32_t ctl = (uint32_t)box->ctl;

	if (box->access == CMT_BOX_PCI)
		snprintf(text, size, "%04x:%02x:%02x.%x+%#x", ctl >> 28,
			 ctl >> 20 & 0xff, ctl >> 15 & 0x1f, ctl >> 12 & 7,
			 ctl & 0xfff);
	else
		snprintf(text, size, "%#" PRIx64, (uint64_t)box->ctl);
}

static void print_box(const struct cmt_box *box)
{
	char ctl[32];

	format_ctl(ctl, sizeof(ctl), box);
	printf("%6u %5u %5u %-7s %-20s %5u %4u %11u %10u\n", box->socket,
	       box->type, box->id, access_name(box), ctl, box->bits,
	       box->counters, box->ctl_offset, box->ctr_offset);
}

static void print_text(const struct cmt_uncore *uncore,
		       const struct cmt_box *boxes)
{
	char reason[4 * sizeof(uncore->reason)];

	if (!uncore->count) {
		escape_text(reason, sizeof(reason), uncore->reason,
			    ESCAPE_ASCII);
		printf("UNAVAILABLE: counters outside the cores: %s\n", reason);
		return;
	}
	if (uncore->refused)
		printf("%u boxes or tables are refused, see the kernel's log\n",
		       uncore->refused);
	printf("%6s %5s %5s %-7s %-20s %5s %4s %11s %10s\n", "SOCKET", "TYPE",
	       "ID", "ACCESS", "BOX CTRL", "WIDTH", "REGS", "CTRL OFFSET",
	       "CTR OFFSET");
	for (uint32_t i = 0; i < uncore->count; i++)
		print_box(&boxes[i]);
	escape_text(reason, sizeof(reason), uncore->channels_reason,
		    ESCAPE_ASCII);
	printf("%u memory channels are read now%s%s\n", uncore->channels,
	       reason[0] ? ": " : "", reason);
}

int ctl_uncore(const struct ctl *ctl, const char **what)
{
	struct cmt_uncore uncore = { .size = sizeof(uncore) };
	struct cmt_box *boxes;
	int ret;

	*what = "cannot read the boxes of the uncore PMU";
	ret = cmt_device_uncore(ctl->dev, &uncore, &boxes);
	if (ret)
		return ret;
	*what = "cannot print";
	if (ctl->json)
		ret = print_json(&uncore, boxes);
	else
		print_text(&uncore, boxes);
	free(boxes);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files as recordings.  Checksums are put right first where the first byte asks for it,
 * so that what is behind them is reached.
 */
#include <cmt/cmt.h>
#include <endian.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "recording/chunk.h"
#include "recording/crc.h"

/* docs/recording.md: places in a header */
#define CRC_AT		8
#define BYTES_AT	12
#define PAYLOAD_AT	28
#define PAYLOAD_CRC_AT	60
#define ITEMS		4096

static uint32_t load(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static void store(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void mend(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; size >= REC_HEADER && at <= size - REC_HEADER; at++) {
		uint8_t *chunk = bytes + at;
		uint32_t head, payload;

		if (memcmp(chunk, rec_magic, REC_MAGIC_LEN))
			continue;
		head = load(chunk + BYTES_AT);
		payload = load(chunk + PAYLOAD_AT);
		if (head < REC_HEADER || head > REC_HEADER_MAX || head > size - at)
			continue;
		if (payload <= size - at - head)
			store(chunk + PAYLOAD_CRC_AT, cmt_crc32c(chunk + head, payload));
		store(chunk + CRC_AT, cmt_crc32c(chunk + BYTES_AT, head - BYTES_AT));
	}
}

static void read_items(struct cmt_recording *recording)
{
	struct cmt_recording_about about = { .sz = sizeof(about) };
	const struct cmt_recording_item *item;

	if (!cmt_recording_about(recording, &about)) {
		fuzz_check_printable(about.host);
		fuzz_check_printable(about.program);
	}
	for (int i = 0; i < ITEMS && cmt_recording_next(recording, &item) > 0; i++) {
		FUZZ_CHECK(item->type >= CMT_RECORDING_RECORDS);
		FUZZ_CHECK(item->type <= CMT_RECORDING_DAMAGE);
	}
	cmt_recording_seek(recording, about.end_ns);
	cmt_recording_next(recording, &item);
	cmt_recording_seek(recording, 0);
}

static void read_usage(struct cmt_recording *recording)
{
	const struct cmt_usage_opts opts = {
		.sz = sizeof(opts), .recording = recording, .by = CMT_USAGE_BY_CONTAINER,
	};
	const struct cmt_usage_frame *frame;
	struct cmt_usage *usage;

	if (cmt_usage_new(&usage, &opts))
		return;
	for (int i = 0; i < 64 && cmt_usage_next(usage, &frame) > 0; i++)
		for (uint32_t k = 0; k < frame->nr_rows; k++)
			FUZZ_CHECK(cmt_usage_row_at(frame, k));
	cmt_usage_free(usage);
}

/*
 * Memory that was freed is used again after 8 MB, and not 256 MB: it is in the processor's
 * caches then.  All that one input frees is still known as freed.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct cmt_recording *recording;
	char *bytes;

	if (!size)
		return 0;
	bytes = fuzz_text(data + 1, size - 1);
	if (*data & 1)
		mend((uint8_t *)bytes, size - 1);
	if (fd < 0)
		fd = memfd_create("recording", MFD_CLOEXEC);
	FUZZ_CHECK(!ftruncate(fd, 0));
	FUZZ_CHECK(pwrite(fd, bytes, size - 1, 0) == (ssize_t)(size - 1));
	free(bytes);
	if (cmt_recording_open_fd(&recording, fd))
		return 0;
	read_items(recording);
	read_usage(recording);
	cmt_recording_close(recording);
	return 0;
}

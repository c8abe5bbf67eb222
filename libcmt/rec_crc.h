/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC32C (Castagnoli), as iSCSI and ext4 have it. */
#ifndef LIBCMT_REC_CRC_H
#define LIBCMT_REC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Of "123456789" it is 0xe3069283.  By the processor's instruction, where it has one. */
uint32_t cmt_crc32c(const void *bytes, size_t n);

/* The same without that instruction. */
uint32_t cmt_crc32c_table(const void *bytes, size_t n);

#endif

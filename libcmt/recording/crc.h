/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC32C (Castagnoli), as in iSCSI and ext4. */
#ifndef LIBCMT_REC_CRC_H
#define LIBCMT_REC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* For "123456789" it is 0xe3069283.  Uses the processor's instruction if available. */
uint32_t cmt_crc32c(const void *bytes, size_t n);

/* The same function without the instruction. */
uint32_t cmt_crc32c_table(const void *bytes, size_t n);

#endif

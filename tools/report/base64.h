/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORT_BASE64_H
#define REPORT_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* RFC 4648, one line.  Errors are in ferror(@out). */
void base64_print(FILE *out, const uint8_t *bytes, size_t len);

#endif

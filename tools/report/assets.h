/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The constant parts of a page: embed.sh makes them from web/ and third-party/. */
#ifndef REPORT_ASSETS_H
#define REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_script[], asset_style[], asset_body[], asset_licences[];
extern const size_t asset_script_len, asset_style_len, asset_body_len,
	asset_licences_len;
/* As a Content-Security-Policy names them: "sha256-..." */
extern const char asset_script_hash[], asset_style_hash[];

#endif

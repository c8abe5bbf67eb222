/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Marks an exported function; libcmt.map has its symbol version. */
#ifndef CMT_API_H
#define CMT_API_H

#define CMT_API __attribute__((visibility("default")))

#endif

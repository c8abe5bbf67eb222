/* SPDX-License-Identifier: LGPL-2.1-or-later */
/** Marks what the library exports; libcmt.map gives it its version. */
#ifndef CMT_API_H
#define CMT_API_H

#define CMT_API __attribute__((visibility("default")))

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The incidents of a recording as rows */
#ifndef TOOLS_EXPORT_INCIDENTS_H
#define TOOLS_EXPORT_INCIDENTS_H

#include "export_format.h"
#include "span.h"

/*
 * Write those that have ended in the part, and those that go on at its end.  Prints on standard
 * error what is not known.  Returns 0 or -errno.
 */
int export_incidents(struct span *span, struct export_session *session);

#endif

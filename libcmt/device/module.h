/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The module behind /dev/cmt, as a device. */
#ifndef LIBCMT_MODULE_H
#define LIBCMT_MODULE_H

#include "device.h"

/*
 * Open the module, whose info is not read yet.  @path: NULL: CMT_DEVICE_PATH; @mode: of
 * open(2).  Returns 0 or -errno.
 */
int cmt_module_open(struct cmt_device **dev, const char *path, int mode);

#endif

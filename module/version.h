/* SPDX-License-Identifier: GPL-2.0 */
/* The single version number: the module, CMake and dkms.conf read it here. */
#ifndef CMT_VERSION_H
#define CMT_VERSION_H

#define CMT_VERSION "0.1.0"

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * libcmt: read what the cmt kernel module measures.
 *
 * Most programs need cmt_device and cmt_usage: rows per container and interval.  Below
 * cmt_usage, records flow in one direction:
 *
 *	cmt_device -> cmt_reader -> cmt_slots (cmt_tracker) -> cmt_usage
 *
 * The device opens /dev/cmt and makes its ioctl calls.  The reader maps the rings and
 * returns the records of all CPUs in the order of time, with exact loss accounting.  The
 * slots fold records into windows of 1 ms.  They hold the tracker, which knows the owner
 * of each RMID at each time.  The containers turn a cgroup id into a name.
 *
 * Rules that hold everywhere:
 *  - an int function returns 0 or a count on success and -errno on failure, which
 *    cmt_strerror() explains; errno carries no meaning;
 *  - *_new() stores the object only on success; *_free(NULL) does nothing;
 *  - several threads may use one cmt_device at once, see cmt/device.h.  One thread at a
 *    time may use any other object.  Objects are independent of each other.  The library
 *    has no global state, starts no thread, handles no signal and prints nothing;
 *  - times are nanoseconds of CLOCK_MONOTONIC, compared modulo 2^64; sizes are bytes;
 *  - a struct that the caller provides begins with sz.  The caller sets sz to sizeof(the
 *    struct), so that programs and libraries of different versions work together.  In
 *    options, 0 means the default, also for a member that an older program does not
 *    have; a member that an older library does not have must be 0, else -EINVAL.  In
 *    results, a member that an older library does not have becomes 0;
 *  - elements of arrays that the library provides may grow: an inline function ..._at()
 *    finds an element.  Other structs of the library grow at the end only; a struct that
 *    is a member of another struct does not grow;
 *  - enumerations may grow: a program must expect values that its header does not have.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/culprit.h>
#include <cmt/device.h>
#include <cmt/error.h>
#include <cmt/frame.h>
#include <cmt/reader.h>
#include <cmt/recording.h>
#include <cmt/resctrl.h>
#include <cmt/slots.h>
#include <cmt/tracker.h>
#include <cmt/usage.h>
#include <cmt/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The version of the library that the program runs with, such as "0.1.0".  CMT_VERSION
 * is the version of the headers that the program was built with.  Never NULL; the caller
 * does not free it.  Thread-safe.
 */
CMT_API const char *cmt_version(void);

#ifdef __cplusplus
}
#endif

#endif

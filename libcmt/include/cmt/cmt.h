/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * libcmt: read what the cmt kernel module measures.
 *
 * Most programs need cmt_device and cmt_usage, which gives rows per container and
 * interval.  Below it a reading goes one way:
 *
 *	cmt_device -> cmt_reader -> cmt_slots (cmt_tracker) -> cmt_usage
 *
 * The device opens /dev/cmt and asks it questions; the reader maps the rings
 * and gives all CPUs' records back in one order of time, with exact loss
 * accounting; the slots fold records into windows of 1 ms and hold the
 * tracker, which knows who owned an RMID at a time; the containers turn a
 * cgroup id into a name.
 *
 * Rules that hold everywhere:
 *  - an int function returns 0 or a count on success and -errno on failure, which
 *    cmt_strerror() explains; errno carries no meaning;
 *  - *_new() stores the object only on success; *_free(NULL) does nothing;
 *  - several threads may use one cmt_device at once, see cmt/device.h; every
 *    other object is used by one thread at a time; different objects are
 *    independent, there is no global state, no thread, no signal, no output;
 *  - times are nanoseconds of CLOCK_MONOTONIC, compared modulo 2^64;
 *  - structs that the caller provides begin with sz, which the caller sets to
 *    sizeof(the struct), as programs and libraries of different versions work
 *    together.  Of options, 0 and what an older program does not know mean the
 *    default; what the library does not know must be 0, else -EINVAL.  Of
 *    results, what the library does not know becomes 0;
 *  - elements of arrays that the library provides grow: an inline function ..._at()
 *    finds one.  Other structs of the library grow at the end only; a struct that
 *    is a member of another one does not grow;
 *  - enumerations grow: a value may be one that the header does not have.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/culprit.h>
#include <cmt/device.h>
#include <cmt/error.h>
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
 * The version of the library that the program runs with, such as "0.1.0";
 * CMT_VERSION is that of the headers it was built with.  Never NULL, never freed.
 * Thread-safe.
 */
CMT_API const char *cmt_version(void);

#ifdef __cplusplus
}
#endif

#endif

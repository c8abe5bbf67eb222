/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * libcmt: read what the cmt kernel module measures.
 *
 * A reading goes one way:
 *
 *	cmt_device -> cmt_reader -> cmt_slots (cmt_tracker) -> cmt_containers
 *
 * The device opens /dev/cmt and asks it questions; the reader maps the rings
 * and gives all CPUs' records back in one order of time, with exact loss
 * accounting; the slots fold records into windows of 1 ms and hold the
 * tracker, which knows who owned an RMID at a time; the containers turn a
 * cgroup id into a name.
 *
 * Rules that hold everywhere:
 *  - an int function returns 0 or a count on success and -errno on failure;
 *    errno carries no meaning;
 *  - *_new() stores the object only on success; *_free(NULL) does nothing;
 *  - an object is used by one thread at a time; different objects are
 *    independent, there is no global state, no thread, no signal, no output;
 *  - times are nanoseconds of CLOCK_MONOTONIC, compared modulo 2^64;
 *  - option structs begin with sz = sizeof(the struct); NULL means defaults.
 *    A larger sz with a non-zero unknown tail is -EINVAL.
 */
#ifndef CMT_CMT_H
#define CMT_CMT_H

#include <cmt/api.h>
#include <cmt/containers.h>
#include <cmt/device.h>
#include <cmt/reader.h>
#include <cmt/slots.h>
#include <cmt/tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The library's version, such as "0.1.0".  Never NULL, never freed. */
CMT_API const char *cmt_version(void);

#ifdef __cplusplus
}
#endif

#endif

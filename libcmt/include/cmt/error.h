/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Errors in words: what failed, why, and what to do.
 *
 * Both functions are thread-safe.  The texts are in English.
 */
#ifndef CMT_ERROR_H
#define CMT_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include <cmt/api.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The meaning of an -errno of any function of libcmt.  0 and other numbers have a text,
 * too.  Never NULL, constant; the caller does not free it.  cmt_error_explain() says more
 * where the caller knows which call failed.
 */
CMT_API const char *cmt_strerror(int err);

/** Which call failed, for cmt_error_explain(). */
enum {
	CMT_CALL_OTHER		= 0,
	CMT_CALL_OPEN		= 1,	/**< cmt_device_open() */
	CMT_CALL_OPEN_CONTROL	= 2,	/**< the same, with CMT_OPEN_CONTROL */
	CMT_CALL_CONTROL	= 3,	/**< cmt_device_set_interval(),
					 *   _set_scope(), _set_resctrl()
					 */
	CMT_CALL_ATTACH		= 4,	/**< cmt_device_attach() */
	CMT_CALL_DETACH		= 5,	/**< cmt_device_detach() */
	CMT_CALL_READER		= 6,	/**< cmt_reader_new(), cmt_usage_new(),
					 *   cmt_device_set_counters()
					 */
	CMT_CALL_RESCTRL	= 7,	/**< cmt_resctrl_open() */
};

/** Terminated texts; a text that is too long is cut. */
struct cmt_error {
	size_t sz;		/**< sizeof(struct cmt_error), by the caller */
	char reason[240];	/**< such as "permission denied"; never empty */
	char remedy[256];	/**< a sentence, such as "Load the module, as root:
				 *   modprobe cmt"; empty: none is known
				 */
};

/**
 * Explain the error of a call.
 *
 * @error: the caller sets sz
 * @call:  CMT_CALL_*; a number that the library does not know has the texts of
 *         CMT_CALL_OTHER
 * @err:   the -errno that the call returned
 * @path:  with CMT_CALL_OPEN and CMT_CALL_OPEN_CONTROL: the device, whose owner and mode
 *         are read; NULL: CMT_DEVICE_PATH.  Where another path is not there, this says
 *         nothing of the module
 *
 * Reads /etc/group, to name the group that may open the device.
 * Returns 0 or -EINVAL (sz).
 */
CMT_API int cmt_error_explain(struct cmt_error *error, uint32_t call, int err,
			      const char *path);

#ifdef __cplusplus
}
#endif

#endif

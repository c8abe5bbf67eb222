/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Errors in words: what failed, why, and what to do.
 *
 * Both functions are thread-safe and know no language but English.
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
 * What an -errno of libcmt means, whichever function returned it; for 0 and for
 * what is not a negative errno as well.  Never NULL, never freed, constant.
 * cmt_error_explain() says more where it is known which call failed.
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
	CMT_CALL_READER		= 6,	/**< cmt_reader_new() */
	CMT_CALL_RESCTRL	= 7,	/**< cmt_resctrl_open() */
};

/** Terminated text, cut where there is no more room. */
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
 * @call:  CMT_CALL_*; of a call that the library does not know, the texts are
 *         those of CMT_CALL_OTHER
 * @err:   what the call returned, -errno
 * @path:  of CMT_CALL_OPEN and CMT_CALL_OPEN_CONTROL, the device, which is looked
 *         at; NULL: CMT_DEVICE_PATH
 *
 * To say which group may open the device, /etc/group is read.
 * Returns 0 or -EINVAL (sz).
 */
CMT_API int cmt_error_explain(struct cmt_error *error, uint32_t call, int err,
			      const char *path);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of the settings: cmt/cmtstat in XDG_CONFIG_HOME, or else in .config in HOME.
 *
 * It and its directories are the user's own: with the environment of another user, as
 * below sudo, nothing is read and nothing is written.  No symbolic link is followed below
 * XDG_CONFIG_HOME.
 */
#ifndef TOOLS_SETTINGS_FILE_H
#define TOOLS_SETTINGS_FILE_H

#include <limits.h>

#include "settings.h"

#define SETTINGS_TOLD (PATH_MAX * 4 + 512)

/*
 * Read the settings: none where there is no file, or one that cannot be used.  What is
 * wrong with it is printed on @err.
 */
void settings_load(struct settings *settings, FILE *err);

/*
 * Put the given settings into the file, which is replaced as a whole.  @told: where they
 * are kept now, or why they are not.  Returns 0 or -errno.
 */
int settings_save(const struct settings *settings, char told[SETTINGS_TOLD]);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
#include "session_settings.h"

#include <stdlib.h>

#include "board/settings_file.h"
#include "common/text.h"

const struct config *
session_settings_apply(struct session_settings *settings, const struct config *config,
		       const struct cmt_info *info)
{
	struct settings read;
	struct text text;

	*settings = (struct session_settings){ .config = *config };
	if (text_open(&text))
		return config;
	settings_load(&read, text.out);
	if (!text_close(&text, 0))
		settings->told = text.bytes;
	else
		free(text.bytes);
	session_settings_tell(settings);
	settings_apply(&read, &settings->config, origin_is_resctrl(info));
	return &settings->config;
}

void session_settings_tell(const struct session_settings *settings)
{
	if (settings->told)
		fputs(settings->told, stderr);
}

void session_settings_free(struct session_settings *settings)
{
	free(settings->told);
	settings->told = NULL;
}

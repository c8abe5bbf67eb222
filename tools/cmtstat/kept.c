// SPDX-License-Identifier: GPL-2.0-or-later
#include "kept.h"

#include <stdlib.h>

#include "board/settings_file.h"
#include "common/text.h"

const struct config *kept_apply(struct kept *kept, const struct config *config,
				const struct cmt_info *info)
{
	struct settings settings;
	struct text text;

	*kept = (struct kept){ .config = *config };
	if (text_open(&text))
		return config;
	settings_load(&settings, text.out);
	if (!text_close(&text, 0))
		kept->told = text.bytes;
	else
		free(text.bytes);
	kept_tell(kept);
	settings_apply(&settings, &kept->config, origin_is_resctrl(info));
	return &kept->config;
}

void kept_tell(const struct kept *kept)
{
	if (kept->told)
		fputs(kept->told, stderr);
}

void kept_free(struct kept *kept)
{
	free(kept->told);
	kept->told = NULL;
}

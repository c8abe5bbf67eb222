// SPDX-License-Identifier: GPL-2.0-or-later
#include "text.h"

#include <errno.h>
#include <stdlib.h>

#include "signals.h"

int text_open(struct text *text)
{
	*text = (struct text){ 0 };
	text->out = open_memstream(&text->bytes, &text->len);
	return text->out ? 0 : -errno;
}

int text_close(struct text *text, int ret)
{
	bool failed = fclose(text->out);

	text->out = NULL;
	return !ret && failed ? -ENOMEM : ret;
}

int text_write(struct text *text, int fd, int ret)
{
	ret = text_close(text, ret);
	if (!ret)
		ret = signals_write(fd, text->bytes, text->len);
	free(text->bytes);
	text->bytes = NULL;
	return ret;
}

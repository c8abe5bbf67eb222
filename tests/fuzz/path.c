// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths of cgroups and of groups of resctrl. */
#include <cmt/containers.h>

#include "fuzz.h"
#include "name/name.h"

static void check_container(const char *path, const struct cmt_container *c)
{
	fuzz_check_printable(c->name);
	fuzz_check_printable(c->id);
	fuzz_check_printable(c->pod);
	FUZZ_CHECK(c->own_len <= strlen(path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = fuzz_text(data, size);
	struct cmt_container c = { .sz = sizeof(c) };

	cmt_container_name(path, &c);
	check_container(path, &c);
	c = (struct cmt_container){ .sz = sizeof(c), .path = path };
	cmt_name_group(path, &c);
	fuzz_check_printable(c.name);
	free(path);
	return 0;
}

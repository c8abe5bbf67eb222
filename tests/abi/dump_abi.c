// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print what the compiler makes of uapi/cmt.h:
 *
 *	struct . size		its size
 *	struct offset size field
 *	= name value
 *
 * The list of names is made from the header by fields.awk.
 */
#include <stddef.h>
#include <stdio.h>

#include "uapi/cmt.h"

#define STRUCT(tag) \
	printf("%s . %lu\n", #tag, (unsigned long)sizeof(struct tag));
#define FIELD(tag, member) \
	printf("%s %lu %lu %s\n", #tag, \
	       (unsigned long)__builtin_offsetof(struct tag, member), \
	       (unsigned long)sizeof(((struct tag *)0)->member), #member);
#define CONSTANT(name) \
	printf("= %s %llu\n", #name, (unsigned long long)(name));

int main(void)
{
#include "abi_fields.h"
	return fflush(stdout) ? 1 : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the compiler makes of uapi/cmt.h, as two sections of the object: "text" is a format
 * of printf(1), a line each
 *
 *	struct . size		its size
 *	struct offset size field
 *	= name value
 *
 * and "numbers" has its numbers, 64 bits each.  So the object needs no machine that runs it.
 * The list of names is made from the header by fields.awk.
 */
#include <stddef.h>

#include "uapi/cmt.h"

#define IN(name)	__attribute__((section(name), used))

#define STRUCT(tag)		#tag " . %s\n"
#define FIELD(tag, member)	#tag " %s %s " #member "\n"
#define CONSTANT(name)		"= " #name " %s\n"

char cmt_text[] IN("text") =
#include "abi_fields.h"
;

#undef STRUCT
#undef FIELD
#undef CONSTANT
#define STRUCT(tag)		sizeof(struct tag),
#define FIELD(tag, member) \
	__builtin_offsetof(struct tag, member), sizeof(((struct tag *)0)->member),
#define CONSTANT(name)		(unsigned long long)(name),

unsigned long long cmt_numbers[] IN("numbers") = {
#include "abi_fields.h"
};

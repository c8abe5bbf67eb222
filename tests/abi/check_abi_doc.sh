#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Is docs/abi.md what the compilers make of module/uapi/cmt.h?
#
# The layout is read from objects compiled as 64- and 32-bit C and C++; they
# must agree with each other and with the tables of the document, structure
# sizes, members and constants, each way.  Lines that differ are printed:
# "-" is what the document says, "+" what is so.  Nothing that was compiled is
# run: not every kernel runs programs of 32 bits.
#
# CC and CXX name other compilers.  Exit 0: all agree; 1: not; 2: usage.
set -euo pipefail

top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
abi=$top/tests/abi
passed=0
failed=0

case "${1:-}" in
-h | --help)
	echo "Usage: $0   compares docs/abi.md with module/uapi/cmt.h"
	exit 0 ;;
?*)	echo "Usage: $0" >&2
	exit 2 ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

# result STATUS NAME
result()
{
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok - $2"
	else
		failed=$((failed + 1))
		echo "not ok - $2"
	fi
}

# section NAME SECTION: its bytes
section()
{
	objcopy -O binary -j "$2" "$tmp/$1.o" "$tmp/$1.$2" && cat "$tmp/$1.$2"
}

# dump NAME MACHINE COMPILER OPTION...: the layout, sorted, in $tmp/NAME.
dump()
{
	local name=$1 machine=$2 text numbers
	shift 2

	"$@" "$machine" -Wall -Wextra -Werror -I "$top/module" -I "$tmp" \
		-c -o "$tmp/$name.o" "$abi/dump_abi.c" || return 1
	text=$(section "$name" text | tr -d '\0')
	numbers=$(section "$name" numbers | od -An -v -w8 -tu8)
	# shellcheck disable=SC2059,SC2086
	printf "$text\n" $numbers | LC_ALL=C sort >"$tmp/$name"
}

compare()
{
	diff -U0 "$1" "$2" | sed '/^\(---\|+++\|@@\)/d; s/^/    /'
	cmp -s "$1" "$2"
}

layout()
{
	local rc=0

	dump "$@" && compare "$tmp/doc" "$tmp/$1" || rc=1
	result "$rc" "$1: docs/abi.md is its layout"
}

# A header that fields.awk cannot read would agree with an empty document.
not_empty()
{
	local rc=0 structs fields constants

	structs=$(grep -c '^STRUCT' "$tmp/abi_fields.h" || true)
	fields=$(grep -c '^FIELD' "$tmp/abi_fields.h" || true)
	constants=$(grep -c '^CONSTANT' "$tmp/abi_fields.h" || true)
	[ "$structs" -eq "$(grep -c '^struct .*{' "$top/module/uapi/cmt.h")" ] &&
		[ "$fields" -gt "$structs" ] && [ "$constants" -gt 0 ] || rc=1
	result "$rc" "header: $structs structures, $fields members, $constants constants"
}

# The program in the document passes sizes that the module accepts: each line with
# "size: N" and CMT_IOC_GET_X has the least size of X.
example()
{
	local rc=0 lines size command

	lines=$(sed -nE 's/.*size: ([0-9]+)[,}].*CMT_IOC_GET_([A-Z]+).*/\1 \2/p' \
		"$top/docs/abi.md")
	[ -n "$lines" ] || rc=1
	while read -r size command; do
		grep -qx "= CMT_${command}_SIZE $size" "$tmp/doc" && continue
		echo "    GET_$command with size $size: not CMT_${command}_SIZE"
		rc=1
	done <<<"$lines"
	result "$rc" "example: its sizes are those of the structures"
}

awk -f "$abi/fields.awk" "$top/module/uapi/cmt.h" >"$tmp/abi_fields.h"
awk -f "$abi/doc.awk" "$top/docs/abi.md" | LC_ALL=C sort >"$tmp/doc"

not_empty
example
layout c-64 -m64 "${CC:-gcc}" -std=gnu11
layout c-32 -m32 "${CC:-gcc}" -std=gnu11
if command -v "${CXX:-g++}" >/dev/null; then
	layout c++-64 -m64 "${CXX:-g++}" -x c++ -std=c++17 -fno-exceptions
	layout c++-32 -m32 "${CXX:-g++}" -x c++ -std=c++17 -fno-exceptions
else
	result 1 "c++: there is no ${CXX:-g++}"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

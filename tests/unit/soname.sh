#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# soname.sh READELF LIBRARY SOURCE HEADER: the library's file and soname, the
# version node of its symbols, the Debian package, the version in HEADER
# (cmt/version.h) and the one that all come from, in module/version.h, agree.
set -eu
readelf=$1 library=$2 source=$3 header=$4
fail=0

# same WHAT EXPECTED ACTUAL
same()
{
	[ "$2" = "$3" ] && [ -n "$2" ] && return
	echo "$1: $3, expected $2"
	fail=1
}

version=$(sed -n 's/^#define CMT_VERSION "\(.*\)"$/\1/p' "$source/module/version.h")
same "CMT_VERSION in cmt/version.h" "$version" \
	"$(sed -n 's/^#define CMT_VERSION "\(.*\)"$/\1/p' "$header")"

soname=$("$readelf" -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
major=${soname##*.}
same "soname" "libcmt.so.$major" "$soname"
same "file" "$soname.$version" "$(basename "$(readlink -f "$library")")"
same "version node" "LIBCMT_$major.0" "$(sed -n 's/ {$//p' "$source/libcmt/libcmt.map" | tail -n 1)"
same "symbols file" "$soname libcmt$major #MINVER#" \
	"$(head -n 1 "$source/debian/libcmt1.symbols")"
same "package" "Package: libcmt$major" \
	"$(grep '^Package: libcmt[0-9]' "$source/debian/control")"
exit $fail

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# exports.sh NM LIBRARY LIBCMT: what the library exports, what libcmt.map lists
# and what the headers mark CMT_API must be the same names.
set -eu
nm=$1 library=$2 libcmt=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$nm" -D --defined-only --with-symbol-versions "$library" |
	awk '$2 != "A" { print $3 }' | sort -u >"$dir/all"
# Sanitizers may add symbols of their own, but none without a version.
grep '^cmt_' "$dir/all" >"$dir/library"
sed -n 's/^[[:space:]]*\(cmt_[a-z_]*\);$/\1@@LIBCMT_1.0/p' \
	"$libcmt/libcmt.map" | sort -u >"$dir/map"
# A declaration ends at its semicolon; its function is the first cmt_NAME(.
cat "$libcmt"/include/cmt/*.h | sed '/^#/d' | tr '\n' ' ' | tr ';' '\n' |
	grep 'CMT_API ' |
	sed 's/.*CMT_API [^(]*\(cmt_[a-z_]*\)(.*/\1@@LIBCMT_1.0/' |
	sort -u >"$dir/headers"
# A prototype without CMT_API would be hidden.
cat "$libcmt"/include/cmt/*.h | grep -E '^(const |int |void |u?int|size_t |struct [a-z_]+ \*).*\(' |
	grep -v CMT_API >"$dir/unmarked" || true

fail=0
[ "$(wc -l <"$dir/map")" -ge 30 ] || { echo "map: too few names"; fail=1; }
diff "$dir/map" "$dir/library" || { echo "< map, > library"; fail=1; }
diff "$dir/map" "$dir/headers" || { echo "< map, > headers"; fail=1; }
if [ -s "$dir/unmarked" ]; then
	echo "without CMT_API:"
	cat "$dir/unmarked"
	fail=1
fi
others=$(grep -v '^cmt_' "$dir/all" | grep -v -E '^(__)?(asan|ubsan|sanitizer|odr)' || true)
if [ -n "$others" ]; then
	echo "exported and not cmt_*: $others"
	fail=1
fi
exit $fail

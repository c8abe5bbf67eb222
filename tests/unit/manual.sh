#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# manual.sh SOURCE: libcmt(3) shows docs/examples/agent.c as it is, has
# every exported function, and mandoc has nothing to say against it.
set -eu
page=$1/docs/man/libcmt.3
example=$1/docs/examples/agent.c
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail=0

sed -n '/^\.Bd -literal/,/^\.Ed/p' "$page" | sed '1d;$d;s/\\-/-/g;s/\\e/\\/g' \
	>"$dir/shown"
sed -n '/^#include/,$p' "$example" >"$dir/example"
diff "$dir/example" "$dir/shown" || { echo "< example, > page"; fail=1; }

sed -n 's/^[[:space:]]*\(cmt_[a-z_]*\);$/\1/p' "$1/libcmt/libcmt.map" >"$dir/map"
[ -s "$dir/map" ] || { echo "no names in the map"; fail=1; }
while read -r name; do
	grep -q "^\.F[no] $name\( \|$\)" "$page" ||
		{ echo "$name: not in libcmt(3)"; fail=1; }
done <"$dir/map"

mandoc -Tlint -W warning "$page" || fail=1
exit $fail

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# embed.sh OUT: what of a page is always the same, as arrays of C, into the file OUT.
set -euo pipefail
here=$(dirname -- "$0")

# join FILE...: one behind the other, a line end after each
join()
{
	local file

	for file; do
		cat -- "$here/$file"
		echo
	done
}

# array NAME FILE...
array()
{
	local name=$1
	shift

	printf 'const unsigned char asset_%s[] = {\n' "$name"
	join "$@" | od -An -v -tx1 | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	printf '};\nconst size_t asset_%s_len = sizeof(asset_%s);\n' "$name" "$name"
}

# hash NAME FILE...: as a Content-Security-Policy names what it allows
hash()
{
	local name=$1 hex
	shift

	hex=$(join "$@" | sha256sum)
	printf 'const char asset_%s_hash[] = "sha256-%s";\n' "$name" \
		"$(printf '%b' "$(sed 's/ .*//; s/../\\x&/g' <<<"$hex")" | base64)"
}

script=(third-party/uplot/uPlot.iife.js web/format.js web/data.js web/series.js
	web/charts.js web/memory.js web/lanes.js web/tables.js
	web/story.js web/cursor.js web/main.js)
style=(third-party/uplot/uPlot.min.css web/report.css)

{
	echo '#include "report/assets.h"'
	array script "${script[@]}"
	hash script "${script[@]}"
	array style "${style[@]}"
	hash style "${style[@]}"
	array body web/body.html
	array licences third-party/uplot/LICENSE third-party/uplot/ORIGIN.txt
} >"$1.new"
mv -- "$1.new" "$1"

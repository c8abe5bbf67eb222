# SPDX-License-Identifier: GPL-2.0-or-later
# Reads docs/abi.md and prints what it says in the form of dump_abi.c's output.
#
# A structure is a heading "## struct NAME", a line that begins with its size
# ("64 bytes"), and tables "| offset | size | field | meaning |".  A constant
# is a row of a table "| name | value | meaning |".

function cell(n,    s)
{
	s = cells[n]
	gsub(/^[ \t`]+|[ \t`]+$/, "", s)
	return s
}

function hex(s,    i, v)
{
	v = 0
	s = tolower(s)
	for (i = 1; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}

function number(s)
{
	return s ~ /^0[xX]/ ? hex(substr(s, 3)) : s + 0
}

/^## / { tag = "" }
/^## struct / { tag = $3 }
!/^\|/ { kind = "" }

tag != "" && /^[0-9]+ bytes/ { print tag " . " $1; next }

/^\|/ {
	split($0, cells, /\|/)
	if (cell(2) == "offset" && cell(3) == "size" && cell(4) == "field")
		kind = "field"
	else if (cell(2) == "name" && cell(3) == "value")
		kind = "constant"
	else if (cell(2) ~ /^:?-+:?$/)
		next
	else if (kind == "field")
		printf "%s %d %d %s\n", tag, cell(2), cell(3), cell(4)
	else if (kind == "constant")
		printf "= %s %.0f\n", cell(2), number(cell(3))
}

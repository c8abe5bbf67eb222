# SPDX-License-Identifier: GPL-2.0-or-later
# Reads uapi/cmt.h and prints, for tests/abi/dump_abi.c,
#
#	STRUCT(name)		every structure
#	FIELD(name, member)	every member that is no structure itself
#	CONSTANT(name)		every enumerator and object-like macro
#
# so that nothing in the header can be forgotten.  It knows the C that the
# header is written in: one declaration a line, tags before the brace.

function strip_comments(line,    open, close_at, out)
{
	out = ""
	while (line != "") {
		if (in_comment) {
			close_at = index(line, "*/")
			if (!close_at)
				return out
			line = substr(line, close_at + 2)
			in_comment = 0
			continue
		}
		open = index(line, "/*")
		if (!open)
			return out line
		out = out substr(line, 1, open - 1)
		line = substr(line, open + 2)
		in_comment = 1
	}
	return out
}

# A member's declarator, without its array part.
function declarator(line)
{
	sub(/[ \t]*(\[[^]]*\])?[ \t]*;.*/, "", line)
	sub(/.*[ \t]/, "", line)
	return line
}

# The members collected since level @from belong to @name: put it before them.
function prefix(from, name,    i)
{
	for (i = from; i < nr_fields; i++)
		fields[i] = name "." fields[i]
}

{ line = strip_comments($0) }

line ~ /^#define[ \t]+CMT_[A-Z0-9_]+[ \t]/ {
	split(line, words, /[ \t]+/)
	print "CONSTANT(" words[2] ")"
	next
}

line ~ /^#/ { next }

line ~ /^enum/ { in_enum = 1; next }

in_enum && line ~ /^}/ { in_enum = 0; next }

in_enum && match(line, /CMT_[A-Z0-9_]+/) {
	print "CONSTANT(" substr(line, RSTART, RLENGTH) ")"
	next
}

!depth && line ~ /^struct [a-z_]+ \{/ {
	split(line, words, / /)
	tag = words[2]
	depth = 1
	nr_fields = 0
	print "STRUCT(" tag ")"
	next
}

depth && line ~ /\{[ \t]*$/ {
	start[depth++] = nr_fields
	next
}

depth && line ~ /^[ \t]*\}/ {
	depth--
	sub(/^[ \t]*\}[ \t]*/, "", line)
	if (depth) {
		if (line !~ /^;/)
			prefix(start[depth], declarator(line))
		next
	}
	for (i = 0; i < nr_fields; i++)
		print "FIELD(" tag ", " fields[i] ")"
	next
}

depth && line ~ /;/ { fields[nr_fields++] = declarator(line) }

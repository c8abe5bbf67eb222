# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the table or the JSON object of tests/bench from lines
#
#	figure KEY VALUE
#	text KEY TEXT
#
# and, of the host, records per second and ns per record
#
#	rings=N ... mrec_per_s=X ... memcpy_ns=Y ...
#
# and checks every figure: it must be there, above 0, and within its limit.
# Variables: json, host (not empty: yes), failed (why, or empty).

# A figure of the guest: instructions, at most LIMIT; 0: it has none.
function guest(key, limit, label)
{
	order[++n] = key
	part[key] = "guest"
	limits[key] = limit
	labels[key] = label
}

function on_host(key, label)
{
	order[++n] = key
	part[key] = "host"
	limits[key] = 0
	labels[key] = label
}

# Limits of the guest's figures: about twice what was measured when they were
# set (6.1, emulated), so that a regression of the hot paths fails.  That of a
# sample is also below one resctrl event by pread(), 2086.
BEGIN {
	guest("getppid", 0, "getppid(), the yardstick")
	guest("sample", 1400, "sample: 3 events, 1 record")
	guest("tick", 1700, "tick without samples")
	guest("tick_whole", 3700, "the same, the whole interrupt")
	guest("ring_record", 75, "ring record")
	guest("switch_same_without", 0, "switch, same RMID: without cmt")
	guest("switch_same_added", 100, "  added by cmt")
	guest("switch_other_without", 0, "switch, other RMID: without cmt")
	guest("switch_other_added", 330, "  added by cmt")
	guest("fork_exit_without", 0, "vfork and exit: without cmt")
	guest("fork_exit_added", 5000, "  added by cmt")
}

$1 == "figure" && NF == 3 && $3 ~ /^-?[0-9]+(\.[0-9]+)?$/ {
	value[$2] = $3 + 0
	next
}

$1 == "text" && NF >= 3 {
	key = $2
	sub(/^text [^ ]+ /, "")
	texts[key] = $0
	next
}

$1 ~ /^rings=[0-9]+$/ {
	delete member
	for (i = 1; i <= NF; i++)
		if (split($i, pair, "=") == 2)
			member[pair[1]] = pair[2]
	key = "host_" member["rings"]
	if (member["mrec_per_s"] > 0)
		value[key "_records"] = member["mrec_per_s"] * 1e6
	if (member["memcpy_ns"] > 0)
		value[key "_memcpy"] = 1e9 / member["memcpy_ns"]
	next
}

{
	bad_lines++
	print "not a figure: " $0 >"/dev/stderr"
}

function finish_order()
{
	if (texts["resctrl"] == "measured") {
		guest("resctrl_open", 0, "resctrl: open, read, close of 1 event")
		guest("resctrl_pread", 0, "resctrl: pread of 1 event")
		guest("resctrl_pread_all", 0, "resctrl: pread of the 3 events")
	}
	if (host) {
		on_host("host_8_records", "8 rings: reader, tracker, slots")
		on_host("host_8_memcpy", "8 rings: memcpy of the same")
		on_host("host_256_records", "256 rings: reader, tracker, slots")
		on_host("host_256_memcpy", "256 rings: memcpy of the same")
	}
}

# Why a figure is not as it must be, or nothing.
function fault(key)
{
	if (!(key in value))
		return "not measured"
	if (value[key] <= 0)
		return "not above 0"
	if (limits[key] && value[key] > limits[key])
		return "above its limit"
	return ""
}

function check(ok, what)
{
	if (ok) {
		passed++
		return
	}
	wrong++
	print "failed: " what >"/dev/stderr"
}

function check_all(	i, key, why)
{
	check(!failed, failed)
	check(!bad_lines, bad_lines " lines are no figures")
	check("resctrl" in texts, "nothing said of resctrl")
	check(texts["backend"] == "emulated" || texts["backend"] == "hardware",
	      "the backend is not known")
	for (i = 1; i <= n; i++) {
		key = order[i]
		why = fault(key)
		check(why == "", key ": " why)
	}
	if (texts["resctrl"] == "measured")
		check(value["sample"] < value["resctrl_pread"],
		      "a sample costs more than resctrl's pread")
}

function row(key,	shown)
{
	shown = key in value ? sprintf("%.0f", value[key]) : "-"
	printf "  %-40s %12s %10s%s\n", labels[key], shown,
	       limits[key] ? limits[key] : "", fault(key) == "" ? "" : "  <--"
}

function table(	i)
{
	printf "Guest: Linux %s, %s backend, %d RMIDs.  Instructions:%12s\n",
	       texts["kernel"], texts["backend"], value["rmids"], "limit"
	for (i = 1; i <= n; i++)
		if (part[order[i]] == "guest")
			row(order[i])
	if (texts["resctrl"] != "measured")
		print "  resctrl: " texts["resctrl"]
	if (texts["backend"] == "emulated")
		print "  emulated: MSR instructions are not in these figures," \
		      " the model's work is"
	if (!host)
		return
	print "Host: records per second"
	for (i = 1; i <= n; i++)
		if (part[order[i]] == "host")
			row(order[i])
}

function quoted(s)
{
	gsub(/[\\"]/, "\\\\&", s)
	gsub(/[[:cntrl:]]/, "", s)
	return "\"" s "\""
}

function members(which,	i, key, sep, s)
{
	for (i = 1; i <= n; i++) {
		key = order[i]
		if (part[key] != which)
			continue
		s = s sep quoted(key) ":" (key in value ? sprintf("%.1f", value[key]) : "null")
		sep = ","
	}
	return "{" s "}"
}

function object()
{
	printf "{\"kernel\":%s,\"backend\":%s,\"rmids\":%d,\"resctrl\":%s,",
	       quoted(texts["kernel"]), quoted(texts["backend"]),
	       value["rmids"], quoted(texts["resctrl"])
	printf "\"instructions\":%s,", members("guest")
	printf "\"host_records_per_second\":%s,",
	       host ? members("host") : "null"
	printf "\"passed\":%d,\"failed\":%d}\n", passed, wrong
}

END {
	finish_order()
	check_all()
	if (json)
		object()
	else
		table()
	printf "%d passed, %d failed\n", passed, wrong > \
	       (json ? "/dev/stderr" : "/dev/stdout")
	exit wrong > 0
}

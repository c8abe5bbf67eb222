# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the table or the JSON object of tests/bench from lines
#
#	figure KEY VALUE
#	missing KEY WHY
#	text KEY TEXT
#
#
# and checks every figure: it must be there, and within its limit.
# Variables: json, host, counted (not empty: yes), failed (why, or empty).  limits_only: print
# "KEY LIMIT" of all figures instead.
#
# A limit is an operator and a number: <=110, >=100, ==6.  A figure without a
# limit must be above 0.

# A figure of the guest.  LIMIT is that on the hardware backend, EMULATED that
# on the emulated one, MSR that of the MSR accesses, whose figure is KEY_msr; "-":
# no MSR accesses are counted.
function guest(key, limit, emulated, msr, label)
{
	order[++n] = key
	part[key] = "guest"
	limits[key, "hardware"] = limit
	limits[key, "emulated"] = emulated
	if (msr != "-") {
		has_msr[key] = 1
		limits[key "_msr", "hardware"] = msr
	}
	labels[key] = label
}

function heading(label)
{
	order[++n] = "heading " n
	part[order[n]] = "heading"
	labels[order[n]] = label
}

# A figure of the host: a ratio to sorting the same records in the same run, or
# what its label says.
function on_host(key, limit, label)
{
	order[++n] = key
	part[key] = "host"
	limits[key, "hardware"] = limit
	limits[key, "emulated"] = limit
	labels[key] = label
}

# A program on a machine of 64 CPUs, 8 L3 domains and 200 containers, and on one of 768, 48
# and 1,000.  What is held is how much more a record costs on the large one: a host that is
# busy slows both down.
function large(key, what, small, big, growth, kib)
{
	on_host(key "_64_percent", small, what ", 64 CPUs, % of a CPU")
	on_host(key "_768_percent", big, "  768 CPUs, 48 domains, 1,000 containers")
	on_host(key "_growth", growth, "  a record there, in times of one here")
	on_host(key "_768_kib", kib, "  its memory there, KiB")
}

# The same program on machines of four times the CPUs, the L3 domains, or the containers: what
# it takes may grow as the machine does.
function grows(key, what)
{
	on_host(key "_cpus_growth", "<=4", what ", times with 4 times the CPUs")
	on_host(key "_domains_growth", "<=4", "  with 4 times the L3 domains")
	on_host(key "_containers_growth", "<=4", "  with 4 times the containers")
}

# Hardware: what the module is held to; where nothing is said, as emulated.  Emulated:
# about twice what was measured when they were set (6.1), so that a regression of
# the hot paths fails.
BEGIN {
	guest("getppid", "", "", "-", "getppid(), the yardstick")
	guest("sample", "<=110", "<=350", "==6", "sample: 3 events, 1 record")
	guest("sample_by_module", "<=105", "<=105", "-", "  the same by busy_ns, in %")
	guest("sample_occupancy", "", "", "==2", "sample: occupancy alone")
	guest("sample_occupancy_total", "", "", "==4", "sample: occupancy and total")
	guest("tick", "<=250", "<=1900", "<=3", "tick without samples")
	guest("tick_first", "<=810", "<=2650", "<=12", "tick that reads RMID 0 alone")
	guest("tick_first_whole", "<=1860", "<=4450", "-", "  the complete interrupt")
	guest("burst", "<=700", "<=2300", "<=6", "  with samples, before the first")
	guest("ring_record", "<=75", "<=75", "-", "ring record")
	heading("added to a context switch, the tracepoint included:")
	guest("switch_thread_added", "", "", "==0", "  to another thread of the process")
	guest("switch_thread_own", "<=20", "<=20", "-", "    more than an empty probe adds")
	guest("switch_member_added", "<=45", "<=75", "==0", "  to a process with the same RMID")
	guest("switch_other_added", "<=90", "<=310", "<=2", "  to another owner")
	guest("switch_other_probe", "", "", "-", "  an empty probe")
	if (counted) {
		heading("the same with three counters:")
		guest("counted_thread_more", "<=1", "<=1", "-", "  to another thread, more than without")
		guest("counted_member_more", "<=1", "<=1", "-", "  to a process with the same RMID, more")
		guest("counted_other_added", "<=350", "<=500", "-", "  to another owner")
		guest("tick_counted", "", "", "-", "  tick that reads RMID 0 alone")
		heading("added to that by accounting who waits:")
		guest("waited_yield_more", "<=28", "<=28", "-", "  to a switch from a task that could run on")
		guest("waited_thread_more", "<=45", "<=55", "-", "  to a switch and its wake-up: another thread")
		guest("waited_member_more", "<=45", "<=55", "-", "    a process with the same RMID")
		guest("waited_other_more", "<=45", "<=55", "-", "    another owner")
		guest("waited_tick_more", "<=30", "<=30", "-", "  to a tick while no task waits")
	}
	if (counted) {
		heading("memory channels, their registers' accesses one instruction each:")
		guest("channels", "==8", "==8", "-", "  read in a tick")
		guest("channels_unasked_more", "<=1", "<=1", "-", "  added to a tick without a request")
		guest("tick_channels", "<=2860", "<=4950", "-", "  tick that reads RMID 0 alone")
		# the same code takes some more where it lies at another place: 218 and 221
		guest("channel", "<=225", "<=225", "-", "  a channel, of that")
		guest("channels_cycles", "<=4", "<=4", "-", "  read with their cycles in a tick, of these 3.1 ms")
		guest("channel_cycles", "<=110", "<=110", "-", "  added by each of those")
	}
	heading("added to vfork and exit:")
	guest("fork_member_added", "<=610", "<=1050", "==0", "  of a process that shares an RMID")
	guest("fork_owner_added", "<=5000", "<=5000", "", "  of an owner")
	guest("fork_owner_probe", "", "", "-", "  two empty probes")
	heading("without cmt:")
	guest("switch_thread_without", "", "", "-", "  switch to another thread")
	guest("switch_member_without", "", "", "-", "  switch to another process")
	guest("fork_member_without", "", "", "-", "  vfork and exit")
	heading("1,024 RMIDs:")
	guest("sample_scale", "<=110", "<=350", "==6", "  sample")
	guest("tick_scale", "<=500", "<=3300", "<=3", "  tick without samples")
	guest("tick_first_scale", "<=1710", "<=5350", "<=12", "  tick that reads RMID 0 alone")
	guest("burst_scale", "<=1600", "<=5000", "<=6", "    with samples, before the first")
	heading("200 owners, 10 hot, a budget for 30 samples:")
	guest("hot_budget_us", "", "", "-", "  budget_us")
	# The model's own work is in the emulated backend's budget, some ticks have more
	# of it than others, and how many depends on the machine: in the worst runs seen
	# 98.8 % and 35 ticks.  What is promised is held on the hardware backend.
	guest("hot_share", ">=100", ">=90", "-", "  hot owners read in a tick, in %")
	guest("hot_idle_age", "<=32", "<=64", "-", "  idle owner: most ticks between readings")
	guest("hot_samples_most", "<=40", "<=40", "-", "  samples in a tick, most")
	heading("1,000 RMIDs in use, ns:")
	guest("irqs_off_100us", "<=100000", "<=100000", "-", "  interrupts off, interval 100 us")
	guest("irqs_off_1ms", "<=100000", "<=100000", "-", "  interrupts off, interval 1 ms")
	guest("irqs_off_1s", "<=100000", "<=100000", "-", "  interrupts off, interval 1 s")
	guest("lock_held", "<=3000", "<=3000", "-", "  owner lock held")
}

$1 == "figure" && NF == 3 && $3 ~ /^-?[0-9]+(\.[0-9]+)?$/ {
	value[$2] = $3 + 0
	next
}

$1 == "missing" && NF >= 3 {
	key = $2
	sub(/^missing [^ ]+ /, "")
	why_missing[key] = $0
	next
}

$1 == "text" && NF >= 3 {
	key = $2
	sub(/^text [^ ]+ /, "")
	texts[key] = $0
	next
}

{
	bad_lines++
	print "not a figure: " $0 >"/dev/stderr"
}

function finish_order()
{
	if (texts["resctrl"] == "measured") {
		heading("resctrl:")
		guest("resctrl_open", "", "", "-", "  open, read, close of 1 event")
		guest("resctrl_pread", "", "", "-", "  pread of 1 event")
		guest("resctrl_pread_all", "", "", "-", "  pread of the 3 events")
	}
	if (host) {
		on_host("host_sort_8", "", "sorting, ns a record, 8 rings")
		on_host("host_sort_256", "", "sorting, ns a record, 256 rings")
		on_host("host_feed_8", "<=120", "feed into slots, % of that, 8 rings")
		on_host("host_feed_256", "<=80", "feed into slots, % of that, 256 rings")
		on_host("host_read_8", "<=90", "ordered read, % of that, 8 rings")
		on_host("host_read_256", "<=110", "ordered read, % of that, 256 rings")
		on_host("host_replay_8", "<=180", "read into slots, % of that, 8 rings")
		on_host("host_replay_256", "<=160", "read into slots, % of that, 256 rings")
		on_host("cmtstat_hot", "<=8", "cmtstat, 64 CPUs, 8 x 255 RMIDs, % of a CPU")
		on_host("cmtstat_all", "<=18", "  the same, each read once a ms")
		on_host("cmtstat_kib", "<=8192", "  its memory beyond the maps, KiB")
		on_host("why_hot", "<=4", "cmtstat --why, 16 CPUs, 255 RMIDs, % of a CPU")
		on_host("why_all", "<=12", "  the same, each read once a ms")
		on_host("why_kib", "<=5120", "  its memory beyond the maps, KiB")
		on_host("software_hot", "<=5", "  without RDT, with counters, 4,095 RMIDs")
		on_host("software_kib", "<=20480", "  its memory beyond the maps, KiB")
		on_host("record_hot", "<=5", "cmtstat record, 16 CPUs, 255 RMIDs, % of a CPU")
		on_host("record_all", "<=12", "  the same, each read once a ms")
		on_host("record_kib", "<=32768", "  its memory beyond the maps, KiB")
		large("stat", "cmtstat --no-marks", "", "", "<=5", "<=65536")
		grows("stat", "cmtstat --no-marks")
		on_host("why_64_percent", "", "cmtstat --why, 64 CPUs, % of a CPU")
		grows("why", "cmtstat --why")
		large("record", "cmtstat record", "", "", "<=2", "<=98304")
		on_host("service_memory_percent", "<=75", "  cmt-recorder as shipped, % of MemoryMax")
		large("exporter", "cmt-exporter", "", "", "<=5", "<=65536")
	}
}

# What the other vendors do is not in the issue's table.
function limit(key)
{
	if (key ~ /_msr$/ && texts["vendor"] != "Intel")
		return ""
	return limits[key, texts["backend"]]
}

function holds(x, rule,		bound)
{
	bound = substr(rule, 3) + 0
	if (rule ~ /^<=/)
		return x <= bound
	if (rule ~ /^>=/)
		return x >= bound
	return x == bound
}

# The reason why a figure fails, or "".
function fault(key,	rule)
{
	rule = limit(key)
	if (key in why_missing)
		return why_missing[key]
	if (!(key in value))
		return "not measured"
	if (key !~ /_(msr|more)$/ && value[key] <= 0)
		return "not above 0"
	if (rule != "" && !holds(value[key], rule))
		return value[key] ", not " rule
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

function counts_msrs()
{
	return texts["msr"] == "counted"
}

function check_figure(key,	why)
{
	why = fault(key)
	check(why == "", key ": " why)
}

function check_all(	i, key)
{
	check(!failed, failed)
	check(!bad_lines, bad_lines " lines are no figures")
	check("resctrl" in texts, "nothing said of resctrl")
	check(texts["backend"] == "emulated" || texts["backend"] == "hardware",
	      "the backend is not known")
	if (texts["backend"] == "hardware")
		check(counts_msrs(), "MSR accesses were not counted")
	for (i = 1; i <= n; i++) {
		key = order[i]
		if (part[key] == "heading")
			continue
		check_figure(key)
		if (key in has_msr && counts_msrs())
			check_figure(key "_msr")
	}
	if ("sample_by_module" in value)
		check(value["sample_by_module"] >= 95,
		      "busy_ns does not say what a sample costs")
	if (texts["resctrl"] == "measured" && "sample" in value)
		check(value["sample"] < value["resctrl_pread"],
		      "a sample costs more than resctrl's pread")
}

# The limit in readable form: "<=110" is 110.
function reach(key,	rule)
{
	rule = limit(key)
	sub(/^(<=|==)/, "", rule)
	return rule
}

function shown(key, format)
{
	return key in value ? sprintf(format, value[key]) : "-"
}

function row(key,	msr, bad)
{
	msr = key "_msr"
	bad = fault(key) != ""
	printf "  %-42s %11s %9s", labels[key],
	       shown(key, part[key] == "host" ? "%.1f" : "%.0f"), reach(key)
	if (key in has_msr && counts_msrs()) {
		bad = bad || fault(msr) != ""
		printf " %7s %6s", shown(msr, "%.1f"), reach(msr)
	}
	print bad ? "  <--" : ""
}

function rows(which,	i)
{
	for (i = 1; i <= n; i++) {
		if (part[order[i]] == which)
			row(order[i])
		else if (part[order[i]] == "heading" && which == "guest")
			print "  " labels[order[i]]
	}
}

function ratio_row()
{
	if ("sample" in value && value["resctrl_pread"])
		printf "  %-42s %11.3f\n", "sample / resctrl's pread of 1 event",
		       value["sample"] / value["resctrl_pread"]
}

function table()
{
	printf "Guest: Linux %s, %s backend, %d RMIDs.\n", texts["kernel"],
	       texts["backend"], value["rmids"]
	printf "  %-42s %11s %9s", "", "instructions", "reach"
	print counts_msrs() ? sprintf(" %7s %6s", "MSR", "reach") : ""
	rows("guest")
	ratio_row()
	if (texts["resctrl"] != "measured")
		print "  resctrl: " texts["resctrl"]
	if (texts["backend"] == "emulated")
		print "  emulated: MSR instructions are not in these figures," \
		      " the model's work is"
	if (!host)
		return
	print "Host: a record, beside sorting it with qsort(3); cmtstat as the rows say"
	rows("host")
}

function quoted(s)
{
	gsub(/[\\"]/, "\\\\&", s)
	gsub(/[[:cntrl:]]/, "", s)
	return "\"" s "\""
}

function member_of(key, name)
{
	return quoted(name) ":" (key in value ? sprintf("%.1f", value[key]) : "null")
}

function members(which,	i, key, sep, s)
{
	for (i = 1; i <= n; i++) {
		key = order[i]
		if (part[key] != which)
			continue
		s = s sep member_of(key, key)
		sep = ","
	}
	return "{" s "}"
}

function msr_members(	i, sep, s)
{
	for (i = 1; i <= n; i++) {
		if (!(order[i] in has_msr))
			continue
		s = s sep member_of(order[i] "_msr", order[i])
		sep = ","
	}
	return "{" s "}"
}

function limit_members(	i, sep, s)
{
	for (i = 1; i <= n; i++) {
		if (part[order[i]] == "heading" || limit(order[i]) == "")
			continue
		s = s sep quoted(order[i]) ":" quoted(limit(order[i]))
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
	printf "\"limits\":%s,", limit_members()
	printf "\"msr_accesses\":%s,", counts_msrs() ? msr_members() : "null"
	printf "\"host_sort_percent\":%s,",
	       host ? members("host") : "null"
	printf "\"passed\":%d,\"failed\":%d}\n", passed, wrong
}

function print_limits(	i)
{
	for (i = 1; i <= n; i++) {
		if (part[order[i]] == "heading")
			continue
		print order[i] " " limit(order[i])
		if (order[i] in has_msr && counts_msrs())
			print order[i] "_msr " limit(order[i] "_msr")
	}
}

END {
	finish_order()
	if (limits_only) {
		print_limits()
		exit 0
	}
	check_all()
	if (json)
		object()
	else
		table()
	printf "%d passed, %d failed\n", passed, wrong > \
	       (json ? "/dev/stderr" : "/dev/stdout")
	exit wrong > 0
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Make a table of the output of one or more runs of `perf test -v "Intel PT"`. A line has the
# subtest, the result and the reason for a skip. This program is in awk because it also runs in the
# guest, whose busybox has awk and no Python.
#
# The shell test begins each part with a line "--- NAME ---". A part that succeeded ends with OK, and
# a part that was skipped printed why. Any other part failed.
#
# A part waits up to 5 s for the processes that it starts, which can be too short on a busy host.
# Such a failure counts as LATE, and only if the part was late in each run.
function close_part(    result) {
	if (part == "")
		return
	if (!ok && reason == "")
		reason = last
	result = ok ? "ok" : skipped ? "skip: " reason : late ? "LATE: " reason : "FAILED: " reason
	if (!(part in table))
		names[++parts] = part
	if (!(part in table) || table[part] ~ /^LATE/ || result ~ /^FAILED/)
		table[part] = result
	part = ""
}

function open_part(name) {
	close_part()
	part = name
	ok = skipped = late = 0
	reason = last = ""
}

{ sub(/\r$/, "") }
/^--- (Test .*) ---$/ {
	gsub(/^--- Test *| *---$/, "")
	open_part($0)
	next
}
/^--- (Cleaning up|Done) ---$/ { close_part() }
part == "" { next }
/^SKIP: / {
	skipped = 1
	reason = substr($0, 7)
}
/[Ss]o skipping$/ {
	skipped = 1
	reason = last
}
/did not start$|did not exit as expected$|does not have [0-9]+ threads$/ {
	late = 1
	reason = $0
}
{
	# The check whether a part can run also prints OK, so that only the last line counts.
	ok = $0 == "OK"
	if (!ok && $0 != "")
		last = $0
}
/^Intel PT packet decoder: Ok$/ { next }
END {
	close_part()
	for (i = 1; i <= parts; i++)
		printf "%-45s %s\n", names[i], table[names[i]]
}

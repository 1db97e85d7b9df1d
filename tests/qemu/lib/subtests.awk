# SPDX-License-Identifier: GPL-2.0-or-later
# What `perf test -v "Intel PT"` says, once or several times, as a table: subtest, result and, if
# it was skipped, why. The shell test begins each of its parts with a line "--- NAME ---"; a part that
# succeeded ends with OK, one that was skipped has said so, all else is a failure.
#
# What a part starts it waits for by the clock, 5 s, which can be too short on a busy host. Such a
# failure counts as LATE, and only if the part was late each time.
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
	# A part asks first whether it can run, which is OK too.
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

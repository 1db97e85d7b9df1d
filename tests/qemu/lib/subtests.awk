# SPDX-License-Identifier: GPL-2.0-or-later
# What `perf test -v "Intel PT"` says, as a table: subtest, result and, if it was skipped,
# why. The shell test begins each of its parts with a line "--- NAME ---"; a part that
# succeeded ends with OK, one that was skipped has said so, all else is a failure.
function close_part() {
	if (part == "")
		return
	if (!ok && reason == "")
		reason = last
	printf "%-45s %s\n", part, ok ? "ok" : skipped ? "skip: " reason : "FAILED: " reason
	part = ""
}

function open_part(name) {
	close_part()
	part = name
	ok = skipped = 0
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
{
	# A part asks first whether it can run, which is OK too.
	ok = $0 == "OK"
	if (!ok && $0 != "")
		last = $0
}
/^Intel PT packet decoder: Ok$/ { next }
END { close_part() }

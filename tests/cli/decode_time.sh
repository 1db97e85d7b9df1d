#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt decode --time against the engine's own clock: on the software CPU an instruction is a
# core clock, so that the time of each instruction is how many ran, times the ratio.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
lines=120000

# check PARTS MAX: PARTS/100 ticks a clock; the estimate may be wrong by MAX ticks.
cat >"$dir/check.awk" <<'AWK'
function hex(s,    i, v) {
	v = 0
	for (i = 3; i <= length(s); i++)
		v = v * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return v
}
function field(name,    at, rest) {
	at = index($0, "\"" name "\":\"")
	if (!at)
		return -1
	rest = substr($0, at + length(name) + 4)
	return hex(substr(rest, 1, index(rest, "\"") - 1))
}
/"insn":/ {
	n++
	truth = n * parts / 100
	time = field("time")
	if (time < 0) {
		unknown++
		next
	}
	error = time > truth ? time - truth : truth - time
	if (error > worst)
		worst = error
	# What a tick is cut off of.
	if (field("time_low") > truth || field("time_until") < truth - 1)
		outside++
}
END {
	printf "%d instructions, error %.0f ticks at most, %d outside, %d without a time\n", \
		n, worst, outside, unknown
	exit !(n >= 100000 && !outside && !unknown && worst <= max)
}
AWK

# time NAME PAYLOAD PARTS MAX OPTION...
time_of() {
	name=$1 payload=$2 parts=$3 max=$4
	shift 4
	if ! said=$("$VPT" run -q --pt=host --engine=soft --model=icx --tsc "$@" -o "$dir/t.vpt" \
		"$GUEST/$payload.elf" 2>&1); then
		tap_fail "$name" "$said"
		return
	fi
	if said=$("$VPT" decode -T -i -j -n "$lines" "$dir/t.vpt" | awk -v parts="$parts" -v max="$max" \
		-f "$dir/check.awk"); then
		echo "# $name: $said"
		tap_ok "$name"
	else
		tap_fail "$name" "$said"
	fi
}

for payload in demo quicksort; do
	# A TNT has the time of its first outcome, and straight code that of what led to it.
	time_of "$payload: CYC and MTC" "$payload" 100 300 --mtc --cyc
	time_of "$payload: MTC, each 8 crystal clocks" "$payload" 100 2000 --mtc
	time_of "$payload: MTC, each 512 crystal clocks" "$payload" 100 60000 --mtc=9
	time_of "$payload: CYC alone" "$payload" 100 300 --cyc
	time_of "$payload: CYC from 1024 clocks on" "$payload" 100 2500 --mtc --cyc=11
	time_of "$payload: half as fast" "$payload" 200 600 --mtc --cyc --cbr=13
done
tap_end

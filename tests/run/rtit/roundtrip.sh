#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every payload, its RTIT trace taken by the host, with configurations of tests/run/rtit/configs:
# run, trace, decode, compare with what ran. A line "table:" for each configuration: payloads,
# instructions that are in the trace, bytes, instructions lost to overflows, mismatches.
# usage: roundtrip.sh [CONFIGURATION...]    all of them if none is named
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
trace=$dir/trace.vpt

# shellcheck disable=SC2046 # words
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z][a-z-]*\)[[:blank:]].*/\1/p' tests/run/rtit/configs)
payloads=$(awk '/^#/ || NF == 0 { next } $2 == "host" { print $1 }' guest/payloads/payloads.cfg |
	sort -u)

# What `vpt verify --json` says, added up.
count() {
	field() {
		echo "$said" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | head -n 1
	}
	insns=$((insns + $(field decoded)))
	skipped=$((skipped + $(field skipped)))
	mismatches=$((mismatches + $(field mismatches)))
	bytes=$((bytes + $("$VPT" dump --summary --json "$trace" |
		sed -n 's/^{"packets":[0-9]*,"bytes":\([0-9]*\).*/\1/p')))
}

# A payload that has no use for a processor like this one says so, and was traced until then.
ran() { # STATUS
	[ "$1" -eq 0 ] || grep -q ', 0 failed, [1-9][0-9]* skipped' "$dir/out"
}

one() { # CONFIGURATION PAYLOAD ARGUMENTS...
	name="$2, $1"
	elf=$GUEST/$2.elf
	shift 2
	"$VPT" run --trace=rtit --pt=host --oracle "$@" -o "$trace" "$elf" >"$dir/out" 2>&1
	status=$?
	said=$("$VPT" verify --allow-empty --json "$trace" 2>&1)
	verified=$?
	if ! ran $status; then
		tap_fail "$name" "vpt run --trace=rtit --pt=host $* $elf: exit status $status
$(tail -n 8 "$dir/out")"
	elif [ $verified -ne 0 ]; then
		tap_fail "$name" "vpt run --trace=rtit --pt=host --oracle $* -o FILE $elf; vpt verify:
$("$VPT" verify --allow-empty "$trace" 2>&1 | tail -n 24)"
	else
		tap_ok "$name"
	fi
	[ $verified -gt 1 ] || count
}

echo "# columns: configuration|payloads|instructions|bytes|lost|mismatches"
for config; do
	arguments=$(sed -n "s/^${config}[[:blank:]]//p" tests/run/rtit/configs)
	insns=0 skipped=0 mismatches=0 bytes=0 n=0
	tap_run "tests/run/rtit/configs has $config" grep -q "^${config}[[:blank:]]" tests/run/rtit/configs
	for payload in $payloads; do
		# shellcheck disable=SC2086 # a list of arguments
		one "$config" "$payload" $arguments
		n=$((n + 1))
	done
	echo "# table: $config $n $insns $bytes $skipped $mismatches"
done
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --seed: the numbers of RDRAND and RDSEED, and the branches that depend on them, follow from the
# seed. A snapshot keeps the place in their sequence.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# run NAME ARG...
run() {
	name=$1
	shift
	"$VPT" run --engine=soft -o "$dir/$name.vpt" "$@" "$GUEST/rdrand.elf" >"$dir/$name.con" 2>/dev/null
}

# sum NAME: the sum of the guest's numbers.
sum() {
	sed -n 's/^NOTE: sum //p' "$dir/$1.con"
}

run one
run same
tap_run "the guest has random numbers" test -n "$(sum one)"
tap_run "a second run has the same trace" cmp "$dir/one.vpt" "$dir/same.vpt"
run other --seed=5
run again --seed=5
tap_run "with another seed there are other numbers" test "$(sum other)" != "$(sum one)"
tap_run "and again the same ones" cmp "$dir/other.vpt" "$dir/again.vpt"

# A replay has the numbers of the recording.
printf abc >"$dir/typed"
run typed --seed=5 --input="$dir/typed"
"$VPT" replay -q -o "$dir/replay.vpt" "$dir/typed.vpt" >/dev/null 2>&1
tap_run "a replay has the same trace" cmp "$dir/typed.vpt" "$dir/replay.vpt"

# Snapshots between two numbers.
for traced in 400 700 1000; do
	at=$("$VPT" run -j --engine=soft --seed=5 --max-insns=$traced "$GUEST/rdrand.elf" 2>/dev/null |
		jq .retired)
	"$VPT" run -q --engine=soft --seed=5 --snapshot="$dir/at.vps" --snapshot-at="$at" \
		-o "$dir/part.vpt" "$GUEST/rdrand.elf" >/dev/null 2>&1
	tap_run "a snapshot after $traced traced instructions" test -s "$dir/at.vps"
	"$VPT" restore -q -o "$dir/rest.vpt" "$dir/at.vps" >/dev/null 2>&1
	tap_run "the trace is the same" cmp "$dir/other.vpt" "$dir/rest.vpt"
	rm -f "$dir/at.vps" "$dir/rest.vpt"
done
tap_end

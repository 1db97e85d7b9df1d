#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Marks that a guest puts into the trace file: their texts, their places, and their bounds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/marks.elf
long=$(printf 'a%.0s' $(seq 255))

texts() { # FILE
	"$VPT" info -j "$1" | jq -c '[.vcpus[].mark_list[].text]'
}

for owner in host guest; do
	"$VPT" run -q --engine=soft --pt=$owner -o "$dir/$owner.vpt" "$elf" >/dev/null
	tap_run "$owner: the texts" test "$(texts "$dir/$owner.vpt")" = \
		"[\"begin\",\"xyz\",\"$long\",\"?[2J\",\"end\"]"
	# The first mark has the place of the trace at its end, and later ones are behind it.
	tap_run "$owner: the places ascend, and are in the trace" test "$("$VPT" info -j "$dir/$owner.vpt" | jq -c '
		.vcpus[0] | [.mark_list[].insns] as $at | [.sessions[].insns] | add as $all |
		($at == ($at | sort)) and ($at | unique | length) == 5 and $at[0] > 0 and $at[4] <= $all')" = true
	"$VPT" decode "$dir/$owner.vpt" >"$dir/decode"
	tap_run "$owner: vpt decode prints them" test "$(grep -c " of the guest: " "$dir/decode")" -eq 5
	tap_run "$owner: without control characters" test "$(tr -d '\n\t' <"$dir/decode" | tr -cd '[:cntrl:]' | wc -c)" -eq 0
done
"$VPT" run -q --engine=soft --pt=host --arg=70000 -o "$dir/many.vpt" "$elf" >/dev/null
tap_run "marks are bounded" test "$("$VPT" info -j "$dir/many.vpt" | jq '.vcpus[0].marks')" -eq 65536
tap_run "and the trace is whole" "$VPT" decode -q "$dir/many.vpt"
"$VPT" info "$dir/many.vpt" >"$dir/info"
tap_run "vpt info has a limit" grep -q "and 655.. more marks: see --limit" "$dir/info"

# A snapshot in the middle of a text.
insns=$("$VPT" info -j "$dir/host.vpt" | jq '.vcpus[0].mark_list[2].insns')
"$VPT" run -q --engine=soft --pt=host --snapshot="$dir/s.vps" --snapshot-at=$((insns - 100)) -o "$dir/part.vpt" \
	"$elf" >/dev/null 2>&1
"$VPT" restore -q -o "$dir/rest.vpt" "$dir/s.vps" >/dev/null
tap_run "a snapshot in a text: the same file" cmp "$dir/host.vpt" "$dir/rest.vpt"
"$VPT" run -q --engine=soft --pt=off "$elf" >"$dir/off"
tap_run "without a trace the ports do nothing" grep -q " 0 failed" "$dir/off"
tap_end

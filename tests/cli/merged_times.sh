#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Merged blocks have the times of blocks, and trees of calls the same time for each call.
#
# tests/merged compares two flows block by block, also of traces that are damaged at random places. Times
# are those of TSC, MTC and CYC packets, or relative ones without TSC packets.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
traces=0

for options in "--tsc --mtc --cyc --psb=0" "--tsc --mtc --model=spr --events" "--mtc --psb=1" \
	"--cyc=4 --psb=0" "--tsc --mtc --cyc --buffer=256:300"; do
	for guest in "$GUEST"/*.elf; do
		name=$(basename "$guest" .elf)
		case $name in atom_*) continue ;; esac
		rm -f "$dir/t.vpt"
		# shellcheck disable=SC2086 # a command line
		"$VPT" run -q --engine=soft --pt=host $options --max-insns=20000 -o "$dir/t.vpt" "$guest" \
			>/dev/null 2>&1 </dev/null
		[ -s "$dir/t.vpt" ] || continue
		traces=$((traces + 1))
		for damage in 0 9; do
			"$O/tests/merged" 2 $traces $damage "$dir/t.vpt" >"$dir/out" 2>&1 ||
				tap_fail "$name $options, damage $damage" "$(cat "$dir/out")"
			tail -n 1 "$dir/out" >>"$dir/said"
		done
	done
done
awk '{ gsub(",", ""); blocks += $2; items += $4; times += $6 }
	END { printf "blocks=%d items=%d times=%d\n", blocks, items, times }' "$dir/said" >"$dir/sums"
. "$dir/sums"
tap_run "at least 200 traces: $traces" test $traces -ge 200
tap_run "two blocks or more in an item: $blocks in $items" test "${blocks:-0}" -ge $((2 * ${items:-1}))
tap_run "at least 100000 times: $times" test "${times:-0}" -ge 100000
tap_end

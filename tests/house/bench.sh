#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The verdict of make bench-against: a row is slower beyond 2 % and twice the A/A spread. The table of
# make bench-linux: minima, ratios, goals that are missed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# verdict NAME WANT BASE NEW AGAIN: the row that was measured so, in two rounds.
verdict() {
	printf 'row\tcommand\n' >"$dir/rows"
	printf 'row\t0\ttimes\t2\n' >"$dir/ledger"
	for us in "base\t$3" "new\t$4" "again\t$5"; do
		# The minimum counts, not what a busy machine adds.
		printf "row\\t1\\t$us\\nrow\\t2\\t${us}0\\n" >>"$dir/ledger"
	done
	said=$(tests/bench/verdict.py "$dir/rows" "$dir/ledger" 0123 2 "$dir/out.json")
	status=$?
	tap_run "$1: $2" test "$(echo "$said" | sed -n '2s/.* //p')/$status" = "$2"
	tap_run "$1: bench-against.json" jq -e '.rows[0] | .row == "row" and .new_us == '"$4 / 2" "$dir/out.json"
}

verdict "the same" ok/0 100000 100000 100000
verdict "faster" ok/0 100000 90000 100000
verdict "1.9 % slower" ok/0 100000 101900 100000
verdict "2.1 % slower" slower/1 100000 102100 100000
verdict "4 % slower, within twice the spread" ok/0 100000 105000 102000
verdict "6 % slower, beyond twice the spread" slower/1 100000 107000 102000

# ledger LINE...: fields of the table's ledger, with blanks for tabs. Sets $said and $status.
ledger() {
	printf '%s\n' "$@" | tr ' ' '\t' >"$dir/ledger"
	said=$(tests/bench/linux.py "$dir/ledger" 2 "$dir/linux.json")
	status=$?
}

# row NAME FILTER: a row of the JSON file holds so
row() {
	tap_run "$1: $2" jq -e --arg name "linux: $1" \
		"[.[] | select(.name == \$name)] | length == 1 and (.[0] | $2)" "$dir/linux.json"
}

ledger 'forks 1 1 qemu 4.0 9.0 0' 'forks 1 1 untraced 5.0 9.0 0' 'forks 1 2 untraced 4.4 9.0 0' \
	'forks 1 3 untraced 1.0 1.0 0' 'forks 1 1 traced 5.2 6.0 30000000' 'forks 1 1 verified 9.0 12.6 99' \
	'boot 1 1 stored 3.0 3.0 2000000000' 'boot 1 1 read 4.0 15.1 1500000000' 'boot 2 1 verified refused' \
	'boot 2 1 qemu 4.0 9.0 0' 'boot 2 1 untraced 9.0 9.0 0'
tap_run "linux: a missed goal is no failure" test $status -eq 0
row "forks, 1 vCPU, untraced" '.value == 4.4 and .median == 4.7 and .ratio == 1.1 and .goal == 1'
row "forks, 1 vCPU, traced" '.ratio == 1.3 and .goal == 1.3'
row "forks, 1 vCPU, verified, elapsed" '.ratio == 2.1 and .goal == 2'
row "boot, 2 vCPUs, untraced" '.ratio == 2.25 and has("goal") == false'
for missed in "forks, 1 vCPU, untraced: 1.1 " "forks, 1 vCPU, verified, elapsed: 2.1 " \
	"boot, 1 vCPU, stored, file: 2e+09 " "boot, 1 vCPU, vpt verify, elapsed: 15.1 "; do
	tap_run "linux: missed: $missed" sh -c "echo '$said' | grep -qF 'missed: $missed'"
done
tap_run "linux: the count of goals" sh -c "echo '$said' | grep -qx '1 goals met, 4 missed'"
tap_run "linux: what vpt refuses" sh -c "echo '$said' | grep -q '^boot  *2 .* refused'"
ledger 'systemd 1 1 qemu 10.0 9.0 0' 'systemd 1 1 untraced 17.1 9.0 0'
tap_run "linux: the goal of systemd" sh -c "echo '$said' | grep -qF 'missed: systemd, 1 vCPU, untraced: 1.71 '"

# Rows replace those with the same name.
echo '[{"name": "a", "value": 1}, {"name": "b", "value": 2}]' >"$dir/into.json"
echo '[{"name": "b", "value": 3}, {"name": "c", "value": 4}]' >"$dir/rows.json"
for time in first second; do
	tests/bench/merge.py "$dir/rows.json" "$dir/into.json"
	tap_run "merge, $time time" test "$(jq -c 'map([.name, .value])' "$dir/into.json")" = '[["a",1],["b",3],["c",4]]'
done
rm "$dir/into.json"
tests/bench/merge.py "$dir/rows.json" "$dir/into.json"
tap_run "merge into no file" test "$(jq -c . "$dir/into.json")" = "$(jq -c . "$dir/rows.json")"
tap_end

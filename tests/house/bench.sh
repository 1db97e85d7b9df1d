#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The verdict of make bench-against: a row is slower beyond 2 % and twice the A/A spread.
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
tap_end

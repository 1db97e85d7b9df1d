#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every row of the manual's tables that tests/tables/required names is there, and what the
# library sends is what the row says. With --list prints the rows and their packets.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/roundtrip.sh
O=${O:-build/${MODE:-rel}}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

VPT_LIST_ROWS=1 "$O/tests/test_tables" >"$dir/said" 2>&1
# A row is listed after it was compared: table, row, what, packets.
grep '	' "$dir/said" | grep -v '^[^	]*\.[ch]:' >"$dir/rows"
# Table 33-4 is an algorithm: a guest follows it, and tells whether a PMI was lost.
handlers="topa_pmi preserve"

if [ "${1-}" = --list ]; then
	for payload in $handlers; do
		said=$(roundtrip "$payload" "$dir/t.vpt" 0 "$GUEST/$payload.elf" --engine=soft --model=spr)
		printf '%-14s %-12s %-54s %s\n' 33-4 guest "PMI handler, payload $payload" "$said"
		case $said in *"not ok"*) exit 1 ;; esac
	done
	awk -F '\t' '{ printf "%-14s %-12s %-54s %s\n", $1, $2, $3, $4 == "" ? "none" : $4 }' "$dir/rows"
	grep -c . "$dir/rows" | sed 's/$/ rows, 0 differences in them/'
	grep -E '^[^	]*:[FE]:' "$dir/said" && exit 1
	exit 0
fi

awk '!/^#/ && NF {
	for (i = 2; i <= NF && $i != "-"; i++) {
		n = split($i, ends, "-")
		if (n == 2)
			for (r = ends[1] + 0; r <= ends[2] + 0; r++)
				print $1 "\t" r
		else
			print $1 "\t" $i
	}
}' tests/tables/required >"$dir/required"

while IFS='	' read -r table row; do
	# 4 is there as 4, 4a, 4b; INTR as INTR, INTRa.
	if grep -qE "^$table	$row[a-z]*	" "$dir/rows"; then
		tap_ok "table $table row $row"
	else
		tap_fail "table $table row $row" "$(grep -E "table $table|$table	$row" "$dir/said" |
			head -n 3)"
	fi
done <"$dir/required"
for payload in $handlers; do
	roundtrip "table 33-4: payload $payload" "$dir/t.vpt" 0 "$GUEST/$payload.elf" --engine=soft \
		--model=spr
done
tap_empty "no row differs" "$(grep -E '^[^	]*:[FE]:' -A 4 "$dir/said" | head -n 40)"
tap_run "there are rows" test -s "$dir/rows"
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every row of the manual's tables that tests/unit/tables/required names is there, and what the
# library sends is what the row says. With --list prints the rows and their packets.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
. tests/lib/rows.sh
O=${O:-build/${MODE:-rel}}

rows_run test_tables
# Table 33-4 is an algorithm: a guest follows it, and tells whether a PMI was lost.
handlers="topa_pmi preserve"

if [ "${1-}" = --list ]; then
	for payload in $handlers; do
		said=$(roundtrip "$payload" "$dir/t.vpt" 0 "$GUEST/$payload.elf" --engine=soft --model=spr)
		printf '%-14s %-12s %-54s %s\n' 33-4 guest "PMI handler, payload $payload" "$said"
		case $said in *"not ok"*) exit 1 ;; esac
	done
	rows_print
	grep -c . "$dir/rows" | sed 's/$/ rows, 0 differences in them/'
	grep -E '^[^	]*:[FE]:' "$dir/said" && exit 1
	exit 0
fi

rows_wanted tests/unit/tables/required >"$dir/required"
rows_tap "$dir/required"
for payload in $handlers; do
	roundtrip "table 33-4: payload $payload" "$dir/t.vpt" 0 "$GUEST/$payload.elf" --engine=soft \
		--model=spr
done
tap_empty "no row differs" "$(rows_failed)"
tap_run "there are rows" test -s "$dir/rows"
tap_end

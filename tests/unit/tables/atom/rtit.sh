#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every row of the RTIT reference's tables that tests/unit/tables/atom/required names is there, and the
# library sends what the row says. A test that passed has proved every rule of
# shared/spec/rtit*.def (register, field, packet, erratum), and the decoder's side of each erratum.
# With --list prints all of that for people.
set -u
cd "$(dirname "$0")/../../../.." || exit 1
. tests/lib/cli.sh
. tests/lib/rows.sh
O=${O:-build/${MODE:-rel}}
errata="1 2 3 4 5 6 7 8"

rows_run test_atom_tables
rows_wanted tests/unit/tables/atom/required >"$dir/required"

# The tests of Atom's facts, and what they recorded: tag, file, program, test, row.
O=$O .ci/proofs ATOM- >"$dir/proofs" 2>"$dir/failing"
.ci/spec-map "$dir/proofs" 2>"$dir/wrong" |
	tests/unit/tables/atom/rules.py "$dir/proofs" >"$dir/rules"

# Tests of who reads packets, for an erratum.
decoder_tests() { # NUMBER
	awk -F '\t' -v tag="ATOM-E$1" '
		$1 == tag && $3 ~ /decode|timeline|expect/ { print $3 ":" $4 }' "$dir/proofs" |
		sort -u | tr '\n' ' ' | sed 's/ $//'
}

awk -F '\t' '$4 == "-" && $5 == "-" { print $1 }' "$dir/rules" >"$dir/missing"
grep -E '^[^	]*:[FE]:' "$dir/said" >>"$dir/failing"
while IFS='	' read -r table row; do
	rows_has "$table" "$row" || [ -n "$(rows_said "$table" "$row")" ] ||
		echo "table $table row $row"
done <"$dir/required" >>"$dir/missing"
for n in $errata; do
	[ -n "$(decoder_tests "$n")" ] || echo "E$n, a decoder's side"
done >>"$dir/missing"

# A regular expression: the tags of one of rtit.def's macros.
tags_of() { # MACRO
	tags=$(sed -n "s/^VPT_ATOM_$1(.* \(ATOM-[A-Z0-9-]*\), \".*/\1/p" shared/spec/rtit.def)
	echo "^($(echo "$tags" | tr '\n' '|' | sed 's/|$//'))\$"
}

list_rules() { # TITLE PATTERN
	printf '\n%s\n' "$1"
	awk -F '\t' -v pattern="$2" '
	function none(list) { return list == "-" }
	$1 ~ pattern {
		n = split($5, row, ", ")
		shown = n > 4 ? row[1] ", " row[2] ", " row[3] " and " n - 3 " more" : $5
		where = none($5) ? $4 : (none($4) ? "" : $4 "; ") "rows " shown
		state = where == "-" ? "missing" : "ok"
		printf "%-8s %-20s %-22s %s [%s]\n", state, $1, $2, $3, where
	}' "$dir/rules"
}

list() {
	echo "Rows of tables, figures and examples, and what is sent"
	rows_print
	list_rules "Processors" "$(tags_of STEPPING)"
	list_rules "Registers" "$(tags_of MSR)"
	list_rules "Fields" "$(tags_of FIELD)"
	list_rules "Packets" "$(tags_of PKT)"
	list_rules "Errata, as the generator has them" '^ATOM-E[1-8]$'
	printf '\nErrata, as who reads packets meets them\n'
	for n in $errata; do
		said=$(decoder_tests "$n")
		printf '%-8s E%s [%s]\n' "$([ -n "$said" ] && echo ok || echo missing)" "$n" "$said"
	done
	list_rules "All rules" '^ATOM-'
	printf '\n'
	rows_failed
	sed 's/^/missing: /' "$dir/missing"
	sed 's/^/failing: /' "$dir/failing"
}

if [ "${1-}" = --list ]; then
	list
	awk -v missing="$(wc -l <"$dir/missing")" -v failing="$(wc -l <"$dir/failing")" '
		END { print NR + 8 " rows, " missing " missing, " failing " failing" }' \
		"$dir/rows" "$dir/rules"
	[ ! -s "$dir/missing" ] && [ ! -s "$dir/failing" ]
	exit
fi

rows_tap "$dir/required"
while IFS='	' read -r tag section rule tests rows; do
	if [ "$tests$rows" = -- ]; then
		tap_fail "$tag ($section)" "$rule: no test"
	else
		tap_ok "$tag ($section)"
	fi
done <"$dir/rules"
for n in $errata; do
	tap_run "E$n: who reads packets" test -n "$(decoder_tests "$n")"
done
tap_empty "no row differs" "$(rows_failed)"
tap_empty "no test fails" "$(cat "$dir/failing")"
tap_empty "every rule has code and a test" "$(grep 'ATOM-' "$dir/wrong")"
tap_run "there are rows" test -s "$dir/rows"
tap_run "there are rules" test -s "$dir/rules"
tap_end

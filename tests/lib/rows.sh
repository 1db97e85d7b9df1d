# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Rows of a document's tables as tests (tests/lib/tables.h). Source it behind tap.sh, with O and
# dir set:
#
#   rows_run PROGRAM     run it; $dir/rows: those that passed, $dir/said: what it printed
#   rows_wanted FILE     which rows must be there, "table<tab>row": TABLE ROWS..., rows as numbers,
#                        as NUMBER-NUMBER or as names, up to a "-"
#   rows_has TABLE ROW   is it among those that passed; 4 is there as 4, 4a, 4b
#   rows_said TABLE ROW  what there is to say about one that is not
#   rows_tap FILE        a test for each row that rows_wanted printed into it
#   rows_print           the rows that passed, for people
#   rows_failed          what was printed about those that did not

rows_run() {
	CK_FORK=no TEST_LIST_ROWS=1 "$O/tests/$1" >"${dir:?}/said" 2>&1
	# A row is listed after it was compared: table, row, what, packets.
	grep '	' "$dir/said" | grep -v '^[^	]*\.[ch]:' >"$dir/rows"
}

rows_wanted() {
	awk '!/^#/ && NF {
		for (i = 2; i <= NF && $i != "-"; i++) {
			n = split($i, ends, "-")
			if (n == 2)
				for (r = ends[1] + 0; r <= ends[2] + 0; r++)
					print $1 "\t" r
			else
				print $1 "\t" $i
		}
	}' "$1"
}

rows_has() {
	awk -F '\t' -v table="$1" -v row="$2" '
		$1 == table && index($2, row) == 1 && substr($2, length(row) + 1) ~ /^[a-z]*$/ {
			found = 1
		}
		END { exit !found }' "$dir/rows"
}

rows_said() {
	grep -F "$1	$2" "$dir/said" | head -n 3
}

rows_tap() {
	while IFS='	' read -r table row; do
		if rows_has "$table" "$row"; then
			tap_ok "table $table row $row"
		else
			tap_fail "table $table row $row" "$(rows_said "$table" "$row")"
		fi
	done <"$1"
}

rows_print() {
	awk -F '\t' '{ printf "%-14s %-12s %-54s %s\n", $1, $2, $3, $4 == "" ? "none" : $4 }' \
		"$dir/rows"
}

rows_failed() {
	grep -E '^[^	]*:[FE]:' -A 4 "$dir/said" | head -n 40
}

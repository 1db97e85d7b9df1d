#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Run tests as tests/lib/run.sh does, and show what they counted as tables before the last line,
# "N passed, N failed". A test counts by lines of its output:
#
#   # columns: configuration|payloads|...	a table with these columns, and what
#   # table: plain 60 ...			are its rows; those with equal columns are one
#
# usage: tabled.sh DIR COMMAND...
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$1
shift
tests/lib/run.sh -j2 -t 1200 -d "$dir" "$@" | awk -v dir="$dir" '
	NR > 1 { print last; fflush() }
	{ last = $0 }
	function row(line,    f, n, i, text) {
		n = split(line, f, /[| ]/)
		text = sprintf("%-14s", f[1])
		for (i = 2; i <= n; i++)
			text = text sprintf(" %16s", f[i])
		return text "\n"
	}
	function read_rows(    line, cat, columns, rows, order, n, i) {
		cat = "cat " dir "/*.tap"
		while ((cat | getline line) > 0) {
			if (sub(/^# columns: /, "", line)) {
				columns = line
				if (!(columns in rows))
					order[++n] = columns
			} else if (sub(/^# table: /, "", line)) {
				rows[columns] = rows[columns] row(line)
			}
		}
		for (i = 1; i <= n; i++) {
			printf "\n%s%s", row(order[i]), rows[order[i]]
		}
		print ""
	}
	END {
		read_rows()
		print last
		exit last !~ /^[0-9]+ passed, 0 failed/
	}'

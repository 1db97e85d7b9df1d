# SPDX-License-Identifier: GPL-2.0-or-later
# Which test proves which rule of Atom's RTIT: "tag<tab>program<tab>test", out of tests/unit/*.c
# and tests/atom/*.tbl. A row of a table in a .c file is of the first test behind it.
function prove(tags, test,    n, i, tag) {
	n = split(tags, tag, /[ \t]+/)
	for (i = 1; i <= n; i++)
		if (tag[i] ~ /^ATOM-/)
			print tag[i] "\t" program "\t" test
}
function flush_rows(test,    i) {
	for (i = 1; i <= waiting; i++)
		prove(rows[i], test)
	waiting = 0
}
# The first two strings of a line.
function strings(line) {
	split(line, quoted, "\"")
	return quoted[2] " " quoted[4]
}
FNR == 1 {
	table = FILENAME ~ /\.tbl$/
	program = FILENAME
	sub(/.*\//, "", program)
	sub(/\.c$/, "", program)
	if (table)
		program = "test_atom_tables"
	test = ""
	proving = waiting = 0
}
table && /^VPT_ROW\(/ { test = strings($0) }
!table && /^START_TEST\(/ {
	test = $0
	gsub(/^START_TEST\(|\).*/, "", test)
	flush_rows(test)
}
!table && /^END_TEST/ { test = "" }
{
	rest = $0
	while (rest != "") {
		if (!proving) {
			if (!match(rest, /VPT_(ROW_)?PROVES\(/))
				break
			proving = 1
			rest = substr(rest, RSTART + RLENGTH)
		}
		if (!match(rest, /"[^"]*"|\)/))
			break
		part = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		if (part == ")")
			proving = 0
		else if (test != "")
			prove(substr(part, 2, length(part) - 2), test)
		else
			rows[++waiting] = substr(part, 2, length(part) - 2)
	}
}

# SPDX-License-Identifier: GPL-2.0-or-later
# Print the rules of Atom's RTIT in .ci/spec-map's output with the tests that proved them:
# "tag<tab>section<tab>rule<tab>tests<tab>rows", "-" for none.
# usage: awk -v proofs=FILE -f rules.awk	FILE is the output of .ci/proofs
function add(list, what) {
	return list (list == "" ? "" : ", ") what
}
function or_none(list) {
	return list == "" ? "-" : list
}
BEGIN {
	FS = "\t"
	while ((getline <proofs) > 0) {
		if (($1, $3, $4) in seen)
			continue
		seen[$1, $3, $4] = 1
		if ($3 == "test_atom_tables")
			rows[$1] = add(rows[$1], $4)
		else
			tests[$1] = add(tests[$1], $3 ":" $4)
	}
}
/^\| ATOM-/ {
	split($0, part, / \| /)
	tag = substr(part[1], 3)
	print tag "\t" part[2] "\t" part[3] "\t" or_none(tests[tag]) "\t" or_none(rows[tag])
}

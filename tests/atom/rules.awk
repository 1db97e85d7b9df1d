# SPDX-License-Identifier: GPL-2.0-or-later
# The rules of Atom's RTIT in .ci/spec-map's output, and how it stands with each: "tag<tab>
# section<tab>rule<tab>tests<tab>rows<tab>what failed", "-" for none. With -v proofs=, what
# proofs.awk says, and -v results=, "program<tab>test<tab>ok" of each test that ran.
function add(list, what, between) {
	return list (list == "" ? "" : between) what
}
function or_none(list) {
	return list == "" ? "-" : list
}
BEGIN {
	FS = "\t"
	while ((getline <results) > 0) {
		ran[$1, $2] = 1
		if ($3 != "ok")
			bad[$1, $2] = 1
	}
	while ((getline <proofs) > 0) {
		if (($1, $2, $3) in seen)
			continue
		seen[$1, $2, $3] = 1
		if (($2, $3) in bad || !(($2, $3) in ran))
			failed[$1] = add(failed[$1], $2 ":" $3, " ")
		if ($2 == "test_atom_tables")
			rows[$1] = add(rows[$1], $3, ", ")
		else
			tests[$1] = add(tests[$1], $2 ":" $3, ", ")
	}
}
/^\| ATOM-/ {
	split($0, part, / \| /)
	tag = substr(part[1], 3)
	print tag "\t" part[2] "\t" part[3] "\t" or_none(tests[tag]) "\t" or_none(rows[tag]) "\t" \
		or_none(failed[tag])
}

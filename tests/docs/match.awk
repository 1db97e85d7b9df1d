# SPDX-License-Identifier: GPL-2.0-or-later
# Compare output with what a document shows of it.
#
# usage: awk -v part=0|1 -f match.awk WANT GOT
#
# A line of WANT that is "..." stands for any number of lines, "..." within a line for any
# text. Seconds, which differ from run to run, the size of a file, which has ELF files with the
# names of folders in them, and empty lines at the end are not compared.
# With part=1, GOT must have each line of WANT in this order, whatever is between them, and
# numbers are not compared.
# Prints the first line of WANT that GOT does not have, and exits with 1.

BEGIN {
	hex16 = "[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]"
	hex16 = hex16 hex16
	need = 1
}

function comparable(text) {
	gsub(/[0-9]+\.[0-9]+ s/, "# s", text)
	gsub(/[0-9]+ bytes of file/, "# bytes of file", text)
	sub(/[ \t\r]+$/, "", text)
	if (part) {
		gsub(hex16, "#", text)
		gsub(/0x[0-9a-f]+/, "#", text)
		gsub(/[0-9][0-9a-f]*/, "#", text)
		gsub(/[ \t]+/, " ", text)
		sub(/^ /, "", text)
	}
	return text
}

# A regular expression that matches the line, "..." being any text.
function expression(text) {
	gsub(/[][\\.^$*+?(){}|\/]/, "\\\\&", text)
	gsub(/\\\.\\\.\\\./, ".*", text)
	return "^" text "$"
}

NR == FNR {
	want[++wanted] = comparable($0)
	next
}

# Line by line: the output may be long.
part {
	while (need <= wanted && want[need] == "...")
		need++
	if (need > wanted)
		exit
	if (matches(want[need], comparable($0)))
		need++
	next
}

{
	got[++given] = comparable($0)
}

function matches(w, g) {
	return index(w, "...") ? g ~ expression(w) : w == g
}

END {
	if (part) {
		if (need <= wanted) {
			print "not printed: " want[need]
			exit 1
		}
		exit 0
	}
	while (given && got[given] == "")
		given--
	while (wanted && want[wanted] == "")
		wanted--
	at = 1
	for (i = 1; i <= wanted; i++) {
		if (want[i] == "...") {
			free = 1
			continue
		}
		if (free)
			while (at <= given && !matches(want[i], got[at]))
				at++
		if (at > given || !matches(want[i], got[at])) {
			print "shown:   " want[i]
			print "printed: " (at > given ? "(no such line)" : got[at])
			exit 1
		}
		free = 0
		at++
	}
	if (at <= given && !free) {
		print "printed, and not shown: " got[at]
		exit 1
	}
}

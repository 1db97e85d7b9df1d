# SPDX-License-Identifier: GPL-2.0-or-later
# Follow programs/steps.c in the lines "TID IP" of its instructions.
# usage: awk -v symbols=FILE -f steps.awk     FILE: nm's output for the program
#
# Prints for each thread: its number, the steps that it made, how often a step is not the
# one after that before, its instructions in steps() and the functions called by it, but for
# the one that an interrupt can show more than once, and how often it was at each of the four
# functions. At the end: instructions of all threads, whichever they are; decode errors; and
# those that say that there is a gap in the trace, which are no errors.
#
# Where the output stopped, the packet before the gap may be cut. perf completes it with the
# first bytes behind the gap, follows what that gives, and reports the gap at the next packet
# that has a time. Errors shortly before a gap are therefore none.
BEGIN {
	while ((getline line <symbols) > 0) {
		split(line, word, " ")
		sub(/^0+/, "", word[1])
		if (word[3] ~ /^step[0-3]$/)
			step[word[1]] = substr(word[3], 5)
		at[word[3]] = word[1]
	}
	# Addresses of one length: text compares as numbers do.
	first = at["step0"]
	last = at["steps_end"]
	work = at["steps_work"]
	if (first == "" || last == "" || work == "" || length(first) != length(last)) {
		print "the symbols of the program are not as expected"
		exit 1
	}
}
/^ *instruction trace error/ {
	if (/code (7|8): /) {
		gaps++
		cut = 0
	} else {
		if (!cut++)
			since = 0
	}
	next
}
NF == 2 {
	instructions++
	if (cut && ++since > 1000) {
		errors += cut
		cut = 0
	}
	tid = $1
	ip = $2
	if (length(ip) != length(first) || ip < first || ip >= last)
		next
	if (!(tid in made))
		made[tid] = breaks[tid] = inside[tid] = 0
	if (ip != work)
		inside[tid]++
	if (ip in step) {
		if (made[tid]++ && step[ip] != due[tid])
			breaks[tid]++
		due[tid] = (step[ip] + 1) % 4
		each[tid, step[ip]]++
	}
}
END {
	for (tid in made)
		print "thread", tid, made[tid], breaks[tid], inside[tid], each[tid, 0] + 0,
			each[tid, 1] + 0, each[tid, 2] + 0, each[tid, 3] + 0
	print "instructions", instructions + 0
	print "errors", errors + cut
	print "gaps", gaps + 0
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Round trips until so many instructions have made one: run a guest on the software CPU
# with an oracle, decode its trace, compare it with what ran, instruction by instruction
# and event by event. Interrupts, faults and self-modifying code are part of it, all
# models and both owners of PT. What runs follows from the number of the slice, so that
# a run can be repeated; each is also run without an oracle, where the CPU takes other
# paths, and must make the same packets. The oracle of one slice in eight has a record of
# each instruction, which no compiled code writes. The others have the blocks, which it writes.
# usage: soak.sh [-l] [-j JOBS] [-f FIRST] [-t] INSNS
#        soak.sh [-l] -1 SLICE      what this slice is, and its result
# With -l slices with the blocks are 10 to 50 times as long, so that almost all of a slice runs as
# compiled code. One slice in 64 has the instructions, and one in four is of a program of loops.
# With -t the output is TAP, a test per slice. Else it is progress, a table, and last
# "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build/${MODE:-rel}}
VPT=$O/vpt
jobs=1
first=0
tap=
one=
long=

# Sets payload and arguments (5 to 15 million instructions or the most that there is),
# owner, model, seed. Most slices are of the payloads that are others for each seed.
choose() { # SLICE
	slice_hash=$(($1 * 2654435761 / 65536))
	owner=$([ $((slice_hash / 8 % 2)) -eq 0 ] && echo guest || echo host)
	case $((slice_hash / 32 % 4)) in
	0) model=bdw ;;
	1) model=skl ;;
	2) model=icx ;;
	*) model=spr ;;
	esac
	seed=$(($1 + 1))
	oracle=--oracle-blocks
	if [ $(($1 / 8 % 8)) -eq $(($1 % 8)) ] && { [ -z "$long" ] || [ $(($1 % 64)) -eq 27 ]; }; then
		oracle=--oracle
	fi
	# How much more than 5 to 15 million instructions: of most programs, of kernelmix, of loops.
	more=1 mix=1 loops=1
	[ -z "$long" ] || [ $oracle = --oracle ] || more=10 mix=40 loops=50
	kind=$(($1 % 8))
	[ -z "$long" ] || [ $kind -ne 2 ] || kind=4
	case $kind in
	0 | 2) set -- random --arg=$((8 * more)) ;;
	1 | 3) set -- kernelmix --arg=$((600 * mix)) ;;
	5 | 6) set -- kernelmix --arg=$((600 * mix)) --arg=1 ;;
	4)
		# Programs of long loops.
		case $(($1 / 8 % 6)) in
		0) set -- quicksort --arg=$((60 * loops)) ;;
		1) set -- bytecode --arg=$((100 * loops)) ;;
		2) set -- hashtable --arg=$((260 * loops)) ;;
		3) set -- regex --arg=$((100 * loops)) ;;
		4) set -- sha256 --arg=$((2600 * loops)) ;;
		*) set -- bench_int --arg=$((8 * loops)) ;;
		esac
		;;
	*)
		case $(($1 / 8 % 8)) in
		0) set -- compat --arg=160 ;;
		1) set -- simd --arg=$((300 * more)) ;;
		2) set -- storm --arg=$((1500 * more)) ;;
		3) set -- timer --arg=$((4000 * more)) ;;
		4) set -- processes --arg=$((6000 * more)) ;;
		5) set -- jit --arg=300 ;;
		6) set -- debugregs --arg=800 ;;
		*) set -- demand --arg=6000 ;;
		esac
		;;
	esac
	payload=$1
	shift
	arguments=$*
}

now() {
	echo $(($(date +%s%N) / 1000000))
}

# Sets why, empty if all is well; retired, events.
try() { # FILE
	retired=0
	events=0
	interpreted=0
	ran=0
	verified=0
	run="$VPT run -q --engine=soft --pt=$owner --model=$model --seed=$seed $arguments"
	guest=$O/guest/$payload.elf
	begin=$(now)
	# shellcheck disable=SC2086 # a command line
	if ! why=$($run $oracle --json -o "$1" "$guest" 2>&1 </dev/null); then
		why=$(echo "$why" | tail -n 8)
		return
	fi
	middle=$(now)
	# Of an oracle of instructions this is all.
	interpreted=$(echo "$why" | sed -n 's/.*"interpreted":\([0-9]*\).*/\1/p')
	if ! why=$("$VPT" verify -j "$1" 2>&1); then
		why=$("$VPT" verify "$1" 2>&1 | tail -n 60)
		return
	fi
	ran=$((middle - begin))
	verified=$(($(now) - middle))
	retired=$(echo "$why" | sed 's/.*"retired":\([0-9]*\).*/\1/')
	events=$(echo "$why" | sed 's/.*"events":\([0-9]*\).*/\1/')
	# A decoder finds the versions of code by this counter.
	counted=$("$VPT" info "$1" | awk '/, instructions: / { sum += $NF } END { printf "%d", sum }')
	case $why in
	*"\"decoded\":$counted,"*) ;;
	*)
		why="the counter of code has $counted instructions: $why"
		return
		;;
	esac
	packets=$("$VPT" dump "$1" | cksum)
	rm -f "$1"
	# shellcheck disable=SC2086
	why=$($run -o "$1" "$guest" 2>&1 </dev/null) || return
	why=
	[ "$packets" = "$("$VPT" dump "$1" | cksum)" ] || why="other packets without --oracle"
}

# A line of results: slice, payload, owner, model, instructions, events, ms, ms, verdict, and the
# instructions that ran without compiled code.
do_slice() { # SLICE DIR
	choose "$1"
	try "$2/$1.vpt"
	rm -f "$2/$1.vpt"
	if [ -n "$why" ]; then
		printf '%s\n' "slice $1: $run $oracle -o t.vpt $guest && $VPT verify t.vpt" \
			"$why" >"$2/$1.failed"
	fi
	echo "$1 $payload $owner $model $retired $events $ran $verified" \
		"$([ -z "$why" ] && echo ok || echo failed)" "$interpreted" >>"$2/results"
}

# The jobs take slices in turn; what they have done so far decides who is the last.
worker() { # NUMBER DIR
	slice=$((first + $1))
	while
		sum=$(awk '{ n += $5 } $9 == "failed" { bad++ } END { printf "%.0f %d\n", n, bad }' "$2/results")
		[ "${sum% *}" -lt "$insns" ] && [ "${sum#* }" -lt 5 ]
	do
		do_slice "$slice" "$2"
		slice=$((slice + jobs))
		[ -n "$tap" ] || progress "$2"
	done
}

progress() { # DIR
	awk -v want="$insns" '
		{ n += $5; events += $6; bad += $9 == "failed" }
		END {
			if (NR % 10 == 0)
				printf "%5d slices: %11.0f of %.0f instructions, %d events, %d failed\n",
					NR, n, want, events, bad
		}' "$1/results"
}

table() { # DIR
	awk '
		function line(name) {
			printf "%-12s %6d %13.0f %9.0f %7d %8.1f %8.1f %9.2f\n", name, slices[name],
				insns[name], events[name], bad[name], insns[name] / (ran[name] + 1) / 1000,
				insns[name] / (checked[name] + 1) / 1000,
				100 * compiled[name] / (insns[name] + !insns[name])
		}
		function add(name) {
			slices[name]++
			insns[name] += $5
			events[name] += $6
			ran[name] += $7
			checked[name] += $8
			bad[name] += $9 == "failed"
			compiled[name] += $5 - $10
		}
		{
			if (!($2 in slices))
				payload[++payloads] = $2
			add($2); add("PT: " $3); add($4); add("all")
		}
		END {
			print "                               interrupts          run, M/s  verify,  compiled"
			print "payload      slices  instructions    faults  failed  (oracle)      M/s  code (%)"
			for (i = 1; i <= payloads; i++)
				line(payload[i])
			line("PT: guest"); line("PT: host")
			line("bdw"); line("skl"); line("icx"); line("spr")
			line("all")
		}' "$1/results"
}

as_tap() { # DIR
	sort -n "$1/results" | while read -r slice payload owner model retired events _ _ verdict _; do
		tested=$((${tested-0} + 1))
		name="slice $slice: $payload, $owner, $model: $retired instructions, $events events"
		if [ "$verdict" = ok ]; then
			echo "ok $tested - $name"
		else
			echo "not ok $tested - $name"
			sed 's/^/# /' "$1/$slice.failed"
		fi
	done
	echo "1..$(wc -l <"$1/results")"
}

while getopts lj:f:t1: option; do
	case $option in
	l) long=yes ;;
	j) jobs=$OPTARG ;;
	f) first=$OPTARG ;;
	t) tap=yes ;;
	1) one=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
: >"$dir/results"

if [ -n "$one" ]; then
	do_slice "$one" "$dir"
	cat "$dir/results" "$dir"/*.failed 2>/dev/null
	[ -z "$why" ]
	exit
fi

insns=${1:?usage: soak.sh [-l] [-j JOBS] [-f FIRST] [-t] INSNS}
n=0
while [ $n -lt "$jobs" ]; do
	worker $n "$dir" &
	n=$((n + 1))
done
wait
if [ -n "$tap" ]; then
	as_tap "$dir"
else
	cat "$dir"/*.failed 2>/dev/null
	table "$dir"
	awk '{ bad += $9 == "failed" } END { print NR - bad " passed, " bad + 0 " failed" }' \
		"$dir/results"
fi
! grep -q ' failed ' "$dir/results"

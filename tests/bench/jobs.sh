#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure --jobs=2 against one thread, in seconds of the clock: vpt decode with the summary, the calls and
# 50 million lines of a trace, and vpt verify if the trace has an oracle. Prints a row for each, with the best
# of BENCH_ROUNDS=3 rounds, in which one thread and two take turns. The last column is what this machine
# allows: the gain of two processes at once, each of one thread, over one after another.
# usage: jobs.sh FILE
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}

# once JOBS VERB OPTION...: the time in milliseconds. JOBS is a number, or both for two processes.
once() {
	local jobs=$1 verb=$2 from
	shift 2
	from=$(date +%s%N)
	if [ "$jobs" = both ]; then
		"$O/vpt" "$verb" --jobs=1 "$@" >/dev/null &
		"$O/vpt" "$verb" --jobs=1 "$@" >/dev/null || exit 1
		wait $! || exit 1
	else
		"$O/vpt" "$verb" --jobs="$jobs" "$@" >/dev/null || exit 1
	fi
	echo $((($(date +%s%N) - from) / 1000000))
}

# measure VERB OPTION...: set $one, $two and $both to the least times.
measure() {
	local took
	one=-1 two=-1 both=-1
	for _ in $(seq "${BENCH_ROUNDS:-3}"); do
		took=$(once 1 "$@")
		[ "$one" -ge 0 ] && [ "$one" -le "$took" ] || one=$took
		took=$(once 2 "$@")
		[ "$two" -ge 0 ] && [ "$two" -le "$took" ] || two=$took
		took=$(once both "$@")
		[ "$both" -ge 0 ] && [ "$both" -le "$took" ] || both=$took
	done
}

factor() { # BEFORE AFTER
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b ? b : 1) }'
}

printf '%-10s %10s %10s %8s %14s\n' output '1 thread' '2 threads' factor '2 processes'
for how in ${BENCH_ROWS:-summary calls lines verify}; do
	what=(decode "$1")
	[ "$how" != calls ] || what=(decode --calls "$1")
	[ "$how" != lines ] || what=(decode --insn --limit=50000000 "$1")
	[ "$how" != verify ] || what=(verify -q "$1")
	if [ "$how" = verify ] && ! "$O/vpt" info "$1" | grep -q '^oracle  *yes'; then
		continue
	fi
	measure "${what[@]}"
	printf '%-10s %7d ms %7d ms %8s %14s\n' "$how" "$one" "$two" "$(factor "$one" "$two")" \
		"$(factor $((2 * one)) "$both")"
done

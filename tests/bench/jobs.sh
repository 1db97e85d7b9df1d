#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure vpt decode --jobs=2 against one thread, in seconds of the clock: the summary, the calls
# and 50 million lines of a trace. Prints a row for each, with the best of BENCH_ROUNDS=3 rounds. The last column is what
# this machine allows: the gain of two processes at once, each of one thread, over one after another.
# usage: jobs.sh FILE
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}

# best JOBS OPTION...: the least time in milliseconds. JOBS is a number, or both for two processes.
best() {
	local jobs=$1 least=-1 from took
	shift
	for _ in $(seq "${BENCH_ROUNDS:-3}"); do
		from=$(date +%s%N)
		if [ "$jobs" = both ]; then
			"$O/vpt" decode --jobs=1 "$@" >/dev/null &
			"$O/vpt" decode --jobs=1 "$@" >/dev/null || exit 1
			wait $! || exit 1
		else
			"$O/vpt" decode --jobs="$jobs" "$@" >/dev/null || exit 1
		fi
		took=$((($(date +%s%N) - from) / 1000000))
		[ "$least" -ge 0 ] && [ "$least" -le "$took" ] || least=$took
	done
	echo "$least"
}

factor() { # BEFORE AFTER
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b ? b : 1) }'
}

printf '%-10s %10s %10s %8s %14s\n' output '1 thread' '2 threads' factor '2 processes'
for how in summary calls lines; do
	options=("$1")
	[ $how != calls ] || options=(--calls "$1")
	[ $how != lines ] || options=(--insn --limit=50000000 "$1")
	one=$(best 1 "${options[@]}")
	two=$(best 2 "${options[@]}")
	both=$(best both "${options[@]}")
	printf '%-10s %7d ms %7d ms %8s %14s\n' $how "$one" "$two" "$(factor "$one" "$two")" \
		"$(factor $((2 * one)) "$both")"
done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure vpt decode --jobs=2 against one thread, in seconds of the clock: the summary and the calls
# of a trace. Prints a row for each, with the best of BENCH_ROUNDS=3 rounds.
# usage: jobs.sh FILE
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}

# best JOBS OPTION...: the least time in milliseconds.
best() {
	local jobs=$1 least=-1 from took
	shift
	for _ in $(seq "${BENCH_ROUNDS:-3}"); do
		from=$(date +%s%N)
		"$O/vpt" decode --jobs="$jobs" "$@" >/dev/null || exit 1
		took=$((($(date +%s%N) - from) / 1000000))
		[ "$least" -ge 0 ] && [ "$least" -le "$took" ] || least=$took
	done
	echo "$least"
}

printf '%-10s %10s %10s %8s\n' output '1 thread' '2 threads' factor
for how in summary calls; do
	options=("$1")
	[ $how = summary ] || options=(--calls "$1")
	one=$(best 1 "${options[@]}")
	two=$(best 2 "${options[@]}")
	printf '%-10s %7d ms %7d ms %8s\n' $how "$one" "$two" \
		"$(awk -v a="$one" -v b="$two" 'BEGIN { printf "%.2f", a / (b ? b : 1) }')"
done

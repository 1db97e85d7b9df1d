#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure vpt pack: the size of a trace at levels of zstd, the time to pack it, and the time to read and
# to decode the result. Times are seconds of processor time, the best of BENCH_ROUNDS=3 rounds.
# usage: pack.sh FILE
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# best COMMAND...: the least processor time in milliseconds.
best() {
	for _ in $(seq "${BENCH_ROUNDS:-3}"); do
		{ time "$@" >/dev/null; } 2>&1
	done | awk '{ ms = ($1 + $2) * 1000 } NR == 1 || ms < least { least = ms }
		END { printf "%d", least }'
}

printf '%-6s %12s %7s %10s %10s %10s\n' level bytes ratio pack info decode
size=$(stat -c %s "$1")
printf '%-6s %12d %7s %10s %7d ms %7d ms\n' file "$size" 1.00 - "$(best "$O/vpt" info "$1")" \
	"$(best "$O/vpt" decode -q --jobs=1 "$1")"
for level in 1 3 9; do
	ms=$(best "$O/vpt" pack -q --level=$level "$1" "$work/packed.vpt")
	packed=$(stat -c %s "$work/packed.vpt")
	printf '%-6d %12d %7s %7d ms %7d ms %7d ms\n' $level "$packed" \
		"$(awk -v a="$size" -v b="$packed" 'BEGIN { printf "%.2f", a / b }')" "$ms" \
		"$(best "$O/vpt" info "$work/packed.vpt")" \
		"$(best "$O/vpt" decode -q --jobs=1 "$work/packed.vpt")"
done

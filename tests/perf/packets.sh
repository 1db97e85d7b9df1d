#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf script -D reads every packet, over the boundaries of every field, as our parser
# does: a test for each kind of packet.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export HOME="$dir" PERF_CONFIG=/dev/null

tap_run "a file of all packets" sh -c "'$TOOLS/perf-packets' '$dir/perf.data' >'$dir/ours'"
perf script -D -i "$dir/perf.data" 2>"$dir/err" |
	sed -n 's/^\.  \([0-9a-f]\{8\}:\)  \([0-9a-f][0-9a-f] \)* *\([^ ].*\)$/\1 \3/p' >"$dir/perf"
for kind in $(cut -d ' ' -f 2 "$dir/ours" | sort -u); do
	for list in ours perf; do
		awk -v kind="$kind" '$2 == kind' "$dir/$list" >"$dir/$list.kind"
	done
	n=$(grep -c . "$dir/ours.kind")
	tap_empty "$kind: $n packets" "$(diff "$dir/ours.kind" "$dir/perf.kind" | head -n 6)"
done
tap_empty "$(grep -c . "$dir/ours") packets in all, in order" \
	"$(diff "$dir/ours" "$dir/perf" | head -n 6)"
tap_end

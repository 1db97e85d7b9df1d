#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A file whose PIPs say non-root operation, and that has no SPACE blocks: perf's instructions
# are the oracle's, as for the same file without NR.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export HOME="$dir" PERF_CONFIG=/dev/null

for payload in calls kernelmix processes; do
	for how in '' '--tsc --mtc --cyc'; do
		rm -rf "$dir/t.perf" "$dir/t.vpt"
		# shellcheck disable=SC2086 # a list of options
		"$VPT" run -q --pt=host $how --oracle --max-insns=400000 -o "$dir/t.vpt" \
			"$GUEST/$payload.elf" >"$dir/log" 2>&1
		tap_run "$payload $how: NR is set" "$TOOLS/perf-nr" "$dir/t.vpt"
		tap_run "$payload $how: in each PIP" sh -c "'$VPT' dump '$dir/t.vpt' | grep PIP |
			awk '!/NR/ { bad = 1 } END { exit bad || !NR }'"
		tap_run "$payload $how: export" "$VPT" export -q --to perf "$dir/t.vpt" "$dir/t.perf"
		perf script -i "$dir/t.perf" --itrace=i0nse -F ip >"$dir/perf" 2>"$dir/err"
		tap_run "$payload $how: perf shows what ran" sh -c \
			"'$TOOLS/perf-same' '$dir/t.vpt' <'$dir/perf'"
	done
done
tap_end

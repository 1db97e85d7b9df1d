#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Run one fuzzer for FUZZ_SECONDS. The corpus stays in build/fuzz/corpus and grows
# from run to run; an input that fails is kept in build/fuzz/found.
# usage: fuzz.sh NAME       for tests/fuzz/fuzz_NAME.c, built with MODE=fuzz
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
name=$1
seconds=${FUZZ_SECONDS:-600}
corpus=build/fuzz/corpus/$name
found=build/fuzz/found/$name
log=build/fuzz/$name.log
mkdir -p "$corpus" "$found"

seeds=
[ ! -d "tests/fuzz/seeds/$name" ] || seeds=tests/fuzz/seeds/$name
# shellcheck disable=SC2086 # none or one word
if "build/fuzz/tests/fuzz_$name" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="$found/" "$corpus" $seeds >"$log" 2>&1; then
	tap_ok "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
else
	tap_fail "$name" "$(grep -nE 'ERROR|SUMMARY|runtime error|Assertion|artifact' "$log" | head -n 5)
see $log"
fi
tap_end

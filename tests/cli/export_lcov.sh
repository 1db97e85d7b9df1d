#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to lcov: lines and functions are those of vpt decode --coverage, branches those of the
# listing, at the lines that addr2line finds.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

for guest in quicksort calls exceptions; do
	"$VPT" run -q --engine=soft --pt=host -o "$dir/$guest.vpt" "$GUEST/$guest.elf" >/dev/null
	"$VPT" export -q --to=lcov "$dir/$guest.vpt" "$dir/out"
	"$VPT" decode --coverage "$dir/$guest.vpt" >"$dir/coverage"
	grep -v '^BR' "$dir/out" >"$dir/without"
	tap_run "$guest: lines and functions" cmp "$dir/coverage" "$dir/without"
	"$VPT" decode -i -j "$dir/$guest.vpt" >"$dir/listing"
	tap_run "$guest: branches" python3 tests/cli/formats/lcov.py "$dir/listing" "$dir/out" "$GUEST/$guest.elf"
done
tap_run "lcov reads the branches" sh -c \
	"lcov --rc lcov_branch_coverage=1 --summary '$dir/out' 2>&1 | grep -E 'branches.*: [0-9.]+% \\([1-9]'"
tap_end

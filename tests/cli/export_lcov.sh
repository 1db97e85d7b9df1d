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
# Code of a guest below the image, where functions that the linker dropped have their lines.
"$VPT" run -q --engine=soft --pt=host --tsc --cpus=3 -o "$dir/smp.vpt" "$GUEST/smp.elf" >/dev/null
"$VPT" decode --coverage "$dir/smp.vpt" >"$dir/coverage"
"$VPT" decode --coverage --time "$dir/smp.vpt" >"$dir/timed"
tap_run "smp: the same lines with times" cmp "$dir/coverage" "$dir/timed"
tap_run "smp: lines of the guest ran" grep -q '^DA:[0-9]*,[1-9]' "$dir/coverage"
tap_empty "smp: none of a file whose functions did not" "$(awk '/^SF:/ { file = $0 } /^DA:.*,[1-9]/ { print file }' \
	"$dir/coverage" | grep guest/atom/check.c)"
tap_run "lcov reads the branches" sh -c \
	"lcov --rc lcov_branch_coverage=1 --summary '$dir/out' 2>&1 | grep -E 'branches.*: [0-9.]+% \\([1-9]'"
tap_end

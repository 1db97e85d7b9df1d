#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to lcov, as genhtml shows it: as many lines, functions and branches as the file has.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# The number of records of a kind, and of those with a count, as genhtml prints them.
count() { # KIND PATTERN
	sed -n "s/^$2$/\1/p" "$dir/out" | awk -v kind="$1" '
		{ found++; if ($1 > 0) hit++ } END { print "(" hit + 0 " of " found + 0 " " kind }'
}

for guest in quicksort calls exceptions; do
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/$guest.elf" >/dev/null
	"$VPT" export -q --to=lcov "$dir/t.vpt" "$dir/out"
	tap_run "$guest: genhtml reads it" sh -c \
		"genhtml --branch-coverage --function-coverage -o '$dir/html' '$dir/out' >'$dir/totals' 2>&1"
	for total in "$(count lines 'DA:[0-9]*,\([0-9]*\)')" "$(count functions 'FNDA:\([0-9]*\),.*')" \
		"$(count branches 'BRDA:.*,\([0-9]*\)')"; do
		tap_run "$guest: $total" grep -qF "$total" "$dir/totals"
	done
	tap_run "$guest: a page with branches" grep -qr 'class="branchCov"' "$dir/html"
done
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The seeds of tests/run/fixed, each of which once failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
O=${O:-build/${MODE:-rel}}
export O
. tests/lib/tap.sh
. tests/run/kinds.sh

while read -r kind seed what; do
	case $kind in
	'' | '#'*) continue ;;
	esac
	if said=$(run_seeds "$kind" "$seed" 1 2>&1) && [ "${said#ok 1 - }" != "$said" ]; then
		tap_ok "$kind $seed: $what"
	else
		tap_fail "$kind $seed: $what" "$said"
	fi
done <tests/run/fixed
tap_end

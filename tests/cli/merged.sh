#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt decode --calls is told blocks of one function together, unless it needs the time of each:
# the trees are the same.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
compared=0

tree() { # OPTION...
	"$VPT" decode --calls -j "$@" "$dir/t.vpt" 2>/dev/null |
		sed -E 's/,"(ticks|ns)":[0-9]+//g'
}

same() { # OPTION...
	for guest in "$GUEST"/*.elf; do
		name=$(basename "$guest" .elf)
		case $name in atom* | legacy | demo | simd) continue ;; esac
		rm -f "$dir/t.vpt"
		"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$guest" >/dev/null 2>&1 </dev/null
		# Some payloads need what the model lacks, or never enable PT.
		[ -s "$dir/t.vpt" ] || continue
		tree --spaces >"$dir/merged"
		tree --spaces --time >"$dir/alone"
		if [ -s "$dir/merged" ] && said=$(cmp "$dir/merged" "$dir/alone" 2>&1); then
			compared=$((compared + 1))
		else
			tap_fail "$name $*" "$said"
		fi
	done
}

same --pt=host --model=spr --events
same --pt=host --model=skl --buffer=256:300 --psb=1
tap_run "at least 90 trees were compared" test "$compared" -ge 90
echo "# $compared trees"
tap_end

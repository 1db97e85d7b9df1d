#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The summary of vpt decode, which counts blocks without listing them, against the list of blocks.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
compared=0

sums() { # of the blocks in standard input
	awk 'match($0, /"insns":[0-9]*/) {
			blocks++
			insns += substr($0, RSTART + 8, RLENGTH - 8)
		}
		END { printf "\"insns\":%d \"blocks\":%d ", insns, blocks }'
}

same() { # OPTION...
	for guest in "$GUEST"/*.elf; do
		name=$(basename "$guest" .elf)
		case $name in atom* | legacy | demo | simd) continue ;; esac
		rm -f "$dir/t.vpt"
		"$VPT" run -q --engine=soft "$@" -o "$dir/t.vpt" "$guest" >/dev/null 2>&1 </dev/null
		# Some payloads need what the model lacks, or never enable PT.
		[ -s "$dir/t.vpt" ] || continue
		summary=$("$VPT" decode -j "$dir/t.vpt" 2>/dev/null |
			grep -oE '"(insns|blocks)":[0-9]*' | head -n 2 | tr '\n' ' ')
		blocks=$("$VPT" decode --blocks -j "$dir/t.vpt" 2>/dev/null | sums)
		if [ "$summary" = "$blocks" ]; then
			compared=$((compared + 1))
		else
			tap_fail "$name $*" "summary: $summary; blocks: $blocks"
		fi
	done
}

same --pt=host --model=spr --events --ptw=fup
same --pt=host --model=skl --buffer=256:300 --psb=1 --defer-tips --filter=0x101000-0x200000
tap_run "at least 90 traces were compared" test "$compared" -ge 90
echo "# $compared traces"
tap_end

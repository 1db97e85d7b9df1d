#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A decoder can start at any PSB with the state that the file has for it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
POINTS=${O:-build/${MODE:-rel}}/tests/points

# from_points LEAST GUEST OPTION...: at least so many places are started from.
from_points() {
	least=$1
	payload=$2
	shift 2
	"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$dir/t.vpt" "$@" "$GUEST/$payload.elf" \
		>/dev/null 2>"$dir/err"
	said=$("$POINTS" "$dir/t.vpt" 2>&1)
	status=$?
	starts=${said##* }
	if [ $status -eq 0 ] && [ "$starts" -ge "$least" ]; then
		tap_ok "$payload $*: $said"
	else
		tap_fail "$payload $*" "$said
$(cat "$dir/err")"
	fi
}

from_points 1 calls
from_points 10 quicksort
from_points 20 quicksort --tsc --mtc --cyc
from_points 4 compat
from_points 16 legacy
from_points 6 longjmp --tsc
from_points 4 processes
from_points 10 storm --no-retc
from_points 1 spaces --tsc

# Dumps that begin in the middle skip to a PSB, and show the same packets.
"$VPT" run -q --engine=soft --pt=host --psb=0 --tsc --cyc -o "$dir/t.vpt" \
	"$GUEST/quicksort.elf" >/dev/null
"$VPT" dump "$dir/t.vpt" | grep -v '^#' >"$dir/all"
for line in 1 2 700 1000 5000 20000; do
	at=$(sed -n "${line}s/ .*//p" "$dir/all")
	sed -n "$line,\$p" "$dir/all" >"$dir/want"
	"$VPT" dump -o "0x$at" "$dir/t.vpt" | grep -v '^#' >"$dir/got"
	tap_run "dump from byte $at on" cmp "$dir/want" "$dir/got"
done
tap_end

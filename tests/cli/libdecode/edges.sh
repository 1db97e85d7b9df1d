#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The edges that libvptdecode counts are those that ran: with runs, with tracelets, and in parts
# from PSB to PSB that are added. Traces with one address space and code that stays.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
compared=0 parts=0

for options in "--model=skl --psb=0" "--model=spr --no-retc --events --ptw=fup --psb=0" \
	"--model=icx --tsc --mtc --cyc --defer-tips --psb=0"; do
	for guest in "$O"/guest/*.elf; do
		name=$(basename "$guest" .elf)
		# RIPs of two segments are no addresses.
		[ "$name" != segments ] || continue
		rm -f "$dir/t.vpt"
		# shellcheck disable=SC2086 # a command line
		"$O/vpt" run -q --engine=soft --pt=host $options --max-insns=100000 --oracle \
			-o "$dir/t.vpt" "$guest" >/dev/null 2>&1 </dev/null
		[ -s "$dir/t.vpt" ] || continue
		output=$("$O/tests/edges" "$dir/t.vpt" 2>&1)
		case $? in
		0)
			compared=$((compared + 1))
			one=${output#* edges, }
			parts=$((parts + ${one%% parts*}))
			;;
		3) ;; # several address spaces or sessions, or code that changes
		*) tap_fail "$name $options" "$output" ;;
		esac
	done
done
tap_run "at least 110 traces were compared" test "$compared" -ge 110
tap_run "at least 500 parts were added" test "$parts" -ge 500
echo "# $compared traces, $parts parts"
tap_end

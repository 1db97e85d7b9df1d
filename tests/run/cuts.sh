#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A run of the software CPU whose budget ends at so many places writes the same packets as a run that is
# not cut. Snapshots end the budget, while the compiled code stays. Their distance is another one in each
# run, and follows from a seed.
# usage: cuts.sh [CUTS [SEED]]
#   CUTS  in all payloads together, 2000
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/run/settings.sh
all=${1:-2000}
random=${2:-1}
payloads="demo quicksort bytecode jit selfmod patched processes"

# Set `random` to the next number.
next() {
	random=$(((random * 1103515245 + 12345) % 2147483648))
}

# Write the packets of PAYLOAD to FILE.
packets() { # FILE PAYLOAD OPTION...
	pa_file=$1
	shift
	rm -f "$dir/it.vpt"
	soft out.txt "$dir/it.vpt" "$@" --pt=host --model=spr --mem=4M --max-insns=200000
	[ -s "$dir/it.vpt" ] || return 1
	"$VPT" dump "$dir/it.vpt" >"$dir/$pa_file"
}

# Cut PAYLOAD at every multiple of DISTANCE. Sets `cut` to the number of cuts.
compare() { # PAYLOAD DISTANCE OPTION...
	co_distance=$2
	co_payload=$1
	shift 2
	packets whole "$co_payload" "$@" &&
		packets cut "$co_payload" "$@" --snapshot="$dir/it.vps" \
			--snapshot-every="$co_distance" || return
	cut=$(($("$VPT" info "$dir/it.vpt" | sed -n 's/.* instructions: \([0-9]*\).*/\1/p' |
		awk '{ n += $1 } END { printf "%d", n }') / co_distance))
	cmp "$dir/cut" "$dir/whole"
}

# Cut PAYLOAD by random distances until it has its share of the cuts.
share() { # PAYLOAD
	done=0
	while [ $done -lt $((all / 7 + 1)) ]; do
		next
		distance=$((100 + random / 65536 % 900))
		next
		case $((random / 65536 % 4)) in
		0) option=--cyc ;;
		1) option=--no-retc ;;
		2) option=--psb=0 ;;
		*) option=--tsc ;;
		esac
		compare "$1" $distance $option && [ "$cut" -gt 0 ] || return
		done=$((done + cut))
	done
}

for payload in $payloads; do
	tap_run "$payload: at least $((all / 7 + 1)) cuts" share "$payload"
done
tap_end

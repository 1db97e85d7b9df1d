#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure libvptdecode beside libipt's block decoder: on a boot of Linux that our QEMU records, and
# on traces of payloads. Prints a table, and writes build/bench-decode.json.
#
# The boot is recorded once and lies in the cache (tests/bench/boot.sh). Traces of payloads are made
# each time, and kept in build/bench-decode. Everything runs on one core, that of BENCH_CORE=0, in
# BENCH_ROUNDS=3 rounds.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
dir=build/bench-decode
mkdir -p $dir/small
rm -f $dir/*.vpt $dir/small/*.vpt

make_trace() { # NAME PAYLOAD OPTION...
	name=$1 payload=$2
	shift 2
	"$O/vpt" run -q --engine=soft --pt=host "$@" -o "$dir/$name.vpt" "$O/guest/$payload.elf" \
		>/dev/null 2>&1 </dev/null || :
	[ -s "$dir/$name.vpt" ] || {
		echo "bench: $payload leaves no trace" >&2
		exit 1
	}
}

# Of 10 MB and more, and the same with time.
make_trace large-bench_int bench_int --arg=500
make_trace large-bytecode bytecode --arg=1000
make_trace large-quicksort quicksort --arg=1500
make_trace mtc-bytecode bytecode --tsc --mtc --arg=400
make_trace mtc-quicksort quicksort --tsc --mtc --arg=400
make_trace cyc-bytecode bytecode --tsc --mtc --cyc --arg=200
make_trace cyc-quicksort quicksort --tsc --mtc --cyc --arg=200
# What vpt verify reads. The boot has a log of blocks.
make_trace verify-records bytecode --oracle --arg=500
# All payloads make small ones. What selfmod changes runs before the next packet, for which
# libipt's block decoder would need the code in the middle of a block. Of segments with a base RIPs
# are no addresses.
for guest in "$O"/guest/*.elf; do
	name=$(basename "$guest" .elf)
	case $name in atom* | segments | selfmod) continue ;; esac
	make_trace "small/$name" "$name" --model=spr
done

boot=$(tests/bench/boot.sh)
blocks=$(tests/bench/boot.sh oracle)
exec taskset -c "${BENCH_CORE:-0}" "$O/tests/vpt-bench-decode" build/bench-decode.json "$boot" \
	"$blocks" $dir/*.vpt $dir/small/*.vpt

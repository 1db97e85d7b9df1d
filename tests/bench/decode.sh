#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure libvptdecode beside libipt's block decoder: on a boot of Linux that our QEMU records, and
# on traces of payloads. Prints a table, and writes build/bench-decode.json.
#
# The boot is recorded once and lies in the cache (tests/bench/boot.sh). Those of payloads are made
# each time, and kept in build/bench-decode. Everything runs on one core, that of BENCH_CORE=0.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
dir=build/bench-decode
mkdir -p $dir
rm -f $dir/*.vpt

make_trace() { # NAME PAYLOAD OPTION...
	name=$1 payload=$2
	shift 2
	"$O/vpt" run -q --engine=soft --pt=host "$@" -o "$dir/$name.vpt" "$O/guest/$payload.elf" \
		>/dev/null </dev/null || {
		echo "bench: $payload does not run" >&2
		exit 1
	}
}

# Small ones, as a program that is started often makes them; and of 10 MB and more.
make_trace demo demo
make_trace calls calls
make_trace jit jit
make_trace processes processes
make_trace quicksort quicksort --arg=10
make_trace bytecode bytecode --arg=20
make_trace large-bytecode bytecode --arg=1000
make_trace large-quicksort quicksort --arg=1500
make_trace large-bench_int bench_int --arg=500
# The same with time.
make_trace mtc-quicksort quicksort --tsc --mtc --arg=400
make_trace mtc-bytecode bytecode --tsc --mtc --arg=400
make_trace cyc-quicksort quicksort --tsc --mtc --cyc --arg=200
make_trace cyc-bytecode bytecode --tsc --mtc --cyc --arg=200

boot=$(tests/bench/boot.sh)
# shellcheck disable=SC2086 # a list of files
exec taskset -c "${BENCH_CORE:-0}" "$O/tests/vpt-bench-decode" build/bench-decode.json "$boot" \
	$dir/*.vpt

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure, with the demo's trace as the recorded one; prints a table, writes
# build/bench.json. The aims are 2 ns for a conditional branch and 10 ns for a TIP.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
trace=build/bench.vpt

"$O/vpt" run -q --pt host -o $trace "$O/guest/demo.elf" >/dev/null
start=
if command -v qemu-system-x86_64 >/dev/null; then
	start=$O/tests/qemu_start.elf
	gcc -nostdlib -static -no-pie -m32 -Wl,--build-id=none,-Ttext=0xf00000,-N \
		-Wl,-z,noexecstack,--no-warn-rwx-segments -o "$start" tests/bench/qemu_start.S
fi
# shellcheck disable=SC2086 # it may be nothing at all
"$O/tests/vpt-bench" build/bench.json $trace "$O/vpt" "$O/guest" $start
# The rows of make bench-linux are kept.
[ ! -e build/bench-linux.json ] || tests/bench/merge.py build/bench-linux.json build/bench.json

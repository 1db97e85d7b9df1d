#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure, with the demo's trace as the recorded one; prints a table, writes
# build/bench.json. The aims are 2 ns for a conditional branch and 10 ns for a TIP.
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/${MODE:-rel}}
trace=build/bench.vpt

if [ ! -r /dev/kvm ] || [ ! -w /dev/kvm ]; then
	echo "bench: /dev/kvm is missing, or not to be opened: no trace can be recorded" >&2
	exit 1
fi
"$O/vpt" run -q --pt host -o $trace "$O/guest/demo.elf" >/dev/null
"$O/tests/vpt-bench" build/bench.json $trace

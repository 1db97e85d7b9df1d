#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libvptdecode, by its public interface, and libipt's block decoder come to the same instructions:
# address spaces, and code that changes between packets. The program is that of make bench-decode,
# which measures nothing here.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}

for name in compat demand demo exceptions interrupts jit kernelmix pagefaults processes retpoline \
	softint spaces storm system; do
	"$O/vpt" run -q --engine=soft --pt=host --model=spr -o "$dir/$name.vpt" "$O/guest/$name.elf" \
		>/dev/null 2>&1 </dev/null
	tap_empty "$name" "$(BENCH_ROUNDS=0 "$O/tests/vpt-bench-decode" "$dir/json" "$dir/$name.vpt" \
		2>&1 >/dev/null)"
done
tap_end

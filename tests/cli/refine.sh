#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt refine: more of a trace decodes, as the exact trace has it, and a later decode agrees.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C
READS=$TOOLS/reads

# The payload writes code all the time. Its code is read every 64 bytes of the trace.
"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$dir/exact.vpt" "$GUEST/jit.elf" >/dev/null 2>&1
"$READS" 64 "$dir/exact.vpt" "$dir/t.vpt"
number() { # WORD LINE
	echo "$2" | sed -n "s/.*\"*$1\"*[: ]\([0-9]*\).*/\1/p"
}
before=$("$READS" "$dir/exact.vpt" "$dir/t.vpt")
said=$("$VPT" refine --json "$dir/t.vpt" "$dir/out.vpt")
after=$("$READS" "$dir/exact.vpt" "$dir/out.vpt")
echo "# before: $before; after: $after"
tap_run "fewer errors" test "$(number errors "$after")" -lt "$(number errors "$before")"
tap_run "at most a third of the instructions that differed do" test \
	"$(($(number differ "$after") * 3))" -lt "$(number differ "$before")"
tap_run "the errors are those of vpt refine" test "$(number errors "$after")" -eq \
	"$(number errors "$said")"
tap_run "changes were placed" test "$(number changes "$said")" -gt 0

decoded() { # FILE
	"$VPT" decode -i "$1" 2>/dev/null | cksum
}
"$VPT" refine -q --level=3 "$dir/t.vpt" "$dir/packed.vpt"
tap_run "compressed: the same is decoded" test "$(decoded "$dir/packed.vpt")" = \
	"$(decoded "$dir/out.vpt")"
tap_run "info" sh -c "'$VPT' info '$dir/out.vpt' | grep -q '^  refined: pieces'"
tap_run "info --json" sh -c "'$VPT' info --json '$dir/out.vpt' | grep -q '\"refined\":{\"failed\":'"

# Between two reads this far apart nothing is left to find.
"$READS" 100000 "$dir/exact.vpt" "$dir/far.vpt"
refuses "OUT would not be better" "$FAIL" "OUT, which is not written" refine "$dir/far.vpt" "$dir/none"
refuses "a refined file" "$INPUT" "refined already" refine "$dir/out.vpt" "$dir/none"
refuses "code by counter" "$INPUT" "exact places" refine "$dir/exact.vpt" "$dir/none"
head -c 9000 "$dir/t.vpt" >"$dir/cut.vpt"
refuses "a file that is cut off" "$INPUT" "ends early|cut off" refine "$dir/cut.vpt" "$dir/none"
tap_run "nothing was written" test ! -e "$dir/none"
refuses "no OUT" "$USAGE" "OUT is missing" refine "$dir/t.vpt"
refuses "a level too high" "$USAGE" "use 0 to 19" refine --level=20 "$dir/t.vpt" "$dir/none"
refuses "standard input" "$USAGE" "read twice" refine - "$dir/none"
refuses "one file for both" "$USAGE" "t.vpt" refine "$dir/t.vpt" "$dir/t.vpt"
refuses "a full device" "$HOST" "No space left" refine "$dir/t.vpt" /dev/full
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt export --to bolt and autofdo, as Debian's perf2bolt, create_llvm_prof and create_gcov read them,
# against the counts of vpt decode.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# AutoFDO's tools read DWARF 4.
guest=$dir/g/guest/quicksort.elf
tap_run "a payload with DWARF 4" make -s O="$dir/g" GUEST_DEBUG=-gdwarf-4 "$guest"
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$guest" >/dev/null
"$VPT" decode -i -j "$dir/t.vpt" >"$dir/listing"

# The number of executions of a function's first instruction.
entered() { # FUNCTION
	at=$(nm "$guest" | awk -v name="$1" '$3 == name { sub(/^0*/, "", $1); print "0x" $1 }')
	jq -r 'select(.insn) | .ip' "$dir/listing" | grep -cx "$at"
}

"$VPT" export -q --to=bolt "$dir/t.vpt" "$dir/bolt"
# The name of the program decides what it does.
/usr/lib/llvm-16/bin/perf2bolt -pa -p "$dir/bolt" -o "$dir/fdata" "$guest" >"$dir/log" 2>&1
tap_run "perf2bolt reads the profile" test -s "$dir/fdata"
tap_run "all of its entries" grep -q "read $(wc -l <"$dir/bolt") aggregated LBR entries" "$dir/log"
tap_run "no range leaves its function" grep -q "mismatching disassembled function contents: 0 " "$dir/log"
tap_run "no range is elsewhere" grep -q "involving unknown regions: 0 " "$dir/log"
calls=$(awk '$5 ~ /^partition(\/|$)/ && $6 == 0 { n += $8 } END { print n + 0 }' "$dir/fdata")
tap_run "calls of partition(): $calls" test "$calls" -eq "$(entered partition)" -a "$calls" -gt 100
# The same binary, as if it had run elsewhere.
"$VPT" export -q --to=bolt --base=0x1000 "$dir/t.vpt" "$dir/moved"
perl -pe 's/ ([0-9a-f]+) ([0-9a-f]+) / sprintf(" %x %x ", hex($1) + 0x1000, hex($2) + 0x1000)/e' \
	"$dir/moved" >"$dir/back"
tap_run "--base moves all addresses" cmp "$dir/bolt" "$dir/back"

"$VPT" export -q --to=autofdo "$dir/t.vpt" "$dir/autofdo"
create_llvm_prof --profiler=text --profile="$dir/autofdo" --binary="$guest" --format=text \
	--out="$dir/prof" 2>"$dir/log"
tap_run "create_llvm_prof reads the profile" grep -q "^partition:" "$dir/prof"
calls=$(sed -n 's/^partition:[0-9]*:\([0-9]*\)$/\1/p' "$dir/prof")
tap_run "calls of partition(): $calls" test "$calls" -eq "$(entered partition)"
# Line 8 of the function calls its argument.
ascending=$(sed -n 's/.* ascending:\([0-9]*\).*/\1/p' "$dir/prof" | awk '{ n += $1 } END { print n }')
tap_run "calls by pointer of ascending(): $ascending" test "$ascending" -eq "$(entered ascending)"
create_gcov --profiler=text --profile="$dir/autofdo" --binary="$guest" --gcov="$dir/gcov" 2>>"$dir/log"
dump_gcov "$dir/gcov" >"$dir/dump" 2>/dev/null
calls=$(sed -n 's/^partition total:[0-9]* head:\([0-9]*\)$/\1/p' "$dir/dump")
tap_run "create_gcov reads the profile: calls of partition(): $calls" test "$calls" -eq "$(entered partition)"
tap_end

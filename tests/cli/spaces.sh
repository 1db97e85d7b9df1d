#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A trace whose file tells of no address spaces, taken apart by CR3, and named from other
# files: four processes and a kernel.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
t=$dir/t.vpt

tap_run "processes" "$VPT" run -q --oracle -o "$t" "$GUEST/processes.elf"

# CR3 and instructions, a line each.
"$VPT" decode --spaces "$t" |
	sed -n 's/^ *\([0-9]*\)  *[0-9]*  *-  cr3 \(0x[0-9a-f]*\)$/\2 \1/p' >"$dir/table"
tap_run "a row for each CR3" test "$(wc -l <"$dir/table")" -eq 5
total=$("$VPT" decode "$t" | sed -n 's/^instructions *\([0-9]*\),.*/\1/p')
tap_run "they add up" test "$(awk '{ n += $2 } END { print n }' "$dir/table")" = "$total"

wrong=
all=
while read -r cr3 insns; do
	listed=$("$VPT" decode -i --space="$cr3" "$t" | grep -c '^0000')
	tree=$("$VPT" decode -t --space="$cr3" "$t" |
		sed -n 's/^  [0-9].*(\([0-9]*\) insns)$/\1/p' | awk '{ n += $1 } END { print n }')
	[ "$listed" = "$insns" ] && [ "$tree" = "$insns" ] || wrong="$wrong
$cr3 has $insns, $listed are listed, $tree in the tree"
	all=$all,$cr3
done <"$dir/table"
tap_empty "--space: what the table says" "$wrong"
several=$("$VPT" decode -i --space="${all#,}" "$t" | grep -c '^0000')
tap_run "--space: several" test "$several" = "$total"

"$VPT" decode -t --spaces "$t" |
	sed -n 's/^cr3 \(0x[0-9a-f]*\): \([0-9]*\) insns$/\1 \2/p' >"$dir/trees"
tap_run "--calls --spaces: a tree for each" cmp "$dir/table" "$dir/trees"
tap_run "--calls --spaces: lines of JSON say which" sh -c \
	"'$VPT' decode -tj --spaces '$t' | grep -c '\"space\":\"cr3 0x' | grep -qx \
	$("$VPT" decode -tj --spaces "$t" | wc -l)"
tap_run "--spaces: lines say where another begins" sh -c \
	"'$VPT' decode -i --spaces '$t' | grep -q '^-- in cr3 0x'"
tap_run "without it they do not" sh -c "! '$VPT' decode -i '$t' | grep -q '^-- in '"
tap_run "--pti: bit 12 does not tell" sh -c \
	"'$VPT' decode --spaces --pti '$t' | grep -q 'cr3 0x[0-9a-f]*[02468ace]000$' &&
	! '$VPT' decode --spaces --pti '$t' | grep -q 'cr3 0x[0-9a-f]*[13579bdf]000$'"

# A map that has one function, where the program's symbols have none.
nameless=$("$VPT" decode -i "$t" | sed -n 's/^\(0000[0-9a-f]*\)   *[a-z].*/\1/p' |
	sort -u | head -n 1)
printf '%s T named_by_map\t[mod]\n' "$nameless" >"$dir/map"
tap_run "--symbols: a listing" sh -c \
	"'$VPT' decode -i --symbols='$dir/map' '$t' | grep -q '^$nameless  named_by_map \[mod\] '"
printf '%x T named_by_map\n' $((0x$nameless - 0x1000)) >"$dir/map"
tap_run "--symbols: with a bias" sh -c \
	"'$VPT' decode -i --symbols='$dir/map@0x1000' '$t' | grep -q '^$nameless  named_by_map '"
tap_run "--symbols: an ELF file" "$VPT" decode -q --symbols="$GUEST/processes.elf" "$t"
tap_run "verify --symbols" "$VPT" verify --symbols="$dir/map" "$t"

printf '0 T a\n' >"$dir/zero"
for verb in decode verify; do
	refuses "$verb --symbols: no file" "$INPUT" "No such file" $verb --symbols="$dir/none" "$t"
	refuses "$verb --symbols: no map" "$INPUT" "line 1 is not" $verb --symbols=Makefile "$t"
	refuses "$verb --symbols: addresses that are hidden" "$INPUT" "all 0" \
		$verb --symbols="$dir/zero" "$t"
	refuses "$verb --symbols: a wrong bias" "$USAGE" "not a number" $verb --symbols="$dir/map@x" "$t"
	refuses "$verb --symbols: nothing" "$USAGE" "file's name" $verb --symbols= "$t"
done
refuses "--space: a name, where there are none" "$USAGE" "no address spaces" decode --space=init "$t"
refuses "--space: a name among CR3s" "$USAGE" "no address spaces" decode --space=0x1000,init "$t"
refuses "--pti alone" "$USAGE" "requires" decode --pti "$t"
refuses "--coverage --spaces" "$USAGE" "all address spaces" decode --coverage --spaces "$t"
tap_end

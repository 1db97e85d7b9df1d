#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A Linux kernel as a guest: how it is started, and what is refused. The kernel is a few
# instructions with the header of one; check-linux boots Debian's.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

# kernel NAME [-D...]
kernel() {
	name=$1
	shift
	gcc -c -o "$dir/k.o" "$@" tests/cli/linux.S && objcopy -O binary "$dir/k.o" "$dir/$name"
}
kernel fixed -DRELOCATABLE=0
kernel moves -DRELOCATABLE=1
kernel off -DRELOCATABLE=1 -DSLP
printf '\005initrd' >"$dir/initrd"

# ends NAME STATUS CONSOLE ARG...
ends() {
	en_name=$1
	en_status=$2
	en_console=$3
	shift 3
	en_said=$("$VPT" run -q --engine=soft "$@" 2>"$dir/err")
	en_got=$?
	if [ "$en_got" -eq "$en_status" ] && [ "$en_said" = "$en_console" ]; then
		tap_ok "$en_name"
	else
		tap_fail "$en_name" "status $en_got, console '$en_said'" "$(head -n 3 "$dir/err")"
	fi
}

# status NAME N ARG...: the guest ends with status N.
status() {
	st_name=$1
	st_n=$2
	shift 2
	"$VPT" run -j --engine=soft "$@" >"$dir/out" 2>/dev/null
	tap_run "$st_name" grep -q "\"status\": *$st_n[,}]" "$dir/out"
}

ends "the command line is the default" 1 "console=ttyS0" "$dir/moves"
ends "the command line is --append" 1 "quiet a=b" --append="quiet a=b" "$dir/moves"
ends "the command line may be empty" 1 "" --append= "$dir/moves"
long=$(printf 'x%.0s' $(seq 100))
ends "the longest command line" 1 "$long" --append="$long" "$dir/moves"
refuses "a longer one" "$INPUT" "longer than the kernel accepts" \
	run --engine=soft --append="${long}x" "$dir/moves"
status "four entries of e820" 4 "$dir/moves"
status "the initrd is there" 9 --initrd="$dir/initrd" "$dir/moves"
ends "powers off by PM1" 0 "console=ttyS0" "$dir/off"

# The kernel prefers 16 MiB, and needs 1 MiB there.
ends "RAM that just suffices" 1 "console=ttyS0" --mem=17M "$dir/fixed"
refuses "RAM that does not" "$INPUT" "no room for the kernel and the initrd" \
	run --engine=soft --mem=16M "$dir/fixed"
ends "it moves to 2 MiB" 1 "console=ttyS0" --mem=3M "$dir/moves"
refuses "it cannot move" "$INPUT" "no room for the kernel" run --engine=soft --mem=2M "$dir/moves"
head -c 2M /dev/zero >"$dir/big"
refuses "no room for the initrd" "$INPUT" "no room for the kernel and the initrd" \
	run --engine=soft --mem=4M --initrd="$dir/big" "$dir/moves"
status "3 GiB are in one part" 4 --mem=3G "$dir/moves"
status "more RAM is above 4 GiB" 5 --mem=3073M "$dir/moves"
status "most RAM" 5 --mem=32G "$dir/moves"
refuses "--append for a payload" "$USAGE" "is no Linux kernel" \
	run --engine=soft --append=x "$GUEST/demo.elf"
head -c 1600 "$dir/moves" | head -c 1000 >"$dir/cut"
refuses "a kernel that is cut" "$INPUT" "the Linux kernel is truncated" \
	run --engine=soft "$dir/cut"

# A reset loads the kernel and the initrd again. RAM keeps its contents.
twice=console=ttyS0console=ttyS0
for way in 1 2 3; do
	kernel "again$way" -DRELOCATABLE=1 -DRESET=$way
	ends "a reset restarts the kernel, way $way" 1 "$twice" --initrd="$dir/initrd" "$dir/again$way"
	ends "--no-reboot ends the run, way $way" 0 "console=ttyS0" --no-reboot "$dir/again$way"
done
status "the second boot has e820 and the initrd" 9 --initrd="$dir/initrd" "$dir/again1"
for kind in oracle oracle-blocks; do
	ends "both boots are traced, --$kind" 1 "$twice" --pt=host --$kind -o "$dir/$kind.vpt" "$dir/again1"
	tap_run "the trace is what ran" "$VPT" verify -q "$dir/$kind.vpt"
	tap_run "it has two sessions" test \
		"$("$VPT" info -j "$dir/$kind.vpt" | jq '[.vcpus[].sessions[]] | length')" -eq 2
done
ends "both boots are compared while they run" 1 "$twice" --pt=host --verify "$dir/again1"
ends "once more" 1 "$twice" --pt=host --oracle -o "$dir/same.vpt" "$dir/again1"
tap_run "the same file" cmp "$dir/oracle.vpt" "$dir/same.vpt"
at=$("$VPT" run -j --engine=soft "$dir/again1" 2>/dev/null | jq '.retired * 3 / 4 | floor')
"$VPT" run -q --engine=soft --pt=host --oracle --snapshot="$dir/s.vps" --snapshot-at="$at" \
	-o "$dir/part.vpt" "$dir/again1" >/dev/null 2>&1
"$VPT" restore -q -o "$dir/rest.vpt" "$dir/s.vps" >/dev/null 2>&1
tap_run "a snapshot in the second boot: the same file" cmp "$dir/oracle.vpt" "$dir/rest.vpt"

# A snapshot of the first boot has the names of the kernel and the initrd, and the options. The reset
# after vpt restore loads the files again, if they are the same.
whole() { # FILE OPTION...
	wh_file=$1
	shift
	"$VPT" run -q --engine=soft --pt=host --filter=0x1000000-0x2000000 --append=start --initrd="$dir/initrd" \
		--console="$dir/$wh_file.con" -o "$dir/$wh_file.vpt" "$@" "$dir/again1" 2>/dev/null
}
# resume FILE SNAPSHOT OPTION...: the console follows that of the part.
resume() {
	re_file=$1
	re_from=$2
	shift 2
	"$VPT" restore -q -j --console="$dir/rest.con" -o "$dir/$re_file.vpt" "$@" "$dir/$re_from.vps" \
		>"$dir/out" 2>/dev/null
	re_status=$?
	cat "$dir/rest.con" >>"$dir/part.con"
}
whole all
whole part --snapshot="$dir/s.vps" --snapshot-at=5
resume rest s
tap_run "a reset after vpt restore: the status" grep -q '"status": *9[,}]' "$dir/out"
tap_run "a reset after vpt restore: the same file" cmp "$dir/all.vpt" "$dir/rest.vpt"
tap_run "a reset after vpt restore: the same console" cmp "$dir/all.con" "$dir/part.con"
tap_run "it has two sessions, each with the filter" test "$("$VPT" info -j "$dir/rest.vpt" |
	jq '[.vcpus[].sessions[] | select(.addr[0] != "0x0")] | length')" -eq 2
resume part s --snapshot="$dir/s2.vps" --snapshot-at=15
resume rest s2
tap_run "a reset after a second snapshot: the same file" cmp "$dir/all.vpt" "$dir/rest.vpt"
whole part --no-reboot --snapshot="$dir/no.vps" --snapshot-at=5
resume rest no
tap_run "--no-reboot holds after vpt restore" test $re_status -eq 0 -a "$(cat "$dir/part.con")" = start
mv "$dir/initrd" "$dir/away"
refuses "a reset without the initrd" "$INPUT" "initrd: No such file" restore -q --console=none "$dir/s.vps"
printf '\006initrd' >"$dir/initrd"
refuses "a reset with another initrd" "$INPUT" "not the initrd of the snapshot" restore -q --console=none "$dir/s.vps"
rm "$dir/initrd" && mkfifo "$dir/initrd"
refuses "a reset with a pipe as its initrd" "$INPUT" "not a regular file" restore -q --console=none "$dir/s.vps"
rm "$dir/initrd" && mv "$dir/away" "$dir/initrd"
printf x >>"$dir/again1"
"$VPT" restore -q --console=none -o "$dir/rest.vpt" "$dir/s.vps" 2>/dev/null
tap_run "the trace up to the reset is not lost" "$VPT" decode -q "$dir/rest.vpt"
refuses "a reset with another kernel" "$INPUT" "not the guest of the snapshot" restore -q --console=none "$dir/s.vps"
truncate -s -1 "$dir/again1"
resume rest s
tap_run "a reset with the same kernel" test $re_status -eq 1

printf abc >"$dir/typed"
ends "two boots with input for the console" 1 "$twice" --pt=host --input="$dir/typed" \
	-o "$dir/input.vpt" "$dir/again1"
"$VPT" replay -q -o "$dir/replay.vpt" "$dir/input.vpt" >/dev/null 2>&1
tap_run "their replay has the same trace" cmp "$dir/input.vpt" "$dir/replay.vpt"

# Traced from outside, like any guest.
"$VPT" run -q --engine=soft --pt=host --oracle -o "$dir/t.vpt" "$dir/moves" >/dev/null 2>&1
tap_run "the trace is what ran" "$VPT" verify -q "$dir/t.vpt"
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt decode --follow prints what vpt decode prints of the finished file, byte for byte.
#
# tests/trickle writes a trace in random pieces, and waits for the reader after each. The line about
# a trace that was decoded after its end shows which traces were not decoded while they grew.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
tools=${O:-build/${MODE:-rel}}/tests
PIECES=${PIECES:-30}
note="--follow: decoded after its end"

# record ARG...: $dir/t.vpt
record() {
	"$VPT" run -q --engine=soft --timeout=60 -o "$dir/t.vpt" "$@" >/dev/null 2>"$dir/run.err" </dev/null
}

# same FILE SEED HOW: returns false, with the reason in $why, unless the followed output is that of
# the file. Sets $late if it was decoded after its end.
same() {
	# shellcheck disable=SC2086 # options
	"$VPT" decode $3 - <"$1" >"$dir/want" 2>"$dir/want.err"
	want=$?
	# shellcheck disable=SC2086 # options
	"$tools/trickle" "$2" "$PIECES" <"$1" | "$VPT" decode --follow $3 - >"$dir/got" 2>"$dir/all.err"
	got=$?
	late=$(grep -c -e "$note" "$dir/all.err")
	grep -v -e "$note" "$dir/all.err" >"$dir/got.err"
	why="'$3': status $want and $got, $(cmp "$dir/want" "$dir/got" 2>&1) $(cat "$dir/got.err")"
	[ $want -eq $got ] && cmp -s "$dir/want" "$dir/got" && cmp -s "$dir/want.err" "$dir/got.err"
}

# follows NAME FILE LATE HOW...: each output is the same, and LATE of them were decoded late.
follows() {
	fo_name=$1 fo_file=$2 fo_late=$3
	shift 3
	bad='' lates=0 seed=0
	for how; do
		seed=$((seed + 1))
		same "$fo_file" $seed "$how" || bad="$bad
$why"
		lates=$((lates + late))
	done
	[ "$lates" -eq "$fo_late" ] || bad="$bad
decoded late: $lates, and not $fo_late"
	tap_empty "$fo_name" "$bad"
}

for guest in jit selfmod interrupts processes ring3 pagefaults topa_wrap; do
	owner=host
	[ $guest = topa_wrap ] && owner=guest
	record --pt=$owner "$GUEST/$guest.elf"
	follows "$guest, while it grows" "$dir/t.vpt" 0 "" --calls "--blocks --json"
done
record --pt=host "$GUEST/calls.elf"
follows "every output, while it grows" "$dir/t.vpt" 0 "" --calls --coverage --json \
	"--insn --limit=2000" --blocks "--calls --function=main" -q

record --pt=host --cpus=3 "$GUEST/smp.elf"
tap_run "three vCPUs" test "$("$VPT" info -j "$dir/t.vpt" | jq '.vcpus | length')" -eq 3
follows "three vCPUs, while they run" "$dir/t.vpt" 0 "" --calls --blocks \
	"--insn --vcpu=2"

# What needs the whole file is the same, too.
record --pt=host "$GUEST/quicksort.elf"
follows "options that need the whole file" "$dir/t.vpt" 6 --time "--calls --time" --spaces \
	"--insn --from=1000 --until=1100" "--last=500" "--json --spaces"
record "$GUEST/restart.elf"
tap_run "several sessions" test "$("$VPT" info -j "$dir/t.vpt" | jq '.vcpus[0].sessions | length')" -gt 1
follows "sessions" "$dir/t.vpt" 0 "" --calls --blocks

# Code that comes too late is noticed, and costs time only.
record --pt=host "$GUEST/jit.elf"
few=$PIECES PIECES=300
moved=$("$tools/late" "$dir/t.vpt" "$dir/late.vpt" 2)
tap_run "code was moved behind its packets" test "$moved" -gt 10
follows "late code" "$dir/late.vpt" 3 "" --calls --blocks
"$tools/late" "$dir/t.vpt" "$dir/late.vpt" 100000 >/dev/null
follows "code at the end" "$dir/late.vpt" 3 "" --calls --blocks

PIECES=$few

# A writer that dies leaves what it has written: the same output, line and status.
record --pt=host "$GUEST/interrupts.elf"
bytes=$(wc -c <"$dir/t.vpt")
bad='' ends=0
for part in 0 5 31 32 100 3000 $((bytes / 3)) $((bytes / 2)) $((bytes - 4000)) $((bytes - 1)); do
	head -c "$part" "$dir/t.vpt" >"$dir/cut.vpt"
	for how in "" --calls --blocks; do
		same "$dir/cut.vpt" "$part" "$how" || bad="$bad
$part bytes, $why"
		[ "$got" -eq "$INPUT" ] && ends=$((ends + 1))
	done
done
tap_empty "a writer that dies" "$bad"
tap_run "each of them is an error" test "$ends" -eq 30

# Damage is what it is in the finished file.
bad=''
for at in $((bytes / 5)) $((bytes / 2)) $((bytes * 4 / 5)); do
	cp "$dir/t.vpt" "$dir/bad.vpt"
	printf 'damage' | dd of="$dir/bad.vpt" bs=1 seek="$at" conv=notrunc 2>/dev/null
	for how in "" --calls "--insn --limit=500"; do
		same "$dir/bad.vpt" "$at" "$how" || bad="$bad
at $at, $why"
	done
done
tap_empty "damage" "$bad"
head -c 4096 /dev/urandom >"$dir/bad.vpt"
same "$dir/bad.vpt" 3 ""
tap_run "no trace" test "$got" -eq "$INPUT"

# A run and its reader at once: by a pipe, by a named pipe, and by the file.
for guest in demo smp; do
	"$VPT" run -q --engine=soft --pt=host -o - "$GUEST/$guest.elf" 2>"$dir/console" </dev/null |
		tee "$dir/tee.vpt" | "$VPT" decode --follow - >"$dir/got"
	tap_run "$guest: -o - is a whole trace" "$VPT" decode -q "$dir/tee.vpt"
	"$VPT" decode "$dir/tee.vpt" >"$dir/want"
	tap_run "$guest: the reader of the pipe" cmp "$dir/want" "$dir/got"
	mkfifo "$dir/fifo"
	"$VPT" decode --follow --calls "$dir/fifo" >"$dir/got" &
	"$VPT" run -q --engine=soft --pt=host -o "$dir/fifo" "$GUEST/$guest.elf" >"$dir/con" </dev/null
	wait $!
	"$VPT" decode --calls "$dir/tee.vpt" >"$dir/want"
	tap_run "$guest: the reader of the named pipe" cmp "$dir/want" "$dir/got"
	tap_run "$guest: the console is standard error with -o -" cmp "$dir/con" "$dir/console"
	rm "$dir/fifo"
done
rm -f "$dir/t.vpt"
"$VPT" run -q --engine=soft --pt=host --oracle -o "$dir/t.vpt" "$GUEST/kernelmix.elf" >/dev/null 2>&1 </dev/null &
writer=$!
until [ -s "$dir/t.vpt.part" ] || [ -s "$dir/t.vpt" ]; do sleep 0.01; done
kill -STOP $writer
"$VPT" decode --follow "$dir/t.vpt" >"$dir/got" 2>"$dir/got.err" &
reader=$!
sleep 4
kill -0 $reader 2>/dev/null
tap_run "the reader waits as long as the file has a writer" test $? -eq 0
kill -CONT $writer
wait $writer
wait $reader
"$VPT" decode "$dir/t.vpt" >"$dir/want"
tap_run "the reader of the file" cmp "$dir/want" "$dir/got"
tap_empty "the reader of the file has no complaint" "$(cat "$dir/got.err")"

# A file without a lock ends when it is quiet.
head -c 100000 "$dir/t.vpt" >"$dir/grows.vpt"
{
	sleep 1
	tail -c +100001 "$dir/t.vpt" >>"$dir/grows.vpt"
} &
"$VPT" decode --follow "$dir/grows.vpt" >"$dir/got"
tap_run "a file that nobody has locked" cmp "$dir/want" "$dir/got"
wait
head -c 100000 "$dir/t.vpt" >"$dir/grows.vpt"
"$VPT" decode --follow "$dir/grows.vpt" >"$dir/got" 2>"$dir/got.err"
tap_run "a file that stays quiet is cut" test $? -eq "$INPUT"
tap_run "its line" grep -q "cut: .*; bytes lost" "$dir/got.err"

# The reader that goes away ends the run with a line.
{
	"$VPT" run -q --engine=soft --pt=host -o - "$GUEST/system.elf" 2>"$dir/err" </dev/null
	echo $? >"$dir/status"
} | head -c 100 >/dev/null
tap_run "a reader that goes away" grep -q "/dev/stdout: Broken pipe" "$dir/err"
tap_run "it is an error of the host" test "$(cat "$dir/status")" -eq "$HOST"
"$VPT" run --json --engine=soft --pt=host -o - "$GUEST/demo.elf" 2>"$dir/err" </dev/null | cat >/dev/null
tap_run "--json with -o - is refused" grep -q "standard output is the trace file" "$dir/err"
tap_end

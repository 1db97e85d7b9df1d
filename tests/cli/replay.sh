#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt replay: the same file and console as the recording, without its input; and recordings that
# are not replayed, because they are of other files or were changed.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/echo.elf
long='a line that is longer than the FIFO of sixteen bytes'

# record NAME OPTION...: lines through a pipe that come over time.
record() {
	name=$1
	shift
	(
		printf 'hello\n'
		sleep 0.2
		printf '%s\nend\n' "$long"
	) | "$VPT" run -q --engine=soft --pt=host "$@" -o "$dir/$name.vpt" "$elf" >"$dir/$name.con"
}
# same NAME: replay it, and compare.
same() {
	tap_run "$1: it is recorded" test -s "$dir/$1.vpt"
	"$VPT" replay -q -o "$dir/again.vpt" "$dir/$1.vpt" </dev/null >"$dir/again.con" 2>"$dir/err"
	tap_run "$1: the same trace file" cmp "$dir/$1.vpt" "$dir/again.vpt"
	tap_run "$1: the same console" cmp "$dir/$1.con" "$dir/again.con"
}

record polls --console=stdio --arg=1 --arg=20
same polls
record halts --input=- --arg=2
same halts
record ticks --console=stdio --arg=3 --arg=20 --model=spr --tsc --mtc --cyc=0 --cbr=20
same ticks
tap_run "ticks: the arrivals are of that run" sh -c "! cmp -s '$dir/ticks.con' '$dir/halts.con'"
record oracle --console=stdio --arg=3 --oracle
same oracle
tap_run "vpt verify" "$VPT" verify -q "$dir/oracle.vpt"
record blocks --console=stdio --arg=1 --arg=20 --oracle-blocks
same blocks
tap_run "vpt verify with blocks" "$VPT" verify -q "$dir/blocks.vpt"
record guest --console=stdio --pt=guest --arg=3 --seed=7
same guest
record limit --console=stdio --arg=3 --arg=20 --max-insns=300000
same limit

# What ended a recording from outside ends its replay.
(sleep 2) | "$VPT" run -q --engine=soft --pt=host --arg=3 --timeout=0.4 --console=stdio \
	-o "$dir/timeout.vpt" "$elf" >"$dir/timeout.con" 2>/dev/null
same timeout
(sleep 2) | "$VPT" run -q --engine=soft --pt=host --arg=1 --timeout=0.4 --console=stdio \
	-o "$dir/busy.vpt" "$elf" >"$dir/busy.con" 2>/dev/null
same busy
mkfifo "$dir/fifo"
"$VPT" run -q --engine=soft --pt=host --arg=3 --input="$dir/fifo" -o "$dir/signal.vpt" "$elf" \
	>"$dir/signal.con" 2>/dev/null &
exec 3>"$dir/fifo"
sleep 0.3
printf 'hello\n' >&3
sleep 0.2
kill -TERM $!
wait
exec 3>&-
same signal

# A run in two parts.
seq 20 >"$dir/text"
echo end >>"$dir/text"
"$VPT" run -q --engine=soft --pt=host --arg=3 --arg=9 --input="$dir/text" --snapshot="$dir/s.vps" \
	--snapshot-at=200000 -o "$dir/part.vpt" "$elf" >"$dir/restored.con"
refuses "a recording that ends at a snapshot" "$INPUT" "ends at a snapshot" replay "$dir/part.vpt"
"$VPT" restore -q --input="$dir/text" -o "$dir/restored.vpt" "$dir/s.vps" >>"$dir/restored.con"
same restored

tap_run "a compressed recording" sh -c "'$VPT' pack '$dir/ticks.vpt' '$dir/packed.vpt' &&
	'$VPT' replay -q -o '$dir/again.vpt' '$dir/packed.vpt' >/dev/null && cmp '$dir/ticks.vpt' '$dir/again.vpt'"
tap_run "vpt run --verify with input" sh -c "'$VPT' run -q --engine=soft --pt=host --arg=3 --verify \
	--input='$dir/text' '$elf' >/dev/null"

tap_run "vpt info lists inputs" sh -c \
	"'$VPT' info '$dir/halts.vpt' | grep -q 'after [0-9]* instructions: console, bytes: '"
tap_run "vpt info -j" sh -c "'$VPT' info -j '$dir/signal.vpt' |
	jq -e '.inputs == (.input_list | length) and .input_list[-1].kind == \"signal\"'"
tap_run "without -o" sh -c "'$VPT' replay -q '$dir/polls.vpt' | cmp - '$dir/polls.con'"

# Other files, and other recordings.
cp "$elf" "$dir/other.elf"
printf x >>"$dir/other.elf"
refuses "another guest" "$INPUT" "not the guest of the recording" replay -q --guest="$dir/other.elf" \
	"$dir/polls.vpt"
cp "$elf" "$dir/copy.elf"
tap_run "a guest that was moved" sh -c \
	"'$VPT' replay -q --guest='$dir/copy.elf' -o '$dir/again.vpt' '$dir/polls.vpt' >/dev/null &&
	cmp '$dir/polls.vpt' '$dir/again.vpt'"
record initrd --console=stdio --arg=1 --initrd="$dir/text"
same initrd
echo 1 >>"$dir/text"
refuses "another initrd" "$INPUT" "not the initrd of the recording" replay -q "$dir/initrd.vpt"
"$VPT" run -q --engine=soft --pt=host --ring=1M -o "$dir/plain.vpt" "$GUEST/calls.elf" >/dev/null
refuses "a file of --ring" "$INPUT" "no record of its run" replay "$dir/plain.vpt"
refuses "no trace file" "$INPUT" "" replay "$elf"
refuses "over itself" "$USAGE" "same file as FILE" replay -o "$dir/polls.vpt" "$dir/polls.vpt"
refuses "the console's input" "$USAGE" "that of the recording" replay --console=stdio "$dir/polls.vpt"
head -c -16 "$dir/polls.vpt" >"$dir/cut.vpt"
refuses "a recording that is cut off" "$INPUT" "" replay "$dir/cut.vpt"
record large --console=stdio --arg=1 --mem=2G
refuses "more memory than --max-mem" "$INPUT" "its guest has 2048M of memory" replay "$dir/large.vpt"

# change FROM TO CODE: copy a file, and run CODE on each block: its type and its payload p.
cat >"$dir/change.py" <<'END'
import struct, sys
def crc(data, c=0):
    c ^= 0xffffffff
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    return c ^ 0xffffffff
data = open(sys.argv[1], "rb").read()
out, at, n = bytearray(data[:32]), 32, 0
while at < len(data):
    magic, kind, vcpu, size, check = struct.unpack_from("<4sHHII", data, at)
    p = bytearray(data[at + 16:at + 16 + size])
    before = bytes(p)
    n += kind == 25
    exec(sys.argv[3])
    if bytes(p) != before:
        check = crc(struct.pack("<4sHHII", magic, kind, vcpu, len(p), 0) + p)
    out += struct.pack("<4sHHII", magic, kind, vcpu, len(p), check) + p + bytes(-len(p) % 8)
    at += 16 + size + -size % 8
open(sys.argv[2], "wb").write(out)
END
change() {
	python3 "$dir/change.py" "$1" "$dir/bad.vpt" "$2"
}
first="if kind == 25 and n == 1:"
change "$dir/halts.vpt" "pass"
tap_run "a copy" cmp "$dir/halts.vpt" "$dir/bad.vpt"
change "$dir/halts.vpt" "$first p[0] += 1"
refuses "a count that is too high" "$INPUT" "before the last inputs of the recording: [0-9]" replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "$first p[7] = 0x70"
refuses "a count beyond those behind it" "$INPUT" "an INPUT block goes back" replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "if kind == 25: p[7] = 0x70"
refuses "counts beyond the end" "$INPUT" "before the last inputs of the recording: [0-9]" \
	replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "$first p[16:24] = bytes(8)"
refuses "a TSC that has passed" "$INPUT" "differs from its recording" replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "$first p[24] = 2"
refuses "an input of another kind" "$INPUT" "differs from its recording" replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "$first p[28] = 32; p[32:] = bytes(32)"
refuses "more bytes than the port takes" "$INPUT" "differs from its recording" replay -q "$dir/bad.vpt"
change "$dir/signal.vpt" "if kind == 25 and p[24] == 5: p[32] = 9"
refuses "another signal" "$INPUT" "differs from its recording" replay -q "$dir/bad.vpt"
for option in output=x snapshot=x console=x outp=x initrd=x help verify; do
	change "$dir/halts.vpt" "if kind == 29:
    text = b'--$option' + bytes(1)
    p = bytearray(struct.pack('<II', 1, len(text)) + text + bytes(-len(text) % 8))"
	refuses "a recording with --$option" "$INPUT" "not those of a recording" replay -q "$dir/bad.vpt"
done

# Runs without input.
plain() { # NAME GUEST OPTION...
	name=$1
	guest=$2
	shift 2
	"$VPT" run -q --engine=soft -o "$dir/$name.vpt" "$@" "$guest" >"$dir/$name.con" 2>/dev/null
	same "$name"
}
plain no-input "$GUEST/calls.elf" --pt=host
plain own "$GUEST/calls.elf" --oracle --seed=3
plain three "$GUEST/smp.elf" --pt=host --cpus=3 --oracle-blocks --tsc --cyc
plain usage "$GUEST/interrupts.elf" --usage=system
plain rtit "$GUEST/calls.elf" --trace=rtit --pt=host
plain blocks "$GUEST/kernelmix.elf" --pt=host --oracle-blocks
plain insns "$GUEST/kernelmix.elf" --pt=host --max-insns=3000
plain part-of-it "$GUEST/kernelmix.elf" --pt=host --trace-from=insns:2000 --trace-for=900
plain starves "$elf" --pt=host --arg=2
truncate -s 1M "$dir/image"
plain disk "$GUEST/calls.elf" --pt=host --disk="$dir/image"
"$VPT" run -q --engine=soft --pt=host --disk="$dir/image,rw" -o "$dir/rw.vpt" "$GUEST/calls.elf" >/dev/null
refuses "a disk of rw" "$INPUT" "the run has changed its image" replay -q "$dir/rw.vpt"
"$VPT" run -q --engine=soft --pt=host --timeout=0.3 --arg=1000000 -o "$dir/late.vpt" "$GUEST/quicksort.elf" \
	>/dev/null 2>&1
refuses "a run that a time limit ended" "$INPUT" "a time limit or a signal ended its run" replay -q "$dir/late.vpt"
"$VPT" run -q --engine=soft --pt=host --timeout=99 -o "$dir/limit.vpt" "$GUEST/calls.elf" >/dev/null
tap_run "a time limit that was not reached" cmp "$dir/limit.vpt" "$dir/no-input.vpt"
cp "$GUEST/calls.elf" "$dir/own.elf"
"$VPT" run -q --engine=soft --pt=host -o "$dir/bad.vpt" "$dir/own.elf" >/dev/null
echo >>"$dir/own.elf"
refuses "a guest that has changed" "$INPUT" "not the guest of the recording" replay -q "$dir/bad.vpt"
rm "$dir/own.elf"
refuses "a guest that is gone" "$INPUT" "own.elf: No such file" replay -q "$dir/bad.vpt"
change "$dir/no-input.vpt" "if kind == 15: p[8] ^= 1"
refuses "another end" "$INPUT" "not as that of the file" replay -q "$dir/bad.vpt"
instead="if kind == 29:
    text = b'--pt=host' + bytes(1) + b'--input=none' + bytes(1)"
packed="
    p = bytearray(struct.pack('<II', text.count(bytes(1)), len(text)) + text + bytes(-len(text) % 8))"
change "$dir/no-input.vpt" "$instead + b'--net=user' + bytes(1)$packed"
refuses "a network without input" "$INPUT" "not those of a recording" replay -q "$dir/bad.vpt"
change "$dir/halts.vpt" "$instead$packed"
refuses "input without input" "$INPUT" "resumed its run with input" replay -q "$dir/bad.vpt"
"$VPT" run -q --engine=soft --pt=host --arg=3 --arg=9 --snapshot="$dir/s.vps" --snapshot-at=2000 \
	-o "$dir/part.vpt" "$elf" >/dev/null
echo end >"$dir/text"
"$VPT" restore -q --input="$dir/text" -o "$dir/bad.vpt" "$dir/s.vps" >/dev/null
refuses "a run that got input later" "$INPUT" "resumed its run with input" replay -q "$dir/bad.vpt"
tap_run "none of them wrote a file" test ! -e x
tap_end

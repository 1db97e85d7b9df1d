#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Damaged traces: what can be read is, what cannot is named, and the exit status is 3.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C
good=$dir/good.vpt
bad=$dir/bad.vpt

# insns FILE: how many instructions are decoded.
insns() {
	"$VPT" decode -j "$1" 2>/dev/null | sed 's/"insns":\([0-9]*\).*/\1/; s/.*,//'
}

# flip FILE BYTE...: change a bit of each byte.
flip() {
	fl_file=$1
	shift
	for fl_at; do
		fl_old=$(od -An -tu1 -j "$fl_at" -N 1 "$fl_file" | tr -d ' ')
		# shellcheck disable=SC2059 # an octal escape
		printf "\\$(printf %o $((fl_old ^ 16)))" |
			dd of="$fl_file" bs=1 seek="$fl_at" conv=notrunc 2>/dev/null
	done
}

"$VPT" run -q --pt=host --cyc --psb=0 --max-insns=5000000 --arg=100000 -o "$good" \
	"$GUEST/bench_int.elf" >/dev/null 2>&1
size=$(stat -c %s "$good")
all=$(insns "$good")
tap_run "a trace of 5000000 instructions" test "$all" -eq 5000000

cp "$good" "$bad"
flip "$bad" $((size / 2))
refuses "one flipped bit: decode says where" "$INPUT" \
	"damaged at byte [0-9]+: a block's checksum is wrong; places: 1, bytes left out: [0-9]{4}$" \
	decode "$bad"
part=$(insns "$bad")
tap_run "one flipped bit: all else is decoded ($part)" test "$part" -ge $((all * 95 / 100))
refuses "one flipped bit: info" "$INPUT" "damaged at byte" info "$bad"
at=$("$VPT" info "$bad" 2>/dev/null | sed -n 's/^damaged *byte \([0-9]*\): .*/\1/p')
tap_run "one flipped bit: the place is the block's" sh -c \
	"[ '$at' -le $((size / 2)) ] && [ $((size / 2)) -lt $((at + 5000)) ]"
tap_run "one flipped bit: which trace is missing" sh -c \
	"'$VPT' info '$bad' 2>/dev/null | grep -q '^vCPU 0 .* of which are missing: [0-9]*, sessions: 2'"
tap_run "one flipped bit: JSON" sh -c "'$VPT' info -j '$bad' 2>/dev/null |
	grep -q '\"damage\":\[{\"offset\":$at,\"bytes\":[0-9]*,\"why\":'"
refuses "one flipped bit: dump" "$INPUT" "damaged at byte" dump -s "$bad"
refuses "one flipped bit: export" "$INPUT" "damaged at byte" export -q --to=perf "$bad" "$dir/perf"
tap_run "one flipped bit: the export is there" test -s "$dir/perf/data"
flip "$bad" $((size * 5 / 8)) $((size * 7 / 8))
refuses "three flipped bits" "$INPUT" "places: 3, bytes left out: [0-9]{4,5}$" decode "$bad"
part=$(insns "$bad")
tap_run "three flipped bits: all else is decoded ($part)" test "$part" -ge $((all * 90 / 100))

# Sectors of zeros, and some that are missing.
cp "$good" "$bad"
dd if=/dev/zero of="$bad" bs=512 seek=$((size / 1024)) count=8 conv=notrunc 2>/dev/null
refuses "lost sectors" "$INPUT" "damaged at byte" decode "$bad"
part=$(insns "$bad")
tap_run "lost sectors: all else is decoded ($part)" test "$part" -ge $((all * 90 / 100))
{
	head -c $((size / 2)) "$good"
	tail -c +$((size / 2 + 3000)) "$good"
} >"$bad"
refuses "bytes that are missing" "$INPUT" "damaged at byte" decode "$bad"
part=$(insns "$bad")
tap_run "bytes that are missing: all else is decoded ($part)" test "$part" -ge $((all * 90 / 100))

# What ran is compared up to the damage, and no further.
"$VPT" run -q --oracle --pt=host --cyc --max-insns=400000 --arg=100000 -o "$bad" "$GUEST/bench_int.elf" \
	>/dev/null 2>&1
flip "$bad" $(($(stat -c %s "$bad") / 2))
refuses "verify" "$INPUT" "damaged at byte" verify "$bad"
said=$("$VPT" verify -j "$bad" 2>/dev/null)
tap_run "verify: no mismatch up to there" sh -c "echo '$said' | grep -q '\"mismatches\":0'"
tap_run "verify: something was compared" sh -c "echo '$said' | grep -q '\"decoded\":[1-9][0-9]\{4\}'"

# A file whose first block is damaged.
cp "$good" "$bad"
flip "$bad" 60
refuses "the first block" "$INPUT" "first block cannot be read" info "$bad"

# Nothing is read of what is no trace but its beginning.
for verb in info decode dump verify; do
	refuses_as "$verb: an endless file" "$INPUT" "not a .vpt file" $verb \
		sh -c "ulimit -v 500000 && exec '$VPT' $verb /dev/zero"
done
refuses_as "run: an endless file" "$INPUT" "not an ELF file" run \
	sh -c "ulimit -v 500000 && exec '$VPT' run -q --pt=off --engine=soft --mem=1M /dev/zero"
refuses_as "snapshot: an endless file" "$INPUT" "not a snapshot" snapshot \
	sh -c "ulimit -v 500000 && exec '$VPT' snapshot /dev/zero"
# shellcheck disable=SC2016 # expanded by the inner shell
tap_run "a file through a pipe" sh -c 'cat "$1" | "$0" decode -q -' "$VPT" "$good"

# The pipe is full long before the end, so that decoding goes on when the file is gone.
shortened_meanwhile() {
	"$VPT" run -q --engine=soft --pt=host -o "$dir/jit.vpt" "$GUEST/jit.elf" >/dev/null 2>&1
	{
		"$VPT" decode -i "$dir/jit.vpt" 2>"$dir/said"
		echo $? >"$dir/status"
	} | {
		read -r _ && truncate -s 0 "$dir/jit.vpt"
		cat >/dev/null
	}
	cat "$dir/said" "$dir/status"
	[ "$(cat "$dir/status")" -eq "$INPUT" ] && grep -q 'was made shorter meanwhile$' "$dir/said"
}
tap_run "a file that is made shorter while it is decoded" shortened_meanwhile

# A damaged SESSION block is left out: the exporter must not need one.
without_sessions() {
	python3 -B -c '
import struct, sys
with open(sys.argv[1], "rb") as f:
    old = f.read()
at, new = 32, old[:32]
while at < len(old):
    size = 16 + (struct.unpack_from("<I", old, at + 8)[0] + 7) // 8 * 8
    if struct.unpack_from("<H", old, at + 4)[0] != 6:
        new += old[at:at + size]
    at += size
with open(sys.argv[2], "wb") as f:
    f.write(new)' "$dir/filter.vpt" "$dir/bare.vpt"
	for how in packets tsc; do
		"$VPT" export --to=perf -q --time=$how "$dir/bare.vpt" "$dir/perf.$how"
		status=$?
		echo "--time=$how: $status"
		[ $status -le "$INPUT" ] || return
	done
}
"$VPT" run -q --engine=soft -o "$dir/filter.vpt" "$GUEST/filter_ip.elf" >/dev/null 2>&1
tap_run "export: a trace with filters and without sessions" without_sessions
tap_end

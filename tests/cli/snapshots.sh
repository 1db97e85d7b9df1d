#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots: commands that are wrong, and files that are no snapshot or not a whole one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf
good=$dir/good.vps
run="run -q --engine=soft"

refuses "a place but no file" "$USAGE" "snapshot=FILE" run --snapshot-at=5 "$elf"
refuses "an interval but no file" "$USAGE" "snapshot=FILE" run --snapshot-every=5 "$elf"
refuses "a place that is no number" "$USAGE" "snapshot-at" run --snapshot=x --snapshot-at=soon \
	"$elf"
refuses "restore: a place but no file" "$USAGE" "snapshot=FILE" restore --snapshot-at=5 "$good"
refuses "restore: no file named" "$USAGE" "FILE" restore
refuses "restore: two files" "$USAGE" "one FILE" restore a b
refuses "restore: an unknown option" "$USAGE" "frobnicate" restore --frobnicate a
refuses "restore: no such file" "$INPUT" "No such file" restore "$dir/none.vps"
refuses "snapshot: no file named" "$USAGE" "FILE" snapshot
refuses "snapshot: an unknown option" "$USAGE" "frobnicate" snapshot --frobnicate a
refuses "snapshot: no such file" "$INPUT" "No such file" snapshot "$dir/none.vps"
for verb in restore snapshot; do
	tap_run "vpt $verb --help" "$VPT" $verb --help
done

# shellcheck disable=SC2086 # a command line
{
	tap_run "a snapshot" "$VPT" $run --snapshot="$good" --snapshot-at=20000 -o "$dir/part.vpt" "$elf"
	tap_run "one without a trace file" "$VPT" $run --snapshot="$dir/bare.vps" \
		--snapshot-at=20000 "$elf"
	refuses "a place the guest does not get to" "$FAIL" "before --snapshot-at" $run \
		--snapshot="$dir/x.vps" --snapshot-at=999999999 -o "$dir/x.vpt" "$elf"
	refuses "a trace file that cannot be read back" "$HOST" "not a regular file" $run \
		--snapshot="$dir/x.vps" --snapshot-at=20000 -o /dev/null "$elf"
	# What was recorded until then is no trace of the run that was asked for.
	refuses "a snapshot that cannot be written" "$HOST" "No such file.*is in .*y.vpt.part" $run \
		--snapshot="$dir/none/x.vps" --snapshot-at=20000 -o "$dir/y.vpt" "$elf"
	tap_run "the trace does not get its name" test ! -e "$dir/y.vpt" -a -s "$dir/y.vpt.part"
	refuses "no room for a snapshot" "$HOST" "No space.*is in .*z.vpt.part" $run --snapshot=/dev/full \
		--snapshot-at=20000 -o "$dir/z.vpt" "$elf"
}
tap_empty "none of these left a file behind" "$(find "$dir" -name 'x.vps*')"
refuses "a place that has passed" "$USAGE" "already passed" restore -o "$dir/x.vpt" \
	--snapshot="$dir/x.vps" --snapshot-at=19999 "$good"
refuses "a limit that was reached" "$USAGE" "already reached" restore -o "$dir/x.vpt" --max-insns=1 "$good"
refuses "restore: --max-mem that is no size" "$USAGE" "not a size" restore --max-mem=x "$good"
refuses "restore: --max-mem below the guest's memory" "$INPUT" "its guest has 64M of memory" \
	restore -q --max-mem=63M "$good"
# shellcheck disable=SC2086 # a command line
tap_run "a guest with 2G" "$VPT" $run --mem=2G --snapshot="$dir/large.vps" --snapshot-at=20000 "$elf"
refuses "restore: a guest with more memory than the default limit" "$INPUT" "--max-mem=1024M" \
	restore -q "$dir/large.vps"
tap_run "restore --max-mem: the same guest" "$VPT" restore -q --max-mem=2G "$dir/large.vps"
refuses "over itself" "$USAGE" "same file as FILE" restore -o "$good" "$good"
refuses "a trace file where there was none" "$INPUT" "nothing was recorded" \
	restore -o "$dir/x.vpt" "$dir/bare.vps"
refuses "a trace file that cannot be made" "$HOST" "No such file" \
	restore -o "$dir/none/x.vpt" "$good"
tap_run "restored where nothing was recorded" "$VPT" restore -q "$dir/bare.vps"
tap_run "what it says is JSON" sh -c \
	"'$VPT' snapshot -j '$good' | python3 -c 'import json, sys; d = json.load(sys.stdin)
assert d[\"instructions\"] == 20000 and d[\"guest\"] == \"calls.elf\" and d[\"file_bytes\"] > 0'"

size=$(stat -c %s "$good")
: >"$dir/empty"
head -c 4096 /dev/zero >"$dir/zeros"
head -c 16 "$good" >"$dir/header-cut"
{ printf 'X' && tail -c +2 "$good"; } >"$dir/magic"
{ head -c 8 "$good" && printf '\377' && tail -c +10 "$good"; } >"$dir/version"
{ cat "$good" && printf 'more'; } >"$dir/more"
for verb in restore snapshot; do
	refuses "$verb: an empty file" "$INPUT" "too short" $verb "$dir/empty"
	refuses "$verb: zeros" "$INPUT" "not a snapshot" $verb "$dir/zeros"
	refuses "$verb: a trace file" "$INPUT" "not a snapshot" $verb "$dir/part.vpt"
	refuses "$verb: a header cut off" "$INPUT" "too short" $verb "$dir/header-cut"
	refuses "$verb: the wrong magic" "$INPUT" "not a snapshot" $verb "$dir/magic"
	refuses "$verb: a later version" "$INPUT" "version" $verb "$dir/version"
	refuses "$verb: more after the end" "$INPUT" "after the end" $verb "$dir/more"
	refuses "$verb: a folder" "$INPUT" "directory" $verb "$dir"
done

# Cut anywhere, it is none; one wrong byte anywhere, and the checksum sees it.
wrong=
for part in 1 2 3 5 8 13 21 34 55 62 63; do
	head -c $((size * part / 64)) "$good" >"$dir/cut"
	at=$((size * part / 64))
	cp "$good" "$dir/flip"
	old=$(od -An -tu1 -j $at -N 1 "$good" | tr -d ' ')
	# shellcheck disable=SC2059 # an escape
	printf "\\$(printf %o $((old ^ 1)))" | dd of="$dir/flip" bs=1 seek=$at conv=notrunc 2>/dev/null
	for file in cut flip; do
		said=$("$VPT" restore -q -o "$dir/x.vpt" "$dir/$file" 2>&1 >/dev/null)
		status=$?
		[ $status -eq "$INPUT" ] && [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] ||
			wrong="$wrong
$file at $part/64: status $status: $said"
	done
done
tap_empty "cut files, wrong bytes" "$wrong"

# Change a register of CPUID leaf 1: EDX gets bits, and the block a new checksum.
cpuid() { # BITS
	python3 - "$dir/bare.vps" "$dir/cpuid.vps" "$1" <<-'END'
		import struct, sys
		def crc32c(data):
		    crc = 0xffffffff
		    for byte in data:
		        crc ^= byte
		        for _ in range(8):
		            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
		    return crc ^ 0xffffffff
		file = bytearray(open(sys.argv[1], "rb").read())
		at = 32
		while struct.unpack_from("<I", file, at + 4)[0] != 2:
		    at += 16 + (struct.unpack_from("<I", file, at + 8)[0] + 7 & ~7)
		length = struct.unpack_from("<I", file, at + 8)[0]
		leaves = [i for i in range(at + 16, at + 16 + length, 32) if struct.unpack_from("<I", file, i)[0] == 1]
		assert len(leaves) == 1
		edx = struct.unpack_from("<I", file, leaves[0] + 24)[0]
		struct.pack_into("<I", file, leaves[0] + 24, edx ^ int(sys.argv[3], 0))
		struct.pack_into("<I", file, at + 12, 0)
		struct.pack_into("<I", file, at + 12, crc32c(file[at : at + 16 + length]))
		open(sys.argv[2], "wb").write(file)
	END
}
tap_run "another CPUID" cpuid 0x40000000
refuses "a feature that the software CPU lacks" "$INPUT" "cannot have its CPUID leaf 0x1, 0: EDX" \
	restore -q "$dir/cpuid.vps"
tap_run "CPUID without SSE2" cpuid 0x04000000
tap_run "fewer features than the software CPU has" "$VPT" restore -q "$dir/cpuid.vps"

# A trace can begin at a snapshot of a run that was not traced.
tap_run "a snapshot of an untraced run" "$VPT" $run --pt=off --snapshot="$dir/off.vps" --snapshot-at=20000 "$elf"
begins() {
	"$VPT" restore -q --pt=host --oracle -o "$dir/off.vpt" "$dir/off.vps" >/dev/null &&
		"$VPT" verify "$dir/off.vpt" >"$dir/said" && grep -q '^verify: [1-9].* 0 mismatches' "$dir/said"
}
tap_run "a trace that begins at a snapshot" begins
refuses "a trace that begins at a traced run" "$USAGE" "not a snapshot of vpt run --pt=off" \
	restore --pt=host -o "$dir/x.vpt" "$good"
refuses "a trace without a file" "$USAGE" "requires -o" restore --pt=host "$dir/off.vps"
refuses "an oracle without a trace" "$USAGE" "requires --pt=host" restore --oracle -o "$dir/x.vpt" \
	"$good"

# A snapshot has the name of its guest, which must not reach a terminal as it is.
plain_name() {
	odd=$dir/$(printf 'odd\033[31m.elf')
	cp "$elf" "$odd"
	# shellcheck disable=SC2086
	"$VPT" $run --snapshot="$dir/odd.vps" --snapshot-at=2000 "$odd" >/dev/null 2>&1
	for verb in "restore -q --max-insns=120" "snapshot" "snapshot -j"; do
		"$VPT" $verb "$dir/odd.vps" >"$dir/said" 2>&1
		cat -v "$dir/said"
		grep -q 'odd.*31m.elf' "$dir/said" && ! grep -q "$(printf '\033')" "$dir/said" || return
	done
}
tap_run "the name of a guest is shown without control characters" plain_name
tap_run "the whole file, after all that" "$VPT" restore -q -o "$dir/rest.vpt" "$good"
tap_end

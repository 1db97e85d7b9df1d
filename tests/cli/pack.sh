#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt pack: what is compressed reads as before, and unpacks to the same bytes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C
SIDE=$TOOLS/side
POINTS=$TOOLS/points

# decoded FILE: a checksum of all that is decoded, and of what verify says.
decoded() {
	"$VPT" decode -i "$1" 2>/dev/null | cksum
	"$VPT" verify "$1" 2>/dev/null
}

# facts FILE: what info says, but for sizes and the version.
facts() {
	"$VPT" info "$1" 2>/dev/null | sed '/^file  *[0-9]/d; /^format/d; /^PSBs/d'
}

# packs NAME FILE: there and back.
packs() {
	rm -f "$dir/packed" "$dir/back"
	tap_run "$1: pack" "$VPT" pack -q "$2" "$dir/packed"
	tap_run "$1: it is smaller" test "$(stat -c %s "$dir/packed")" -lt "$(stat -c %s "$2")"
	tap_run "$1: the same is decoded" test "$(decoded "$2")" = "$(decoded "$dir/packed")"
	tap_run "$1: the same is shown" test "$(facts "$2")" = "$(facts "$dir/packed")"
	tap_run "$1: unpack" "$VPT" pack -q --level=0 "$dir/packed" "$dir/back"
}

trace() { # FILE GUEST OPTION...
	tr_file=$1
	tr_guest=$2
	shift 2
	"$VPT" run -q --engine=soft --oracle --max-insns=300000 -o "$dir/$tr_file" "$@" \
		"$GUEST/$tr_guest.elf" >/dev/null 2>&1
}
trace host.vpt quicksort --pt=host --psb=0 --tsc --cyc
trace guest.vpt topa_pmi
trace system.vpt spaces --usage=system --tsc
trace rtit.vpt random --pt=host --trace=rtit
"$SIDE" "$dir/side.vpt"
for name in host guest system rtit side; do
	packs "$name" "$dir/$name.vpt"
	tap_run "$name: byte for byte" cmp "$dir/$name.vpt" "$dir/back"
done
tap_run "points: a decoder starts at each" "$POINTS" "$dir/host.vpt"

# Old files become files of this version.
for file in guest host rtit lost system; do
	gzip -dc "tests/cli/compat/files/$file.vpt.gz" >"$dir/old.vpt" || exit 1
	packs "0.1: $file" "$dir/old.vpt"
	tap_run "0.1: $file: version 3" test "$("$VPT" info "$dir/back" | grep ^format)" = \
		"format         version 3"
	tap_run "0.1: $file: unpacked, the same is decoded" test "$(decoded "$dir/old.vpt")" = \
		"$(decoded "$dir/back")"
done

# Of a damaged file what is not in the damaged block is there.
"$VPT" pack -q "$dir/host.vpt" "$dir/bad.vpt"
size=$(stat -c %s "$dir/bad.vpt")
printf 'XXXX' | dd of="$dir/bad.vpt" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
refuses "a damaged block: info" "$INPUT" "damaged at byte [0-9]+: a block's checksum is wrong" \
	info "$dir/bad.vpt"
refuses "a damaged block: pack" "$INPUT" "damaged at byte" pack "$dir/bad.vpt" "$dir/none"
head -c 9000 "$dir/host.vpt" >"$dir/cut.vpt"
refuses "a file that is cut off" "$INPUT" "ends early|cut off" pack "$dir/cut.vpt" "$dir/none"
tap_run "nothing was written" test ! -e "$dir/none"

refuses "no OUT" "$USAGE" "OUT is missing" pack "$dir/host.vpt"
refuses "a level that is none" "$USAGE" "level" pack --level=x "$dir/host.vpt" "$dir/none"
refuses "a level too high" "$USAGE" "use 0 to 19" pack --level=20 "$dir/host.vpt" "$dir/none"
refuses "standard input" "$USAGE" "read twice" pack - "$dir/none"
refuses "one file for both" "$USAGE" "host.vpt" pack "$dir/host.vpt" "$dir/host.vpt"
refuses "no such file" "$INPUT" "No such file" pack "$dir/nothing.vpt" "$dir/none"
refuses "a full device" "$HOST" "No space left" pack "$dir/host.vpt" /dev/full
tap_end

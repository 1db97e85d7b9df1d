#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that are no trace, or not a whole one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
good=$dir/good.vpt

tap_run "a trace" "$VPT" run -q --oracle -o "$good" "$GUEST/calls.elf"
size=$(stat -c %s "$good")
: >"$dir/empty"
head -c 4096 /dev/zero >"$dir/zeros"
head -c 16 "$good" >"$dir/header-cut"
{ printf 'X' && tail -c +2 "$good"; } >"$dir/magic"
for verb in dump decode verify info; do
	refuses "$verb: an empty file" "$INPUT" "" $verb "$dir/empty"
	refuses "$verb: zeros" "$INPUT" "" $verb "$dir/zeros"
	refuses "$verb: an ELF file" "$INPUT" "" $verb "$GUEST/calls.elf"
	refuses "$verb: a header cut off" "$INPUT" "" $verb "$dir/header-cut"
	refuses "$verb: the wrong magic" "$INPUT" "" $verb "$dir/magic"
	refuses "$verb: a folder" "$INPUT" "" $verb "$dir"
	tap_run "$verb: the whole file" "$VPT" $verb "$good"
done

# Cut anywhere, a file is a shorter file or none: what there is is shown, the exit
# status says that it is not all, and no cut makes a verb crash or hang.
wrong=
for part in 1 2 3 5 8 13 21 34 55 62 63; do
	head -c $((size * part / 64)) "$good" >"$dir/cut"
	for verb in dump decode verify info; do
		said=$(timeout 60 "$VPT" $verb "$dir/cut" 2>&1 >/dev/null)
		status=$?
		case $status in
		"$FAIL" | "$INPUT") ;;
		*) wrong="$wrong
$verb of $part/64: status $status: $said" ;;
		esac
	done
done
tap_empty "cut files" "$wrong"

# One wrong byte anywhere ends reading there: the checksum sees it.
wrong=
for part in 1 4 9 16 25 36 49 63; do
	at=$((size * part / 64))
	cp "$good" "$dir/flip"
	byte=$(od -An -tu1 -j $at -N 1 "$good" | tr -d ' ')
	# shellcheck disable=SC2059 # an octal escape
	printf "\\$(printf %o $((byte ^ 255)))" | dd of="$dir/flip" bs=1 seek=$at conv=notrunc 2>/dev/null
	for verb in dump decode verify info; do
		said=$(timeout 60 "$VPT" $verb "$dir/flip" 2>&1 >/dev/null)
		status=$?
		case $status in
		"$FAIL" | "$INPUT") ;;
		*) wrong="$wrong
$verb with byte $at changed: status $status: $said" ;;
		esac
	done
done
tap_empty "changed bytes" "$wrong"

# A run that is killed leaves a file that reads up to its last whole block.
"$VPT" run -q --pt host --oracle --arg=1000 -o "$dir/killed.vpt" "$GUEST/bench_int.elf" \
	>/dev/null 2>&1 &
pid=$!
# The oracle takes 16 bytes an instruction, the packets a tenth of one.
for _ in $(seq 1000); do
	sleep 0.02
	[ "$(stat -c %s "$dir/killed.vpt.part" 2>/dev/null || echo 0)" -lt 3000000 ] || break
done
kill -9 $pid
wait $pid 2>/dev/null
tap_run "killed while it ran" test $? -eq 137
for verb in dump decode verify info; do
	refuses "killed: $verb shows what there is, and says that it ends early" "$INPUT" \
		"without an END|cut off" $verb "$dir/killed.vpt"
done
tap_run "killed: there is something in it" sh -c "[ \$('$VPT' decode --insn '$dir/killed.vpt' | wc -l) -gt 1000 ]"

# A reader that goes away is no reason for noise.
said=$("$VPT" decode "$good" 2>&1 >/dev/null | head -c 0)
tap_empty "a closed pipe" "$said"
tap_end

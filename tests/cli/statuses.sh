#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every verb that reads a trace ends with status 3 if the file is damaged, cut or too long,
# whatever else there is to say about it.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C
good=$dir/good.vpt
bad=$dir/bad.vpt
blocks=$TOOLS/blocks

# at TYPE: the offset of the second block of that type, or of the only one.
at() {
	"$blocks" -o "$good" | awk -v type="$1" '$2 == type && n++ < 2 { at = $1 } END { print at }'
}

# flip TYPE: change a bit in a block of that type.
flip() {
	fl_at=$(($(at "$1") + 24))
	cp "$good" "$bad"
	fl_old=$(od -An -tu1 -j $fl_at -N 1 "$bad" | tr -d ' ')
	# shellcheck disable=SC2059 # an octal escape
	printf "\\$(printf %o $((fl_old ^ 16)))" | dd of="$bad" bs=1 seek=$fl_at conv=notrunc 2>/dev/null
}

# statuses WHAT WORDS: of all verbs, with $bad.
statuses() {
	for verb in decode "decode -q" "decode -i" "decode -g" verify "verify -j" dump "dump -s" \
		info "info -j"; do
		# shellcheck disable=SC2086 # a verb and its options
		refuses "$1: $verb" "$INPUT" "$2" $verb "$bad"
	done
	rm -rf "$dir/perf"
	refuses "$1: export --to=perf" "$INPUT" "$2" export -q --to=perf "$bad" "$dir/perf"
	tap_run "$1: export --to=perf: DIR is there" test -s "$dir/perf/data"
}

"$VPT" run -q --oracle --pt=host -o "$good" "$GUEST/calls.elf" >/dev/null 2>&1
tap_run "the trace is good" "$VPT" verify -q "$good"

# The numbers are those of enum trace_block_type: code that is missing, what ran, trace, a session.
for block in "16 PAGE" "7 ORACLE" "5 TRACE" "6 SESSION" "9 END"; do
	flip "${block% *}"
	statuses "a flipped bit in ${block#* }" "damaged at byte [0-9]+: a block's checksum is wrong"
done
for block in "16 PAGE" "7 ORACLE" "5 TRACE"; do
	head -c $(($(at "${block% *}") + 24)) "$good" >"$bad"
	statuses "cut in ${block#* }" "cut: a block is cut off; bytes lost: [0-9]+"
done
{
	cat "$good"
	printf 'garbage and no block'
} >"$bad"
statuses "garbage behind the end" "damaged at byte [0-9]+: something follows the END block"

# RTIT, which export turns into PT first.
"$VPT" run -q --model=silvermont --pt=host -o "$good" "$GUEST/demo.elf" >/dev/null 2>&1
tap_run "RTIT: the trace is good" "$VPT" decode -q "$good"
flip 16
refuses "RTIT: a flipped bit in PAGE: decode" "$INPUT" "damaged at byte" decode "$bad"
refuses "RTIT: a flipped bit in PAGE: export --to=perf" "$INPUT" "damaged at byte" \
	export -q --to=perf "$bad" "$dir/rtit"
refuses "RTIT: a flipped bit in PAGE: export --to=pt" "$INPUT" "damaged at byte" \
	export -q --to=pt "$bad" "$dir/pt.vpt"
tap_run "RTIT: a flipped bit in PAGE: OUT is there" test -s "$dir/pt.vpt"

# Coverage is of lines: without debug information there is none.
cat >"$dir/bare.c" <<'END'
void _start(void)
{
	__asm__ volatile("outl %%eax, %%dx" : : "a"(0), "d"(0xf4));
	for (;;)
		;
}
END
gcc -ffreestanding -nostdlib -static -no-pie -o "$dir/bare" "$dir/bare.c"
"$VPT" run -q --pt=host -o "$dir/bare.vpt" "$dir/bare"
refuses "decode --coverage: no debug information" "$INPUT" "no debug information: build the guest with -g" \
	decode --coverage "$dir/bare.vpt"
gcc -g -ffreestanding -nostdlib -static -no-pie -o "$dir/lines" "$dir/bare.c"
tap_run "decode --coverage --symbols: lines of another file" sh -c \
	"'$VPT' decode --coverage --symbols='$dir/lines' '$dir/bare.vpt' | grep -q '^SF:'"
tap_end

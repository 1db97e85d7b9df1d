#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a first-time user asks vpt: help, versions, words that are nearly right, empty traces, and
# where the guest's console goes.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

tap_run "-V is --version" test "$("$VPT" -V)" = "$("$VPT" --version)"
tap_run "help VERB is VERB --help" test "$("$VPT" help decode)" = "$("$VPT" decode --help)"
for word in decod deocde dcode decodes decose; do
	said=$("$VPT" $word 2>&1)
	tap_run "$word: did you mean decode?" test "$said" = "vpt $word: no such verb: did you mean decode?"
done
tap_run "xyz: no guess" test "$("$VPT" xyz 2>&1)" = "vpt xyz: no such verb: see vpt --help"
tap_run "help decod: the same" test "$("$VPT" help decod 2>&1)" = "vpt decod: no such verb: did you mean decode?"

# A guest that knows nothing of PT.
cat >"$dir/idle.c" <<'END'
void _start(void)
{
	__asm__ volatile("outb %%al, %%dx" : : "a"('x'), "d"(0xe9));
	__asm__ volatile("outl %%eax, %%dx" : : "a"(0), "d"(0xf4));
	for (;;)
		;
}
END
gcc -ffreestanding -nostdlib -static -no-pie -o "$dir/idle" "$dir/idle.c"
nothing="nothing was traced: the guest never enabled PT; --pt=host traces it without its help"
for verb in "run -o $dir/t.vpt $dir/idle" "info $dir/t.vpt" "decode $dir/t.vpt"; do
	# shellcheck disable=SC2086 # a verb and its operands
	"$VPT" $verb >"$dir/said" 2>&1
	tap_run "${verb%% *}: an empty trace has a reason" grep -q "$nothing" "$dir/said"
done
"$VPT" run --pt=host --cr3=0x123000 -o "$dir/t.vpt" "$dir/idle" >/dev/null 2>"$dir/said"
tap_run "run: a filter that nothing passes" grep -q "nothing was traced: --filter, --user, --kernel and --cr3 select" "$dir/said"

# The console has a place of its own, and JSON is alone on standard output.
"$VPT" run -q --pt=off --console="$dir/console" "$dir/idle" >"$dir/out"
tap_run "--console: it has what the guest printed" test "$(cat "$dir/console")" = x
tap_run "--console: standard output has not" test ! -s "$dir/out"
"$VPT" run --json --pt=off "$dir/idle" >"$dir/out" 2>"$dir/err"
tap_run "--json: standard output is one object" jq -e '.end == "exit"' "$dir/out"
tap_run "--json: the console is standard error" grep -q x "$dir/err"
"$VPT" run --json --pt=off --console="$dir/console" "$dir/idle" >"$dir/out" 2>/dev/null
tap_run "--json --console: both" sh -c "jq -e '.end == \"exit\"' '$dir/out' && grep -qx x '$dir/console'"
refuses "--console is the guest" "$USAGE" "same file" run --pt=off --console="$dir/idle" "$dir/idle"
refuses "--console to a full disk" "$HOST" "console.*No space" run -q --pt=off --console=/dev/full "$dir/idle"

printf 'void _start(void) { for (;;) ; }\n' >"$dir/spin.c"
gcc -ffreestanding -nostdlib -static -no-pie -o "$dir/spin" "$dir/spin.c"
refuses "--timeout=0.2" "$FAIL" "timeout=0.2 reached" run -q --engine=soft --pt=off --timeout=0.2 "$dir/spin"
for bad in x 1x -1 1e3 .; do
	refuses "--timeout=$bad" "$USAGE" "not a number of seconds" run --timeout=$bad "$dir/spin"
done
refuses "a feature that the model lacks: the remedy" "$USAGE" "use --model=spr.*--caps" \
	run --pt=host --events -o "$dir/t.vpt" "$dir/idle"

# --oracle says what it costs, before and after.
"$VPT" run --engine=soft --oracle --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null 2>"$dir/err"
size=$(stat -c %s "$dir/t.vpt")
tap_run "--oracle: what an instruction costs" grep -q \
	"^vpt run: --oracle: 16 bytes of file for each instruction .* --max-bytes, is 4096M$" "$dir/err"
tap_run "--oracle: the size of the file" grep -q ", $size bytes of file with the oracle, " "$dir/err"
# The file is the oracle's records, and little else.
insns=$(sed -n 's/^vpt run: \([0-9]*\) instructions.*/\1/p' "$dir/err")
tap_run "--oracle: 16 bytes is true" test $((size - 16 * insns)) -gt 0 -a $((size - 16 * insns)) -lt 250000
"$VPT" run -q --engine=soft --oracle --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null 2>"$dir/err"
tap_run "--oracle -q: nothing" test ! -s "$dir/err"
"$VPT" run --json --engine=soft --oracle --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >"$dir/out" 2>/dev/null
tap_run "--oracle --json: the size of the file" jq -e ".file_bytes == $size" "$dir/out"
"$VPT" run --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null 2>"$dir/err"
tap_run "without --oracle: not a word of it" sh -c "! grep -q oracle '$dir/err'"
tap_run "--help says it" sh -c "'$VPT' run --help | grep -A1 -e --oracle | grep -q '16 bytes'"

refuses "lockstep -m: a size that is none" "$USAGE" "mem" lockstep -m 64X "$dir/idle"
refuses "lockstep -m 64M: a size; then the guest is missing" "$USAGE" "GUEST|missing" lockstep -m 64M
tap_end

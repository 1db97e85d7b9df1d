#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Command lines that are wrong: refused before anything is done.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf
out=$dir/t.vpt

refuses "no guest" "$USAGE" "GUEST" run
refuses "two guests" "$USAGE" "one GUEST" run "$elf" "$elf"
refuses "an unknown option" "$USAGE" "frobnicate" run --frobnicate "$elf"
refuses "an option without its value" "$USAGE" "model" run --model
refuses "an unknown model" "$USAGE" "486.*skl" run --model=486 "$elf"
refuses "an unknown owner" "$USAGE" "nobody" run --pt=nobody "$elf"
refuses "an unknown engine" "$USAGE" "steam" run --engine=steam "$elf"
for size in 0 -1 1 64Q 1000000G 999999999999999999999 12345; do
	refuses "memory of $size" "$USAGE" "mem" run --mem="$size" "$elf"
done
refuses "a seed that is no number" "$USAGE" "seed" run --seed=often "$elf"
refuses "five arguments" "$USAGE" "arg" run --arg=1 --arg=2 --arg=3 --arg=4 --arg=5 "$elf"
refuses "an oracle and no file" "$USAGE" "-o" run --oracle "$elf"
refuses "tracing by the host and no file" "$USAGE" "-o" run --pt=host "$elf"
refuses "a filter for a guest that owns PT" "$USAGE" "host" run --filter=main -o "$out" "$elf"
refuses "a filter naming no symbol" "$USAGE" "no_such_symbol" \
	run --pt=host --filter=no_such_symbol -o "$out" "$elf"
refuses "a filter to no symbol" "$USAGE" "no_such_symbol" \
	run --pt=host --filter=main..no_such_symbol -o "$out" "$elf"
refuses "a filter that ends before it begins" "$USAGE" "filter" \
	run --pt=host --filter=0x300000-0x200000 -o "$out" "$elf"
refuses "a range that is half an address" "$USAGE" "FIRST-LAST" \
	run --pt=host --filter=0x300000- -o "$out" "$elf"
refuses "more filters than the processor has" "$USAGE" "range" run --pt=host --filter=main \
	--filter=main --filter=main --filter=main --filter=main -o "$out" "$elf"
refuses "a model changed into one that cannot be" "$USAGE" "caps" run --caps=ecx=0 "$elf"
refuses "a change of nothing known" "$USAGE" "colour" run --caps=colour=1 "$elf"
tap_run "nothing was written" test ! -e "$out"

for verb in dump decode verify info; do
	refuses "$verb: no file named" "$USAGE" "FILE|missing" $verb
	refuses "$verb: an unknown option" "$USAGE" "frobnicate" $verb --frobnicate x
	refuses "$verb: no such file" "$INPUT" "No such file" $verb "$dir/none.vpt"
done

refuses "lockstep: no guest named" "$USAGE" "GUEST is missing" lockstep
refuses "lockstep: an unknown option" "$USAGE" "frobnicate" lockstep --frobnicate x
refuses "lockstep: one engine" "$USAGE" "engines" lockstep --engines=soft "$elf"
refuses "lockstep: an unknown engine" "$USAGE" "not soft or kvm" lockstep --engines=soft,abacus "$elf"
refuses "lockstep: no such file" "$INPUT" "No such file" lockstep "$dir/none.elf"

# The command itself has no verb to name.
said=$("$VPT" frobnicate 2>&1 >/dev/null)
tap_run "an unknown verb: status" test $? -eq "$USAGE"
tap_run "an unknown verb: one line that names it" \
	test "$(printf '%s\n' "$said" | grep -c '^vpt frobnicate: ')/$(printf '%s\n' "$said" | wc -l)" = 1/1
for verb in run dump decode verify info caps lockstep; do
	tap_run "vpt $verb --help" "$VPT" $verb --help
done
tap_run "vpt --help" "$VPT" --help
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What each verb says to a wrong option: the one that is meant, the value that is missing, or
# where to look.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

verbs=$("$VPT" --help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
tap_run "there are verbs" test "$(echo "$verbs" | wc -w)" -ge 11

# says VERB OPTION ANSWER: `vpt VERB OPTION` is status 2, and one line that begins with ANSWER.
says() {
	sy_said=$("$VPT" "$1" "$2" 2>&1 </dev/null)
	sy_status=$?
	case $sy_status:$sy_said in
	*"
"*) ;;
	"2:vpt $1: $3"*) return ;;
	esac
	echo "vpt $1 $2: status $sy_status: $sy_said"
}

for verb in $verbs; do
	# Rows of the help: "  -x, --name=WORD", "      --name[=WORD]" or without a value.
	"$VPT" "$verb" --help | sed -nE 's/^  (-., |    )--([a-z0-9-]+)(=|\[)?.*/\2 \3/p' >"$dir/rows"
	while read -r name kind; do
		case $kind in
		=) says "$verb" "--$name" "--$name needs a value: --$name=" ;;
		'') says "$verb" "--$name=1" "--$name=1: --$name takes no value" ;;
		esac
	done <"$dir/rows" >"$dir/wrong"
	tap_run "$verb: options with and without values" test -s "$dir/rows"
	tap_empty "$verb: the value is missing, or not wanted" "$(cat "$dir/wrong")"
	# One letter too many behind the second; no other option is as near.
	while read -r name _; do
		rest=${name#??}
		word=${name%"$rest"}Z$rest
		says "$verb" "--$word" "--$word: no such option: did you mean --$name?"
	done <"$dir/rows" >"$dir/wrong"
	tap_empty "$verb: did you mean" "$(cat "$dir/wrong")"
	tap_empty "$verb: no guess" \
		"$(says "$verb" --frobnicate "--frobnicate: no such option: see vpt $verb --help")"
	tap_empty "$verb: no such letter" "$(says "$verb" -Zh "-Z: no such option: see vpt $verb --help")"
done

refuses "a letter is missing" "$USAGE" "^vpt run: --filte-r: .* did you mean --filter\?$" run --filte-r=x
refuses "two letters are swapped" "$USAGE" "did you mean --stop\?$" run --stpo=panic
refuses "a letter is wrong" "$USAGE" "did you mean --insn\?$" decode --insm
refuses "the beginning of several" "$USAGE" \
	"--snap: which one: --snapshot, --snapshot-at, --snapshot-every\?$" run --snap
refuses "a letter's value is missing" "$USAGE" "^vpt run: --output needs a value: --output=FILE: record to" \
	run -qo
refuses "all lines of the explanation" "$USAGE" "eax= ebx= .* linaddr=, nonturbo=$" run --caps

refuses "a model" "$USAGE" "--model=sklx: unknown: did you mean skl\?$" run --model=sklx x
refuses "lockstep: a model" "$USAGE" "--model=sprr: unknown: did you mean spr\?$" lockstep --model=sprr x
refuses "no such model" "$USAGE" "--model=486: not bdw, skl, icx, spr, silvermont or airmont$" \
	run --model=486 x
refuses "an engine" "$USAGE" "--engine=sfot: unknown: did you mean soft\?$" run --engine=sfot "$GUEST/calls.elf"
refuses "lockstep: an engine" "$USAGE" "--engines=kmv: unknown: did you mean kvm\?$" \
	lockstep --engines=soft,kmv x
refuses "caps: an engine" "$USAGE" "--engine=sft: unknown: did you mean soft\?$" caps --engine=sft
refuses "an owner" "$USAGE" "--pt=hots: unknown: did you mean host\?$" run --pt=hots x
refuses "a side" "$USAGE" "--side=gest: unknown: did you mean guest\?$" decode --side=gest x
refuses "a format" "$USAGE" "--to=prf: unknown: did you mean perf\?$" export --to=prf x y
refuses "a trace system" "$USAGE" "--trace=ritt: unknown: did you mean rtit\?$" dump --raw --trace=ritt x
tap_end

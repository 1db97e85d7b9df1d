#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# libvptdecode's time of each instruction is that of vpt decode's timeline, or both have bounds
# that agree; parts from PSB to PSB have the times of the whole. Traces with one address space and
# code that stays. Where an instruction takes one core clock the true time is known, too.
#
# Exceptions, counted below. libipt reads on before it returns the last branch of a TNT, so that
# the timeline gives that branch the time of what comes next. Behind an overflow, and between two
# CYCs with a threshold, only a decoder that looks ahead has an upper bound.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
O=${O:-build/${MODE:-rel}}
parts=0 traces=0 insns=0 ahead=0 open=0 outside=0

for options in "--model=icx --tsc --mtc --cyc" "--model=spr --tsc --mtc=6 --events --ptw=fup" \
	"--model=skl --tsc --cyc --no-retc" "--model=icx --tsc --mtc=9 --cyc=7 --defer-tips" \
	"--model=skl --tsc --mtc --cyc --cbr=13 --buffer=256:300"; do
	for guest in "$O"/guest/*.elf; do
		name=${guest##*/}
		name=${name%.elf}
		# RIPs of two segments are no addresses.
		[ "$name" != segments ] || continue
		true=
		case "$name $options" in "demo "*icx* | "quicksort "*icx*) true=100 ;; esac
		: >"$dir/t.vpt"
		# shellcheck disable=SC2086 # a command line
		"$O/vpt" run -q --engine=soft --pt=host $options --psb=0 --max-insns=20000 \
			-o "$dir/t.vpt" "$guest" >/dev/null 2>&1 </dev/null
		[ -s "$dir/t.vpt" ] || continue
		# shellcheck disable=SC2086 # nothing, or a number
		output=$("$O/tests/times" "$dir/t.vpt" $true 2>&1)
		case $? in
		0)
			far=${output% outside*}
			case $options in
			*--cyc=*) ;;
			*) [ "${far##*, }" -eq 0 ] || tap_fail "$name $options" "$output" ;;
			esac
			echo "$output" >>"$dir/said"
			parts=$((parts + ${output##*
}))
			;;
		3) ;; # several address spaces or sessions, or code that changes
		*) tap_fail "$name $options" "$output" ;;
		esac
	done
done
# The sums of what tests/times says.
grep "^[0-9].* instructions" "$dir/said" >"$dir/all"
awk '
	{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/) sum[$(i + 1)] += $i }
	{ for (i = 1; i < NF; i++) if ($(i + 1) == "the") same += $i }
	END {
		printf "traces=%d insns=%d same=%d inside=%d ahead=%d open=%d outside=%d\n", NR,
			sum["instructions,"], same, sum["within"], sum["read"], sum["unbounded,"],
			sum["outside,"]
	}' "$dir/all" >"$dir/sums"
. "$dir/sums"
tap_run "at least 170 traces were compared" test "${traces:-0}" -ge 170
tap_run "at least 600 parts were added" test "$parts" -ge 600
tap_run "libipt read ahead of less than 2 % of the instructions" \
	test "$((ahead * 50))" -lt "$insns"
tap_run "less than 1 % follow an overflow without a bound" test "$((open * 100))" -lt "$insns"
# Between two CYCs with a threshold the timeline has bounds from what comes later.
tap_run "less than 2 % lie outside of the timeline's bounds" \
	test "$((outside * 50))" -lt "$insns"
echo "# $(cat "$dir/sums") parts=$parts"
tap_end

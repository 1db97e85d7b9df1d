#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Input for the guest's console: from a file, a pipe and a terminal. A terminal is raw only while
# the guest runs, however the run ends.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
VPT=$(realpath "$VPT")
elf=$(realpath "$GUEST/echo.elf")
soft="run -q --engine=soft"

long='a line that is longer than the FIFO of sixteen bytes'
printf 'hello\n%s\nend\n' "$long" >"$dir/text"
printf 'hello\n%s\nend\n' "$long" >"$dir/want"

# lines FILE: the lines that the guest received, without their times.
lines() {
	tr -d '\r' <"$1" | sed -n 's/^[0-9]*: //p'
}
# shellcheck disable=SC2086 # a command line
{
	for how in 1 2 3; do
		tap_run "a file, way $how to wait" "$VPT" $soft --pt=host --arg=$how --arg=20 \
			--input="$dir/text" --console="$dir/con" -o "$dir/a.vpt" "$elf"
		lines "$dir/con" >"$dir/got"
		tap_run "every byte arrives once" cmp "$dir/want" "$dir/got"
		tap_run "again" "$VPT" $soft --pt=host --arg=$how --arg=20 --input=- \
			--console="$dir/con2" -o "$dir/b.vpt" "$elf" <"$dir/text"
		tap_run "the same file" cmp "$dir/a.vpt" "$dir/b.vpt"
		tap_run "a snapshot in the middle" "$VPT" $soft --pt=host --arg=$how --arg=20 \
			--input="$dir/text" --console="$dir/con1" -o "$dir/b.vpt" \
			--snapshot="$dir/s.vps" --snapshot-at=720896 "$elf"
		tap_run "restored" "$VPT" restore -q --input="$dir/text" --console="$dir/con2" \
			-o "$dir/c.vpt" "$dir/s.vps"
		tap_run "the rest of the input arrives at the same places" cmp "$dir/a.vpt" "$dir/c.vpt"
		cat "$dir/con1" "$dir/con2" >"$dir/got"
		tap_run "the console is the same" cmp "$dir/con" "$dir/got"
	done

	# Without an option standard input is not read.
	"$VPT" $soft --pt=host -o "$dir/a.vpt" "$elf" </dev/null >"$dir/con"
	seq 100000 | "$VPT" $soft --pt=host -o "$dir/b.vpt" "$elf" >"$dir/con2"
	tap_run "standard input is not read by default" cmp "$dir/a.vpt" "$dir/b.vpt"

	# A guest that idles ten virtual milliseconds at a time waits as long as the host does.
	(
		printf 'hello\n%s\n' "$long"
		sleep 1
		printf 'end\n'
	) | "$VPT" $soft --pt=off --console=stdio --arg=3 "$elf" >"$dir/con"
	lines "$dir/con" >"$dir/got"
	tap_run "a pipe" cmp "$dir/want" "$dir/got"
	ticks=$(sed -n 's/.* \([0-9]*\) ticks.*/\1/p' "$dir/con")
	tap_run "an idle guest does not race: $ticks ticks" test "$ticks" -ge 50 -a "$ticks" -le 500
	began=$(date +%s%N)
	tap_run "--realtime with a guest that nothing wakes" sh -c \
		"'$VPT' $soft --pt=off --timeout=0.5 --realtime --arg=3 '$elf' </dev/null >'$dir/con'; test \$? -eq $FAIL"
	took=$((($(date +%s%N) - began) / 1000000))
	tap_run "ends after --timeout: $took ms" test "$took" -ge 450 -a "$took" -le 5000
	tap_run "--console=none" sh -c "'$VPT' $soft --console=none '$elf' >'$dir/con'"
	tap_empty "prints nothing" "$(cat "$dir/con")"
	tap_run "a file stdio in this folder" test ! -e stdio -a ! -e none

	refuses "two inputs" "$USAGE" "give one" $soft --console=stdio --input="$dir/text" "$elf"
	refuses "no such input" "$INPUT" "No such file" $soft --input="$dir/none" "$elf"
	refuses "a folder" "$INPUT" "directory" $soft --input="$dir" "$elf"
	refuses "not with --usage" "$USAGE" "not with --usage" $soft --input="$dir/text" \
		--usage=system -o "$dir/x.vpt" "$elf"
	refuses "the input as an output" "$USAGE" "same file as --input" $soft --input="$dir/text" \
		-o "$dir/text" "$elf"
}

# on_terminal SCRIPT TYPED: run the script on a terminal. The words of TYPED are typed, with half a
# second before each.
on_terminal() {
	(
		for word in $2; do
			sleep 0.5
			# shellcheck disable=SC2059 # escapes
			printf "$word"
		done
		sleep 0.5
	) | timeout 20 script -qec "sh -c '$1'" /dev/null >"$dir/got" 2>&1
}
guest="$VPT $soft --pt=off --arg=3"
settings="stty -a >$dir/before; stty -a"

on_terminal "$settings >/dev/null; $guest --console=stdio $elf; echo status \$?; stty -a >$dir/after" \
	'one\r tw\003o\r end\r'
tap_run "a terminal: the guest ends" grep -q "status 0" "$dir/got"
tap_run "it is as before" cmp "$dir/before" "$dir/after"
lines "$dir/got" >"$dir/lines"
printf 'one\ntw\003o\nend\n' >"$dir/want"
tap_run "Ctrl-C is the guest's" cmp "$dir/want" "$dir/lines"

on_terminal "$settings >/dev/null; $guest --console=stdio $elf; echo status \$?; stty -a >$dir/after" \
	'\001h a\001\001b\r \001x'
tap_run "Ctrl-A x ends the run" grep -q "status $FAIL" "$dir/got"
tap_run "it is as before" cmp "$dir/before" "$dir/after"
tap_run "Ctrl-A h prints help" grep -q "Ctrl-A x .*end the run" "$dir/got"
lines "$dir/got" >"$dir/lines"
printf 'a\001b\n' >"$dir/want"
tap_run "Ctrl-A Ctrl-A sends one" cmp "$dir/want" "$dir/lines"

# A guest that is busy and never reads.
busy="$VPT $soft --pt=off"
on_terminal "$settings >/dev/null; $busy --console=stdio --arg=100000000 $GUEST/bench_int.elf; echo status \$?; stty -a >$dir/after" \
	'abc \001x'
tap_run "Ctrl-A x ends a busy guest" grep -q "status $FAIL" "$dir/got"
tap_run "it is as before" cmp "$dir/before" "$dir/after"

for signal in TERM INT HUP QUIT SEGV KILL; do
	on_terminal "stty -a >$dir/before; $guest --input=/dev/tty --console=none $elf & sleep 0.5; stty -a >$dir/raw; kill -$signal \$!; wait; sleep 0.3; stty -a >$dir/after" ''
	tap_run "SIG$signal: the terminal was raw" grep -q -- "-icanon" "$dir/raw"
	tap_run "SIG$signal: it is as before" cmp "$dir/before" "$dir/after"
done
tap_end

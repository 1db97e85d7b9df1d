#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt dump and vpt info on traces of RTIT: every byte is in a packet, cycle counts where the
# session has them, sessions with their registers by name.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh
trace=$dir/t.vpt

# record PAYLOAD [OPTION...]
record() {
	rd_payload=$1
	shift
	"$VPT" run -q --engine=soft --model=silvermont --timeout=20 "$@" -o "$trace" "$GUEST/$rd_payload.elf" \
		>"$dir/said" 2>&1
}

# The first member of that name, a number, of the JSON on standard input.
member() {
	grep -o "\"$1\":[0-9]*" | sed 's/.*://; q'
}

# whole NAME: no byte is lost, and there are as many as the file has.
whole() {
	"$VPT" dump --summary --json "$trace" >"$dir/sum" 2>"$dir/said" || {
		tap_fail "$1" "$(cat "$dir/said")"
		return
	}
	wh_has=$("$VPT" info --json "$trace" | sed 's/.*"vcpus":\[//' | member bytes)
	if [ "$(member lost <"$dir/sum")" = 0 ] && [ "$(member bytes <"$dir/sum")" = "$wh_has" ] &&
		[ "$wh_has" -gt 0 ]; then
		tap_ok "$1"
	else
		tap_fail "$1" "$wh_has bytes in the file; $(cat "$dir/sum")"
	fi
}

for payload in calls exceptions interrupts ring3 spaces strings; do
	for options in "" "--cyc" "--cyc --mtc=0 --tsc" "--no-retc --psb=0" "--user" "--kernel --cyc"; do
		# shellcheck disable=SC2086 # several words
		if record "$payload" --pt=host $options; then
			whole "$payload $options: every byte is in a packet"
		else
			tap_fail "$payload $options" "$(cat "$dir/said")"
		fi
	done
done

record calls --pt=host --cyc --mtc=0 --tsc
"$VPT" dump "$trace" >"$dir/packets"
tap_run "the session is shown" grep -q '^# vcpu 0, session 0: CTL 0x[0-9a-f]*, from 0 to [0-9a-f]*: ' \
	"$dir/packets"
tap_run "its CTL by name" grep -qE '^#   CTL 0x[0-9a-f]* TRACE_EN CYCLE_ACC OS USER .* TRACE_ACTIVE' \
	"$dir/packets"
tap_run "its end" grep -q '^#   TNT_BUFF 0x\|^#   PKT_CNT 0x.* BYTES=' "$dir/packets"
tap_run "a PSB comes first" grep -qx '00000000  PSB' "$dir/packets"
tap_run "then FUP.PGE" grep -qE '^00000009  FUP.PGE +[12]z?: 0x[0-9a-f]+ cyc [0-9]+ +[0-9a-f]{16}$' \
	"$dir/packets"
tap_empty "every LIP is known" "$(grep '?$' "$dir/packets" | head -n 3)"
tap_empty "what has a cycle count has it" \
	"$(grep -E '  (FUP|TIP|PIP|MTC|STS|TNT +[!.]{6}($| ))' "$dir/packets" | grep -v ' cyc ' | head -n 3)"
tap_empty "what has none has none" \
	"$(grep -E '  (PSB|TraceStop|TNT +[!.]{1,5}($| ))' "$dir/packets" | grep ' cyc ' | head -n 3)"
tap_run "info names what is in it" sh -c "'$VPT' info '$trace' | grep -qE '^    traces branches sts .*mtc=0 cyc'"
tap_run "info says RTIT" sh -c "'$VPT' info '$trace' | grep -qx 'trace          RTIT, errata: none'"
record calls --pt=host --errata=E1,E6
tap_run "info names the errata" sh -c "'$VPT' info '$trace' | grep -qx 'trace          RTIT, errata: E1 E6'"

# Offsets and limits find the same packets; JSON has as many lines.
record interrupts --pt=host
"$VPT" dump "$trace" | grep -v '^#' >"$dir/packets"
sed -n 20,24p "$dir/packets" >"$dir/five"
offset=$(sed -n '20s/ .*//p' "$dir/packets")
"$VPT" dump -o "0x$offset" -n 5 "$trace" | grep -v '^#' >"$dir/shown"
tap_run "an offset goes to its packet" cmp "$dir/shown" "$dir/five"
tap_run "JSON has every packet" test "$("$VPT" dump -j "$trace" | grep -c '"packet":')" = \
	"$(grep -c . "$dir/packets")"

# Registers written while the trace runs are sessions of their own.
if record atom_live --pt=guest; then
	whole "atom_live: every byte is in a packet"
	tap_run "a write ends a session" sh -c \
		"'$VPT' dump '$trace' | grep -q ': a register was written\$'"
else
	tap_fail "atom_live" "$(cat "$dir/said")"
fi

refuses "a .vpt file names its trace system" "$USAGE" "names its trace system" dump --trace=rtit "$trace"
refuses "no such trace system" "$USAGE" "not pt, rtit or rtit-cyc" dump --raw --trace=lbr "$trace"
refuses "a .vpt file is not bare bytes" "$FAIL" "are in no packet" dump --raw --trace=rtit "$trace"
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf's events are those of the packets: event trace (CFE, EVD, changes of RFLAGS.IF),
# PTWRITE, and power events, with the IPs that packets tell; as the guest traces them, and
# as a host does.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export HOME="$dir" PERF_CONFIG=/dev/null
MOST=400000
# Of CPUID.14H.0:EBX: the same processor with power events.
POWER=--caps=ebx=0x1ff

# export_of PAYLOAD [OPTION...]: $dir/t.perf
export_of() {
	of_name=$1
	shift
	rm -rf "$dir/t.perf" "$dir/t.vpt"
	"$VPT" run -q --engine soft --model spr "$@" --max-insns=$MOST -o "$dir/t.vpt" \
		"$GUEST/$of_name.elf" >"$dir/log" 2>&1
	# shellcheck disable=SC2086 # none or one argument
	"$VPT" export -q --to perf $time "$dir/t.vpt" "$dir/t.perf" >>"$dir/log" 2>&1
}

# events KINDS PAYLOAD [OPTION...]: there are events of these kinds, and perf has the same.
events() {
	ev_kinds=$1
	ev_name=$2
	shift 2
	ev_title="$ev_name${*:+, $*}${time:+, $time}"
	if ! export_of "$ev_name" "$@"; then
		tap_fail "$ev_title" "$(tail -n 4 "$dir/log")"
		return
	fi
	perf script -i "$dir/t.perf" --itrace=Iwpe -F event,ip,synth >"$dir/perf" 2>"$dir/err"
	ev_wrong=$(grep -m 3 'trace error' "$dir/perf")
	ev_said=$("$TOOLS/perf-events" "$dir/t.vpt" <"$dir/perf") || ev_wrong="$ev_wrong
$ev_said"
	for ev_kind in $ev_kinds; do
		case $ev_said in
		*" $ev_kind: "*) ;;
		*) ev_wrong="$ev_wrong
no $ev_kind" ;;
		esac
	done
	tap_empty "$ev_title: $ev_said" "$ev_wrong"
}

time=
events "evt iflag" events --pt guest
events ptwrite ptwrite --pt guest
events "mwait pwre exstop pwrx" power --pt guest $POWER
for time in "" --time=tsc; do
	events "evt iflag" events --pt host --events --tsc --mtc --cyc
	events "evt iflag" events --pt host --events --no-branch
	events ptwrite ptwrite --pt host --ptw --tsc --mtc --cyc
	events ptwrite ptwrite --pt host --ptw=fup --tsc
	events "evt mwait pwre exstop pwrx" power --pt host $POWER --power --events --tsc --mtc --cyc
	events "evt iflag pwre exstop pwrx" timer --pt host $POWER --power --events --tsc --mtc
	events "evt iflag" interrupts --pt host --events --tsc --cyc --psb=0
	events evt exceptions --pt host --events --tsc
	events evt compat --pt host --events --user --tsc
	events "evt iflag" processes --pt host --events --tsc --mtc --cyc
	events "evt iflag" compat --pt host --events --tsc --no-retc
	events evt storm --pt host --events --tsc --mtc --cyc
done

# A difference is seen: an event of perf's is left out, one is changed.
time=
export_of events --pt guest
perf script -i "$dir/t.perf" --itrace=Iwpe -F event,ip,synth >"$dir/perf" 2>"$dir/err"
for edit in '/evt/{x;s/^/x/;/^xxx$/{x;d};x}' 's/vector: 14 /vector: 13 /' 's/0->1/1->0/'; do
	sed "$edit" "$dir/perf" >"$dir/edited"
	if "$TOOLS/perf-events" "$dir/t.vpt" <"$dir/edited" >"$dir/log"; then
		tap_fail "a difference is seen: sed $edit" "$(cat "$dir/log")"
	else
		tap_ok "a difference is seen: sed $edit"
	fi
done
tap_end

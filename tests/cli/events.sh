#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Event trace of a guest: what its payload caused is what `vpt dump` shows of CFE and EVD, in
# order; the same with each engine, whether every instruction is looked at or not; and the
# flow is still the one that ran.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh

# events NAME [OPTION...]: run the payload into $dir/NAME.vpt, its lists of events beside it.
events() {
	name=$1
	shift
	if ! "$VPT" run --pt guest --model spr "$@" -o "$dir/$name.vpt" "$GUEST/events.elf" \
		>"$dir/$name.said" 2>"$dir/$name.err"; then
		tap_fail "$name" "$(cat "$dir/$name.err" && tail -n 8 "$dir/$name.said")"
		return
	fi
	"$VPT" dump "$dir/$name.vpt" >"$dir/$name.dump"
	sed -n 's/^caused \(INTR\|IRET\|PFA\) /\1 /p' "$dir/$name.said" >"$dir/$name.want"
	awk '$2 == "CFE" { print $3, $4 == "vector" ? $5 : "0x0" }
		$2 == "EVD" { print $3, $4 }' "$dir/$name.dump" |
		sed 's/ 0$/ 0x0/' >"$dir/$name.got"
	tap_run "$name: events in order" diff -u "$dir/$name.want" "$dir/$name.got"
	tap_run "$name: there are enough" test "$(wc -l <"$dir/$name.got")" -gt 100
}

events soft --engine soft
events soft-every --engine soft --oracle
tap_run "the same packets, with an oracle" cmp "$dir/soft.dump" "$dir/soft-every.dump"
tap_run "what is decoded is what ran" "$VPT" verify "$dir/soft-every.vpt"
# RFLAGS.IF is in MODE.Exec: a line of decode for each place where it is another one.
"$VPT" run -q --engine=soft --pt=host --model=spr --events -o "$dir/host.vpt" "$GUEST/events.elf" \
	>"$dir/host.said" 2>&1
"$VPT" dump "$dir/host.vpt" | awk '$2 == "MODE.Exec" { now = / IF/; n += now != was; was = now }
	END { print n + 1 }' >"$dir/flips"
"$VPT" decode -ij "$dir/host.vpt" | grep '"event":"iflag"' >"$dir/iflags"
tap_run "changes of RFLAGS.IF: $(cat "$dir/flips")" test "$(wc -l <"$dir/iflags")" -eq "$(cat "$dir/flips")"
tap_run "they are more than 5" test "$(wc -l <"$dir/iflags")" -gt 5
grep -o '"value":"0x.*' "$dir/iflags" | uniq -d >"$dir/twice"
tap_empty "they alternate" "$(cat "$dir/twice")"

if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	events kvm --engine kvm --oracle
	tap_run "the same packets, by the KVM engine" cmp "$dir/soft.dump" "$dir/kvm.dump"
	tap_run "what is decoded is what ran, by the KVM engine" "$VPT" verify "$dir/kvm.vpt"
else
	tap_skip "the KVM engine" "/dev/kvm is missing, or not to be opened by $(id -un)"
fi
tap_end

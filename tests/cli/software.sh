#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What guests put into the trace by PTWRITE, and by sleeping, packet by packet in order.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/roundtrip.sh

# The values of guest/payloads/ptwrite.c, each as EAX, RAX and the same from memory.
kernel() {
	for pair in 0:0 1:1 7fffffff:7fffffff 80000000:80000000 ffffffff:ffffffff 0:100000000 \
		ffffffff:7fffffffffffffff 0:8000000000000000 ffffffff:ffffffffffffffff \
		9abcdef0:123456789abcdef0; do
		printf '4: 0x%s%s\n8: 0x%s%s\n' "${pair%:*}" "$1" "${pair#*:}" "$1"
		printf '4: 0x%s%s\n8: 0x%s%s\n' "${pair%:*}" "$1" "${pair#*:}" "$1"
	done
}

user() {
	for i in 0 1 2 3 4 5 6; do
		printf '4: 0x%x%s\n8: 0x%x%s\n' $((i + 0x1000)) "$1" $((i << 40)) "$1"
	done
}

# The runs of the payload, in their order; the first is without PTWEn.
{
	kernel ''
	kernel ' IP'
	kernel ' IP'
	user ' IP'
	kernel ''
	kernel ''
	echo '8: 0x0'
} >"$dir/want.ptw"
# Where a host traces it is one.
{
	kernel ' IP'
	kernel ' IP'
	user ' IP'
} >"$dir/want.host"

packets() {
	"$VPT" dump "$1" | sed -n "s/^[0-9a-f]* *$2 *//p"
}

ptwrites() {
	roundtrip "$1: decodes" "$dir/$1.vpt" 0 "$GUEST/ptwrite.elf" --engine "$1" --pt guest \
		--model spr
	# roundtrip() has removed it.
	"$VPT" run --engine "$1" --pt guest --model spr -o "$dir/$1.vpt" "$GUEST/ptwrite.elf" \
		>"$dir/said" 2>&1
	packets "$dir/$1.vpt" PTW >"$dir/$1"
	tap_empty "$1: PTW values are those that were written, in order" \
		"$(diff "$dir/want.ptw" "$dir/$1" | head -n 10)"
	"$VPT" run --engine "$1" --pt host --model spr --ptw=fup -o "$dir/$1.vpt" \
		"$GUEST/ptwrite.elf" >"$dir/said" 2>&1
	packets "$dir/$1.vpt" PTW >"$dir/$1.host"
	tap_empty "$1: the same where the host traces" \
		"$(diff "$dir/want.host" "$dir/$1.host" | head -n 10)"
}

ptwrites soft

# Each sleep: what was asked for, what it came to, the same IP, and why it ended.
"$VPT" run --pt guest --model spr --caps=ebx=0x1ff -o "$dir/power.vpt" "$GUEST/power.elf" \
	>"$dir/said" 2>&1
tap_run "power: the guest passes" grep -q ', 0 failed, 0 skipped' "$dir/said"
"$VPT" dump "$dir/power.vpt" | awk '
	{ kind = $2 }
	kind == "MWAIT" || kind == "PWRE" || kind == "PWRX" { line = $0; sub(/^[0-9a-f]* */, "", line); print line }
	kind == "EXSTOP" { print "EXSTOP", $3 }' | tr -s ' ' >"$dir/power"
cat >"$dir/asked" <<EOF2
MWAIT hints 0x0 ext 0x0 PWRE state 0x0 sub 0x0 EXSTOP IP PWRX last 0x0 deepest 0x0 wake interrupt
MWAIT hints 0x1 ext 0x0 PWRE state 0x0 sub 0x1 EXSTOP IP PWRX last 0x0 deepest 0x0 wake interrupt
MWAIT hints 0x10 ext 0x0 PWRE state 0x1 sub 0x0 EXSTOP IP PWRX last 0x1 deepest 0x1 wake interrupt
MWAIT hints 0x20 ext 0x0 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0x21 ext 0x0 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0x33 ext 0x0 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0x60 ext 0x0 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0xe0 ext 0x0 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0x20 ext 0x1 PWRE state 0x2 sub 0x0 EXSTOP IP PWRX last 0x2 deepest 0x2 wake interrupt
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake timer
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake timer
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake timer
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake timer
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake timer
MWAIT hints 0x0 ext 0x0 PWRE state 0xf sub 0x2 EXSTOP IP PWRX last 0xf deepest 0xf wake interrupt
EOF2
once() {
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "PWRE state 0x0 sub 0x0 EXSTOP IP PWRX last 0x0 deepest 0x0 wake interrupt"
	done
	cat "$dir/asked"
}
# Two of the payload's runs have PwrEvtEn.
{ once; once; } | tr ' ' '\n' >"$dir/want"
tr ' ' '\n' <"$dir/power" >"$dir/got"
tap_empty "power: MWAIT, PWRE, EXSTOP and PWRX of each sleep" \
	"$(diff "$dir/want" "$dir/got" | head -n 10)"

if [ -r /dev/kvm ] && [ -w /dev/kvm ]; then
	ptwrites kvm
	tap_run "both engines: the same packets" cmp "$dir/soft" "$dir/kvm"
else
	tap_skip "PTWRITE on the KVM engine" "/dev/kvm is missing, or not to be opened by $(id -un)"
fi
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Timing, events and what else is in a trace beside branches: options that are wrong, and
# what the right ones make.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/calls.elf
out=$dir/t.vpt
host="run --engine=soft --pt=host -o $out"

# shellcheck disable=SC2086 # $host is several words
wrong() {
	wr_name=$1
	wr_words=$2
	shift 2
	refuses "$wr_name" "$USAGE" "$wr_words" $host "$@" "$elf"
}

for option in tsc mtc cyc ptw power events no-tnt no-branch; do
	refuses "--$option for a guest that owns PT" "$USAGE" "a guest sets up" \
		run "--$option" -o "$out" "$elf"
done
for option in --defer-tips --buffer=256 --cyc-bits=8 --cbr=20; do
	refuses "$option, and nothing is traced" "$USAGE" "nothing is traced" \
		run --pt=off "$option" "$elf"
done
wrong "MTC of a processor without" "mtc: model bdw" --model=bdw --mtc
wrong "CYC of a processor without" "cyc: model bdw" --model=bdw --cyc
wrong "an MTC frequency that is not offered" "mtc=5: model skl" --mtc=5
wrong "an MTC frequency beyond the field" "mtc=16" --mtc=16
wrong "an MTC frequency in words" "mtc=often" --mtc=often
wrong "MTC without a crystal" "15H" --caps=tsc_eax=0,tsc_ebx=0 --mtc
wrong "MTC periods without the one that reset leaves" "encoding 0" --caps=eax1=0x02480002
wrong "CYC thresholds without the one that reset leaves" "encoding 0" --caps=ebx1=0x003f3ffe
wrong "PSB frequencies without the one that reset leaves" "encoding 0" --caps=ebx1=0x003e3fff
wrong "a CYC threshold that is not offered" "cyc=14: model skl" --cyc=14
wrong "a CYC threshold below 0" "cyc=-1" --cyc=-1
wrong "PTWRITE of a processor without" "ptw: model icx" --model=icx --ptw
wrong "PTWRITE with what is not known" "ptw=all" --model=spr --ptw=all
wrong "power events of a processor without" "power: model spr" --model=spr --power
wrong "event trace of a processor without" "events: model skl" --events
wrong "DisTNT of a processor without" "no-tnt: model skl" --no-tnt
wrong "a buffer smaller than a packet group" "buffer=127" --buffer=127
wrong "a buffer that nothing leaves" "buffer=256:0" --buffer=256:0
wrong "a buffer with two rates" "buffer=256:1:2" --buffer=256:1:2
wrong "a cycle counter of 7 bits" "cyc-bits=7" --cyc-bits=7
wrong "a cycle counter of 33 bits" "cyc-bits=33" --cyc-bits=33
wrong "a core clock that stands still" "cbr=0" --cbr=0
wrong "a core clock beyond the CBR packet" "cbr=256" --cbr=256
wrong "a core clock that changes at no time" "cbr=20,30" --cbr=20,30
wrong "changes that go back" "cbr=20,30@9,40@8" --cbr=20,30@9,40@8
wrong "a core clock and no ratio at P1" "P1" --caps=nonturbo=0 --cbr=20
wrong "changes and a snapshot" "snapshot" --cbr=20,30@9 --snapshot="$dir/s"
tap_run "nothing was written" test ! -e "$out"

# traces NAME WORD SOURCE [OPTION...]: such packets are there, `vpt info` has the source, and
# what ran decodes.
traces() {
	tr_name=$1
	tr_word=$2
	tr_source=$3
	shift 3
	# shellcheck disable=SC2086
	"$VPT" $host -q --model=spr --oracle "$@" "$elf" >/dev/null 2>"$dir/said"
	tap_run "$tr_name: it runs" test $? -eq 0
	"$VPT" dump "$out" >"$dir/dump"
	tap_run "$tr_name: $tr_word packets" grep -Eq " $tr_word( |\$)" "$dir/dump"
	tap_run "$tr_name: info names it" sh -c \
		"'$VPT' info '$out' | grep -q '^    traces branches.* $tr_source'"
	"$VPT" verify "$out" >"$dir/said" 2>&1
	tap_run "$tr_name: verified" grep -q ", 0 mismatches" "$dir/said"
}

traces "TSC" TSC tsc --tsc
traces "MTC" MTC mtc=3 --mtc
traces "MTC of each crystal clock" MTC mtc=0 --mtc=0
traces "CYC" CYC cyc=0 --cyc
traces "CYC seldom" CYC cyc=5 --cyc=5 --cyc-bits=8
traces "TMA" TMA "tsc mtc=3" --tsc --mtc
traces "an overflow" OVF "tsc" --tsc --buffer=128:8

# The CBR packets of a core that changes its clock, and the TSC that goes on.
# shellcheck disable=SC2086
"$VPT" $host -q --model=spr --tsc --cbr=40,10@10000,20@20000:5000 "$elf" >/dev/null 2>&1
"$VPT" dump "$out" | awk '$2 == "CBR" {print $3}' | uniq | tr '\n' ' ' >"$dir/cbr"
tap_run "CBR: as asked for" sh -c "grep -Eq '^(0x28|40) (0xa|10) (0x14|20) ' '$dir/cbr'"

# Time is virtual where KVM steps, too.
if "$VPT" caps >/dev/null 2>&1; then
	for payload in calls timer; do
		for engine in soft kvm; do
			"$VPT" run -q --engine=$engine --model=spr --caps=ebx=0x1ff --pt=host --tsc \
				--mtc --cyc --events --power --ptw=fup --cbr=30,15@9000:400 \
				-o "$dir/$engine.vpt" "$GUEST/$payload.elf" >/dev/null 2>&1
			"$VPT" dump "$dir/$engine.vpt" >"$dir/$engine.dump"
		done
		tap_run "$payload: the same packets on both engines" \
			cmp "$dir/soft.dump" "$dir/kvm.dump"
		tap_run "$payload: the core stood still" grep -q " EXSTOP " "$dir/soft.dump"
	done
else
	tap_skip "the same packets on both engines" "no KVM here"
fi

# What the models tell of their clocks.
"$VPT" caps --models >"$dir/models"
tap_run "caps --models" test $? -eq 0
for row in 'bdw .* 2400 .* -' 'silvermont  rtit .* 2000 .* -' 'airmont     rtit .* 1600 .* -' \
	'skl .* 3408 .* 284/2' 'icx .* 2600 .* 208/2' 'spr .* 2000 .* 160/2'; do
	tap_run "caps --models: $row" grep -Eq "^$row" "$dir/models"
done
tap_end

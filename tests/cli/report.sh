#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt report: the data in the page are the stacks of --to folded and the instructions of a listing, and
# names of guests are escaped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

page() { # NAME ELF [OPTION...]
	name=$1
	elf=$2
	shift 2
	rm -f "$dir/t.vpt"
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$@" "$elf" >/dev/null
	compare "$name"
}

compare() { # NAME [OPTION...]
	name=$1
	shift
	"$VPT" export -q --to=folded "$@" "$dir/t.vpt" "$dir/folded"
	tap_run "$name: a page" "$VPT" report -q "$@" -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its data are the stacks" python3 tests/cli/formats/report.py "$dir/page" \
		"$dir/folded"
}

# The decoder counts a whole trace, and the walk counts a part, so --from=0 is the same by other means.
code() { # NAME WHAT...: the instructions of the last page, which must have each WHAT
	name=$1
	shift
	"$VPT" decode -i -j "$dir/t.vpt" >"$dir/listing"
	tap_run "$name: its instructions are the listing's" env PYTHONPATH=tests/cli/formats python3 \
		tests/cli/formats/report_code.py "$dir/page" "$dir/listing" "$@"
	"$VPT" report -q --from=0 -o "$dir/again" "$dir/t.vpt"
	sed 's/,\["part of vCPU [0-9]","from instruction 0"\]//g' "$dir/again" >"$dir/same"
	tap_run "$name: counted by the walk, too" cmp "$dir/page" "$dir/same"
}

# The times of the last trace. WHAT is that of report_times.py.
on_time() { # NAME WHAT...
	name=$1
	shift
	"$VPT" decode -T -i -j "$dir/t.vpt" >"$dir/listing"
	"$VPT" report -q -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its times are the listing's" python3 tests/cli/formats/report_times.py \
		"$dir/page" "$dir/listing" "$@"
}

page demo "$GUEST/demo.elf"
code demo insns ways targets more cold lines
on_time demo none
# The calls and their marks, of the last trace.
cuts() { # NAME OPTIONS WHAT...
	name=$1
	options=$2
	shift 2
	# shellcheck disable=SC2086 # a list of options
	"$VPT" export -q --to=chrome $options "$dir/t.vpt" "$dir/chrome"
	# shellcheck disable=SC2086
	"$VPT" report -q $options -o "$dir/page" "$dir/t.vpt"
	tap_run "$name: its calls and their cuts" python3 tests/cli/formats/report_cuts.py "$dir/page" \
		"$dir/chrome" "$@"
}

# The fact of a part that the page reports.
fact() { # NAME TEXT
	tap_run "$1: the page has it as a fact" grep -qF "$2" "$dir/page"
}

compare "a part" --from=100 --until=400
tap_run "a call that the part cuts is marked" grep -qE '\[[0-9]+,[0-9]+,[0-9]+,[0-9]+,[123]\]' "$dir/page"
tap_run "standard output" sh -c '"$0" report -q -o - --from=100 --until=400 "$1" | cmp - "$2"' \
	"$VPT" "$dir/t.vpt" "$dir/page"
page "six lanes" "$GUEST/processes.elf"
cuts "one address space" --process=0x120000 whole begin
fact "one address space" '["only address spaces","those of --process"]'
cuts "the last instructions" --last=5000 whole begin end
fact "the last instructions" '["part of vCPU 0","from instruction '
cuts "an interval" "--from=1000 --until=5000" begin end
fact "an interval" '["part of vCPU 0","from instruction 1000 until instruction 5000"]'
page "an overflow" "$GUEST/calls.elf" --model=skl --buffer=128:100
cuts "an overflow" "" whole begin end overflow
page "a filter" "$GUEST/filter_ip.elf" --pt=guest
cuts "a filter" "" whole begin both disabled
page "two vCPUs" "$GUEST/smp.elf" --cpus=2
cuts "two vCPUs" "" whole begin end
cuts "one vCPU" --vcpu=1 whole
fact "one vCPU" '["only vCPU","1"]'
page times "$GUEST/calls.elf" --tsc --mtc=0 --cyc
cuts times "--from=5us --until=20us" begin end
fact times 'TSC ticks after the first known time until '
on_time times
"$VPT" report -q --no-times -o "$dir/page" "$dir/t.vpt"
tap_run "a page without times" python3 tests/cli/formats/report_times.py "$dir/page" "$dir/listing" none
compare "two vCPUs"
code "two vCPUs" insns ways targets cold lines
page "two vCPUs with times" "$GUEST/smp.elf" --cpus=2 --tsc --mtc=0
on_time "two vCPUs with times" vcpus
page sleeps "$GUEST/timer.elf" --tsc --cyc
on_time sleeps sleep
page "many times" "$GUEST/storm.elf" --tsc --cyc
on_time "many times" sleep thin
page "RTIT with times" "$GUEST/processes.elf" --model=silvermont --tsc --mtc=0
on_time "RTIT with times" rtit
page "code of 16 and 32 bits" "$GUEST/compat.elf"
code "code of 16 and 32 bits" insns ways targets
page "code that changes" "$GUEST/selfmod.elf"
code "code that changes" insns other
page RTIT "$GUEST/calls.elf" --model=silvermont
code RTIT insns ways targets
objcopy --redefine-sym 'fibonacci=<script>alert(1)</script>&' "$GUEST/calls.elf" "$dir/hostile.elf"
page "a hostile name" "$dir/hostile.elf"
tap_run "it is there" grep -q 'u003cscript\\u003ealert(1)\\u003c/script\\u003e\\u0026' "$dir/page"
code "a hostile name" insns ways
tap_run "as text" test "$(grep -c 'script>alert' "$dir/page")" -eq 0
tap_run "the program's part of the page has less than 150 KB" test \
	"$(cat vmm/report/* | wc -c)" -lt 150000
refuses "no output" "$USAGE" "--output or --serve is required" report "$dir/t.vpt"
refuses "a vCPU that is not there" "$USAGE" "has vCPUs 0 to 0" report -o "$dir/none" --vcpu=9 "$dir/t.vpt"
tap_run "which leaves no file" test ! -e "$dir/none"
refuses "the trace as output" "$USAGE" "report: " report -o "$dir/t.vpt" "$dir/t.vpt"
# Thousands of events of a kind, which are packed.
"$VPT" run -q --engine=soft --pt=host --arg=1500 -o "$dir/t.vpt" "$GUEST/processes.elf" >/dev/null
tap_run "all events are in the page" sh -c "python3 tests/cli/formats/report_events.py '$VPT' '$dir/t.vpt' \
	'$dir' 8 >'$dir/out'"
tap_run "these are many: $(cat "$dir/out")" test "$(cat "$dir/out")" -gt 10000
tap_end

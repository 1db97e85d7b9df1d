#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What perf makes of an export is what vpt decode makes of the trace, instruction by
# instruction; and commands that are wrong.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
. tests/lib/exported.sh

# payload OWNER NAME [OPTION...]
payload() {
	pl_owner=$1
	pl_name=$2
	shift 2
	"$VPT" run -q --pt "$pl_owner" "$@" -o "$dir/t.vpt" "$GUEST/$pl_name.elf" >"$dir/log" 2>&1
	perf_same "$pl_name, $pl_owner${1:+, $*}"
}

tap_run "perf is there" perf --version
payload guest calls
payload guest filter_ip
payload guest filter_cr3
payload guest tracestop
payload guest single_range
payload guest topa_stop
payload guest compat
payload guest selfmod
payload guest jit
payload guest ctl_bits --model=spr
payload host ring3
payload host processes --tsc
payload host spaces --psb=0
payload host kernelmix --no-retc --tsc
payload host ring3 --user --tsc
payload host quicksort --filter=partition

"$VPT" run -q --pt host -o "$dir/t.vpt" "$GUEST/calls.elf" >/dev/null
tap_run "an export" "$VPT" export --to perf "$dir/t.vpt" "$dir/t.perf"
tap_run "names of the guest" sh -c \
	"perf script -i '$dir/t.perf' --itrace=b -F ip,sym 2>/dev/null | grep -qw guest_start"
tap_run "perf report" sh -c \
	"perf report -i '$dir/t.perf' --itrace=i100i --stdio 2>/dev/null | grep -q 'cr3:.*fibonacci'"
refuses "a folder that exists" "$HOST" "exists" export --to perf "$dir/t.vpt" "$dir/t.perf"
refuses "no purpose" "$USAGE" "--to is required" export "$dir/t.vpt" "$dir/x"
refuses "another purpose" "$USAGE" "not perf, pt, folded" export --to=gdb "$dir/t.vpt" "$dir/x"
refuses "no such way to tell the time" "$USAGE" "packets or tsc" export -t perf -T mtc "$dir/t.vpt" "$dir/x"
refuses "no folder" "$USAGE" "DIR" export --to=perf "$dir/t.vpt"
refuses "an unknown option" "$USAGE" "frobnicate" export --frobnicate
refuses "a vCPU there is not" "$USAGE" "vCPUs 0 to 0" export -t perf -c 1 "$dir/t.vpt" "$dir/x"
refuses "no such file" "$INPUT" "No such file" export -t perf "$dir/none" "$dir/x"
refuses "no trace" "$INPUT" "not a .vpt file" export -t perf "$GUEST/calls.elf" "$dir/x"
refuses "no place for it" "$HOST" "No such file" export -t perf "$dir/t.vpt" "$dir/a/b/c"
"$VPT" run -q --pt host -o "$dir/p.vpt" "$GUEST/processes.elf" >/dev/null
refuses "time as it is, where perf could not follow" "$FAIL" "time=packets" \
	export -t perf --time=packets "$dir/p.vpt" "$dir/x"
size=$(stat -c %s "$dir/t.vpt")
head -c $((size / 2)) "$dir/t.vpt" >"$dir/cut.vpt"
refuses "a trace that ends early" "$INPUT" "cut" export -q -t perf "$dir/cut.vpt" "$dir/cut.perf"
tap_run "what there is of it" test -s "$dir/cut.perf/data"
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt import: perf.data in all its forms decodes to the instructions that ran, exports too, and
# whatever a file holds, the command ends with a documented status.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
export LC_ALL=C PYTHONDONTWRITEBYTECODE=1 HOME="$dir"
made=$dir/made
mkdir "$made"
out=$dir/out.vpt

# ips FILE: the addresses of the instructions.
ips() {
	"$VPT" decode -i -j "$1" 2>"$dir/decode.err" | sed -n 's/.*"ip":"0x\([0-9a-f]*\)".*"insn".*/\1/p'
}

# imports NAME STATUS LINES FILE [OPTION...]: LINES is what standard error has to say, a regular
# expression each, by semicolons.
imports() {
	im_name=$1
	im_status=$2
	im_lines=$3
	im_file=$4
	shift 4
	rm -f "$out"
	"$VPT" import -q --root="$made/root" "$@" -o "$out" "$im_file" 2>"$dir/err"
	im_got=$?
	ips "$out" >"$dir/ips"
	im_wrong=$(cmp "$made/$im_name.ips" "$dir/ips" 2>&1)
	[ "$im_got" -eq "$im_status" ] || im_wrong="$im_wrong status $im_got"
	im_count=$(grep -c . "$dir/err")
	im_expected=0
	while [ -n "$im_lines" ]; do
		grep -qE "^vpt import: ${im_lines%%;*}" "$dir/err" || im_wrong="$im_wrong no line: ${im_lines%%;*}"
		im_expected=$((im_expected + 1))
		case $im_lines in
		*\;*) im_lines=${im_lines#*;} ;;
		*) im_lines= ;;
		esac
	done
	[ "$im_count" -eq $im_expected ] || im_wrong="$im_wrong $(cat "$dir/err")"
	[ ! -s "$dir/decode.err" ] || im_wrong="$im_wrong $(cat "$dir/decode.err")"
	tap_empty "perf.data: $im_name${1:+, $*}" "$im_wrong"
}

says() { # NAME WORDS COMMAND...
	sa_name=$1
	sa_words=$2
	shift 2
	if "$@" 2>&1 | grep -qE "$sa_words"; then
		tap_ok "$sa_name"
	else
		tap_fail "$sa_name" "no line with: $sa_words"
	fi
}

tap_run "perf.data is made" python3 tests/tools/foreign/make.py "$made"
imports two 0 "" "$made/two.data"
says "no names where processes have different code" "names: 0" sh -c \
	"echo names: \$('$VPT' decode -t '$out' | grep -c _loop)"
imports life 0 "" "$made/life.data"
imports thread 0 "" "$made/thread.data"
says "names of functions" "one_loop" "$VPT" decode "$out"
imports lost 0 "records of unknown types.*: 2;damaged records.*: 1;records that perf lost: 5;places where trace was lost: 1" \
	"$made/lost.data"
imports pieces 0 "places where trace was lost: 1" "$made/pieces.data"
imports snapshots 0 "" "$made/snapshots.data"
imports samples 0 "" "$made/samples.data"
imports kernel 0 "" "$made/kernel.data" --kcore="$made/kcore"
imports bpf 0 ".*no code of it" "$made/bpf.data"
says "BPF programs that the kernel hid" "code that the kernel made, of which there is none: 3" \
	"$VPT" import --root="$made/root" -o "$out" "$made/bpf_hidden.data"
imports reused 0 "values of CR3 that stood for several processes: 1" "$made/reused.data" --kcore="$made/kcore"
imports many 0 "" "$made/many.dir"
imports pipe 0 "" "$made/pipe.data"
# shellcheck disable=SC2002 # a pipe is what this is about
tap_run "perf.data: a pipe" sh -c "cat '$made/pipe.data' | '$VPT' import -q --root='$made/root' -o '$out' -"
ips "$out" >"$dir/ips"
tap_run "perf.data: a pipe has the same" cmp "$made/pipe.ips" "$dir/ips"
imports packed 0 "" "$made/packed.data"
imports packed2 0 "" "$made/packed2.data"
imports killed 3 ".*the part before is in" "$made/killed.data"

# What vpt exports for perf: processes, code that changes, the kernel.
exported() { # OWNER NAME [OPTION...]
	ex_owner=$1
	ex_name=$2
	shift 2
	rm -rf "$dir/t.perf"
	"$VPT" run -q --pt "$ex_owner" "$@" -o "$dir/t.vpt" "$GUEST/$ex_name.elf" >/dev/null 2>&1
	"$VPT" export -q -t perf "$dir/t.vpt" "$dir/t.perf"
	ips "$dir/t.vpt" >"$made/export.ips"
	imports export 0 "$lines" "$dir/t.perf" --root=
}
lines=".*import --kcore"
exported guest calls
exported guest selfmod
exported guest jit
exported guest compat
# There code of the kernel is at user addresses, and runs on both sides of a switch.
lines=".*several processes: [0-9]+;.*import --kcore"
exported host processes --tsc
exported host kernelmix --no-retc --tsc

if [ -n "${MIXED:-}" ]; then
	says "the vDSO of another architecture is not" "there is no file: 1: the first: \[vdso\]" \
		"$VPT" import -o "$out" "$made/vdso.data"
elif grep -q '\[vdso\]' /proc/self/maps; then
	says "the vDSO is that of this kernel" "pages of code: 2" "$VPT" import -o "$out" "$made/vdso.data"
	sed -i "s/$(uname -r)/another/" "$made/vdso.data"
	says "the vDSO of another kernel is not" "there is no file: 1: the first: \[vdso\]" \
		"$VPT" import -o "$out" "$made/vdso.data"
else
	tap_skip "the vDSO" "this kernel has none"
fi

# Bundles of LLDB.
imports threads.lldb 0 "" "$made/threads.lldb" --root=
imports cpus.lldb 0 "" "$made/cpus.lldb/trace.json" --root=
mkdir "$dir/lldb"
for text in '' '{' '{"type":"intel-pt"}' '{"type":"x"}' '{"type":"intel-pt","processes":[{"pid":1,"threads":[{' \
	'[[[[' '{"processes":{}}' '{"cpus":[{"id":0,"iptTrace":"none"}]}' '{"a":"\u1"}'; do
	printf '%s' "$text" >"$dir/lldb/trace.json"
	refuses "a bundle that is wrong: $text" "$INPUT" "" import -o "$out" "$dir/lldb"
done

# Packets alone.
raw() { # NAME OPTION...
	ra_name=$1
	shift
	rm -f "$out"
	"$VPT" import -q --raw -o "$out" "$@" "$made/$ra_name.pt" 2>"$dir/err"
	ips "$out" >"$dir/ips"
	tap_empty "packets: $ra_name, $(echo "$*" | sed "s,$made/,,g")" \
		"$(cmp "$made/$ra_name.ips" "$dir/ips" 2>&1)$(cat "$dir/err" "$dir/decode.err")"
}
raw raw --code="$made/one.bin@0x401000"
raw raw --elf="$made/root/bin/one@0x401000" --cpu=6/94/3 --ctl=0x240d
raw raw --pages="$made/page_cache.dump,$made/page_cache.addr" --range=0x401000-0x401fff
raw raw_two --cr3=0x1000 --code="$made/one.bin@0x401000" --cr3=0x2000 --code="$made/two.bin@0x401000"
raw raw_guest --pages="$made/page_cache.dump,$made/page_cache.addr"
raw raw_32 --code="$made/three.bin@0x401000"
tap_run "packets of a guest are exported" "$VPT" export -q -t perf "$out" "$dir/raw.perf"
says "packets: the ranges are in the file" "ADDR0" sh -c \
	"'$VPT' import -q --raw --range=0x1000-0x2000 --range=0x3000-0x4000:stop -o '$out' '$made/raw.pt' && '$VPT' info '$out'"

# BDM70: a PSB+ where nothing is enabled has a FUP. PSB MODE FUP:501234 PSBEND PGE:401000 TNT:.
bytes='\2\202\2\202\2\202\2\202\2\202\2\202\2\202\2\202\231\1\175\064\022\120\0\0\0\2\043\161\0\020\100\0\0\0\4'
# shellcheck disable=SC2059 # they are a format
printf "$bytes" >"$dir/bdm70.pt"
printf 't\0' >"$dir/jz"
"$VPT" import -q --raw --code="$dir/jz@0x401000" -o "$dir/bdm70.vpt" "$dir/bdm70.pt"
refuses "an erratum of an unknown processor" 1 "invalid or unexpected packet" decode -i "$dir/bdm70.vpt"
refuses "an erratum of another processor" 1 "invalid or unexpected packet" decode -i --cpu=6/156/1 "$dir/bdm70.vpt"
says "an erratum of the processor that is given" "0000000000401000" "$VPT" decode -i --cpu=6/61 "$dir/bdm70.vpt"
says "an export by the processor that is given" "instructions: 1," \
	"$VPT" export -t perf --cpu=6/61 "$dir/bdm70.vpt" "$dir/bdm70.perf"
# PSB MODE FUP:401000 PSBEND TRIG: trigger 2 fired 3 instructions behind FUP:401000, and then 5 alone.
bytes='\2\202\2\202\2\202\2\202\2\202\2\202\2\202\2\202\231\1\175\0\020\100\0\0\0\2\043\331\300\4\3\0\175\0\020\100\0\0\0\331\0\040\4'
# shellcheck disable=SC2059 # they are a format
printf "$bytes" >"$dir/trig.pt"
"$VPT" import -q --raw --code="$dir/jz@0x401000" -o "$dir/trig.vpt" "$dir/trig.pt"
says "a trigger with a place" "^-- triggers 0x4, 3 instructions after at 0x401000" "$VPT" decode -i "$dir/trig.vpt"
says "a trigger alone" "^-- triggers 0x20, 0 instructions after$" "$VPT" decode -i "$dir/trig.vpt"
says "a trigger in JSON" '"event":"trig","from":"0x401000","value":"0x4","insns":3' "$VPT" decode -ij "$dir/trig.vpt"

for verb in decode verify "export -t perf"; do
	# shellcheck disable=SC2086 # a verb and its option
	refuses "$verb: no CPU" "$USAGE" "FAMILY/MODEL" $verb --cpu=61 "$dir/bdm70.vpt" "$dir/x"
done
refuses "packets: no CPU" "$USAGE" "FAMILY/MODEL" import --raw --cpu=6 -o "$out" "$made/raw.pt"
refuses "packets: no range" "$USAGE" "FIRST-LAST" import --raw --range=5-4 -o "$out" "$made/raw.pt"
refuses "packets: too many ranges" "$USAGE" "four" import --raw --range=1-2 --range=1-2 --range=1-2 \
	--range=1-2 --range=1-2 -o "$out" "$made/raw.pt"
refuses "packets: code without an address" "$USAGE" "FILE@ADDRESS" import --raw --code=x -o "$out" "$made/raw.pt"
refuses "packets: a bias that is none" "$USAGE" "after @" import --raw --elf=x@y -o "$out" "$made/raw.pt"
refuses "packets: pages without a list" "$USAGE" "DUMP,ADDRESSES" import --raw --pages=x -o "$out" "$made/raw.pt"
refuses "packets: no such code" "$INPUT" "No such file" import --raw --elf="$dir/none" -o "$out" "$made/raw.pt"
refuses "packets: code that is no ELF file" "$INPUT" "not an ELF file" import --raw --elf="$made/one.bin" \
	-o "$out" "$made/raw.pt"
refuses "packets: an empty file" "$INPUT" "no packets" import --raw -o "$out" /dev/null
refuses "packets: --raw is missing" "$USAGE" "for --raw" import --ctl=1 -o "$out" "$made/raw.pt"
refuses "packets: an option of perf's" "$USAGE" "for perf" import --raw --root=/ -o "$out" "$made/raw.pt"

# Code that cannot be had is said, and only what needs it is not decoded.
says "another build" "not those that were traced: 1: the first: /bin/one" \
	"$VPT" import --root="$made/root" -o "$out" "$made/wrong.data"
says "no file" "there is no file: 3: the first: /bin/one" \
	"$VPT" import --root="$dir/none" -o "$out" "$made/absent.data"
says "no code of the kernel" "no code of it: use vpt import --kcore" \
	"$VPT" import --root="$made/root" -o "$out" "$made/kernel.data"
mkdir -p "$dir/.debug/.build-id/01/01010101010101010101010101010101010101"
cp "$made/root/bin/one" "$dir/.debug/.build-id/01/01010101010101010101010101010101010101/elf"
rm "$made/root/bin/one"
imports two 0 "" "$made/two.data"

# Other verbs.
tap_run "info names the processes" sh -c "'$VPT' info '$out' | grep -q 'host: two, pid 2'"
tap_run "dump" "$VPT" dump "$out"
refuses "verify says that there is no oracle" "$INPUT" "oracle" verify "$out"
tap_run "a space of one process" sh -c "'$VPT' decode -p two '$out' | grep -q '^instructions'"

# The same without vpt import; these have no --root.
says "decode reads it directly" "no file: 2: " "$VPT" decode "$made/two.data"
says "info reads it directly" "^engine +perf" "$VPT" info "$made/two.data"
says "dump reads a directory directly" "TIP.PGE" "$VPT" dump "$made/many.dir"
refuses "verify says that there is no oracle, directly" "$INPUT" "oracle" verify "$made/none.data"
refuses "export says that it is perf's" "$INPUT" "perf recorded it" export -t perf "$out" "$dir/x"
"$VPT" decode -q "$made/killed.data" >/dev/null 2>"$dir/err"
tap_empty "a recording that is not whole is status 3" "$([ $? -eq 3 ] || cat "$dir/err")"

# Commands.
refuses "no file to write" "$USAGE" "output" import "$made/two.data"
refuses "no file to read" "$USAGE" "FILE is missing" import -o "$out"
refuses "the file itself" "$USAGE" "" import -o "$made/two.data" "$made/two.data"
refuses "no such file" "$INPUT" "No such file" import -o "$out" "$made/none"
refuses "another file" "$INPUT" "not a perf.data file" import -o "$out" "$made/kcore"
refuses "an empty file" "$INPUT" "not a perf.data file" import -o "$out" /dev/null
refuses "no place for the output" "$HOST" "No such file" import -o "$dir/a/b" "$made/two.data"

# Each prefix of a file, and each byte of its head with other bits.
wrong=
size=$(stat -c %s "$made/two.data")
at=0
while [ $at -lt "$size" ]; do
	head -c $at "$made/two.data" >"$dir/cut"
	timeout 60 "$VPT" import -q --root="$made/root" -o "$out" "$dir/cut" 2>/dev/null
	status=$?
	[ $status -eq 3 ] || wrong="$wrong $at:$status"
	at=$((at + 29))
done
tap_empty "a file that is cut is status 3" "$wrong"
tap_run "a file that is changed" python3 tests/tools/foreign/mutate.py "$VPT" "$made/two.data" "$made/root" "$dir"
tap_end

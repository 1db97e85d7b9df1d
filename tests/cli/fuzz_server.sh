#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt fuzz-server: its maps, the return to the start between two executions, and the fork server
# protocol. tests/cli/formats/fork_server.py stands for the fuzzer; make check-afl has afl-fuzz.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
elf=$GUEST/parser.elf
jit=$GUEST/jit.elf
at="--start=parser_parse --input=rdi --input-size=rsi --input-max=1024 --until=parser_done --crash=parser_crashed"
jit_at="--start=work_jit --input=rdi --input-max=8 --until=work_jit"

printf 'a=1;b=a+2*7\n"hello"\n*3"abc";c=@2@/3\n' >"$dir/text"
printf '# a comment\nz=(((1)))-@63@\n"x"' >"$dir/other"
: >"$dir/empty"
printf 'a=1/0' >"$dir/divide"
printf 'a=@0-99999999999@' >"$dir/index"
printf '*99999"abc"' >"$dir/heap"
all="text other empty divide index heap"

# once ARG...: run inputs alone.
once() {
	# shellcheck disable=SC2086
	"$VPT" fuzz-server $at "$@" "$elf"
}

# serve [-OPTION...] MAPS FILE...: run them by the protocol.
serve() {
	# shellcheck disable=SC2086
	python3 tests/cli/formats/fork_server.py "$@" -- "$VPT" fuzz-server $at ${more-} "$elf"
}

# The oracle: a run of the same guest by vpt run, which gets the text as its initrd.
for input in $all; do
	end=parser_done
	case $input in divide | index | heap) end=parser_crashed ;; esac
	"$VPT" run -q --engine=soft --pt=host --trace-from=parser_parse --trace-until=$end \
		--initrd="$dir/$input" -o "$dir/run.vpt" "$elf" >/dev/null 2>&1
	"$VPT" decode -i -j "$dir/run.vpt" >"$dir/run.json"
	once -q --once="$dir/$input" --map="$dir/$input.map" -o "$dir/once.vpt"
	tap_run "$input: the map has the edges of vpt run" \
		python3 tests/cli/formats/edge_map.py "$dir/run.json" "$dir/$input.map"
	"$VPT" decode -i -j "$dir/once.vpt" >"$dir/once.json"
	tap_run "$input: and its trace the instructions" cmp "$dir/run.json" "$dir/once.json"
done

# Code that each input changes: the map has the edges of the trace in the file.
for n in 1 2 3 4; do
	printf 'seed%04d' $n >"$dir/jit$n"
	# shellcheck disable=SC2086
	"$VPT" fuzz-server -q $jit_at --once="$dir/jit$n" --map="$dir/jit$n.map" -o "$dir/jit.vpt" "$jit"
	"$VPT" decode -i -j "$dir/jit.vpt" >"$dir/jit.json"
	tap_run "changed code, input $n" \
		python3 tests/cli/formats/edge_map.py "$dir/jit.json" "$dir/jit$n.map"
done
tap_run "the inputs differ" test "$(cat "$dir"/jit?.map | cmp - "$dir/jit1.map" 2>&1 | wc -l)" -gt 0
# shellcheck disable=SC2086
tap_run "and leave nothing behind" "$VPT" fuzz-server -q $jit_at --once="$dir/jit1" --once="$dir/jit2" \
	--once="$dir/jit3" --once="$dir/jit4" --once="$dir/jit1" --map="$dir/jit.maps" --check "$jit"
tap_run "in any order the same maps" sh -c \
	"cat '$dir/jit1.map' '$dir/jit2.map' '$dir/jit3.map' '$dir/jit4.map' '$dir/jit1.map' | cmp - '$dir/jit.maps'"

# An input in the code: JE becomes JNE. Without a byte the next execution has the first code again.
place=$(objdump -d --disassemble=parser_parse "$elf" | awk '$2 == "74" { print "0x" $1; exit }' | tr -d :)
printf '\165' >"$dir/jne"
code() {
	"$VPT" fuzz-server -q --start=parser_parse --until=parser_done --input="$place" --input-max=1 "$@" "$elf"
}
code --once="$dir/empty" --once="$dir/jne" --once="$dir/empty" --map="$dir/code.maps"
tap_run "code of an input" test "$(cmp -n 65536 "$dir/code.maps" "$dir/code.maps" 0 65536 2>&1 | wc -l)" -eq 1
tap_run "is not that of the next one" cmp -n 65536 "$dir/code.maps" "$dir/code.maps" 0 131072
for input in empty jne; do
	code --once="$dir/$input" --map="$dir/code.map" -o "$dir/code.vpt"
	"$VPT" decode -i -j "$dir/code.vpt" >"$dir/code.json"
	tap_run "the edges of the code, $input" \
		python3 tests/cli/formats/edge_map.py "$dir/code.json" "$dir/code.map"
done

# How inputs end.
ends() { # INPUT END
	tap_run "$1: $2" test "$(once -j --once="$dir/$1" | jq -r .end)" = "$2"
}
ends text "done"
ends divide crash
ends index crash
ends heap crash
tap_run "the limit makes a hang" \
	test "$(once -j --limit=1000 --once="$dir/text" | jq -c '[.end, .insns]')" = '["hang",1000]'
once -q --once="$dir/text"
tap_run "status 0 if all are done" test $? -eq 0
once -q --once="$dir/text" --once="$dir/divide"
tap_run "and 1 if not" test $? -eq 1
# The guest's own end, and an exception that it does not handle.
# shellcheck disable=SC2086
tap_run "a guest that ends with status 1 has crashed" test "$("$VPT" fuzz-server -j \
	--start=parser_parse --input=rdi --input-size=rsi --input-max=1024 --once="$dir/divide" "$elf" |
	jq -r .end)" = crash
tap_run "one that ends with status 0 is done" test "$("$VPT" fuzz-server -j \
	--start=parser_parse --input=rdi --input-size=rsi --input-max=1024 --once="$dir/text" "$elf" |
	jq -r .end)" = "done"
tap_run "an input is cut to --input-max" test "$(head -c 5000 /dev/zero >"$dir/long"
	once -j --once="$dir/long" | jq .bytes)" -eq 1024

# Memory instead of registers. The size, 35 or '#', precedes the text. RSI is still the size of the
# guest's own text, 41.
text='\nx=7*(y+1);z=x-@3@;"abc"\n# end  end'
# shellcheck disable=SC2059
{
	printf "$text" >"$dir/hello"
	printf "#\0\0\0\0\0\0\0$text" | head -c 41 >"$dir/image"
}
input=$(nm "$elf" | awk '$3 == "parser_input" { print "0x" $1 }')
"$VPT" fuzz-server -q --start=parser_parse --until=parser_done --input=$((input + 8)) \
	--input-size=parser_input --once="$dir/hello" --map="$dir/hello.map" "$elf"
once -q --once="$dir/image" --map="$dir/image.map"
tap_run "the text has 35 bytes" test "$(wc -c <"$dir/hello")" -eq 35
tap_run "the size in memory" cmp "$dir/hello.map" "$dir/image.map"

# State that stays between executions, after executions that crash, hang and end.
once -j --check --limit=10000 --once="$dir/heap" --once="$dir/text" --once="$dir/index" \
	--once="$dir/other" >"$dir/out" 2>"$dir/err"
tap_run "each execution begins at the same state" test $? -eq 1 -a ! -s "$dir/err"
tap_run "after each end" test "$(jq -r .end "$dir/out" | sort | tr '\n' ' ')" = "crash done done hang "

for payload in timer apic interrupts; do
	tap_run "devices return to it, $payload" "$VPT" fuzz-server -q --check --start=payload \
		--until=report_summary --input=payload_text --input-max=1 --once="$dir/text" \
		--once="$dir/text" --once="$dir/heap" "$GUEST/$payload.elf"
done

# The protocol.
statuses() {
	awk '{ printf "%s%s=%s", sep, $1, $2; sep = " " }'
}
want="text=0 other=0 empty=0 divide=11 index=11 heap=11"
cd "$dir" || exit 1
for i in $all; do cat "$i.map"; done >maps.want
for i in heap index text divide empty other text; do cat "$i.map"; done >mixed.want
cd - >/dev/null || exit 1
files=$(for i in $all; do echo "$dir/$i"; done)
mixed=$(for i in heap index text divide empty other text; do echo "$dir/$i"; done)
# shellcheck disable=SC2086
tap_run "the statuses, inputs in shared memory" test "$(serve "$dir/maps" $files | statuses)" = "$want"
tap_run "and the maps of --once" cmp "$dir/maps" "$dir/maps.want"
# shellcheck disable=SC2086
tap_run "the statuses, inputs on standard input" \
	test "$(serve -i "$dir/maps" $files | statuses)" = "$want"
tap_run "and the maps of --once" cmp "$dir/maps" "$dir/maps.want"
# shellcheck disable=SC2086
serve "$dir/maps" $mixed >/dev/null
tap_run "in another order the same maps" cmp "$dir/maps" "$dir/mixed.want"

# A hang, which the fuzzer ends. The execution behind it is not disturbed.
more=--limit=3000
tap_run "a hang lasts until its child is killed" test "$(serve -k 0.5 "$dir/maps" "$dir/divide" \
	"$dir/text" "$dir/divide" "$dir/text" "$dir/text" "$dir/divide" | awk '{ printf "%s%s ", $2, $3 }')" = \
	"11 9killed 11 9killed 9killed 11 "
more=--limit=2000000000000
refuses "a limit that cannot be" "$USAGE" "limit" fuzz-server $more --once="$dir/text" "$elf"
more=

# Hostile lengths: no more is used than --input-max.
for length in 0 1 1023 1024 1025 1048572 1048573 0x7fffffff 0xffffffff; do
	tap_run "the length $length in shared memory" test "$(serve -l $length "$dir/maps" "$dir/text" \
		"$dir/text" | wc -l)" -eq 2
done
tap_run "nothing is left of the servers" test "$(pgrep -f "fuzz-server --start=parser_parse.*$elf" | wc -l)" -eq 0

# Refusals, each one line.
refuses "no start" "$USAGE" "--start and --input are required" fuzz-server --once="$dir/text" "$elf"
# shellcheck disable=SC2086
{
	refuses "no fuzzer" "$USAGE" "no fuzzer has started this process" fuzz-server $at "$elf"
	refuses "no such symbol" "$USAGE" "--crash=a,b: there is no symbol 'a'" \
		fuzz-server $at --crash=a,b --once="$dir/text" "$elf"
	refuses "no such guest" "$INPUT" "No such file" fuzz-server $at --once="$dir/text" "$dir/none"
	refuses "no such input" "$INPUT" "No such file" fuzz-server $at --once="$dir/none" "$elf"
	refuses "a start that is not reached" "$FAIL" "the guest ended before it" \
		fuzz-server $at --start=parser_crashed --once="$dir/text" "$elf"
	refuses "an input where no memory is" "$USAGE" "the guest has no memory at 0x8000001000" \
		fuzz-server $at --input=0x8000001000 --once="$dir/text" "$elf"
	refuses "an input that wraps" "$USAGE" "the guest has no memory" \
		fuzz-server $at --input=0xfffffffffffffff0 --once="$dir/text" "$elf"
	refuses "an input beyond RAM" "$USAGE" "the guest has no memory at 0x4000000" \
		fuzz-server $at --input=0x3fff000 --input-max=8192 --once="$dir/text" "$elf"
	refuses "a size where no memory is" "$USAGE" "--input-size: the guest has no memory" \
		fuzz-server $at --input-size=0x8000001000 --once="$dir/text" "$elf"
	refuses "a size that is not aligned" "$USAGE" "not aligned to 8" \
		fuzz-server $at --input-size=0x105001 --once="$dir/text" "$elf"
	refuses "an input of no bytes" "$USAGE" "from 1 byte to 1M" \
		fuzz-server $at --input-max=0 --once="$dir/text" "$elf"
	refuses "a trace of two inputs" "$USAGE" "exactly one --once" \
		fuzz-server $at --once="$dir/text" --once="$dir/heap" -o "$dir/t.vpt" "$elf"
	refuses "a map without an input" "$USAGE" "--map: requires --once" \
		fuzz-server $at --map="$dir/m" "$elf"
	refuses "17 places" "$USAGE" "at most 16 places" fuzz-server $at \
		--until=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17 --once="$dir/text" "$elf"
	for id in "" x 99999999999 2147483647; do
		refuses_as "shared memory '$id'" "$([ "$id" = 2147483647 ] && echo "$HOST" || echo "$USAGE")" \
			"__AFL_SHM_ID" fuzz-server bash -c \
			"__AFL_SHM_ID=$id exec '$VPT' fuzz-server $at '$elf' 198</dev/null 199>/dev/null"
	done
}
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt fuzz-server with a process of a Linux guest: how inputs end, the map of each, the return of the
# whole machine to the start, and the fork server protocol. make check-afl process has afl-fuzz.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/parser.sh
linux_parser
at="--start=parser_parse --input=rdi --input-size=rsi --input-max=1024 --until=parser_done --crash=parser_crashed
	--process --mem=256M --symbols=$dir/root/init --initrd=$dir/parser.cpio"

printf 'a=1;b=a+2*7\n"hello"\n*3"abc";c=@2@/3\n' >"$dir/text"
printf '# a comment\nz=(((1)))-@63@\n"x"' >"$dir/other"
printf 'a=1/0' >"$dir/divide"
printf 'a=@0-99999999999@' >"$dir/index"
printf '*99999"abc"' >"$dir/heap"
all="text other divide index heap"

# once ARG...: run inputs alone.
once() {
	# shellcheck disable=SC2086
	"$VPT" fuzz-server $at "$@" "$linux/vmlinuz"
}

# One boot for all inputs, in two orders, and each return to the start is checked.
once -j --check --map="$dir/maps" --once="$dir/text" --once="$dir/divide" --once="$dir/other" \
	--once="$dir/index" --once="$dir/heap" --once="$dir/text" >"$dir/ends" 2>"$dir/err"
tap_run "an input crashes" test $? -eq 1
tap_run "how each ends" test "$(jq -r .end "$dir/ends" | tr '\n' ' ')" = "done crash done crash crash done "
tap_run "nothing stays behind" test ! -s "$dir/err"
tap_run "the first input has the same edges in the end" test "$(jq -r '.edges, .insns' "$dir/ends" | head -n 2)" = \
	"$(jq -r '.edges, .insns' "$dir/ends" | tail -n 2)"
tap_run "the inputs differ" test "$(jq -r .edges "$dir/ends" | sort -u | wc -l)" -ge 4

# The oracle: what the decoder says of the trace of the same execution, all of which is user code.
for input in text heap; do
	once -q --once="$dir/$input" --map="$dir/$input.map" -o "$dir/t.vpt"
	"$VPT" decode -i -j "$dir/t.vpt" >"$dir/t.json"
	tap_run "$input: the map has the edges of its trace" \
		python3 tests/cli/formats/edge_map.py "$dir/t.json" "$dir/$input.map"
	tap_run "$input: no instruction is the kernel's" sh -c \
		'test "$(grep -c "\"ip\":\"0x" "$1")" -gt 1000 && ! grep -q "\"ip\":\"0xffff" "$1"' sh "$dir/t.json"
done

# By the protocol, each input has the map that it has alone.
# shellcheck disable=SC2086
python3 tests/cli/formats/fork_server.py "$dir/served" "$dir/text" "$dir/index" "$dir/heap" "$dir/text" -- \
	"$VPT" fuzz-server $at "$linux/vmlinuz" >"$dir/said" 2>"$dir/err"
tap_run "the protocol" test $? -eq 0
cat "$dir/text.map" "$dir/heap.map" "$dir/text.map" >"$dir/want"
head -c 65536 "$dir/served" >"$dir/got"
tail -c 131072 "$dir/served" >>"$dir/got"
tap_run "its maps" cmp "$dir/want" "$dir/got"
tap_end

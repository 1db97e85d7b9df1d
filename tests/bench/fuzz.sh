#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Executions per second of afl-fuzz with the same parser three times: as a payload and as a process of
# a Linux guest under vpt fuzz-server, and as a program of the host by afl-clang-fast with its fork
# server. The three take turns, with the same texts and the same random numbers, each on one core.
# usage: fuzz.sh [ROUNDS [SECONDS [KERNEL]]]    without KERNEL, a bzImage, there is no Linux guest
set -eu
cd "$(dirname "$0")/../.."
O=${O:-build/rel} rounds=${1:-3} seconds=${2:-10} kernel=${3-}
at="--start=parser_parse --input=rdi --input-size=rsi --input-max=1024 --until=parser_done --crash=parser_crashed"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export AFL_NO_UI=1 AFL_NO_AFFINITY=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1
export AFL_FORKSRV_INIT_TMOUT=120000 AFL_QUIET=1

mkdir "$dir/seeds"
printf 'a=1;b=a+2*7\n"hello"\n*3"abc";c=@2@/3\n' >"$dir/seeds/1"
printf 'x=(1+2)*3/4;y=x-1\n' >"$dir/seeds/2"
printf '# note\n*2"ab";z=@5@\n' >"$dir/seeds/3"
afl-clang-fast -O2 -Iguest -Ishared/include -o "$dir/host" tests/bench/fuzz/host.c guest/tasks/parser.c
if [ -n "$kernel" ]; then
	mkdir "$dir/root"
	gcc -O2 -static -no-pie -Iguest -Ishared/include -o "$dir/root/init" tests/bench/fuzz/host.c \
		guest/tasks/parser.c
	(cd "$dir/root" && echo init | cpio -o -H newc) >"$dir/initrd" 2>/dev/null
fi

# The executions of a run of afl-fuzz, and the seconds in which they ran.
measure() { # NAME COMMAND...
	m_name=$1
	shift
	rm -rf "$dir/out"
	taskset -c "${BENCH_CORE:-0}" afl-fuzz -s 1 -V "$seconds" -i "$dir/seeds" -o "$dir/out" -- "$@" >"$dir/log" 2>&1 || {
		tail -n 5 "$dir/log" >&2
		exit 1
	}
	awk '$1 == "run_time" { time = $3 } $1 == "execs_done" { done = $3 } END { print done / time }' \
		"$dir/out/default/fuzzer_stats" >>"$dir/rate.$m_name"
}

round=0
while [ "$round" -lt "$rounds" ]; do
	# shellcheck disable=SC2086
	measure payload "$O/vpt" fuzz-server $at "$O/guest/parser.elf"
	# shellcheck disable=SC2086
	[ -z "$kernel" ] || measure process "$O/vpt" fuzz-server $at --process --mem=256M \
		--symbols="$dir/root/init" --initrd="$dir/initrd" "$kernel"
	measure host "$dir/host"
	round=$((round + 1))
done
for name in payload process host; do
	[ ! -f "$dir/rate.$name" ] || sort -n "$dir/rate.$name" |
		awk -v name=$name '{ v[NR] = $1 } END { printf "%-8s median %9.1f executions/s, %.1f to %.1f\n", name, v[int((NR + 1) / 2)], v[1], v[NR] }'
done

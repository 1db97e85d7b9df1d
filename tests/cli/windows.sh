#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Streams that are read in windows: each item is that of a trace in memory, and a large trace does not
# need more memory than a small one.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
WINDOWS=${O:-build/${MODE:-rel}}/tests/windows

# windows NAME LEAST: the items of $dir/t.vpt are the same, and so many bytes were dropped.
windows() {
	said=$("$WINDOWS" 4096 "$dir/t.vpt" 2>&1)
	if [ $? -eq 0 ] && [ "${said##* }" -ge "$2" ]; then
		tap_ok "$1: $said"
	else
		tap_fail "$1" "at least $2 bytes dropped: $said"
	fi
}

while read -r least how; do
	payload=${how%% *}
	# shellcheck disable=SC2086 # options
	"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/$payload.elf" ${how#"$payload"} \
		>/dev/null 2>&1 </dev/null
	windows "$how" "$least"
done <<EOF
50000 quicksort --psb=0
100000 bytecode --arg=2 --psb=0 --tsc
100000 jit --psb=0 --arg=100
50000 storm --psb=0
50000 legacy --model=spr --events --buffer=1024:60
0 processes --psb=0
0 smp --cpus=3 --psb=0
0 quicksort --model=silvermont
EOF

# Damage in the middle of the stream, and a file that ends early.
"$VPT" run -q --engine=soft --pt=host -o "$dir/whole.vpt" "$GUEST/bytecode.elf" --arg=2 --psb=0 --tsc \
	>/dev/null 2>&1
size=$(stat -c %s "$dir/whole.vpt")
damaged=0
for at in 80 85 90 95; do
	cp "$dir/whole.vpt" "$dir/t.vpt"
	printf 'damage' | dd of="$dir/t.vpt" bs=1 seek=$((size * at / 100)) conv=notrunc 2>/dev/null
	"$VPT" info "$dir/t.vpt" >/dev/null 2>&1 || damaged=$((damaged + 1))
	windows "damage at $at %" 0
	head -c $((size * at / 100)) "$dir/whole.vpt" >"$dir/t.vpt"
	windows "cut at $at %" 0
done
tap_run "files were damaged: $damaged" test $damaged -ge 3
rm "$dir/t.vpt"
"$VPT" pack -q "$dir/whole.vpt" "$dir/t.vpt"
windows "packed" 0

# The tool of make bench-exports: a trace of three runs has three times the instructions.
"$VPT" run -q --engine=soft --pt=host --psb=0 -o "$dir/t.vpt" "$GUEST/selfmod.elf" >/dev/null 2>&1
repeated=$("${WINDOWS%/*}/repeat" "$dir/t.vpt" "$dir/three.vpt" 3)
tap_run "a trace is repeated three times: $repeated" test "$repeated" = \
	"$("$VPT" decode -j "$dir/three.vpt" | jq -s 'map(.insns // 0) | add')"
tap_run "it has no errors" "$VPT" decode -q "$dir/three.vpt"

# A file from 256 MiB on is read in windows. Standard input is not, so it has the other way's output.
"$VPT" run -q --engine=soft --pt=host -o "$dir/t.vpt" "$GUEST/quicksort.elf" --arg=9800 --psb=0 \
	>/dev/null 2>&1
tap_run "the trace is large" test "$(stat -c %s "$dir/t.vpt")" -ge 268435456
peak() { # COMMAND...: sets $mb
	mb=$(python3 -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w")).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024 if not status else 10 ** 6)' "$dir/got" "$@")
}
"$VPT" decode --jobs=2 - <"$dir/t.vpt" >"$dir/want"
peak "$VPT" decode --jobs=2 "$dir/t.vpt"
tap_run "decode needs at most 96 MB: $mb" test "$mb" -le 96
tap_run "its output is that of a trace in memory" cmp "$dir/want" "$dir/got"
tap_end

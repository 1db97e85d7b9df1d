#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make what the commands of `cases` read: inputs.sh DIR.
set -eu
dir=$1
cd "$(dirname "$0")/../../.."
. tests/lib/refuse.sh
rm -rf "$dir"
mkdir -p "$dir"
for file in tests/cli/compat/files/*.gz; do
	name=${file##*/}
	gzip -dc "$file" >"$dir/${name%.gz}"
done
cp "$GUEST/calls.elf" "$GUEST/processes.elf" "$dir"
"$VPT" run -q --oracle -o "$dir/t.vpt" "$dir/calls.elf" >/dev/null
"$VPT" run -q --oracle --pt=host --tsc --mtc --cyc -o "$dir/time.vpt" "$dir/calls.elf" >/dev/null
"$VPT" pack -q "$dir/time.vpt" "$dir/packed.vpt"
"$VPT" run -q --pt=host --psb=0 --max-insns=12000 -o "$dir/exact.vpt" "$GUEST/jit.elf" >/dev/null ||
	[ $? -eq 1 ]
"$TOOLS/reads" 64 "$dir/exact.vpt" "$dir/reads.vpt"
"$VPT" run -q --oracle -o "$dir/spaces.vpt" "$dir/processes.elf" >/dev/null
"$VPT" run -q --snapshot="$dir/s.vps" --snapshot-at=20000 -o "$dir/part.vpt" "$dir/calls.elf" \
	>/dev/null || [ $? -eq 1 ]
# Maps of names, as of kernels.
"$VPT" decode -i "$dir/t.vpt" | sed -n 's/^\(0000[0-9a-f]*\) .*/\1 T name_\1\t[mod]/p' |
	sort -u | head -n 40 >"$dir/map"
printf 'ffffffff81000000 T _text\nffffffff82000000 T _etext\n' >"$dir/kallsyms"

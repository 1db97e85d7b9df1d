#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Traces without a byte of code, decoded with an image of the guest's memory.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh
tool=${O:-build/rel}/tests/memory

# Run a payload to N instructions: its trace, the same without code, and its memory there.
make_blind() { # PAYLOAD N
	"$VPT" run -q --oracle --pt=host -o "$dir/$1.vpt" --snapshot="$dir/$1.vps" --snapshot-at="$2" \
		"$GUEST/$1.elf" >"$dir/out" 2>&1 &&
		"$tool" blind "$dir/$1.vpt" "$dir/$1.blind" >>"$dir/out" &&
		"$tool" raw "$dir/$1.vps" "$dir/$1.raw" || cat "$dir/out"
}

verified() { # TRACE OPTION...
	trace=$1
	shift
	"$VPT" verify "$@" "$trace" | sed -n '$s/^verify: \([0-9]*\) retired.*, 0 mismatches$/\1/p'
}

# Processes in ring 3, 32-bit code, exceptions, page tables that change, 32-bit and PAE paging.
for row in calls:30000 processes:95000 compat:50000 exceptions:22000 spaces:12000 legacy:1700000; do
	name=${row%:*}
	tap_empty "$name: a trace without code, and its memory" "$(make_blind "$name" "${row#*:}")"
	is=$(verified "$dir/$name.vpt" --with=libvptdecode)
	tap_run "$name: no code, no instruction" sh -c \
		"'$VPT' verify '$dir/$name.blind' | grep -q ' 0 decoded'"
	has=$(verified "$dir/$name.blind" --memory="$dir/$name.raw")
	tap_run "$name: with --memory each instruction that ran" test "${is:-0}" -gt 10000 -a \
		"${has:-none}" = "$is"
done

# The same for RTIT.
mkdir "$dir/rtit"
tap_run "RTIT" "$VPT" run -q --oracle --pt=host --model=silvermont -o "$dir/rtit/t.vpt" \
	--snapshot="$dir/rtit/s.vps" --snapshot-at=90000 "$GUEST/processes.elf"
"$tool" blind "$dir/rtit/t.vpt" "$dir/rtit/blind" >"$dir/out" && "$tool" raw "$dir/rtit/s.vps" "$dir/rtit/raw"
is=$(verified "$dir/rtit/t.vpt")
tap_run "RTIT with --memory" test "${is:-0}" -gt 10000 -a \
	"$(verified "$dir/rtit/blind" --memory="$dir/rtit/raw")" = "$is"
refuses "RTIT: export" "$USAGE" "is of RTIT" export --to perf --memory="$dir/rtit/raw" \
	"$dir/rtit/blind" "$dir/x"

t=$dir/processes.blind
for format in elf paged kdump flat; do
	"$tool" $format "$dir/processes.vps" "$dir/image"
	tap_run "format: $format" "$VPT" verify --memory="$dir/image" "$t"
done
"$tool" elf "$dir/processes.vps" "$dir/image" 'NUMBER(pgtable_l5_enabled)=0'
tap_run "VMCOREINFO: 4 levels" "$VPT" verify --memory="$dir/image" "$t"
"$tool" elf "$dir/processes.vps" "$dir/image" 'NUMBER(pgtable_l5_enabled)=1'
refuses "VMCOREINFO: wrongly 5 levels" "$FAIL" "no code" decode -q --memory="$dir/image" "$t"
tap_run "paging= counts for more" "$VPT" verify --memory="$dir/image,paging=4" "$t"
refuses "a guest's memory is not a host's" "$FAIL" "the images have no code of the trace" decode -q \
	--memory="$dir/processes.raw,guest" "$t"
tap_run "a host's" "$VPT" verify --memory="$dir/processes.raw,host" "$t"
tap_run "several: the one that fits" "$VPT" verify --memory="$dir/calls.raw,guest" \
	--memory="$dir/processes.raw,host" "$t"

# The second half of the memory at its base: the code is in the first one.
head -c 32M "$dir/processes.raw" >"$dir/low"
tail -c +33554433 "$dir/processes.raw" >"$dir/high"
tap_run "the lower half has all of it" "$VPT" verify --memory="$dir/low" "$t"
refuses "the upper half at its base has nothing" "$FAIL" "no code" decode -q \
	--memory="$dir/high@0x2000000" "$t"

# The same text, instruction by instruction, and the same spaces.
"$VPT" decode --insn --memory="$dir/calls.raw" "$dir/calls.blind" >"$dir/blind"
"$VPT" decode --insn "$dir/calls.vpt" >"$dir/whole"
tap_run "decode --insn" cmp "$dir/whole" "$dir/blind"
tap_run "decode --spaces" sh -c \
	"'$VPT' decode --spaces --memory='$dir/processes.raw' '$t' | grep -c 'cr3 0x' | grep -qx 6"
tap_run "the trace's own code comes first" "$VPT" verify --memory="$dir/processes.raw" "$dir/calls.vpt"

# The same number of instructions and processes, and perf is given as much code.
"$VPT" export --to perf "$dir/processes.vpt" "$dir/p" >"$dir/whole"
tap_run "export" sh -c "'$VPT' export --to perf --memory='$dir/processes.raw' '$t' '$dir/q' >'$dir/blind'"
tap_run "export: as much" sh -c "sed 's,^[^:]*:,,' '$dir/whole' >'$dir/a' &&
	sed 's,^[^:]*:,,' '$dir/blind' | cmp '$dir/a' -"
refuses "export --to pt" "$USAGE" "not for --to=pt" export --to pt --memory="$dir/low" "$t" "$dir/x"

"$tool" lzo "$dir/calls.vps" "$dir/image"
refuses "pages that cannot be decompressed" "$INPUT" "LZO" decode -q --memory="$dir/image" \
	"$dir/calls.blind"
head -c 5000 "$dir/image" >"$dir/cut"
for verb in decode verify; do
	refuses "$verb: no file" "$INPUT" "No such file" $verb --memory="$dir/none" "$t"
	refuses "$verb: not a file" "$INPUT" "not a regular file" $verb --memory=/ "$t"
	refuses "$verb: a dump that is cut" "$INPUT" "cut short" $verb --memory="$dir/cut" "$t"
	refuses "$verb: no core" "$INPUT" "not a core" $verb --memory="$VPT" "$t"
	refuses "$verb: no name" "$USAGE" "file's name" $verb --memory= "$t"
	refuses "$verb: a word" "$USAGE" "there is host, guest" $verb --memory="$dir/low,x" "$t"
	refuses "$verb: paging" "$USAGE" "not none, 32, pae, 4 or 5" $verb \
		--memory="$dir/low,paging=3" "$t"
	refuses "$verb: two sides" "$USAGE" "given twice" $verb --memory="$dir/low,host,guest" "$t"
	refuses "$verb: a host's VMCS" "$USAGE" "for a guest" $verb --memory="$dir/low,host,vmcs=0x1000" "$t"
	refuses "$verb: no EPTP" "$USAGE" "not an EPTP" $verb --memory="$dir/low,ept=0x1000" "$t"
	refuses "$verb: a base that is no number" "$USAGE" "not a number" $verb --memory="$dir/low@x" "$t"
	refuses "$verb: a base of a core" "$INPUT" "no base" $verb --memory="$dir/image@4096" "$t"
done
refuses "verify --with=libipt" "$USAGE" "excludes" verify --with=libipt \
	--memory="$dir/low" "$t"
tap_end

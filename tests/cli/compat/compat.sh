#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files that earlier versions wrote are still read: see README.md.
# usage: compat.sh           TAP
#        compat.sh --write   write expected/ anew, with the vpt of $VPT
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/tap.sh
VPT=${VPT:-${O:-build/${MODE:-rel}}/vpt}
BLOCKS=${O:-build/${MODE:-rel}}/tests/blocks
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# json KEY...: the first member of each name in the JSON object on standard input, a line each.
json() {
	js_text=$(cat)
	for js_key; do
		printf '%s\n' "$js_text" | grep -oE "\"$js_key\":(\"[^\"]*\"|[^],{}[]*)" | head -n 1
	done
}

# What is decoded: how much, and a checksum of all addresses in their order.
decoded() { # FILE
	"$VPT" decode -j "$1" 2>/dev/null | json bytes sessions insns errors
	"$VPT" decode -i -j "$1" 2>/dev/null | sed -n 's/.*"ip":\("0x[0-9a-f]*"\).*/\1/p' |
		echo "addresses $(cksum)"
}

# What a trace file says, in words that do not depend on how it is shown.
trace_facts() { # FILE
	"$VPT" info -j "$1" 2>/dev/null | json model engine owner trace deferred oracle \
		psbs whole
	echo "packets $("$VPT" dump -s -j "$1" 2>/dev/null | sed 's/^.*"kinds"://')"
	decoded "$1"
	said=$("$VPT" verify -j "$1" 2>/dev/null)
	echo "verify $?"
	printf '%s' "$said" | json retired decoded mismatches
}

# A snapshot: what it says, and what becomes of the guest.
snapshot_facts() { # FILE
	"$VPT" snapshot -j "$1" | json guest model owner memory instructions traced trace_bytes \
		code_pages oracle
	case $1 in
	*bare*)
		"$VPT" restore -q "$1" | cksum
		;;
	*)
		"$VPT" restore -q --max-insns=9000 -o "$dir/restored.vpt" "$1" >/dev/null 2>&1
		echo "restore $?"
		trace_facts "$dir/restored.vpt"
		rm -f "$dir/restored.vpt"
		;;
	esac
}

facts() { # FILE
	case $1 in
	*.vps) snapshot_facts "$1" ;;
	*) trace_facts "$1" ;;
	esac
}

for file in tests/cli/compat/files/*.gz; do
	gzip -dc "$file" >"$dir/$(basename "$file" .gz)" || exit 1
done

if [ "${1-}" = --write ]; then
	mkdir -p tests/cli/compat/expected
	for file in "$dir"/*.vp?; do
		facts "$file" >"tests/cli/compat/expected/$(basename "$file")"
	done
	exit 0
fi

# missing LIST FOUND: the lines "NUMBER NAME" of LIST whose number FOUND does not have.
missing() {
	printf '%s\n' "$1" | while read -r number name; do
		printf '%s\n' "$2" | grep -qx "$number" || echo "$name"
	done
}

# The kinds of versions 1 to 3 of .vpt and of version 3 of .vps. Their numbers never change.
traces="1 INFO
2 RAM
3 ELF
4 CODE
5 TRACE
6 SESSION
7 ORACLE
8 INDEX
9 END
10 CR3
11 SPACE
12 VMCS
13 STRETCH
14 RUN
15 STOP
16 PAGE
17 MAP
18 ORIGIN
19 SWITCH
20 POINT
21 PACKED
22 EPOCH
23 FRAME
24 VIEW
25 INPUT
26 FILE
27 MARK
28 CUT"
snapshots="1 INFO
2 CPUID
3 RAM
4 ENGINE
5 VCPU
6 DEVICES
7 TRACER
8 CODE
9 WRITER
10 FILE
11 END"
whole=$(find "$dir" -name '*.vpt' ! -name cut.vpt)
# shellcheck disable=SC2086 # a list of names
tap_empty "each kind of block of a .vpt file occurs" \
	"$(missing "$traces" "$("$BLOCKS" $whole | sort -u)")"
tap_empty "each kind of block of a .vps file occurs" \
	"$(missing "$snapshots" "$("$BLOCKS" "$dir"/*.vps | sort -u)")"
tap_empty "block types keep their numbers" "$(
	for list in "TRACE_BLOCK $traces" "CORE_SNAP $snapshots"; do
		prefix=${list%% *}
		case $prefix in
		TRACE_BLOCK) enum=trace_block_type header=vmm/trace/format.h ;;
		*) enum=core_snap_type header=vmm/core/snapshot.h ;;
		esac
		printf '%s\n' "${list#* }" | sed 's/.* //' >"$dir/want"
		sed -n "/^enum $enum {/,/^}/s/^[[:blank:]]*${prefix}_\([A-Z0-9]*\)\( = 1\)\{0,1\},.*/\1/p" \
			"$header" | head -n "$(wc -l <"$dir/want")" | diff "$dir/want" - | sed 1d
	done)"

for file in "$dir"/*.vp?; do
	name=$(basename "$file")
	facts "$file" >"$dir/facts" 2>"$dir/said"
	if diff "tests/cli/compat/expected/$name" "$dir/facts" >"$dir/diff"; then
		tap_ok "$name"
		continue
	fi
	# Whether a snapshot can be restored depends on this machine's processor too, and its
	# format may change. Then it is refused, in one line that gives the reason.
	said=$("$VPT" restore -q "$file" 2>&1 >/dev/null)
	if [ $? -eq 3 ] && [ "${name%.vps}" != "$name" ] && [ "$(echo "$said" | wc -l)" -eq 1 ] &&
		echo "$said" | grep -qE 'version|its processor'; then
		tap_ok "$name: refused: ${said#vpt restore: "$dir"/}"
	else
		tap_fail "$name" "$(cat "$dir/diff" "$dir/said")
$said"
	fi
done
tap_end

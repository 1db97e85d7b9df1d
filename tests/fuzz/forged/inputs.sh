#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Make the files that forged.c changes: inputs.sh DIR. They are small, so that many fit into
# a second, and have each kind of block between them.
set -eu
dir=$1
cd "$(dirname "$0")/../../.."
. tests/lib/refuse.sh
rm -rf "$dir"
mkdir -p "$dir/vpt" "$dir/vps" "$dir/elf" "$dir/map"

# Leave out ELF blocks, and the index, whose offsets would be wrong. A child process reads ELF
# files, which takes most of the time where there are any.
without_images() { # IN OUT
	python3 -B -c '
import struct, sys
with open(sys.argv[1], "rb") as f:
    old = f.read()
at, new = 32, old[:32]
while at + 16 <= len(old):
    size = 16 + (struct.unpack_from("<I", old, at + 8)[0] + 7) // 8 * 8
    if struct.unpack_from("<H", old, at + 4)[0] not in (3, 8, 20):
        new += old[at:at + size]
    at += size
with open(sys.argv[2], "wb") as f:
    f.write(new)' "$1" "$2"
}

# Traces that vpt 0.1.0 wrote; the largest are left out.
for file in tests/cli/compat/files/*.vpt.gz; do
	name=${file##*/}
	name=${name%.gz}
	gzip -dc "$file" >"$dir/old"
	case $name in
	code.vpt | user.vpt | topa-stop.vpt) ;;
	guest.vpt | cut.vpt) mv "$dir/old" "$dir/vpt/$name" ;;
	*) without_images "$dir/old" "$dir/vpt/$name" ;;
	esac
done

# A program with debug information in each form; it never ends.
cat >"$dir/small.c" <<'END'
volatile unsigned long count;
static __attribute__((noinline)) unsigned long twice(unsigned long n)
{
	count += n;
	return n * 2;
}
static __attribute__((noinline)) void walk(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		if (twice(i) & 4)
			count--;
}
void _start(void)
{
	for (;;)
		walk(5);
}
END
cat >"$dir/crash.c" <<'END'
static __attribute__((noinline)) void last(volatile int *at) { *at = 1; }
void _start(void) { last((int *)0xdeadbeef0000); for (;;) ; }
END
program() { # OUT SOURCE OPTION...
	out=$1
	source=$2
	shift 2
	(cd "$dir" && gcc -O1 -ffreestanding -fno-pic -fno-stack-protector -fcf-protection=none \
		-fdebug-prefix-map="$(pwd -P)"=. -nostdlib -static -no-pie \
		-Wl,--build-id=none,-Ttext=0x201000,-z,noseparate-code "$@" -o "$out" "$source")
}
program elf/dwarf5.elf small.c -gdwarf-5
program elf/dwarf4.elf small.c -gdwarf-4
program elf/dwarf2.elf small.c -gdwarf-2 -gstrict-dwarf
program elf/compressed.elf small.c -gdwarf-5 -gz=zlib
program elf/sections.elf small.c -g -ffunction-sections -Wl,-z,separate-code
program elf/symbols.elf small.c
program elf/stripped.elf small.c -s
program crash.elf crash.c -g

soft="run -q --engine=soft --oracle --timeout=20 -m 4M"
few() { # OUT OPTION...
	out=$1
	shift
	# shellcheck disable=SC2086 # a command line
	"$VPT" $soft -o "$dir/$out" "$@" >/dev/null 2>&1 || [ $? -eq 1 ]
}
plain() { # NAME OPTION...
	name=$1
	shift
	few whole.vpt "$@"
	without_images "$dir/whole.vpt" "$dir/vpt/$name.vpt"
}
# Traces of this version: PAGE, MAP and STOP blocks, symbols and lines.
few whole.vpt --pt=host --max-insns=200 "$dir/elf/dwarf5.elf"
without_images "$dir/whole.vpt" "$dir/base.vpt"
few vpt/small.vpt --pt=host --tsc --mtc --cyc --max-insns=400 "$dir/elf/dwarf5.elf"
few vpt/compressed.vpt --pt=host --max-insns=100 "$dir/elf/compressed.elf"
few vpt/crash.vpt --pt=host "$dir/crash.elf"
cp "$GUEST/calls.elf" "$GUEST/hostile/aliases.elf" "$GUEST/random.elf" "$GUEST/spaces.elf" "$dir"
strip "$dir/calls.elf" "$dir/aliases.elf" "$dir/random.elf" "$dir/spaces.elf"
plain aliases --pt=host --arg=20 --max-insns=1000 "$dir/aliases.elf"
plain spaces --usage=system --tsc --max-insns=1000 "$dir/spaces.elf"
plain defer --pt=host --model=spr --events --ptw=fup --defer-tips --max-insns=1000 \
	"$dir/random.elf"
plain atom --pt=host --model=silvermont --tsc --max-insns=1000 "$dir/random.elf"

# Blocks that version 3 added, plain and packed.
"$TOOLS/side" "$dir/vpt/side.vpt"
# Code by offset, as of kvm-pt, and its refined file.
few exact.vpt --pt=host --psb=0 --max-insns=12000 "$GUEST/jit.elf"
"$TOOLS/reads" 64 "$dir/exact.vpt" "$dir/vpt/reads.vpt"
"$VPT" refine -q "$dir/vpt/reads.vpt" "$dir/vpt/refined.vpt"
rm "$dir/exact.vpt"
"$VPT" pack -q "$dir/vpt/side.vpt" "$dir/vpt/packed.vpt"
"$VPT" pack -q "$dir/vpt/small.vpt" "$dir/vpt/small-packed.vpt"

# Snapshots in the middle of traces, and of no trace.
snap() { # OUT OPTION...
	snapshot=$dir/vps/$1
	shift
	few part.vpt --snapshot="$snapshot" "$@"
	[ -s "$snapshot" ]
}
snap guest.vps --snapshot-at=8000 "$dir/calls.elf"
snap host.vps --snapshot-at=300 --pt=host --tsc --mtc "$dir/elf/symbols.elf"
snap atom.vps --snapshot-at=5000 --pt=host --model=airmont "$dir/random.elf"
"$VPT" run -q --engine=soft -m 4M --pt=off --snapshot="$dir/vps/off.vps" --snapshot-at=500 \
	"$dir/elf/stripped.elf" >/dev/null 2>&1 || [ $? -eq 1 ]
[ -s "$dir/vps/off.vps" ]

# Maps, as of kernels and of the program above.
nm "$dir/elf/symbols.elf" >"$dir/map/program"
"$VPT" decode -i "$dir/base.vpt" | sed -n 's/^\(0000[0-9a-f]*\) .*/\1 T name_\1\t[mod]/p' |
	sort -u | head -n 40 >"$dir/map/modules"
{
	printf 'ffffffff81000000 T _text\nffffffff81000000 T startup_64\n'
	printf 'ffffffff81000100 t a\nffffffff81000200 W b\nffffffff81000300 D data\n'
	cat "$dir/map/program"
	printf 'ffffffff82000000 T _etext\n'
} >"$dir/map/kallsyms"

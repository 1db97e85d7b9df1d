#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# vpt run: files that are no guest. Nothing here needs KVM but the first test, which
# shows that the others fail for the reason they are made for.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/cli.sh

made() { # KIND
	"$TOOLS/mkelf" "$1" "$dir/$1.elf" || exit 1
	echo "$dir/$1.elf"
}

tap_run "a good one runs" "$VPT" run -q "$(made good)"

refuses "no such file" "$INPUT" "No such file" run "$dir/none.elf"
refuses "a folder" "$INPUT" "directory|regular" run "$dir"
: >"$dir/empty"
refuses "an empty file" "$INPUT" "not an ELF" run "$dir/empty"
echo "#!/bin/sh" >"$dir/script"
refuses "a script" "$INPUT" "not an ELF" run "$dir/script"
refuses "a 32-bit ELF file" "$INPUT" "x86-64" run "$(made elf32)"
refuses "a big-endian ELF file" "$INPUT" "x86-64" run "$(made big-endian)"
refuses "an ELF file of another machine" "$INPUT" "x86-64" run "$(made machine)"
refuses "an object file" "$INPUT" "link" run "$(made object)"
refuses "a dynamic ELF file" "$INPUT" "static" run "$(made dynamic)"
refuses "a dynamic program of this system" "$INPUT" "static" run /bin/true
# What a first try may be: each gets a line that says what vpt run expects.
echo 'int main(void) { return 0; }' >"$dir/main.c"
for how in -static -static-pie -no-pie -pie -c; do
	gcc $how -o "$dir/main" "$dir/main.c"
	refuses "gcc $how" "$INPUT" "vpt run takes a bare-metal program.*-nostdlib" run "$dir/main"
done
# The magic number of a bzImage without that of its first sector.
{ head -c 514 /dev/zero && printf HdrS && head -c 512 /dev/zero; } >"$dir/bzImage"
refuses "a Linux kernel" "$INPUT" "Linux kernel.*bzImage" run "$dir/bzImage"
refuses "no segments" "$INPUT" "nothing to load" run "$(made no-segments)"
refuses "overlapping segments" "$INPUT" "overlap" run "$(made overlap)"
refuses "a segment of a terabyte" "$INPUT" "memory" run "$(made huge)"
refuses "a segment that wraps round" "$INPUT" "segment|memory|headers" run "$(made wraps)"
refuses "a segment where the VMM has its own" "$INPUT" "64 KiB" run "$(made reserved)"
refuses "a segment past the file's end" "$INPUT" "cut off|headers" run "$(made past-end)"
refuses "a segment with more bytes than memory" "$INPUT" "headers" \
	run "$(made more-file-than-memory)"
refuses "an entry point outside" "$INPUT" "entry" run "$(made entry)"
refuses "a file cut in its headers" "$INPUT" "headers|cut off|not an ELF" run "$(made cut-headers)"
refuses "a file cut in a segment" "$INPUT" "cut off" run "$(made cut-segment)"
refuses "too little memory for it" "$INPUT" "mem" run --mem=1M "$(made good)"

# A REP that takes hours, over device memory, keeps nobody waiting.
cat >"$dir/rep.S" <<'END'
	.globl _start
_start:	mov $0xfee00000, %edi
	mov $-1, %rcx
	rep stosb
	jmp _start
END
gcc -nostdlib -static -no-pie -Wl,--build-id=none,-Ttext=0x100000,-z,noexecstack -o "$dir/rep.elf" \
	"$dir/rep.S"
refuses_as "a REP without end" "$FAIL" "timeout=1 reached" run timeout 60 "$VPT" run -q --engine=soft \
	--pt=off --timeout=1 "$dir/rep.elf"
tap_end

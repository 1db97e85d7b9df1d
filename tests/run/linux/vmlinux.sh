#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An uncompressed kernel (vmlinux), which is in Debian's bzImage, boots and is what the trace has.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
linux_initrd
# word AT: a word of the setup header.
word() { od -An -tu4 -j "$1" -N 4 "$linux/vmlinuz" | tr -d ' '; }
sectors=$(od -An -tu1 -j 497 -N 1 "$linux/vmlinuz" | tr -d ' ')
tail -c +$(((sectors + 1) * 512 + $(word 584) + 1)) "$linux/vmlinuz" | head -c "$(word 588)" >"$dir/payload"
# Behind the kernel is its size, which lz4 complains of.
lz4 -dc "$dir/payload" >"$dir/vmlinux" 2>/dev/null
tap_run "the bzImage has an ELF file" test "$(head -c 4 "$dir/vmlinux")" = "$(printf '\177ELF')"

"$VPT" run -q --engine=soft --no-reboot --timeout=300 --mem=512M --initrd="$dir/initrd" --pt=host --verify \
	--append="console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init boot" --console="$dir/con" \
	"$dir/vmlinux" 2>"$dir/err"
status=$?
tap_run "vmlinux boots and powers off" test "$status" -eq 0
tap_run "init ran" grep -q "^init: 6" "$dir/con"
tap_run "what is decoded is what ran" grep -q " retired, .* 0 mismatches" "$dir/err"
refuses "too little memory" "$INPUT" "$dir/vmlinux: " run -q --engine=soft --mem=16M "$dir/vmlinux"
refuses "with a command line" "$INPUT" "memory" run -q --engine=soft --mem=16M --append=quiet "$dir/vmlinux"
# The entry is at byte 24 of the header.
printf '\0\0\0\0' | dd of="$dir/vmlinux" bs=1 seek=24 conv=notrunc 2>/dev/null
refuses "a bad entry" "$INPUT" "entry" run -q --engine=soft --mem=512M "$dir/vmlinux"
tap_end

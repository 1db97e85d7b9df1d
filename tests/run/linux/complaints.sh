#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The same kernel and initrd under Debian's QEMU: it prints each line of the list of complaints.
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/cli.sh
. tests/run/linux/initrd.sh

linux=$(patches/tools/guest) || exit 1
linux_initrd

# complaints CPU: boot with this processor and print the complaints
complaints() {
	qemu-system-x86_64 -accel tcg -cpu "$1" -m 512 -nodefaults -no-user-config -display none -no-reboot \
		-kernel "$linux/vmlinuz" -initrd "$dir/initrd" -serial "file:$dir/$1.con" \
		-append "console=ttyS0 loglevel=0 panic=-1 rdinit=/vpt-init boot" 2>"$dir/$1.err"
	tr -d '\r' <"$dir/$1.con" | sed -n 's/^complaint //p'
}

compared=0
while IFS=$'\t' read -r model line cpu _; do
	[ -e "$dir/$cpu" ] || complaints "$cpu" >"$dir/$cpu"
	tap_run "QEMU's $cpu boots" grep -q "^init: 6" "$dir/$cpu.con"
	tap_run "$model: QEMU's $cpu prints: ${line:0:40}" grep -qxF "$line" "$dir/$cpu"
	compared=$((compared + 1))
done < <(grep -v '^#' tests/run/linux/complaints)
tap_run "each line of the list was compared" test "$compared" -eq \
	"$(grep -cv '^#' tests/run/linux/complaints)" -a "$compared" -ge 1
tap_end

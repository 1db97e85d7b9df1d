# SPDX-License-Identifier: GPL-2.0-or-later
# A function for scenarios in which our own VMM boots Linux inside the machine.
# shellcheck shell=bash

# Print the files of a Linux guest for `files`: the machine's own kernel, and an initrd with busybox
# whose init is tests/testbed/lib/linux-init.
linux_files() {
	local kernel initrd=$O/testbed/linux.cpio made
	kernel=$(patches/tools/kernel) || return 1
	made=$(mktemp -d) || return 1
	mkdir -p "$made/bin" "$made/proc" "$O/testbed"
	cp -L /bin/busybox "$made/bin/" && cp "$root/tests/testbed/lib/linux-init" "$made/init" || return 1
	(cd "$made" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$made.cpio" &&
		mv "$made.cpio" "$initrd" || return 1
	rm -r "$made"
	echo "$kernel/vmlinuz $initrd"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# A function for scenarios in which our own VMM boots Linux inside the machine.
# shellcheck shell=bash

# Print the files of a Linux guest for `files`: the machine's own kernel, and an initrd with busybox
# whose init is tests/testbed/lib/linux-init. PROGRAM is one of `programs`, for the initrd. There is
# none before it is built.
linux_files() { # [PROGRAM]
	local kernel initrd=$O/testbed/linux${1:+-$1}.cpio made
	kernel=$(patches/tools/kernel) || return 1
	made=$(mktemp -d) || return 1
	mkdir -p "$made/bin" "$made/proc" "$O/testbed"
	cp -L /bin/busybox "$made/bin/" && cp "$root/tests/testbed/lib/linux-init" "$made/init" || return 1
	if [ -n "${1:-}" ] && [ -e "$O/testbed/$1" ]; then
		cp "$O/testbed/$1" "$made/bin/" || return 1
	fi
	(cd "$made" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$made.cpio" &&
		mv "$made.cpio" "$initrd" || return 1
	rm -r "$made"
	echo "$kernel/vmlinuz $initrd=linux.cpio"
}

# Print the files of a Linux guest whose initrd has perf, too. Its init is
# tests/testbed/lib/linux-perf-init.
linux_perf_files() {
	local guest initrd=$O/testbed/linux-perf.cpio made
	guest=$(patches/tools/guest) || return 1
	made=$(mktemp -d) || return 1
	mkdir -p "$O/testbed"
	cp "$root/tests/testbed/lib/linux-perf-init" "$made/vpt-init" || return 1
	{
		cat "$guest/initrd"
		(cd "$made" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0)
	} >"$made.cpio" && mv "$made.cpio" "$initrd" || return 1
	rm -r "$made"
	echo "$guest/vmlinuz $initrd=linux.cpio"
}

# Print the files of a Linux guest with virtio devices: a kernel that has their drivers built in, an
# initrd whose init is tests/testbed/lib/linux-devices-init, and the image of a disk with a file.
linux_devices_files() {
	local kernel made initrd=$O/testbed/linux-devices.cpio disk=$O/testbed/linux-devices.disk
	kernel=$(patches/tools/own-kernel) || return 1
	made=$(mktemp -d) || return 1
	mkdir -p "$made/bin" "$made/proc" "$made/sys" "$made/dev" "$made/mnt" "$made.disk" "$O/testbed"
	cp -L /bin/busybox "$made/bin/" &&
		cp "$root/tests/testbed/lib/linux-devices-init" "$made/init" || return 1
	(cd "$made" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$made.cpio" &&
		mv "$made.cpio" "$initrd" || return 1
	seq 1 10000 >"$made.disk/file"
	mkfs.ext4 -q -F -b 1024 -d "$made.disk" "$made.image" 6M >/dev/null &&
		 mv "$made.image" "$disk" || return 1
	rm -r "$made" "$made.disk"
	echo "$kernel/vmlinuz=linux $initrd=linux.cpio $disk=disk"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The initrd of a test of Linux. Source it after cli.sh.

# linux_initrd: make $dir/initrd of that of $linux, our init and all files in $dir/own.
linux_initrd() {
	mkdir -p "$dir/own"
	cp tests/run/linux/init "$dir/own/vpt-init"
	(cd "$dir/own" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) >"$dir/own.cpio"
	# shellcheck disable=SC2154 # of the caller
	cat "$linux/initrd" "$dir/own.cpio" >"$dir/initrd"
}

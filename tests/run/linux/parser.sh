# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# The parser with three planted bugs as the init of a Linux guest. Source it after cli.sh.

# linux_parser: make $dir/parser.cpio, whose init is $dir/root/init. Sets $linux to the folder of the kernel.
linux_parser() {
	linux=$(patches/tools/guest) || exit 1
	mkdir -p "$dir/root"
	gcc -O2 -g -static -no-pie -Iguest -Ishared/include -o "$dir/root/init" tests/bench/fuzz/host.c \
		guest/tasks/parser.c || exit 1
	(cd "$dir/root" && echo init | cpio -o -H newc --quiet -R 0:0) >"$dir/parser.cpio"
}

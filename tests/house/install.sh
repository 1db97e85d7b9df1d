#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` puts on a system works there: headers and library compile into
# a C and a C++ program with what pkg-config says, the command runs, the manual pages
# are found, and uninstall leaves nothing behind.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
MODE=${MODE:-rel}
O=${O:-build/$MODE}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

install() { make -s MODE="$MODE" O="$O" "$@"; }

tap_run "make install" install install PREFIX="$dir/usr"
tap_run "make install with DESTDIR" install install DESTDIR="$dir/stage" PREFIX=/opt/vpt
tap_empty "DESTDIR only adds a prefix" "$(diff -r "$dir/usr/include" "$dir/stage/opt/vpt/include" 2>&1)"
tap_empty "no installed header leads back to the source tree" \
	"$(grep -rn '#include.*\(\.\./\.\.\|shared/\)' "$dir/usr/include")"

for header in $(cd "$dir/usr/include" && find vpt -name '*.h' | sort); do
	printf '#include <%s>\n' "$header" >"$dir/one.c"
	tap_run "$header alone" gcc -std=c11 -Wall -Wextra -Werror -I"$dir/usr/include" \
		-c -o /dev/null "$dir/one.c"
done

cat >"$dir/use.c" <<'EOF2'
#include <vpt/pt.h>
#include <vpt/packet.h>
#include <stdio.h>

int main(void)
{
	const struct vpt_caps *caps = vpt_caps_model("skl");
	const struct vpt_pt_ops ops = {};
	static struct vpt_pt pt;
	const uint8_t psbend[] = { 0x02, 0x23 };
	struct vpt_parser parser = {};
	struct vpt_packet packet;
	uint64_t ctl = 1;

	if (!caps)
		return 1;
	vpt_pt_init(&pt, caps, &ops, NULL);
	if (vpt_pt_rdmsr(&pt, VPT_MSR_CTL, &ctl) != VPT_FAULT_NONE || ctl)
		return 2;
	if (vpt_packet_read(&parser, psbend, sizeof(psbend), &packet) != VPT_OK)
		return 3;
	return packet.kind != VPT_PKT_PSBEND;
}
EOF2
cp "$dir/use.c" "$dir/use.cc"
export PKG_CONFIG_PATH="$dir/usr/lib/pkgconfig"
sanitize=
case $MODE in
asan) sanitize=-fsanitize=address ;;
ubsan) sanitize=-fsanitize=undefined ;;
cov) sanitize=--coverage ;;
esac
# shellcheck disable=SC2046,SC2086 # lists of flags
{
	tap_run "a C program compiles" gcc -Wall -Werror $sanitize -o "$dir/use-c" "$dir/use.c" \
		$(pkg-config --cflags --libs vpt)
	tap_run "a C++ program compiles" g++ -std=c++17 -Wall -Werror $sanitize -o "$dir/use-cc" \
		"$dir/use.cc" $(pkg-config --cflags --libs vpt)
}
tap_run "the C program works" env LD_LIBRARY_PATH="$dir/usr/lib" "$dir/use-c"
tap_run "the C++ program works" env LD_LIBRARY_PATH="$dir/usr/lib" "$dir/use-cc"
tap_run "they use the shared library" sh -c 'readelf -d "$1" | grep -q "NEEDED.*libvpt.so"' x "$dir/use-c"
# shellcheck disable=SC2046,SC2086 # lists of flags
tap_run "a C program compiles with the static library" gcc -Wall -Werror $sanitize -o "$dir/use-a" \
	"$dir/use.c" $(pkg-config --cflags vpt) "$dir/usr/lib/libvpt.a"
tap_run "and works alone" "$dir/use-a"
tap_run "pkg-config knows the version" pkg-config --exact-version="$(sed -n 's/^VERSION := //p' Makefile)" vpt
tap_run "the command runs" "$dir/usr/bin/vpt" --help
tap_run "vpt.1 is there" test -s "$dir/usr/share/man/man1/vpt.1"

# The examples of docs/examples, with both libraries.
# shellcheck disable=SC2086 # a list of flags
tests/house/library.sh "$dir/usr" "$dir/library" $sanitize >"$dir/library.tap" 2>&1
tap_empty "the examples work with installed libraries" "$(grep -v '^ok\|^1\.\.' "$dir/library.tap")"
tap_run "they were tried in 13 ways" test "$(grep -c '^ok' "$dir/library.tap")" = 13

# The flow decoder: shared and static, in C and C++, and from Python by its shared object.
O=$O tests/cli/libdecode/example.sh "$dir/usr" "$dir/decode" $sanitize >"$dir/decode.tap" 2>&1
tap_empty "libvptdecode works where it is installed" "$(grep -v '^ok\|^1\.\.' "$dir/decode.tap")"
tap_run "it was tried in four ways" test "$(grep -c '^ok' "$dir/decode.tap")" -ge 8

echo keep >"$dir/usr/lib/other"
tap_run "make uninstall" install uninstall PREFIX="$dir/usr"
tap_empty "uninstall leaves what is not ours, and nothing else" \
	"$(find "$dir/usr" ! -type d | grep -vx "$dir/usr/lib/other")"
tap_run "what is not ours is still there" test -e "$dir/usr/lib/other"
tap_end

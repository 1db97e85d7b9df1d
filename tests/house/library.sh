#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The examples of docs/examples together, against installed libraries: emulator.c executes code and
# writes packets, edges.c decodes them and counts the edges that were executed.
# usage: library.sh PREFIX DIR [FLAG...]	DIR is for files of this test
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
prefix=$1 dir=$2
shift 2
mkdir -p "$dir" || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"

# 401000: DEC ECX; JNZ 401000; CALL 40100A; HLT; 40100A: RET.
printf '\377\311\165\374\350\001\000\000\000\364\303' >"$dir/code"
cat >"$dir/expected" <<'END'
401002 401000 4
401002 401004 1
401004 40100a 1
40100a 401009 1
12 instructions
END
# HLT is missing: execution comes to what the emulator does not know.
printf '\377\311\165\374\220' >"$dir/wrong"

warn="-Wall -Wextra -Werror $*"
# shellcheck disable=SC2046,SC2086 # lists of flags
tap_run "edges.c compiles" gcc -std=c11 $warn -o "$dir/edges" docs/examples/edges.c \
	$(pkg-config --cflags --libs vptdecode)

emulate() { # NAME COMMAND...
	name=$1
	shift
	tap_run "$name: emulator.c compiles" "$@"
	tap_run "$name: it runs" sh -c '"$1/emulator" "$1/code" 0x401000 5 >"$1/trace"' x "$dir"
	tap_empty "$name: edges.c counts what was executed" \
		"$("$dir/edges" "$dir/code" 0x401000 "$dir/trace" 2>&1 | LC_ALL=C sort |
			diff "$dir/sorted" - 2>&1)"
	"$dir/emulator" "$dir/wrong" 0x401000 5 >"$dir/trace" 2>"$dir/err"
	tap_run "$name: unknown code is status 4" test "$? $(cat "$dir/err")" = \
		"4 emulator: an instruction that is not in the subset"
	rm -f "$dir/emulator" "$dir/trace"
}

LC_ALL=C sort "$dir/expected" >"$dir/sorted"
# shellcheck disable=SC2046,SC2086 # lists of flags
{
	emulate "C, shared" gcc -std=c11 $warn -o "$dir/emulator" docs/examples/emulator.c \
		$(pkg-config --cflags --libs vpt)
	emulate "C, static" gcc -std=c11 $warn -o "$dir/emulator" docs/examples/emulator.c \
		$(pkg-config --cflags vpt) "$prefix/lib/libvpt.a"
	emulate "C++, shared" g++ -std=c++17 $warn -o "$dir/emulator" -x c++ docs/examples/emulator.c \
		$(pkg-config --cflags --libs vpt)
}
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The example of libvptdecode against an installed library: as a C and a C++ program, with the
# shared and the static library, and the same calls from Python.
# usage: example.sh PREFIX DIR [FLAG...]	DIR is for files of this test
set -u
cd "$(dirname "$0")/../../.." || exit 1
. tests/lib/tap.sh
prefix=$1 dir=$2
shift 2
mkdir -p "$dir" || exit 1
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"

# INC EAX; JNZ back; JMP RAX. PSB, MODE.Exec 64, FUP 401000H, PSBEND, TNT of TTN, TIP 401000H.
printf '\377\300\165\374\377\340' >"$dir/code"
{
	for _ in 1 2 3 4 5 6 7 8; do printf '\002\202'; done
	printf '\231\001\175\000\020\100\000\000\000\002\043\034\155\000\020\100\000\000\000'
} >"$dir/trace"
# The same in RTIT: PSB, FUP.PGE 401000H, TNT of TTN, TIP 401000H.
printf '\300\0\0\0\0\0\0\0\0\205\000\020\100\000\016\265\000\020\100\000' >"$dir/rtit"
cat >"$dir/expected" <<'END'
401002 401000 2
401002 401004 1
401004 401000 1
END

example() { # NAME COMMAND...
	name=$1
	shift
	tap_run "$name compiles" "$@"
	"$dir/edges" "$dir/code" 0x401000 "$dir/trace" >"$dir/edges.out" 2>"$dir/edges.err"
	tap_empty "$name: the edges" "$(diff "$dir/expected" "$dir/edges.out" 2>&1)"
	tap_empty "$name: 7 instructions, no error" "$(grep -vx '7 instructions' "$dir/edges.err")"
	"$dir/edges" "$dir/code" 0x401000 "$dir/rtit" rtit >"$dir/edges.out" 2>"$dir/edges.err"
	tap_empty "$name: the same of RTIT" "$(diff "$dir/expected" "$dir/edges.out" 2>&1)"
	tap_empty "$name: RTIT, no error" "$(grep -vx '7 instructions' "$dir/edges.err")"
	rm -f "$dir/edges"
}

warn="-Wall -Wextra -Werror $*"
# shellcheck disable=SC2046,SC2086 # lists of flags
{
	example "C, shared" gcc -std=c11 $warn -o "$dir/edges" docs/examples/edges.c \
		$(pkg-config --cflags --libs vptdecode)
	example "C, static" gcc -std=c11 $warn -o "$dir/edges" docs/examples/edges.c \
		$(pkg-config --cflags vptdecode) "$prefix/lib/libvptdecode.a" -lZydis
	example "C++, shared" g++ -std=c++20 $warn -Wno-missing-field-initializers -o "$dir/edges" -x c++ docs/examples/edges.c \
		$(pkg-config --cflags --libs vptdecode)
}

cat >"$dir/edges.py" <<'END'
import ctypes, sys

class Config(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint64), ("flags", ctypes.c_uint32), ("rest", ctypes.c_uint8 * 132)]

class Edge(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("source", "to", "page", "count")]

lib = ctypes.CDLL("libvptdecode.so.0")
lib.vptd_new.restype = lib.vptd_counts_new.restype = ctypes.c_void_p
lib.vptd_insns.restype = ctypes.c_uint64
code, trace = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read()
status = ctypes.c_int()
config = Config(size=ctypes.sizeof(Config), flags=4)
d = ctypes.c_void_p(lib.vptd_new(ctypes.byref(config), None, None, ctypes.byref(status)))
counts = ctypes.c_void_p(lib.vptd_counts_new())
assert d and status.value == 0
assert lib.vptd_code(d, ctypes.c_uint64(2**64 - 1), ctypes.c_uint64(0x401000), code,
                     ctypes.c_size_t(len(code))) == 0
assert lib.vptd_push(d, trace, ctypes.c_size_t(len(trace))) == 0 and lib.vptd_finish(d) == 0
assert lib.vptd_count(d, counts) == 0
edge, i = Edge(), 0
while lib.vptd_counts_edge(counts, ctypes.c_size_t(i), ctypes.byref(edge)):
    print("%x %x %d" % (edge.source, edge.to, edge.count))
    i += 1
assert lib.vptd_insns(d) == 7
END
# A sanitizer's runtime is not in Python.
if [ $# -eq 0 ]; then
	tap_empty "Python: the edges" "$(python3 "$dir/edges.py" "$dir/code" "$dir/trace" 2>&1 |
		diff "$dir/expected" - 2>&1)"
fi
tap_end

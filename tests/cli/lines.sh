#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Line tables of DWARF 2 to 5, of 32 and 64 bits, compressed or not: as libdw reads them.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
. tests/lib/refuse.sh
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/sub"
cat >"$dir/sub/part.h" <<'END'
static inline int half(int x)
{
	return x > 1 ? x / 2 : 0;
}
END
cat >"$dir/sub/main.c" <<'END'
#include "part.h"
static int count(int x)
{
	int n = 0;

	for (; x; x = half(x))
		n++;
	return n;
}
int main(int argc, char **argv)
{
	return count(argc) + (argv[0] ? half(argc) : 0);
}
END
for options in -gdwarf-2 -gdwarf-3 -gdwarf-4 -gdwarf-5 "-gdwarf-4 -gdwarf64" "-gdwarf-5 -gdwarf64" \
	"-gdwarf-5 -gz=zlib" "-gdwarf-4 -gz=zlib-gnu" "-gdwarf-5 -ffunction-sections" \
	"-gdwarf-4 -gno-as-loc-support"; do
	# shellcheck disable=SC2086 # several words
	said=$(cd "$dir" && gcc -O1 $options -o main sub/main.c 2>&1) || said="gcc: $said"
	rows=$("$TOOLS/lines" "$dir/main") || said="$said$rows"
	rows=$(expr "$rows" : '.*: \([0-9]*\) rows$')
	[ "${rows:-0}" -gt 10 ] || said="${said}only ${rows:-0} rows"
	tap_empty "gcc $options" "$said"
done
tap_run "each guest" sh -c "'$TOOLS/lines' '$GUEST'/*.elf"
tap_end
